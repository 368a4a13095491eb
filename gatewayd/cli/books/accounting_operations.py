"""What commands over operations of accounting have in common: how the daemon would run one, and what names a row."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from gatewayd.cli.context import Context
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.run_operation import operation_of

if TYPE_CHECKING:
    from gatewayd.contract.operation import Operation


def accounting_operation(context: Context, operation_id: str) -> "Operation":
    """The row with that id, which makes links and sends mail as these settings say."""
    from gatewayd.areas import accounting

    handlers = accounting.handlers(context.config.server.public_url, context.mailing)
    return operation_of(accounting.AREA, operation_id, handlers)


def add_command_of_one(
    group: Subparsers, name: str, summary: str, run: Callable[[argparse.Namespace, Context], int]
) -> argparse.ArgumentParser:
    """Add a command about one thing, which is named by its id."""
    command = add_command(group, name, summary, run, json=True)
    command.add_argument("id", metavar="ID")
    return command
