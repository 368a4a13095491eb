"""`gatewayd check-config`."""

import argparse

from gatewayd.cli.context import Context
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.config import without_effect, without_effect_sentence


def add_commands(subparsers: Subparsers) -> None:
    """Add the command of the settings."""
    add_command(subparsers, "check-config", "read the settings and report every mistake at once", check)


def check(arguments: argparse.Namespace, context: Context) -> int:
    """Mistakes come out as `ConfigError`."""
    config = context.config
    print(f"{context.config_path or 'No file, the defaults'}: good. Data in {config.store.directory}")
    if changed := without_effect(config):
        print(without_effect_sentence(changed))
    return 0
