"""`gatewayd document import`: a file or folder of this machine comes into the vault, with the folders in it."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.progress import Progress
from gatewayd.cli.run_operation import operator_of

if TYPE_CHECKING:
    from gatewayd.areas.vault import Settings
    from gatewayd.store import ReadTx, Store
    from gatewayd.vault_files.filing import Filed

SHOWN = 20  # files that were refused, on a terminal


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
    from gatewayd.store.files.blobs import Blobs
    from gatewayd.vault_files.filing import Filing

    path, org_id = arguments.path, arguments.org
    _refuse_own_data(path, context.store_settings.directory)
    outcomes: list[Filed] = []

    async def work(store: "Store") -> None:
        await store.read(lambda tx: _require_place(tx, org_id, arguments.folder), org_id)
        filing = Filing(store, Blobs(store.directory), _settings(context))
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
    print_result(arguments, _document(outcomes), _lines(outcomes))
    return 0


def _settings(context: Context) -> "Settings":
    from gatewayd.areas import vault

    config = context.config
    return vault.Settings(config.server.public_url, config.vault.max_upload_bytes, config.vault.organization_bytes)


def _refuse_own_data(path: Path, data: Path) -> None:
    """The database is no document of itself."""
    found, own = path.resolve(), data.resolve()
    if found == own or own in found.parents or found in own.parents:
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

    sizes = [found.identity.size_bytes for found in walk(path) if isinstance(found, FoundFile)]
    return _Amount(len(sizes), sum(sizes))


def _document(outcomes: "list[Filed]") -> dict[str, Any]:
    return {
        "added": _number(outcomes, "added"),
        "known": _number(outcomes, "known"),
        "refused": [{"path": one.path, "reason": one.reason} for one in outcomes if one.outcome == "refused"],
        "bytes": sum(one.size_bytes for one in outcomes if one.outcome == "added"),
    }


def _lines(outcomes: "list[Filed]") -> list[str]:
    told = _document(outcomes)
    refused = told["refused"]
    lines = [f"{told['added']} added, {told['known']} there already, {len(refused)} refused."]
    lines += [f"  {one['path']}: {one['reason']}" for one in refused[:SHOWN]]
    return [*lines, *([f"  and {len(refused) - SHOWN} more"] if len(refused) > SHOWN else [])]


def _number(outcomes: "list[Filed]", outcome: str) -> int:
    return sum(one.outcome == outcome for one in outcomes)
