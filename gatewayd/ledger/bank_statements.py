"""Which days of bank accounts no statement holds, and whether statements and lines add up (Domain B6, B9). Reads only.

Statements count while the import that brought them is applied. Amounts are in minor units of the account's currency.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from gatewayd.ledger.date_ranges import DateRange, after, before
from gatewayd.ledger.hidden_imports import VISIBLE
from gatewayd.store import ReadTx

ALWAYS: Final = DateRange("0001-01-01", "9999-12-31")

_OF_ACCOUNT = "FROM bank_statements WHERE org_id = :org_id AND account_id = :account_id AND applied = 1"
_SELECT_OPENING = f"""
SELECT from_date, opening_balance {_OF_ACCOUNT} AND from_date <= :last AND opening_balance IS NOT NULL
ORDER BY from_date, import_id, statement LIMIT 1
"""
_SELECT_CLOSING = f"""
SELECT to_date, closing_balance {_OF_ACCOUNT} AND to_date BETWEEN :first AND :last AND closing_balance IS NOT NULL
ORDER BY to_date DESC, import_id DESC, statement DESC LIMIT 1
"""
_SUM = f"""
SELECT coalesce(sum(amount), 0) FROM bank_transactions
WHERE org_id = :org_id AND account_id = :account_id AND status = 'booked' AND date BETWEEN :first AND :last
    AND {VISIBLE}
"""
_COUNT_UNBALANCED = f"""
SELECT count(*) {_OF_ACCOUNT} AND from_date <= :last AND coalesce(to_date, from_date) >= :first AND balanced = 0
"""
_SELECT_COVERAGE = "SELECT coverage, status FROM bank_accounts WHERE org_id = :org_id AND id = :account_id"


class _Days(msgspec.Struct, rename="camel"):
    from_date: str
    to_date: str


class _Coverage(msgspec.Struct, rename="camel"):
    """The column `bank_accounts.coverage`: nothing of an account without statements that add up."""

    from_date: str | None
    to_date: str | None
    gaps: list[_Days]


_coverage = msgspec.json.Decoder(_Coverage)


class Closing(NamedTuple):
    """What a statement told at the end of an ISO date."""

    as_of: str
    balance: int


class Comparison(NamedTuple):
    """A closing balance, and the first statement's opening balance with all booked lines up to that day."""

    as_of: str
    stated: int
    counted: int


def closing(tx: ReadTx, account_id: str, whole: DateRange) -> Closing | None:
    """The last closing balance in a range; None where statements tell none."""
    row = tx.row(_SELECT_CLOSING, account_id=account_id, **whole._asdict())
    return None if row is None else Closing(*row)


def moved(tx: ReadTx, account_id: str, whole: DateRange) -> int:
    """The booked lines of a range together."""
    return int(tx.value(_SUM, account_id=account_id, **whole._asdict()))


def compared(tx: ReadTx, account_id: str, whole: DateRange) -> Comparison | None:
    """The last closing balance in a range beside the lines; None where statements tell no balances."""
    told = closing(tx, account_id, whole)
    if told is None:
        return None
    opening = tx.row(_SELECT_OPENING, account_id=account_id, last=told.as_of)
    if opening is None:
        return None
    lines = moved(tx, account_id, DateRange(opening[0], told.as_of))
    return Comparison(told.as_of, told.balance, opening[1] + lines)


def mistakes(tx: ReadTx, account_id: str, whole: DateRange) -> int:
    """How many statements with days in a range do not add up; one more where the last does not agree with the lines."""
    unbalanced = tx.value(_COUNT_UNBALANCED, account_id=account_id, **whole._asdict())
    found = compared(tx, account_id, whole)
    return int(unbalanced) + int(found is not None and found.stated != found.counted)


def missing(tx: ReadTx, account_id: str, whole: DateRange) -> list[DateRange]:
    """The days of a range that no statement holds which adds up, oldest first.

    Chosen: all days of an account without statements, and none after the last statement of an account that is closed,
    for it has no more.
    """
    text, status = tx.rows(_SELECT_COVERAGE, account_id=account_id)[0]
    covered = _coverage.decode(text)
    if covered.from_date is None or covered.to_date is None:
        return [] if status == "closed" else list(_inside([ALWAYS], whole))
    gaps = [DateRange(gap.from_date, gap.to_date) for gap in covered.gaps]
    if whole.first < covered.from_date:
        gaps.insert(0, DateRange(whole.first, before(covered.from_date)))
    if covered.to_date < whole.last and status != "closed":
        gaps.append(DateRange(after(covered.to_date), whole.last))
    return list(_inside(gaps, whole))


def _inside(ranges: Iterable[DateRange], whole: DateRange) -> Iterator[DateRange]:
    for first, last in ranges:
        part = DateRange(max(first, whole.first), min(last, whole.last))
        if part.first <= part.last:
            yield part
