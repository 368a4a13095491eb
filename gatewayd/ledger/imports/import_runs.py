"""Runs of imports as they are stored, what of them is listed, and how files with the same headings were read.

Owns the tables `import_runs`, `csv_mappings` and `hidden_imports`. Areas have what is staged for a run, and what it
brings.

A large import is written in many short transactions, and its rows appear, or are gone, all at once: with the row that
is kept here for so long. Every statement that reads bank transactions says `VISIBLE`, by whatever it finds them.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from gatewayd.clock import Instant
from gatewayd.contract.pages import Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode, project
from gatewayd.errors import not_found
from gatewayd.ledger.imports.import_shapes import (
    ImportKind,
    ImportRun,
    ImportRunRow,
    ListImportRows,
    ListImports,
    MappingProposal,
    Stage,
)
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.statements.shapes import Mapping
from gatewayd.store import ReadTx, RemovableTable, Row, WriteTx

SAME_FILES_MAX: Final = 100  # Chosen: accounts that one file was imported into

RUNS = RemovableTable(
    "import_runs",
    ImportRunRow,
    kind="import",
    prefix="imp",
    derived={  # of an answer alone
        "first_imported_at": lambda _, row: row.first_imported_at,
        "undoing": lambda _, row: row.undoing,
    },
)

_WHOLE = """
sha256 = :sha256 AND status = 'applied'
    AND NOT EXISTS (
        SELECT 1 FROM import_runs AS others
        WHERE others.org_id = :org_id AND others.account_id = import_runs.account_id
            AND others.reverted_at >= import_runs.applied_at
    )
