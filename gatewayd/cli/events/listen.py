"""`gatewayd listen`: shows events as they are recorded, and delivers them to a receiver on the developer's machine."""

import argparse
import difflib
import errno
import json
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.time_arguments import TIME_FORMS, TimeArgument, time_argument
from gatewayd.clock import Instant, from_wire, to_wire
from gatewayd.config import require_credentials

if TYPE_CHECKING:
    import trio

    from gatewayd.webhooks.feeds.relay import Forwarder, ForwardResult, LocalTransport, RecordedEvent

TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGHUP)
"""Ctrl-C, and a terminal that goes away."""
NOBODY_READS = frozenset({errno.EPIPE, errno.EIO})
"""The errors of a write once the reader or the terminal has gone."""
KIND_WIDTH = 25  # Chosen: most kinds are shorter
API_KEY = "GATEWAYD_API_KEY"
"""Where a key stands that is not to be seen among the arguments of processes."""


def add_commands(subparsers: Subparsers) -> None:
    """Add `listen`; also the group of webhooks has it."""
    command = add_command(
        subparsers, "listen", "show events as they come, and forward them to a local receiver", listen
    )
    command.add_argument("--org", metavar="ID", help="whose events of the daemon on this machine")
    command.add_argument(
        "--url", metavar="URL", help="listen to the daemon at this address instead, over its API; needs a key"
    )
    command.add_argument(
        "--api-key", metavar="KEY", help=f"a key of the organization with webhooks:read; better in {API_KEY}"
    )
    command.add_argument(
        "--forward-to", metavar="URL", help="deliver to this address, on this machine or a private network; http too"
    )
    command.add_argument(
        "--event",
        action="append",
        metavar="KIND",
        help="only of this kind or pattern, such as invoice.*; may be given again",
    )
    command.add_argument("--secret", metavar="whsec_...", help="sign with this secret, else with a new one")
    command.add_argument(
        "--since",
        type=time_argument,
        metavar="TIME",
        help=f"begin with events recorded since {TIME_FORMS}; else with new ones",
    )
    command.add_argument("--print-json", action="store_true", help="print the body of each event too")
    command.add_argument("--json", action="store_true", help="print one JSON document for each event, on one line")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenOptions:
    """What to listen to. `since` None: from now on. `url` None: nothing is forwarded, and `secret` is empty.

    Either `org_id` is of the daemon on this machine, or `server` is where another is asked, with `api_key`.
    """

    context: Context
    org_id: str
    server: str
    api_key: str = field(repr=False)
    names: tuple[str, ...]
    since: Instant | None
    url: str | None
    secret: str = field(repr=False)
    json: bool
    bodies: bool


def listen(arguments: argparse.Namespace, context: Context) -> int:
    """Run until Ctrl-C, or until nobody reads what is printed."""
    from gatewayd.cli.runner import run

    if (arguments.org is None) == (arguments.url is None):
        raise CommandError("give --org for the daemon on this machine, or --url and a key for another", 2)
    api_key = arguments.api_key or context.environ.get(API_KEY, "")
    if arguments.url is not None and not api_key:
        raise CommandError(f"--url needs a key: --api-key, or {API_KEY} in the environment", 2)
    options = ListenOptions(
        context=context,
        org_id=arguments.org or "",
        server=arguments.url or "",
        api_key=api_key,
        names=_names(arguments.event),
        since=_since(arguments.since, context),
        url=arguments.forward_to,
        secret=_secret(arguments.secret, arguments.forward_to),
        json=arguments.json,
        bodies=arguments.print_json,
    )
    try:
        if options.server:
            _run_remotely(options)
        else:
            run(_listen, options)
    except OSError as error:
        if error.errno not in NOBODY_READS:
            raise CommandError(f"cannot go on: {error}") from error
    return 0


async def _listen(options: ListenOptions) -> None:
    import trio

    from gatewayd.events import expanded
    from gatewayd.identity.people import organizations
    from gatewayd.webhooks.feeds.event_log import follow
    from gatewayd.webhooks.feeds.relay import EventFeed

    kinds = frozenset(expanded(options.names))
    context = options.context
    async with (
        context.open_existing() as store,
        trio.open_nursery() as nursery,
        _forwarding(options) as forwarder,
    ):
        nursery.start_soon(_end_on_signal, nursery.cancel_scope)
        organization = await store.read_later(lambda tx: organizations.get(tx, options.org_id), None)
        printer = EventPrinter(options, forwarder)
        await store.write(lambda tx: follow(tx, " ".join(sorted(set(options.names)))), options.org_id)
        feed = EventFeed(store, options.org_id)
        await feed.begin(options.since)
        nursery.start_soon(store.watch_other_processes)
        await printer.greet(organization.name)
        while True:
            for event in await feed.page():
                if event.kind in kinds and not event.test:  # Chosen: a test event is one subscription's alone
                    await printer.show(event)


