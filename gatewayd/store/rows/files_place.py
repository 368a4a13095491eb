"""The place of documents' bytes that these rows name, where several daemons share it. Owns `files_place`."""

from typing import Final, NamedTuple

from gatewayd.clock import Instant
from gatewayd.store.transactions import ReadTx, WriteTx

_SELECT: Final = "SELECT mark, marked_at FROM files_place WHERE id = 1"
_INSERT: Final = """
INSERT INTO files_place (id, mark, marked_at) VALUES (1, :mark, NULL) ON CONFLICT (id) DO NOTHING
"""
_MARKED: Final = "UPDATE files_place SET marked_at = :now WHERE id = 1"


class NamedPlace(NamedTuple):
    """What the file in the place says. `marked_at` None: it may not be there yet."""

    mark: str
    marked_at: Instant | None


def find(tx: ReadTx) -> NamedPlace | None:
    """The place; None: the bytes lie in the data directory of one daemon, or nowhere yet."""
    row = tx.row(_SELECT)
    return None if row is None else NamedPlace(row[0], None if row[1] is None else Instant(row[1]))


def name(tx: WriteTx, mark: str) -> NamedPlace:
    """Name the place, unless another daemon did; answers what it is called then."""
    tx.run(_INSERT, mark=mark)
    named = find(tx)
    assert named is not None, "inserted"
    return named


def note_marked(tx: WriteTx) -> None:
    """The file in the place is durable: from now on it has to be there."""
    tx.run(_MARKED)
