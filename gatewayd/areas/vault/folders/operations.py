"""The folder resource (Spec §4, Domain A7 and B7): its operations."""

import itertools
from collections.abc import Iterator

from msgspec.structs import replace

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.folders import rows
from gatewayd.areas.vault.folders.rows import FOLDERS, MAX_DEPTH, Tree
from gatewayd.areas.vault.folders.shapes import (
    CreateFolder,
    DeletedFolder,
    DeleteFolder,
    Folder,
    FolderRow,
    GetFolder,
    GetFolders,
    UpdateFolderName,
    UpdateFolderParent,
)
from gatewayd.areas.vault.names import TOP
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, Problem, invalid
from gatewayd.ledger.lists import Changed, changes_page, start_of_changes
from gatewayd.ledger.references import Reference, unknown
from gatewayd.store import ReadTx, WriteTx


def get_folders(tx: ReadTx, caller: Caller, request: GetFolders) -> Listing[Folder]:
    """List folders: those in a folder, at the top, or all.

    By path, or in the order of change with `updatedSince`. With `includeCounts` each tells how many documents and
    folders it holds.
    """
    tree = Tree(tx)
    counts = rows.document_counts(tx) if request.include_counts else None
    parent_id = None if request.parent_id == TOP else request.parent_id
    if parent_id is not None:
        FOLDERS.get(tx, parent_id)
    folders = [
        rows.shown(tree, row, counts)
        for row in rows.every(tx)
        if (request.parent_id is None or row.parent_id == parent_id) and request.external_id in (None, row.external_id)
    ]
    if request.updated_since is not None:
        start = start_of_changes(tx, request, FOLDERS.name)
        changed = sorted(Changed(folder.updated_at, folder.id, encode(folder)) for folder in folders)
        behind = (change for change in changed if change[:2] > start)
        return changes_page(tx, request, FOLDERS.name, start, itertools.islice(behind, request.limit + 1))
    folders.sort(key=_by_path)
    after = cursor_key(request, str)
    if after is not None:
        ids = [folder.id for folder in folders]
        if after[0] not in ids:
            raise Problem("invalid_cursor", "The folder behind which the page begins is gone: begin anew.")
        del folders[: ids.index(after[0]) + 1]
    page, more = fill(iter(folders[: request.limit + 1]), request.limit, lambda folder: len(encode(folder)))
    return Listing.of([encode(folder) for folder in page], next_cursor(request, (page[-1].id,)) if more else None)


def get_folder(tx: ReadTx, caller: Caller, request: GetFolder) -> Folder:
    """Get one folder. With `includeCounts` it tells how many documents and folders it holds."""
    row = FOLDERS.get(tx, request.folder_id)
    return rows.shown(Tree(tx), row, rows.document_counts(tx) if request.include_counts else None)


def create_folder(tx: WriteTx, caller: Caller, request: CreateFolder) -> Folder:
    """Create a folder in another, or at the top.

    A name is taken once in a folder, whatever its letter case. Folders lie at most 32 deep in each other.
    """
    _refuse_unknown(tx, request.parent_id)
    if errors := [*_depth_mistakes(Tree(tx), request.parent_id, 1)]:
        raise invalid(*errors)
    row = rows.add(tx, FOLDERS.new(tx, request, created_by=caller.reference))
    return rows.shown(Tree(tx), row)


def update_folder_name(tx: WriteTx, caller: Caller, request: UpdateFolderName) -> Folder:
    """Rename a folder."""
    before = FOLDERS.get(tx, request.folder_id, request.expected_version)
    return _changed(tx, before, replace(before, name=request.name))


def update_folder_parent(tx: WriteTx, caller: Caller, request: UpdateFolderParent) -> Folder:
    """Move a folder with all that is in it into another, or to the top. It cannot lie in itself."""
    before = FOLDERS.get(tx, request.folder_id, request.expected_version)
    _refuse_unknown(tx, request.parent_id)
    tree = Tree(tx)
    if _is_cycle(tree, before.id, request.parent_id):
        raise Problem("folder_cycle", "A folder cannot lie in itself, or in one that lies in it: choose another.")
    if errors := [*_depth_mistakes(tree, request.parent_id, tree.height(before.id))]:
        raise invalid(*errors)
    return _changed(tx, before, replace(before, parent_id=request.parent_id))