def _run_remotely(options: ListenOptions) -> None:
    from gatewayd.cli.runner import run
    from gatewayd.webhooks.feeds.remote_events import FeedRefused

    try:
        run(_listen_remotely, options)
    except FeedRefused as refused:
        raise CommandError(f"{options.server}: {refused}") from None


async def _listen_remotely(options: ListenOptions) -> None:
    import trio

    import gatewayd
    from gatewayd.webhooks.feeds.remote_events import RemoteFeed, connected

    async with (
        connected(options.server, options.api_key, f"gatewayd/{gatewayd.__version__}") as client,
        trio.open_nursery() as nursery,
        _forwarding(options) as forwarder,
    ):
        nursery.start_soon(_end_on_signal, nursery.cancel_scope)
        printer = EventPrinter(options, forwarder)
        feed = RemoteFeed(client, options.names, options.since, printer.say)
        await feed.begin()
        await printer.greet(options.server.rstrip("/"))
        while True:
            for event in await feed.page():
                await printer.show(event)


async def _end_on_signal(scope: "trio.CancelScope") -> None:
    import trio

    # Those that were set to be ignored (nohup, a job in the background) stay so.
    heeded = [number for number in TERMINAL_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    with trio.open_signal_receiver(signal.SIGTERM, *heeded) as signals:
        async for _ in signals:
            scope.cancel()


@asynccontextmanager
async def _forwarding(options: ListenOptions) -> "AsyncIterator[Forwarder | None]":
    """Delivers to the address that was given. Raises `CommandError` for one that nothing is sent to."""
    if options.url is None:
        yield None
        return
    import gatewayd
    from gatewayd.webhooks.feeds.relay import Forwarder, LocalTransport
    from gatewayd.webhooks.sender import Sender
    from gatewayd.webhooks.settings import settings_from

    require_credentials(options.context.config, "webhooks.ca_file")
    settings = settings_from(options.context.config.webhooks)
    transport = LocalTransport(settings.policy.allow_networks, settings.policy.ca_file)
    await _check_local(options.url, transport, settings.timeout_seconds)
    user_agent = f"gatewayd/{gatewayd.__version__}"
    sender = Sender(transport, user_agent=user_agent, timeout_seconds=settings.timeout_seconds)
    try:
        yield Forwarder(sender=sender, clock=options.context.clock, url=options.url, secret=options.secret)
    finally:
        await sender.aclose()


async def _check_local(url: str, transport: "LocalTransport", seconds: float) -> None:
    """Fail at once where every attempt would; a receiver that does not run yet is no failure."""
    import trio

    from gatewayd.outbound.errors import AddressBlockedError, NameLookupError, TargetError
    from gatewayd.outbound.targets import parse_target

    try:
        with trio.fail_after(seconds):
            target = parse_target(url, allow_http=True)
            await transport.vetted(target.host, target.port)
    except TargetError as error:
        detail = "The URL must start with http:// or https://." if error.reason == "scheme" else error.detail
        raise CommandError(f"--forward-to: {detail}", 2) from None
    except AddressBlockedError as error:
        hint = "subscribe it with `gatewayd webhook create`, or open the range in webhooks.allow_networks"
        raise CommandError(f"--forward-to: {error.detail}; {hint}", 2) from None
    except NameLookupError as error:
        raise CommandError(f"--forward-to: {error.detail}") from None
    except trio.TooSlowError:
        raise CommandError(f"--forward-to: nobody says within {seconds:g} s what the address of its host is") from None


class EventPrinter:
    """Prints a row or a document for each event, and what is to be known before the first."""

    def __init__(self, options: ListenOptions, forwarder: "Forwarder | None") -> None:
        self._plan = options
        self._forwarder = forwarder
        self._terminal = sys.stdout.isatty()
        self._failing = False

    async def greet(self, organization: str) -> None:
        """Print what goes where, and the secret to verify with. From then on nothing is missed."""
        if self._forwarder is None:
            await self.say(f"Listening to the events of {organization}; Ctrl-C ends.")
            return
        await self.say(f"Forwarding the events of {organization} to {self._forwarder.url}; Ctrl-C ends.")
        await self.say(f"Signing secret: {self._forwarder.secret}")

    async def show(self, event: "RecordedEvent") -> None:
        """Forward one event if an address was given, and print the result."""
        forwarded = None if self._forwarder is None else await self._forwarder.forward(event)
        if self._plan.json:
            await _print(sys.stdout, document(event, forwarded))
        else:
            await _print(sys.stdout, self._row(event, forwarded).encode())
        if self._plan.bodies and not self._plan.json:
            await _print(sys.stdout, visible((event.data if forwarded is None else forwarded.body).decode()).encode())
        await self._hint_at_failure(event, forwarded)

    def _row(self, event: "RecordedEvent", forwarded: "ForwardResult | None") -> str:
        """Time of the event, kind, id, and what came of it: parted by tabs where it is not for eyes."""
        kind = event.kind.ljust(KIND_WIDTH) if self._terminal else event.kind
        cells = [to_wire(event.created_at), kind, event.id if forwarded is None else forwarded.delivery_id]
        if forwarded is not None:
            result = forwarded.result
            answered = result.error is None or result.error.startswith("http_")
            cells += [str(result.response_code) if answered else str(result.error), f"{result.duration_ms} ms"]
            cells += [] if answered else [visible(result.detail)]
        return ("  " if self._terminal else "\t").join(cells)

    async def _hint_at_failure(self, event: "RecordedEvent", forwarded: "ForwardResult | None") -> None:
        """Print once in a row of failures that nothing is retried, and how to."""
        failed = forwarded is not None and forwarded.result.error is not None
        if failed and not self._failing:
            since = to_wire(event.created_at)
            await self.say(f"Nothing is sent again by itself: give --secret and --since {since} to the same command.")
        self._failing = failed

    async def say(self, sentence: str) -> None:
        """Print a sentence that is no event."""
        await _print(sys.stderr if self._plan.json else sys.stdout, sentence.encode())


def document(event: "RecordedEvent", forwarded: "ForwardResult | None") -> bytes:
    """One event as `--json` prints it, with what became of its delivery where it was forwarded."""
    import msgspec

    shown: dict[str, object] = {
        "id": event.id,
        "event": event.kind,
        "data": msgspec.Raw(event.data),
        "createdAt": to_wire(event.created_at),
    }
    if forwarded is not None:
        shown |= {
            "deliveryId": forwarded.delivery_id,
            "responseCode": forwarded.result.response_code,
            "error": forwarded.result.error,
            "durationMs": forwarded.result.duration_ms,
        }
    return msgspec.json.encode(shown)


def visible(text: str) -> str:
    """`text` with what a terminal would obey, and not show, written as JSON writes it."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


async def _print(stream: TextIO, line: bytes) -> None:
    """Write one line, past Python's buffer: a reader that stops reading must not keep this command from ending."""
    import trio

    await trio.to_thread.run_sync(_write, stream.fileno(), line + b"\n", abandon_on_cancel=True)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _names(names: list[str] | None) -> tuple[str, ...]:
    from gatewayd.events import EVENT_KINDS, WILDCARDS

    known = (*EVENT_KINDS, *WILDCARDS)
    unknown = [name for name in names or () if name not in known]
    if unknown:
        close = difflib.get_close_matches(unknown[0], known)
        likely = f"; did you mean {' or '.join(close)}?" if close else f"; use one of: {', '.join(known)}"
        raise CommandError(f"--event: {unknown[0]!r} is not known{likely}", 2)
    return tuple(names or ("*",))


def _since(argument: TimeArgument | None, context: Context) -> Instant | None:
    if argument is None:
        return None
    now = context.clock.now()
    since = from_wire(argument.wire(now))
    if since > now:
        raise CommandError(f"--since: {to_wire(since)} is yet to come", 2)
    return since


def _secret(argument: str | None, url: str | None) -> str:
    """The secret to sign with; empty where nothing is signed."""
    from gatewayd.webhooks.signature import SECRET_MARK, new_secret, standard_signature

    if url is None:
        if argument is not None:
            raise CommandError("--secret: nothing is signed without --forward-to", 2)
        return ""
    secret = new_secret(secrets.token_bytes) if argument is None else argument
    try:
        standard_signature((secret,), "", 0, b"")
    except ValueError:
        raise CommandError("--secret: a signing secret is whsec_ and base64", 2) from None
    if secret == SECRET_MARK:
        raise CommandError("--secret: there is no key behind whsec_", 2)
    return secret
