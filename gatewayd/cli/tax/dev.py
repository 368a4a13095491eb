"""`gatewayd dev`: what programs are developed against."""

import argparse
import sys
from typing import TYPE_CHECKING, NamedTuple

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number

if TYPE_CHECKING:
    from gatewayd.clock import Clock

STUB_PORT = 8082  # Chosen: beside the daemon's own
LOG_SECONDS = 2.0  # Chosen: for lines that nobody may read


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands for developers."""
    group = add_group(subparsers, "dev", "what programs are developed against")
    command = add_command(group, "tax-stub", "serve the sandbox tax authority on this machine, over HTTP", tax_stub)
    command.add_argument(
        "--port",
        type=whole_number(0, 65535),
        default=STUB_PORT,
        metavar="N",
        help="where to serve; 0: any that is free",
    )


class _Stub(NamedTuple):
    """What is served, and where."""

    port: int
    clock: "Clock"


def tax_stub(arguments: argparse.Namespace, context: Context) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    from gatewayd.cli.runner import run

    try:
        run(_serve, _Stub(arguments.port, context.clock))
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise  # the reader of the output went away, and the frame knows what that means
        raise CommandError(f"cannot serve: {error}") from error
    return 0


async def _serve(stub: _Stub) -> None:
    import signal

    import trio

    from gatewayd.http.render import refusal
    from gatewayd.http1.server import Server
    from gatewayd.http1.settings import ServerSettings
    from gatewayd.logs import make_logger, make_writer
    from gatewayd.sandbox_authority.authority import SandboxAuthority, asgi

    writer = make_writer("auto", sys.stderr)
    writer.start()
    server = Server(
        asgi(SandboxAuthority(stub.clock, wants_tokens=True)),
        ServerSettings(bind=(f"127.0.0.1:{stub.port}",)),
        refuse=refusal,
        log=make_logger("auto", "info", sys.stderr, writer),
        clock=stub.clock,
    )
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            (address,) = await nursery.start(server.serve)
            print(f"The sandbox tax authority answers at {address}; Ctrl-C ends.", flush=True)
            async for _ in signals:
                break
            server.drain()
    writer.close(LOG_SECONDS)