"""
_SELECT_SAME_FILE = f"{RUNS.select} AND account_id = :account_id AND {_WHOLE} ORDER BY id DESC LIMIT 1"
_SELECT_SAME_FILE_ANYWHERE = f"{RUNS.select} AND kind = :kind AND {_WHOLE} ORDER BY id DESC LIMIT :count"
_SELECT_ASKED = f"""
{RUNS.select} AND account_id = :account_id AND sha256 = :sha256 AND proposal IS NOT NULL ORDER BY id DESC LIMIT 1
"""
_SELECT_AT_WORK = f"{RUNS.select} AND account_id = :account_id AND stage IS NOT NULL"
_LIST_AT_WORK_ANY_ORG = """
SELECT o.name, r.kind, r.stage, r.updated_at FROM import_runs r JOIN organizations o ON o.id = r.org_id
WHERE r.stage IS NOT NULL ORDER BY r.org_id, r.account_id LIMIT :count
"""
_SELECT_READING_ANY_ORG = "SELECT 1 FROM import_runs WHERE id = :id AND stage = 'reading'"
_SELECT_AT_WORK_ANY_ORG = """
SELECT org_id, account_id, id FROM import_runs WHERE stage IS NOT NULL ORDER BY id LIMIT :count
"""
_SELECT_FORGOTTEN_ANY_ORG = """
SELECT org_id, id FROM import_runs
WHERE moved_to IS NOT NULL AND stage IS NULL AND status <> 'previewed' AND status <> 'uploaded'
ORDER BY id LIMIT :count
"""
_SELECT_LATEST = """
SELECT id, applied_at FROM import_runs
WHERE org_id = :org_id AND account_id = :account_id AND status = 'applied' AND id <> :except_id
ORDER BY id DESC LIMIT 1
"""
_SELECT_STATUS = "SELECT status FROM import_runs WHERE org_id = :org_id AND id = :id"
_EXPIRE_ANY_ORG = """
UPDATE import_runs SET status = 'failed', error = :error, updated_at = :updated_at, version = version + 1
WHERE id IN (
    SELECT id FROM import_runs
    WHERE moved_to IS NOT NULL AND stage IS NULL AND (status = 'previewed' OR status = 'uploaded')
        AND updated_at < :before
    ORDER BY id LIMIT :count
)
"""
_COUNT = "SELECT count(id) FROM import_runs WHERE org_id = :org_id AND account_id = :account_id"
_NOTE_MOVED = "UPDATE import_runs SET moved_to = :moved_to WHERE org_id = :org_id AND id = :id"
_SELECT_MAPPING = "SELECT mapping FROM csv_mappings WHERE org_id = :org_id AND headings = :headings"
_LEARN = """
INSERT INTO csv_mappings (org_id, headings, mapping, updated_at) VALUES (:org_id, :headings, :mapping, :now)
ON CONFLICT (org_id, headings) DO UPDATE SET mapping = :mapping, updated_at = :now
"""


# -- runs
_OF_ACTION = " AND action = :action"
_IN_ORDER = " ORDER BY position LIMIT :count"
VISIBLE: Final = (
    "NOT EXISTS (SELECT 1 FROM hidden_imports AS hidden"
    " WHERE hidden.org_id = :org_id AND hidden.import_id = bank_transactions.import_id)"
)
"""The condition on `bank_transactions`."""

VISIBLE_LINES: Final = VISIBLE.replace("bank_transactions.", "lines.")
"""The same on `bank_transactions AS lines`."""

_HIDE = "INSERT INTO hidden_imports (org_id, import_id, since) VALUES (:org_id, :import_id, :since)"
_SELECT_OLDEST_HIDDEN = "SELECT min(since) FROM hidden_imports WHERE org_id = :org_id"
_SELECT_HIDDEN = "SELECT 1 FROM hidden_imports WHERE org_id = :org_id AND import_id = :import_id"
_SHOW = "DELETE FROM hidden_imports WHERE org_id = :org_id AND import_id = :import_id"


class ImportAtWork(NamedTuple):
    """A file that is worked at. `organization` is its name, `since` when its row was last written."""

    organization: str
    kind: ImportKind
    stage: Stage
    since: Instant


def list_at_work(tx: ReadTx, count: int) -> list[ImportAtWork]:
    """The first that are worked at, of whichever organization."""
    rows = tx.rows(_LIST_AT_WORK_ANY_ORG, count=count)
    return [ImportAtWork(name, kind, stage, Instant(since)) for name, kind, stage, since in rows]


def shown(row: ImportRunRow) -> ImportRun:
    """The run as it is answered."""
    return project(row, ImportRun)


def item(row: ImportRunRow) -> bytes:
    """The JSON of a run."""
    wire: bytes = encode(shown(row))
    return wire


def same_file(tx: ReadTx, account_id: str, sha256: str) -> ImportRunRow | None:
    """The run that brought the same file into the account, if all of it is still there.

    Where an import was undone since, lines may be gone that the run took for duplicates: the file then comes anew.
    """
    row = tx.row(_SELECT_SAME_FILE, account_id=account_id, sha256=sha256)
    return None if row is None else RUNS.read(tx, row)


def same_file_anywhere(tx: ReadTx, kind: ImportKind, sha256: str) -> list[ImportRunRow]:
    """The runs that brought the same file into any account, latest first, as `same_file`."""
    rows = tx.rows(_SELECT_SAME_FILE_ANYWHERE, kind=kind, sha256=sha256, count=SAME_FILES_MAX)
    return [RUNS.read(tx, row) for row in rows]


def again(former: ImportRunRow) -> ImportRunRow:
    """The answer to a file that a run has brought already: nothing is added by it."""
    there = former.added + former.duplicates + former.replaced
    return replace(former, added=0, replaced=0, duplicates=there, first_imported_at=former.applied_at)


def asked_of(tx: ReadTx, account_id: str, sha256: str) -> MappingProposal | None:
    """What was asked when the same file came without a mapping."""
    row = tx.row(_SELECT_ASKED, account_id=account_id, sha256=sha256)
    return None if row is None else RUNS.read(tx, row).proposal


def at_work(tx: ReadTx, account_id: str) -> ImportRunRow | None:
    """The run that a process works on, or worked on when it was ended."""
    row = tx.row(_SELECT_AT_WORK, account_id=account_id)
    return None if row is None else RUNS.read(tx, row)


def all_at_work(tx: ReadTx, count: int) -> list[tuple[str, str, str]]:
    """Organization, account and id of runs of the whole instance that are worked on, or were."""
    return [(row[0], row[1], row[2]) for row in tx.rows(_SELECT_AT_WORK_ANY_ORG, count=count)]


def is_being_read(tx: ReadTx, id_: str) -> bool:
    """Whether the file of a run, of whichever organization, is being read."""
    return tx.row(_SELECT_READING_ANY_ORG, id=id_) is not None


def to_forget(tx: ReadTx, count: int) -> list[tuple[str, str]]:
    """Organization and id of runs of the whole instance whose staged rows nobody needs any more."""
    return [(row[0], row[1]) for row in tx.rows(_SELECT_FORGOTTEN_ANY_ORG, count=count)]


def latest(tx: ReadTx, account_id: str, except_id: str) -> tuple[str | None, int | None]:
    """Id and instant of the account's last applied run, but for one."""
    row = tx.row(_SELECT_LATEST, account_id=account_id, except_id=except_id)
    return (None, None) if row is None else (row[0], row[1])


