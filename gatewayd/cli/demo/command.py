"""`gatewayd demo`: a believable small firm on a temporary directory, and the main job played in front of the reader."""

import argparse
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.config.forms import database_url_error

DEFAULT_PORT = 8080


def add_commands(subparsers: Subparsers) -> None:
    """Add `demo`."""
    command = add_command(subparsers, "demo", "play the main job on a seeded instance", demo)
    command.add_argument(
        "--port", type=whole_number(0, 65535), help=f"where to serve; else {DEFAULT_PORT}, or a free one if it is taken"
    )
    command.add_argument("--directory", type=Path, help="keep the data here; else it is temporary")
    command.add_argument(
        "--store", type=_database_url, metavar="URL", help="an empty PostgreSQL for the rows; else SQLite"
    )
    command.add_argument("--password-file", type=Path, help="the password for --store")
    command.add_argument("--once", action="store_true", help="end after the play: 0 if every step did its work")


def demo(arguments: argparse.Namespace, context: Context) -> int:
    """Serve, seed, play; go on serving until Ctrl-C unless `--once`."""
    from gatewayd.cli.demo.http import DemoFailed
    from gatewayd.cli.demo.receiver import Receiver
    from gatewayd.cli.demo.walkthrough import DemoOptions, run_demo
    from gatewayd.cli.runner import run
    from gatewayd.store import StoreFailure

    with _directory(arguments.directory) as directory:
        port = arguments.port or _free_or(DEFAULT_PORT if arguments.port is None else 0)
        options = DemoOptions(
            directory=directory,
            port=port,
            once=arguments.once,
            clock=context.clock,
            output=sys.stdout,
            receiver=Receiver(directory, context.clock),
            url=arguments.store or "",
            password_file=arguments.password_file,
        )
        try:
            run(run_demo, options)
        except (DemoFailed, OSError, StoreFailure) as error:
            if isinstance(error, BrokenPipeError):
                raise  # the reader of the output has gone: `main` handles it
            raise CommandError(f"the demo failed: {error}") from error
    return 0


def _database_url(text: str) -> str:
    error = database_url_error(text)
    if error is not None:
        raise argparse.ArgumentTypeError(error)
    return text


@contextmanager
def _directory(named: Path | None) -> Iterator[Path]:
    """An empty directory: the one named, which is kept, or a temporary one."""
    if named is None:
        with tempfile.TemporaryDirectory(prefix="gatewayd-demo-") as temporary:
            yield Path(temporary)
        return
    try:
        named.mkdir(mode=0o700, parents=True, exist_ok=True)
        occupied = any(named.iterdir())
    except OSError as error:
        raise CommandError(f"{named} cannot be used: {error.strerror}") from error
    if occupied:
        raise CommandError(f"{named} is not empty: the demo seeds a new instance")
    yield named


def _free_or(port: int) -> int:
    """`port` if nothing listens there, else a free one."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