def delete_folder(tx: WriteTx, caller: Caller, request: DeleteFolder) -> DeletedFolder:
    """Delete a folder with all that is in it: its documents go to the trash, from where they can be restored.

    With `expectedCount` nothing is deleted where another number of documents would go.
    """
    row = FOLDERS.get(tx, request.folder_id, request.expected_version)
    below = Tree(tx).below(row.id)
    inside = documents.ids_in(tx, below)
    if request.expected_count not in (None, len(inside)):
        message = f"It holds {len(inside)} documents, and not {request.expected_count}."
        raise Problem("count_mismatch", message, extra={"count": len(inside)})
    documents.trash(tx, inside)
    documents.leave_folders(tx, below)
    rows.delete(tx, below)
    return DeletedFolder(id=row.id, deleted_folders=len(below), deleted_documents=len(inside))


def _changed(tx: WriteTx, before: FolderRow, after: FolderRow) -> Folder:
    if after != before:
        after = rows.change(tx, after)
    return rows.shown(Tree(tx), after)


def _refuse_unknown(tx: ReadTx, parent_id: str | None) -> None:
    if errors := [*unknown(tx, [Reference("parentId", "folder", parent_id)])]:
        raise invalid(*errors)


def _depth_mistakes(tree: Tree, parent_id: str | None, height: int) -> Iterator[FieldError]:
    """What is wrong where folders of so many levels lie in another; None: at the top."""
    above = 0 if parent_id is None else tree.place(parent_id).depth
    if above + height > MAX_DEPTH:
        yield FieldError("parentId", "out_of_range", f"Folders lie at most {MAX_DEPTH} deep in each other.")


def _is_cycle(tree: Tree, folder_id: str, parent_id: str | None) -> bool:
    """Whether a folder would lie in itself."""
    return parent_id is not None and parent_id in tree.below(folder_id)


def _by_path(folder: Folder) -> str:
    """Folders come by path, and what lies in one comes right behind it."""
    return folder.path.casefold().replace("/", "\x01")


OPERATIONS = (
    Operation(
        id="vault.getFolders",
        kind="read",
        method="GET",
        path="/vault/folders",
        scopes=("vault:read",),
        request=GetFolders,
        response=SyncPage[Folder],
        handler=get_folders,
        example={"parentId": "root", "includeCounts": True},
    ),
    Operation(
        id="vault.getFolder",
        kind="read",
        method="GET",
        path="/vault/folders/:folderId",
        scopes=("vault:read",),
        request=GetFolder,
        response=Folder,
        handler=get_folder,
        extension=True,
        example={"folderId": "fld_01k0000000000000000000000a", "includeCounts": True},
    ),
    Operation(
        id="vault.createFolder",
        kind="write",
        method="POST",
        path="/vault/folders",
        scopes=("vault:write",),
        request=CreateFolder,
        response=Folder,
        handler=create_folder,
        errors=("already_exists", "limit_reached", "name_taken"),
        example={"name": "Timber", "parentId": "fld_01k0000000000000000000000a"},
    ),
    Operation(
        id="vault.updateFolderName",
        kind="write",
        method="PATCH",
        path="/vault/folders/:folderId/name",
        scopes=("vault:write",),
        request=UpdateFolderName,
        response=Folder,
        handler=update_folder_name,
        errors=("name_taken", "version_conflict"),
        example={"folderId": "fld_01k0000000000000000000000a", "name": "Suppliers 2026"},
    ),
    Operation(
        id="vault.updateFolderParent",
        kind="write",
        method="PATCH",
        path="/vault/folders/:folderId/parent",
        scopes=("vault:write",),
        request=UpdateFolderParent,
        response=Folder,
        handler=update_folder_parent,
        errors=("folder_cycle", "name_taken", "version_conflict"),
        example={"folderId": "fld_01k0000000000000000000000a", "parentId": None},
    ),
    Operation(
        id="vault.deleteFolder",
        kind="write",
        method="DELETE",
        path="/vault/folders/:folderId",
        scopes=("vault:write",),
        request=DeleteFolder,
        response=DeletedFolder,
        handler=delete_folder,
        errors=("count_mismatch", "version_conflict"),
        example={"folderId": "fld_01k0000000000000000000000a", "expectedCount": 1},
    ),
)
