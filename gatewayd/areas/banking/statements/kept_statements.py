"""The statements of imported files as they are kept. Owns the table `bank_statements`."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.store import ReadTx, WriteTx

_INSERT = """
INSERT INTO bank_statements (org_id, import_id, statement, account_id, applied, from_date, to_date, opening_balance,
    closing_balance, available_balance, balanced)
VALUES (:org_id, :import_id, :statement, :account_id, 0, :from_date, :to_date, :opening_balance, :closing_balance,
    :available_balance, :balanced)
"""
_MARK = "UPDATE bank_statements SET applied = :applied WHERE org_id = :org_id AND import_id = :import_id"
_DELETE = "DELETE FROM bank_statements WHERE org_id = :org_id AND import_id = :import_id"
_SELECT = """
SELECT statement, from_date, to_date, opening_balance, closing_balance, available_balance, balanced
FROM bank_statements WHERE org_id = :org_id AND import_id = :import_id ORDER BY statement
"""
_MOVE_ENDS = """
UPDATE bank_statements SET from_date = :from_date, to_date = :to_date
WHERE org_id = :org_id AND import_id = :import_id AND statement = :statement
"""


class Statement(NamedTuple):
    """A statement of a file. What it does not tell is None; amounts are in minor units."""

    statement: int
    from_date: str | None
    to_date: str | None
    opening_balance: int | None
    closing_balance: int | None
    available_balance: int | None
    balanced: bool | None


class SaidRange(NamedTuple):
    """The days that a file covers, as a person says: ISO dates, both included. None: what the file tells itself."""

    first: str | None = None
    last: str | None = None


NOTHING_SAID: Final = SaidRange()


def add(tx: WriteTx, account_id: str, import_id: str, statements: Sequence[Statement]) -> None:
    """Keep the statements of a run, which do not count yet."""
    for statement in statements:
        values = statement._asdict() | {"balanced": None if statement.balanced is None else int(statement.balanced)}
        tx.run(_INSERT, account_id=account_id, import_id=import_id, **values)


def forget(tx: WriteTx, import_id: str) -> None:
    """Delete the statements of a run that never counted."""
    tx.run(_DELETE, import_id=import_id)


def mark(tx: WriteTx, import_id: str, *, applied: bool) -> None:
    """Let the statements of a run count from now on, or no longer."""
    tx.run(_MARK, import_id=import_id, applied=int(applied))


def widen(tx: WriteTx, import_id: str, said: SaidRange, today: str) -> None:
    """Let the statements of a run cover the days that a person says. Raises `Problem` as `widened` does."""
    before = of_import(tx, import_id)
    for statement in widened(before, said, today):
        tx.run(
            _MOVE_ENDS,
            import_id=import_id,
            statement=statement.statement,
            from_date=statement.from_date,
            to_date=statement.to_date,
        )


def of_import(tx: ReadTx, import_id: str) -> list[Statement]:
    """The statements of a run."""
    rows = tx.rows(_SELECT, import_id=import_id)
    return [
        Statement(statement, first, last, opening, closing, available, None if balanced is None else bool(balanced))
        for statement, first, last, opening, closing, available, balanced in rows
    ]


def widened(statements: Sequence[Statement], said: SaidRange, today: str) -> list[Statement]:
    """The statements of a file, of which the first begins and the last ends on the days that a person says.

    Raises `Problem` `validation_failed` for a range that leaves out some of their days, or is not over yet.
    """
    if said == NOTHING_SAID or not statements:
        return list(statements)
    if said.first is not None and said.last is not None and said.first > said.last:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    starts = [statement.from_date for statement in statements if statement.from_date is not None]
    ends = [statement.to_date for statement in statements if statement.to_date is not None]
    start, end = min(starts, default=None), max(ends, default=None)
    errors = []
    if said.first is not None and start is not None and said.first > start:
        errors.append(FieldError("fromDate", "out_of_range", f"The file begins on {start}."))
    if said.last is not None and end is not None and said.last < end:
        errors.append(FieldError("toDate", "out_of_range", f"The file ends on {end}."))
    if said.last is not None and said.last > today:
        errors.append(
            FieldError("toDate", "out_of_range", "The day is still to come: expected today or an earlier one.")
        )
    if errors:
        raise invalid(*errors)
    moved = list(statements)
    first = next((at for at, statement in enumerate(moved) if statement.from_date == start), 0)
    moved[first] = moved[first]._replace(from_date=said.first or start)
    last = next((at for at, statement in enumerate(moved) if statement.to_date == end), 0)
    moved[last] = moved[last]._replace(to_date=said.last or end)
    return moved
