"""`gatewayd serve`: the daemon."""

import argparse
import gc
import sys

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.parser import Subparsers, add_command


def add_commands(subparsers: Subparsers) -> None:
    """Add `serve`."""
    add_command(subparsers, "serve", "run the daemon until it is told to stop", serve)


def serve(arguments: argparse.Namespace, context: Context) -> int:
    """Migrate, serve, and drain on SIGTERM or SIGINT."""
    gc.disable()  # imported modules stay: collecting garbage among them takes a tenth of the start
    from gatewayd.catalogue import CatalogueError
    from gatewayd.cli.runner import run
    from gatewayd.daemon.daemon import Daemon, Surroundings, run_until_signalled
    from gatewayd.service_manager import from_environ

    gc.freeze()
    gc.enable()
    surroundings = Surroundings(log_stream=sys.stderr, clock=context.clock, notifier=from_environ(context.environ))
    daemon = Daemon(context.config, surroundings)
    try:
        run(run_until_signalled, daemon)
    except (OSError, ValueError, CatalogueError) as error:
        if daemon.started:
            raise  # a fault of ours, which needs its traceback
        raise CommandError(f"cannot serve: {error}") from error
    return 0
