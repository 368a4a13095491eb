"""`gatewayd document`: documents of the vault."""

from gatewayd.cli.books import document_import, document_reading
from gatewayd.cli.parser import Subparsers, add_group


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of documents."""
    group = add_group(subparsers, "document", "documents of the vault")
    document_reading.add_commands_to(group)
    document_import.add_command_to(group)
