"""`gatewayd serve`: the daemon."""

import argparse
import contextlib
import gc
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.config import require_credentials

if TYPE_CHECKING:
    from types import ModuleType

    from gatewayd.daemon.daemon import Daemon

LAST_WORDS_SECONDS = 5  # Chosen: for a traceback on a standard error that may not be read


def add_commands(subparsers: Subparsers) -> None:
    """Add `serve`."""
    add_command(subparsers, "serve", "run the daemon until it is told to stop", serve)


@contextlib.contextmanager
def _absent(*names: str) -> Iterator[None]:
    """Let modules seem not to be installed, to what is imported in the block and can do without them."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden, cast("ModuleType", None)))
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def serve(arguments: argparse.Namespace, context: Context) -> int:
    """Migrate, serve, reload on SIGHUP, and drain on SIGTERM or SIGINT."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it is listened for, and afterwards: never the end
    gc.disable()  # imported modules stay: collecting garbage among them takes a tenth of the start
    with _absent("rich", "greenlet"):  # structlog would load their 4 MB, for what the daemon does not do
        from gatewayd.catalogue import CatalogueError
        from gatewayd.cli.runner import run
        from gatewayd.daemon.daemon import Daemon, Surroundings, run_until_signalled
        from gatewayd.daemon.embedding import embedder_of
        from gatewayd.daemon.reading import reader_of as document_reader_of
        from gatewayd.service_manager import from_environ
        from gatewayd.statements.child import reader_of

    gc.freeze()
    gc.enable()
    require_credentials(context.config)
    surroundings = Surroundings(
        log_stream=sys.stderr,
        load=context.load_config,
        clock=context.clock,
        notifier=from_environ(context.environ),
        environ=context.environ,
        root=context.root,
        read_apart=reader_of(context.environ),
        open_reader=document_reader_of(context.environ),
        open_embedder=embedder_of(context.environ),
    )
    daemon = Daemon(context.config, surroundings)
    try:
        with _last_words(daemon), contextlib.redirect_stderr(daemon.standard_error):
            run(run_until_signalled, daemon)
    except (OSError, ValueError, CatalogueError) as error:
        if daemon.started:
            raise  # a fault of ours, which needs its traceback
        raise CommandError(f"cannot serve: {error}") from error
    return 0


@contextlib.contextmanager
def _last_words(daemon: "Daemon") -> Iterator[None]:
    """The interpreter tells a fault of a daemon that served, and for as long as nobody reads it does not end.

    So the kernel is asked to end it then, and whoever supervises it may start it anew.
    """
    try:
        yield
    except BaseException:
        if daemon.started:
            signal.alarm(LAST_WORDS_SECONDS)
        raise
