"""`gatewayd check-config`."""

import argparse

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.config import ConfigError, missing_client, missing_credentials
from gatewayd.doctor.configured_files import mistakes, remarks


def add_commands(subparsers: Subparsers) -> None:
    """Add the command of the settings."""
    add_command(subparsers, "check-config", "read the settings and report every mistake at once", check)


def check(arguments: argparse.Namespace, context: Context) -> int:
    """Mistakes come out as `ConfigError`.

    A credential that is not to be found here is told, and no mistake: the service manager passes it to the daemon.
    """
    config = context.config
    if lacking := missing_client(config):
        raise CommandError(f"{lacking.path} {lacking.message}")
    if wrong := [*mistakes(config, context.clock.now())]:
        raise ConfigError(wrong)
    print(f"{context.config_path or 'No file, the defaults'}: good. Data in {config.store.directory}")
    for problem in missing_credentials(config):
        print(f"{problem}.")
    for remark in remarks(config):
        print(remark)
    return 0
