"""`gatewayd document`: documents of the vault, their import, how far their reading has come, and their index."""

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, walk

if TYPE_CHECKING:
    from gatewayd.store import ReadTx
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gatewayd.cli.progress import Progress
from gatewayd.cli.run_operation import operator_of

if TYPE_CHECKING:
    from gatewayd.areas.vault import Settings
    from gatewayd.store import ReadTx, Store
    from gatewayd.vault_files.filing import Filed

SHOWN = 20  # files that were refused, on a terminal
Json = dict[str, Any]
STATES = ("none", "queued", "running", "succeeded", "failed", "skipped")
LIST_DEFAULT, LIST_MAX = 50, 1_000_000
PAGE = 100
REINDEXED_AT_ONCE = 1_000
COLUMNS = ("id", "name", "type", "bytes", "read", "why", "kind")


class _Amount(NamedTuple):
    """How many files there are, and how many bytes."""

    files: int
    size_bytes: int


def add_command_to(group: Subparsers) -> None:
    """Add the command to those of documents."""
    help_text = "bring a file, or those of a folder, into the vault; what is there already is not taken twice"
    command = add_command(group, "import", help_text, import_folder, json=True)
    command.add_argument("path", metavar="PATH", type=Path)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--folder", metavar="ID", help="of the vault, to put them in; at the top by default")


def import_folder(arguments: argparse.Namespace, context: Context) -> int:
    """Beside a daemon or without one. Killed, it is run again: what was filed until then is known."""
    from gatewayd.store.files.at_place import blobs_at
    from gatewayd.vault_files import places
    from gatewayd.vault_files.filing import Filing

    path, org_id = arguments.path, arguments.org
    _refuse_own_data(path, context.store_settings.directory)
    outcomes: list[Filed] = []

    async def work(store: "Store") -> None:
        await store.read(lambda tx: _require_place(tx, org_id, arguments.folder), org_id)
        await places.claim(store)
        filing = Filing(store, blobs_at(store.place), _settings(context))
        amount = await filing.run(_count, path)
        with Progress(sys.stderr, amount.files, amount.size_bytes) as progress:

            def tell(filed: "Filed") -> None:
                outcomes.append(filed)
                progress.advance(filed.size_bytes, filed.path)

            await filing.file_tree(operator_of(org_id), path, arguments.folder, tell)

    try:
        context.run(work)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    print_result(arguments, _document(outcomes), _summary_lines(outcomes))
    return 0


def _settings(context: Context) -> "Settings":
    from gatewayd.areas import vault

    config = context.config
    return vault.Settings(config.server.public_url, config.vault.max_upload_bytes, config.vault.organization_bytes)


def _refuse_own_data(path: Path, data: Path) -> None:
    """Raises `CommandError` where documents would be read from the data directory, or the other way round."""
    resolved, own = path.resolve(), data.resolve()
    if resolved == own or own in resolved.parents or resolved in own.parents:
        raise CommandError(f"{path} and the data directory {data} lie in each other")


def _require_place(tx: "ReadTx", org_id: str, folder_id: str | None) -> None:
    """Raises `Problem` `not_found`."""
    from gatewayd.areas.vault.folders.rows import FOLDERS
    from gatewayd.identity.people import organizations

    organizations.get(tx, org_id)
    if folder_id is not None:
        FOLDERS.get(tx, folder_id)


def _count(path: Path) -> _Amount:
    from gatewayd.vault_files.found_files import FoundFile, walk

    sizes = [file.identity.size_bytes for file in walk(path) if isinstance(file, FoundFile)]
    return _Amount(len(sizes), sum(sizes))


def _document(outcomes: "list[Filed]") -> dict[str, Any]:
    return {
        "added": _number(outcomes, "added"),
        "known": _number(outcomes, "known"),
        "refused": [
            {"path": outcome.path, "reason": outcome.reason} for outcome in outcomes if outcome.outcome == "refused"
        ],
        "bytes": sum(outcome.size_bytes for outcome in outcomes if outcome.outcome == "added"),
    }


def _summary_lines(outcomes: "list[Filed]") -> list[str]:
    told = _document(outcomes)
    refused = told["refused"]
    lines = [f"{told['added']} added, {told['known']} there already, {len(refused)} refused."]
    lines += [f"  {refusal['path']}: {refusal['reason']}" for refusal in refused[:SHOWN]]
    return [*lines, *([f"  and {len(refused) - SHOWN} more"] if len(refused) > SHOWN else [])]


def _number(outcomes: "list[Filed]", outcome: str) -> int:
    return sum(filed.outcome == outcome for filed in outcomes)


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
    documents = walk(context, arguments.org, operation_of(AREA, name), values, (PAGE, arguments.limit))
    _print(arguments, documents)
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
    extracted = shown["extracted"] or {}
    print("\n".join(f"found {name}: {value}" for name, value in extracted.items() if value is not None))
    names = ("n", "status", "engine", "startedAt", "finishedAt", "errorCode", "errorMessage")
    print_list(arguments, [], names, [_cells(attempt, names) for attempt in shown["parseAttempts"]])
    return 0


def text(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.vault.documents import rows
    from gatewayd.areas.vault.parses import texts

    def read(tx: "ReadTx") -> list[str]:
        rows.get(tx, arguments.id)
        return list(texts.text_of(tx, arguments.id))

    passages = context.read(read, _organization_of(context, arguments.id))
    if not passages:
        raise CommandError("no text has been read in it")
    print("".join(passages))
    return 0


def reparse(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.vault import AREA

    if bool(arguments.id) == arguments.failed or arguments.failed != (arguments.org is not None):
        raise CommandError("name documents, or --failed with --org", 2)
    operation = operation_of(AREA, "vault.reparseDocument")
    ids = arguments.id or [document["id"] for document in _failed(context, arguments.org, LIST_MAX)]
    queued = []
    for id_ in ids:
        org_id = arguments.org or _organization_of(context, id_)
        queued.append(run_operation(context, operation, org_id, {"documentId": id_}))
    print_result(arguments, queued, [f"{document['name']} will be read anew." for document in queued])
    if not queued:
        note("there are none that could not be read")
    return 0


def reindex(arguments: argparse.Namespace, context: Context) -> int:
    """In pieces, beside a daemon that serves; what is found meanwhile is what the index had before."""
    from gatewayd.identity.people import organizations

    if arguments.org is None:
        ids = [organization.id for organization in context.read(organizations.list_all)]
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
        return [msgspec.json.decode(encode(document), type=Json) for document in pages.failed(tx, limit)]

    return context.read(read, org_id)


def _organization_of(context: Context, document_id: str) -> str:
    from gatewayd.areas.vault.documents.rows import DOCUMENTS

    return context.read(lambda tx: DOCUMENTS.organization_of(tx, document_id))


def _print(arguments: argparse.Namespace, documents: list[Json]) -> None:
    names = ("id", "name", "mimeType", "sizeBytes")
    rows = [
        (
            *_cells(document, names),
            document["parse"]["status"],
            document["parse"]["errorCode"] or "",
            "" if document["extracted"] is None else document["extracted"]["kind"],
        )
        for document in documents
    ]
    print_list(arguments, documents, COLUMNS, rows)


def _cells(row: Json, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("" if row[name] is None else str(row[name]) for name in names)


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of documents."""
    group = add_group(subparsers, "document", "documents of the vault")
    add_commands_to(group)
    add_command_to(group)
