"""`gatewayd document list` and others: documents of the vault, how far their reading has come, and their index."""

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, walk

if TYPE_CHECKING:
    from gatewayd.store import ReadTx

Json = dict[str, Any]
STATES = ("none", "queued", "running", "succeeded", "failed", "skipped")
LIST_DEFAULT, LIST_MAX = 50, 1_000_000
PAGE = 100
REINDEXED_AT_ONCE = 1_000
COLUMNS = ("id", "name", "type", "bytes", "read", "why", "kind")


def add_commands_to(group: Subparsers) -> None:
    """Add the commands."""
    command = add_command(group, "list", "list the documents at the top, or in a folder", list_documents, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--folder", metavar="ID", help="by default those that lie in none")
    command.add_argument("--recursive", action="store_true", help="also in the folders below that one")
    command.add_argument("--parse-status", choices=STATES, help="whose reading has come so far")
    _add_limit(command)
    command = add_command(group, "failed", "list the documents that could not be read", list_failed, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    _add_limit(command)
    command = add_command(group, "show", "show a document, and the attempts at reading it", show, json=True)
    command.add_argument("id", metavar="ID")
    command = add_command(group, "text", "print the text that was read in a document", text)
    command.add_argument("id", metavar="ID")
    command = add_command(group, "reparse", "read documents anew; a daemon does it", reparse, json=True)
    command.add_argument("id", metavar="ID", nargs="*")
    command.add_argument("--failed", action="store_true", help="all that could not be read, of --org")
    command.add_argument("--org", metavar="ID")
    command = add_command(group, "reindex", "make the index of search anew; a daemon does it", reindex, json=True)
    command.add_argument("--org", metavar="ID", help="by default of all organizations")


def _add_limit(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=LIST_DEFAULT, metavar="N")


def list_documents(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.vault import AREA

    values: Json = {"parseStatus": arguments.parse_status}
    name = "vault.getOrganizationDocuments"
    if arguments.folder is not None:
        name = "vault.getFolderDocuments"
        values |= {"folderId": arguments.folder, "recursive": arguments.recursive}
    elif arguments.recursive:
        raise CommandError("--recursive goes with --folder", 2)
    found = walk(context, arguments.org, operation_of(AREA, name), values, (PAGE, arguments.limit))
    _print(arguments, found)
    return 0


def list_failed(arguments: argparse.Namespace, context: Context) -> int:
    _print(arguments, _failed(context, arguments.org, arguments.limit))
    return 0


def show(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.vault import AREA

    org_id = _organization_of(context, arguments.id)
    values = {"documentId": arguments.id}
    shown = run_operation(context, operation_of(AREA, "vault.getDocument"), org_id, values)
    attempts = operation_of(AREA, "vault.listParseAttempts")
    shown["parseAttempts"] = walk(context, org_id, attempts, values, (PAGE, LIST_DEFAULT))
    if arguments.json or not sys.stdout.isatty():
        print_document(shown)
        return 0
    print("\n".join(f"{name}: {value}" for name, value in shown.items() if not isinstance(value, dict | list)))
    found = shown["extracted"] or {}
    print("\n".join(f"found {name}: {value}" for name, value in found.items() if value is not None))
    names = ("n", "status", "engine", "startedAt", "finishedAt", "errorCode", "errorMessage")
    print_list(arguments, [], names, [_cells(one, names) for one in shown["parseAttempts"]])
    return 0


def text(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.vault.documents import rows
    from gatewayd.areas.vault.parses import texts

    def read(tx: "ReadTx") -> list[str]:
        rows.get(tx, arguments.id)
        return list(texts.text_of(tx, arguments.id))

    found = context.read(read, _organization_of(context, arguments.id))
    if not found:
        raise CommandError("no text has been read in it")
    print("".join(found))
    return 0


def reparse(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.vault import AREA

    if bool(arguments.id) == arguments.failed or arguments.failed != (arguments.org is not None):
        raise CommandError("name documents, or --failed with --org", 2)
    operation = operation_of(AREA, "vault.reparseDocument")
    ids = arguments.id or [one["id"] for one in _failed(context, arguments.org, LIST_MAX)]
    queued = []
    for id_ in ids:
        org_id = arguments.org or _organization_of(context, id_)
        queued.append(run_operation(context, operation, org_id, {"documentId": id_}))
    print_result(arguments, queued, [f"{one['name']} will be read anew." for one in queued])
    if not queued:
        note("there are none that could not be read")
    return 0


def reindex(arguments: argparse.Namespace, context: Context) -> int:
    """In pieces, beside a daemon that serves; what is found meanwhile is what the index had before."""
    from gatewayd.identity.people import organizations

    if arguments.org is None:
        ids = [one.id for one in context.read(organizations.list_all)]
    else:
        ids = [context.read(lambda tx: organizations.get(tx, arguments.org)).id]
    queued = {org_id: _put_all(context, org_id) for org_id in ids}
    documents = sum(queued.values())
    print_result(arguments, queued, [f"{documents} documents will be indexed anew."])
    return 0


def _put_all(context: Context, org_id: str) -> int:
    """How many documents of the organization wait for the index now."""
    from gatewayd.areas.vault.documents import index_queue

    after: str | None = ""
    while after is not None:
        after = context.write(partial(index_queue.put_some, after=after, count=REINDEXED_AT_ONCE), org_id)
    return context.read(lambda tx: len(index_queue.waiting(tx, LIST_MAX)), org_id)


def _failed(context: Context, org_id: str, limit: int) -> list[Json]:
    """The organization's documents that could not be read, the newest first."""
    import msgspec

    from gatewayd.areas.vault.documents import pages
    from gatewayd.contract.wire import encode
    from gatewayd.identity.people import organizations

    def read(tx: "ReadTx") -> list[Json]:
        organizations.get(tx, org_id)
        return [msgspec.json.decode(encode(one), type=Json) for one in pages.failed(tx, limit)]

    return context.read(read, org_id)


def _organization_of(context: Context, document_id: str) -> str:
    from gatewayd.areas.vault.documents.rows import DOCUMENTS

    return context.read(lambda tx: DOCUMENTS.organization_of(tx, document_id))


def _print(arguments: argparse.Namespace, found: list[Json]) -> None:
    names = ("id", "name", "mimeType", "sizeBytes")
    rows = [
        (
            *_cells(one, names),
            one["parse"]["status"],
            one["parse"]["errorCode"] or "",
            "" if one["extracted"] is None else one["extracted"]["kind"],
        )
        for one in found
    ]
    print_list(arguments, found, COLUMNS, rows)


def _cells(one: Json, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("" if one[name] is None else str(one[name]) for name in names)
