"""`gatewayd openapi` and `gatewayd operations`: what the API offers, without a daemon."""

import argparse

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_document, print_list
from gatewayd.cli.parser import Subparsers, add_command


def add_commands(subparsers: Subparsers) -> None:
    """Add `openapi` and `operations`."""
    add_command(subparsers, "openapi", "print the OpenAPI description", openapi)
    add_command(subparsers, "operations", "list the operations", operations, json=True)


def openapi(arguments: argparse.Namespace, context: Context) -> int:
    """One JSON document, as `/openapi.json` serves it."""
    from gatewayd.daemon.description import catalogue_of, describe

    print_document(describe(catalogue_of(context.config), context.config))
    return 0


def operations(arguments: argparse.Namespace, context: Context) -> int:
    """A line for each row of the catalogue."""
    from gatewayd.daemon.description import catalogue_of

    listed = catalogue_of(context.config).operations
    documents = [
        {"id": row.id, "kind": row.kind, "method": row.method, "path": row.path, "scopes": row.scopes} for row in listed
    ]
    lines = [(row.id, row.method, row.path, " ".join(row.scopes)) for row in listed]
    print_list(arguments, documents, ("operation", "method", "path", "scopes"), lines)
    return 0
