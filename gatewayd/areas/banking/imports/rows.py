"""Import runs as they are stored, and the rows that are staged for them.

Owns the tables `import_runs`, `import_rows` and `csv_mappings`.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.banking.imports.shapes import ImportRow, ImportRun, ImportRunRow, MappingProposal, RefusedLine
from gatewayd.areas.banking.transactions.rows import FROM_FILE
from gatewayd.contract.wire import encode, project
from gatewayd.statements.shapes import Mapping
from gatewayd.store import Columns, ReadTx, Row, Table, WriteTx

RUNS = Table("import_runs", ImportRunRow, kind="import", prefix="imp")
SHOWN = Columns(ImportRow)
DUPLICATES_KEPT: Final = 10_000  # Chosen: so many can still be listed once the import is applied
REFUSED_SHOWN: Final = 500  # Chosen: refused lines that a run lists; all of them are counted

_SELECT_SAME_FILE = f"""
{RUNS.select} AND account_id = :account_id AND sha256 = :sha256 AND status = 'applied'
    AND NOT EXISTS (
        SELECT 1 FROM import_runs AS others
        WHERE others.org_id = :org_id AND others.account_id = :account_id
            AND others.reverted_at >= import_runs.applied_at
    )
ORDER BY id DESC LIMIT 1
"""
_SELECT_ASKED = f"""
{RUNS.select} AND account_id = :account_id AND sha256 = :sha256 AND proposal IS NOT NULL ORDER BY id DESC LIMIT 1
"""
_SELECT_AT_WORK = f"{RUNS.select} AND account_id = :account_id AND stage IS NOT NULL"
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
_STAGE = f"""
INSERT INTO import_rows (org_id, import_id, position, line, statement, action, transaction_id, {FROM_FILE})
VALUES (:org_id, :import_id, :position, :line, :statement, 'add', :transaction_id,
    {", ".join(f":{name}" for name in FROM_FILE.split(", "))})
"""
_DECIDE = """
UPDATE import_rows SET action = :action, reason = :reason, existing_transaction_id = :existing_id,
    fingerprint = :fingerprint
WHERE org_id = :org_id AND import_id = :import_id AND position = :position
"""
_RESET = """
UPDATE import_rows SET action = 'add', reason = NULL, existing_transaction_id = NULL
WHERE org_id = :org_id AND import_id = :import_id AND position IN (
    SELECT position FROM import_rows
    WHERE org_id = :org_id AND import_id = :import_id AND action = :action ORDER BY position LIMIT :count
)
"""
_SELECT_LAST_POSITION = """
SELECT coalesce(max(position), 0) FROM import_rows WHERE org_id = :org_id AND import_id = :import_id
"""
_DELETE_RUN = "DELETE FROM import_runs WHERE org_id = :org_id AND id = :id"
_COUNT_RUNS = "SELECT count(id) FROM import_runs WHERE org_id = :org_id AND account_id = :account_id"
_NOTE_MOVED = "UPDATE import_runs SET moved_to = :moved_to WHERE org_id = :org_id AND id = :id"
_SELECT_REFUSED = """
SELECT line, reason FROM import_rows
WHERE org_id = :org_id AND import_id = :import_id AND action = 'refuse' ORDER BY position LIMIT :count
"""
_REMEMBER = """
UPDATE import_rows SET before = :before
WHERE org_id = :org_id AND import_id = :import_id AND position = :position
"""
_COUNT = """
SELECT action, count(position) FROM import_rows WHERE org_id = :org_id AND import_id = :import_id GROUP BY action
"""
_SELECT_REPLACING = f"""
SELECT position, existing_transaction_id, before, {FROM_FILE} FROM import_rows
WHERE org_id = :org_id AND import_id = :import_id AND action = 'replace' ORDER BY position
"""
_FORGET = """
DELETE FROM import_rows WHERE org_id = :org_id AND import_id = :import_id AND position IN (
    SELECT position FROM import_rows
    WHERE org_id = :org_id AND import_id = :import_id AND action = :action ORDER BY position LIMIT :count
)
"""
SELECT_ROWS: Final = f"""
SELECT {SHOWN.sql} FROM import_rows WHERE org_id = :org_id AND import_id = :import_id AND position > :after
"""
_SELECT_MAPPING = "SELECT mapping FROM csv_mappings WHERE org_id = :org_id AND headings = :headings"
_LEARN = """
INSERT INTO csv_mappings (org_id, headings, mapping, updated_at) VALUES (:org_id, :headings, :mapping, :now)
ON CONFLICT (org_id, headings) DO UPDATE SET mapping = :mapping, updated_at = :now
"""


class Staged(NamedTuple):
    """A row of a file on its way into the table; `values` are those of `FROM_FILE`, in its order."""

    position: int
    line: int
    statement: int
    values: tuple[object, ...]


class Decision(NamedTuple):
    """What becomes of a row. `existing_id` is the transaction that it is or replaces."""

    position: int
    action: str
    reason: str | None
    existing_id: str | None
    fingerprint: str


class Replacing(NamedTuple):
    """A row that takes the place of a transaction; `values` are by column."""

    position: int
    transaction_id: str
    before: str | None
    values: dict[str, object]


# -- runs


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


def to_forget(tx: ReadTx, count: int) -> list[tuple[str, str]]:
    """Organization and id of runs of the whole instance whose staged rows nobody needs any more."""
    return [(row[0], row[1]) for row in tx.rows(_SELECT_FORGOTTEN_ANY_ORG, count=count)]


def latest(tx: ReadTx, account_id: str, except_id: str) -> tuple[str | None, int | None]:
    """Id and instant of the account's last applied run, but for one."""
    row = tx.row(_SELECT_LATEST, account_id=account_id, except_id=except_id)
    return (None, None) if row is None else (row[0], row[1])


