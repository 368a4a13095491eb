"""`gatewayd audit`: what was done, by whom and when; and who signed in, or could not."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_document, print_list
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.time_arguments import TIME_FORMS, TimeArgument, time_argument
from gatewayd.clock import Instant, from_wire, to_wire

if TYPE_CHECKING:
    from gatewayd.identity.audit_search import NamedEntry, Sought
    from gatewayd.store import ReadTx, Store

LIMIT: Final = 100
LIMIT_MAX: Final = 1_000_000
PAGE: Final = 500
FOLLOW_SECONDS: Final = 1.0  # Chosen: how often it is looked for more
COLUMNS: Final = ("when", "what", "by", "about", "organization", "more")


def add_commands(subparsers: Subparsers) -> None:
    """Add `audit`."""
    command = add_command(subparsers, "audit", "what was done, by whom and when, newest first", show)
    command.add_argument("--org", metavar="ID", help="only what concerns this organization")
    command.add_argument("--actor", metavar="WHO", help="only what this user (id or e-mail), client or `operator` did")
    command.add_argument("--subject", metavar="WHAT", help="only what was done to this id, or user by e-mail")
    command.add_argument(
        "--action", metavar="PREFIX", help="only actions that begin so: user., user.sign_in_failed, client"
    )
    for name, words in (("since", "from then on"), ("until", "before then")):
        command.add_argument(f"--{name}", type=time_argument, metavar="TIME", help=f"only {words}: {TIME_FORMS}")
    command.add_argument("--limit", type=whole_number(1, LIMIT_MAX), default=LIMIT, metavar="N", help="default 100")
    command.add_argument("--follow", action="store_true", help="oldest first, and go on with what is added, to Ctrl-C")
    command.add_argument("--json", action="store_true", help="print one JSON document for each entry, on one line")


def show(arguments: argparse.Namespace, context: Context) -> int:
    sought = _sought(arguments, context)
    if arguments.follow:
        return _follow(arguments, context, sought)
    entries = context.read(lambda tx: list(_entries(tx, sought, arguments.limit)))
    if arguments.json:
        _print(arguments, entries)
    else:
        print_list(arguments, entries, COLUMNS, [_cells(entry) for entry in entries])
    return 0


def _sought(arguments: argparse.Namespace, context: Context) -> "Sought":
    from gatewayd.identity.audit_search import Sought

    now = context.clock.now()
    return Sought(
        org_id=arguments.org,
        actor=arguments.actor,
        subject=arguments.subject,
        action=arguments.action,
        since=_instant(arguments.since, now),
        until=_instant(arguments.until, now),
    )


def _instant(given: TimeArgument | None, now: Instant) -> Instant | None:
    return None if given is None else from_wire(given.wire(now))


def _entries(tx: "ReadTx", sought: "Sought", limit: int) -> "Iterator[NamedEntry]":
    """The newest, page by page."""
    from gatewayd.identity import audit_search
    from gatewayd.identity.people import organizations

    if sought.org_id is not None:
        organizations.get(tx, sought.org_id)
    before: str | None = None
    while limit > 0:
        page = audit_search.find(tx, sought, before, min(limit, PAGE))
        yield from page.entries
        limit -= len(page.entries)
        if page.older is None:
            return
        before = page.older


def _follow(arguments: argparse.Namespace, context: Context, sought: "Sought") -> int:
    """Until Ctrl-C."""
    from gatewayd.identity import audit_search

    def begin(tx: "ReadTx") -> "tuple[list[NamedEntry], str]":
        return list(_entries(tx, sought, arguments.limit)), audit_search.newest(tx)

    async def run(store: "Store") -> None:
        import trio

        entries, after = await store.read(begin)
        _print(arguments, entries[::-1])
        while True:
            entries, latest = await store.read(partial(audit_search.find_later, sought=sought, after=after, limit=PAGE))
            _print(arguments, entries)
            if latest == after:
                await trio.sleep(FOLLOW_SECONDS)
            after = latest

    with suppress(KeyboardInterrupt):
        context.run(run)
    return 0


def _print(arguments: argparse.Namespace, entries: "Sequence[NamedEntry]") -> None:
    """One entry a line, at once."""
    for entry in entries:
        if arguments.json:
            print_document(entry)
        else:
            print("\t".join(_cells(entry)))
    sys.stdout.flush()


def _cells(entry: "NamedEntry") -> tuple[str, ...]:
    from gatewayd.identity.audit_search import words_of

    return (
        to_wire(entry.at)[:19].replace("T", " "),
        entry.action,
        entry.actor_name or entry.actor,
        entry.subject_name or entry.subject,
        "" if entry.org_id is None else entry.org_name or entry.org_id,
        words_of(entry.detail),
    )