def status_of(tx: ReadTx, import_id: str) -> str | None:
    """The status of a run; None where there is none."""
    status: str | None = tx.value(_SELECT_STATUS, id=import_id)
    return status


def is_only_one(tx: ReadTx, account_id: str) -> bool:
    """Whether the account has one run and no more."""
    return int(tx.value(_COUNT, account_id=account_id)) == 1


def delete(tx: WriteTx, import_id: str) -> None:
    """Delete a run that has no staged rows and no statements."""
    RUNS.delete(tx, import_id)


def expire(tx: WriteTx, before: int, error: str, count: int) -> int:
    """Give up what was left alone since `before`: previews, and files for new accounts that wait for a mapping.

    Answers how many.
    """
    return tx.run(_EXPIRE_ANY_ORG, before=before, error=error, count=count, updated_at=tx.updated_at)


def note_moved(tx: WriteTx, import_id: str, moved_to: int | None) -> None:
    """Write down how far staged rows were moved; None: none are left."""
    tx.run(_NOTE_MOVED, id=import_id, moved_to=moved_to)


# -- mappings


def learned(tx: ReadTx, kind: ImportKind, headings: Sequence[str]) -> Mapping | None:
    """How a file with these headings was read before; None without any, for columns of numbers are of one bank."""
    if not headings:
        return None
    mapping = tx.value(_SELECT_MAPPING, headings=_key(kind, headings))
    return None if mapping is None else msgspec.json.decode(mapping, type=Mapping)


def learn(tx: WriteTx, kind: ImportKind, headings: Sequence[str], mapping: Mapping) -> None:
    """Remember how a file with these headings was read, where it has any."""
    if headings:
        tx.run(_LEARN, headings=_key(kind, headings), mapping=msgspec.json.encode(mapping).decode())


def _key(kind: ImportKind, headings: Sequence[str]) -> str:
    """What stands for the headings: those of banks by themselves, as they were kept before there were others."""
    named = [heading.strip().casefold() for heading in headings]
    return hashlib.sha256("\n".join(named if kind == "bank" else [kind, "", *named]).encode()).hexdigest()


def runs_page(tx: ReadTx, kind: ImportKind, request: ListImports) -> Listing[ImportRun]:
    """One page of the runs of a kind, newest first, or in the order of change with `updatedSince`."""
    filters = {
        "kind = :kind": kind,
        "account_id = :account_id": request.account_id,
        "status = :status": request.status,
    }
    return sync_page(tx, request, Source(RUNS, [RUNS.select]), filters, lambda row: item(RUNS.read(tx, row)))


def run_of(tx: ReadTx, kind: ImportKind, import_id: str) -> ImportRunRow:
    """The run, if it is of this kind. Raises `Problem` `not_found`."""
    run = RUNS.get(tx, import_id)
    if run.kind != kind:
        raise not_found(RUNS.kind)
    return run


def rows_page(
    tx: ReadTx, request: ListImportRows, select: str, position: int, row_item: Callable[[Row], bytes]
) -> Listing[Any]:
    """One page of the staged rows of a run, in the order of the file.

    `select` ends in `position > :after`, and has the position in the column of that number.
    """
    key = cursor_key(request, int)
    sql = select + (_IN_ORDER if request.action is None else _OF_ACTION + _IN_ORDER)
    values = {} if request.action is None else {"action": request.action}
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(row_item(row))
        return len(items[-1])

    after = 0 if key is None else key[0]
    rows = tx.each(sql, import_id=request.import_id, after=after, count=request.limit + 1, **values)
    taken, more = fill(rows, request.limit, size)
    cursor = next_cursor(request, (taken[-1][position],)) if more else None
    return Listing.of(items[: len(taken)], cursor)


def hide(tx: WriteTx, import_id: str) -> None:
    """Hide what the import brought and will bring."""
    tx.run(_HIDE, import_id=import_id, since=tx.updated_at)


def oldest_hidden(tx: ReadTx) -> int | None:
    """The least `updated_at` that a row may bear that is hidden still; None: nothing is hidden."""
    oldest: int | None = tx.value(_SELECT_OLDEST_HIDDEN)
    return oldest


def is_hidden(tx: ReadTx, import_id: str) -> bool:
    """Whether it is hidden."""
    return tx.row(_SELECT_HIDDEN, import_id=import_id) is not None


def show(tx: WriteTx, import_id: str) -> None:
    """Show it, all at once."""
    tx.run(_SHOW, import_id=import_id)