def status_of(tx: ReadTx, import_id: str) -> str | None:
    """The status of a run; None where there is none."""
    found: str | None = tx.value(_SELECT_STATUS, id=import_id)
    return found


def is_only_one(tx: ReadTx, account_id: str) -> bool:
    """Whether the account has one run and no more."""
    return int(tx.value(_COUNT_RUNS, account_id=account_id)) == 1


def delete(tx: WriteTx, import_id: str) -> None:
    """Delete a run that has no staged rows and no statements."""
    tx.run(_DELETE_RUN, id=import_id)


def expire(tx: WriteTx, before: int, error: str, count: int) -> int:
    """Give up what was left alone since `before`: previews, and files for new accounts that wait for a mapping.

    Answers how many.
    """
    return tx.run(_EXPIRE_ANY_ORG, before=before, error=error, count=count, updated_at=tx.updated_at)


# -- staged rows


def stage(tx: WriteTx, import_id: str, staged: Iterable[Staged]) -> None:
    """Keep rows, each to be added, until it is decided otherwise."""
    org_id, new_id = tx.org_id, tx.new_id
    tx.run_each(
        _STAGE,
        [(org_id, import_id, one.position, one.line, one.statement, new_id("btx"), *one.values) for one in staged],
    )


def decide(tx: WriteTx, import_id: str, decisions: Sequence[Decision]) -> None:
    """Write down what becomes of rows."""
    org_id = tx.org_id
    tx.run_each(
        _DECIDE,
        [(d.action, d.reason, d.existing_id, d.fingerprint, org_id, import_id, d.position) for d in decisions],
    )


def reset(tx: WriteTx, import_id: str, action: str, count: int) -> int:
    """Take at most `count` decisions for this action back, for others to be made; answers how many that was."""
    return tx.run(_RESET, import_id=import_id, action=action, count=count)


def last_position(tx: ReadTx, import_id: str) -> int:
    """The position of the last row that is staged; 0 where none is."""
    return int(tx.value(_SELECT_LAST_POSITION, import_id=import_id))


def note_moved(tx: WriteTx, import_id: str, moved_to: int | None) -> None:
    """Write down how far staged rows were moved; None: none are left."""
    tx.run(_NOTE_MOVED, id=import_id, moved_to=moved_to)


def refused(tx: ReadTx, import_id: str) -> list[RefusedLine]:
    """The first of the staged rows that were refused."""
    found = tx.rows(_SELECT_REFUSED, import_id=import_id, count=REFUSED_SHOWN)
    return [RefusedLine(line=row[0], reason=row[1]) for row in found]


def counts(tx: ReadTx, import_id: str) -> dict[str, int]:
    """How many rows have each action."""
    return {row[0]: row[1] for row in tx.rows(_COUNT, import_id=import_id)}


def replacing(tx: ReadTx, import_id: str) -> list[Replacing]:
    """The rows that replace transactions."""
    names = FROM_FILE.split(", ")
    found = tx.rows(_SELECT_REPLACING, import_id=import_id)
    return [Replacing(row[0], row[1], row[2], dict(zip(names, row[3:], strict=True))) for row in found]


def remember(tx: WriteTx, import_id: str, position: int, before: str) -> None:
    """Keep what the transaction was that a row replaced."""
    tx.run(_REMEMBER, import_id=import_id, position=position, before=before)


def forget(tx: WriteTx, import_id: str, action: str, count: int) -> int:
    """Delete at most `count` staged rows with this action; answers how many that was."""
    return tx.run(_FORGET, import_id=import_id, action=action, count=count)


def row_item(row: Row) -> bytes:
    """The JSON of a staged row that was selected with `SELECT_ROWS`."""
    wire: bytes = encode(SHOWN.load(row))
    return wire


# -- mappings


def learned(tx: ReadTx, headings: Sequence[str]) -> Mapping | None:
    """How a file with these headings was read before."""
    found = tx.value(_SELECT_MAPPING, headings=_key(headings))
    return None if found is None else msgspec.json.decode(found, type=Mapping)


def learn(tx: WriteTx, headings: Sequence[str], mapping: Mapping) -> None:
    """Remember how a file with these headings was read."""
    tx.run(_LEARN, headings=_key(headings), mapping=msgspec.json.encode(mapping).decode())


def _key(headings: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(heading.strip().casefold() for heading in headings).encode()).hexdigest()
