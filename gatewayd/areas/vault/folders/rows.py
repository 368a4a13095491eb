"""Folders as they are stored: a tree in one table. Owns the table `vault_folders`.

An organization has at most `MAX_FOLDERS`, so that the whole tree can be looked at at once.
"""

from collections import defaultdict
from typing import Final, NamedTuple

from gatewayd.areas.vault.folders.shapes import Folder, FolderRow
from gatewayd.areas.vault.names import name_key
from gatewayd.contract.wire import project
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, RemovableTable, WriteTx

MAX_FOLDERS: Final = 10_000  # Chosen
MAX_DEPTH: Final = 32  # Domain A7

FOLDERS = RemovableTable(
    "vault_folders",
    FolderRow,
    kind="folder",
    prefix="fld",
    written={"name_key": lambda row: name_key(row.name)},
)
_SELECT_TREE = "SELECT id, parent_id, name FROM vault_folders WHERE org_id = :org_id"
_SELECT_ALL = f"{FOLDERS.select} ORDER BY id"
_TOUCH = "UPDATE vault_folders SET updated_at = :updated_at WHERE org_id = :org_id AND id = :id"
_COUNT = "SELECT count(id) FROM vault_folders WHERE org_id = :org_id"
_SELECT_NAMED = """
SELECT id FROM vault_folders
WHERE org_id = :org_id AND coalesce(parent_id, '') = :of AND name_key = :name_key AND id <> :id
"""
_COUNT_DOCUMENTS = """
SELECT folder_id, count(id) FROM vault_documents
WHERE org_id = :org_id AND status <> 'deleted' AND folder_id IS NOT NULL GROUP BY folder_id
"""


class Place(NamedTuple):
    """Where a folder is: its path from the top, and how deep."""

    path: str
    depth: int


class Tree:
    """All folders of an organization, by their ids."""

    def __init__(self, tx: ReadTx) -> None:
        self._of: dict[str, tuple[str | None, str]] = {}
        self._in: dict[str | None, list[str]] = defaultdict(list)
        for id_, parent_id, name in tx.rows(_SELECT_TREE):
            self._of[id_] = (parent_id, name)
            self._in[parent_id].append(id_)
        self._places: dict[str, Place] = {}

    def place(self, folder_id: str) -> Place:
        """Where a folder of the tree is."""
        place = self._places.get(folder_id)
        if place is None:
            parent_id, name = self._of[folder_id]
            above = Place("", 0) if parent_id is None else self.place(parent_id)
            place = self._places[folder_id] = Place(f"{above.path}/{name}", above.depth + 1)
        return place

    def inside(self, folder_id: str | None) -> list[str]:
        """The folders in a folder; None: at the top."""
        return self._in[folder_id]

    def below(self, folder_id: str) -> list[str]:
        """A folder and all below it, each before what lies in it."""
        ids = [folder_id]
        for id_ in ids:
            ids += self._in[id_]
        return ids

    def height(self, folder_id: str) -> int:
        """How many levels a folder and what is below it have."""
        top = self.place(folder_id).depth
        return 1 + max(self.place(id_).depth for id_ in self.below(folder_id)) - top


def every(tx: ReadTx) -> list[FolderRow]:
    """All folders of the organization, oldest first."""
    return [FOLDERS.read(tx, row) for row in tx.rows(_SELECT_ALL)]


def document_counts(tx: ReadTx) -> dict[str, int]:
    """How many documents lie in each folder itself."""
    return dict(tx.rows(_COUNT_DOCUMENTS))


def shown(tree: Tree, row: FolderRow, counts: dict[str, int] | None = None) -> Folder:
    """The folder as it is answered."""
    place = tree.place(row.id)
    return project(
        row,
        Folder,
        path=place.path,
        depth=place.depth,
        document_count=None if counts is None else counts.get(row.id, 0),
        folder_count=None if counts is None else len(tree.inside(row.id)),
        total_document_count=None if counts is None else sum(counts.get(id_, 0) for id_ in tree.below(row.id)),
    )


def named(tx: ReadTx, parent_id: str | None, name: str, but: str = "") -> str | None:
    """The folder of that name, in any letter case, in another or at the top; `but` is one that is not meant."""
    folder_id: str | None = tx.value(_SELECT_NAMED, of=parent_id or "", name_key=name_key(name), id=but)
    return folder_id


def refuse_taken(tx: ReadTx, row: FolderRow) -> None:
    """Raises `Problem` `name_taken` where another folder beside it has the name, in any letter case."""
    existing_id = named(tx, row.parent_id, row.name, row.id)
    if existing_id is not None:
        message = f"A folder of that name is there, {existing_id}: give another name."
        raise Problem("name_taken", message, extra={"existingId": existing_id, "field": "name"})


def add(tx: WriteTx, row: FolderRow) -> FolderRow:
    """Store a new folder. Raises `Problem`: `already_exists`, `limit_reached`, `name_taken`."""
    if tx.value(_COUNT) >= MAX_FOLDERS:
        message = f"An organization has at most {MAX_FOLDERS} folders."
        raise Problem("limit_reached", message, extra={"limit": MAX_FOLDERS})
    FOLDERS.refuse_taken(tx, row.external_id)
    refuse_taken(tx, row)
    return FOLDERS.insert(tx, row)


def change(tx: WriteTx, row: FolderRow) -> FolderRow:
    """Store what a folder has become. Raises `Problem` `name_taken`.

    Who follows changes learns that what lies below it has another path.
    """
    refuse_taken(tx, row)
    changed = FOLDERS.update(tx, row)
    _, *below = Tree(tx).below(row.id)
    tx.run_each(_TOUCH, [(tx.updated_at, tx.org_id, id_) for id_ in below])
    return changed


def delete(tx: WriteTx, folder_ids: list[str]) -> None:
    """Delete folders that hold no documents; what lies in another comes behind it."""
    for id_ in reversed(folder_ids):
        FOLDERS.delete(tx, id_)
