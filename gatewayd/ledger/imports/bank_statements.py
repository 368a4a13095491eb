"""Which days of bank accounts no statement holds, and whether statements and lines add up (Domain B6, B9). Reads only.

Statements count while the import that brought them is applied; what a person states counts as their feet do. Amounts
are in minor units of the account's currency.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from gatewayd.ledger.dates.date_ranges import DateRange, after, before
from gatewayd.ledger.imports.import_runs import VISIBLE
from gatewayd.store import ReadTx

ALWAYS: Final = DateRange("0001-01-01", "9999-12-31")

_OF_ACCOUNT = "FROM bank_statements WHERE org_id = :org_id AND account_id = :account_id AND applied = 1"
_OF_PERSON = "FROM stated_balances WHERE org_id = :org_id AND account_id = :account_id"
_SELECT_OPENING = f"""
SELECT from_date, opening_balance {_OF_ACCOUNT} AND from_date <= :last AND opening_balance IS NOT NULL
ORDER BY from_date, import_id, statement LIMIT 1
"""
_SELECT_CLOSING = f"""
SELECT to_date, closing_balance {_OF_ACCOUNT} AND to_date BETWEEN :first AND :last AND closing_balance IS NOT NULL
ORDER BY to_date DESC, import_id DESC, statement DESC LIMIT 1
"""
_SELECT_STATED_OPENING = f"SELECT opens_on, balance {_OF_PERSON} AND opens_on <= :last ORDER BY opens_on LIMIT 1"
_SELECT_STATED_CLOSING = f"""
SELECT date, balance {_OF_PERSON} AND date BETWEEN :first AND :last ORDER BY date DESC LIMIT 1
"""
_SELECT_TOLD_BEFORE = f"""
SELECT to_date, closing_balance {_OF_ACCOUNT} AND to_date <= :date AND closing_balance IS NOT NULL
ORDER BY to_date DESC, import_id DESC, statement DESC LIMIT 1
"""
_SELECT_TOLD_BEHIND = f"""
SELECT from_date, opening_balance {_OF_ACCOUNT} AND from_date > :date AND opening_balance IS NOT NULL
ORDER BY from_date, import_id, statement LIMIT 1
"""
_SELECT_STATED_BEFORE = f"SELECT date, balance {_OF_PERSON} AND date < :date ORDER BY date DESC LIMIT 1"
_SELECT_STATED_BEHIND = f"SELECT opens_on, balance {_OF_PERSON} AND date > :date ORDER BY date LIMIT 1"
_SELECT_STATED = f"SELECT date, balance {_OF_PERSON} AND date BETWEEN :first AND :last ORDER BY date"
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
    """What a statement, or a person, told of the end of an ISO date."""

    as_of: str
    balance: int


class Comparison(NamedTuple):
    """A closing balance, and the first statement's opening balance with all booked lines up to that day."""

    as_of: str
    stated: int
    counted: int


def closing(tx: ReadTx, account_id: str, days: DateRange) -> Closing | None:
    """The last closing balance in a range, or what a person stated; None where nobody tells any."""
    told = [tx.row(sql, account_id=account_id, **days._asdict()) for sql in (_SELECT_CLOSING, _SELECT_STATED_CLOSING)]
    rows = [Closing(*row) for row in told if row is not None]
    return max(rows, key=lambda balance: balance.as_of, default=None)  # of one day what the bank told


def moved(tx: ReadTx, account_id: str, days: DateRange) -> int:
    """The booked lines of a range together."""
    return int(tx.value(_SUM, account_id=account_id, **days._asdict()))


def compared(tx: ReadTx, account_id: str, days: DateRange) -> Comparison | None:
    """The last closing balance in a range beside the lines; None where statements tell no balances."""
    told = closing(tx, account_id, days)
    if told is None:
        return None
    openings = [
        tx.row(sql, account_id=account_id, last=told.as_of) for sql in (_SELECT_OPENING, _SELECT_STATED_OPENING)
    ]
    rows = [row for row in openings if row is not None]
    if not rows:
        return None
    from_date, opening = min(rows, key=lambda row: str(row[0]))  # of one day what the bank told
    return Comparison(told.as_of, told.balance, opening + moved(tx, account_id, DateRange(from_date, told.as_of)))


def stated(tx: ReadTx, account_id: str, days: DateRange) -> list[Closing]:
    """What people stated in a range, oldest first."""
    return [Closing(*row) for row in tx.rows(_SELECT_STATED, account_id=account_id, **days._asdict())]


def counted_at(tx: ReadTx, account_id: str, date: str) -> int | None:
    """What the account held at the end of a day by its lines and the nearest balance that its bank told, or a person
    on another day; None without any.

    Chosen: the last that the bank told up to that day, the last that a person did, the first behind it.
    """
    before_it = tx.row(_SELECT_TOLD_BEFORE, account_id=account_id, date=date)
    before_it = before_it or tx.row(_SELECT_STATED_BEFORE, account_id=account_id, date=date)
    if before_it is not None:
        return int(before_it[1]) + moved(tx, account_id, DateRange(after(before_it[0]), date))
    behind = tx.row(_SELECT_TOLD_BEHIND, account_id=account_id, date=date)
    behind = behind or tx.row(_SELECT_STATED_BEHIND, account_id=account_id, date=date)
    if behind is None:
        return None
    return int(behind[1]) - moved(tx, account_id, DateRange(after(date), before(behind[0])))


def mistakes(tx: ReadTx, account_id: str, days: DateRange) -> int:
    """How many statements with days in a range do not add up, and balances that people stated do not agree with the
    lines; one more where the last of them does not.
    """
    unbalanced = tx.value(_COUNT_UNBALANCED, account_id=account_id, **days._asdict())
    wrong = {
        balance.as_of
        for balance in stated(tx, account_id, days)
        if counted_at(tx, account_id, balance.as_of) not in (None, balance.balance)
    }
    last = compared(tx, account_id, days)
    last_is_wrong = last is not None and last.stated != last.counted and last.as_of not in wrong
    return int(unbalanced) + len(wrong) + int(last_is_wrong)


def missing(tx: ReadTx, account_id: str, days: DateRange) -> list[DateRange]:
    """The days of a range that no statement holds which adds up, oldest first.

    Chosen: all days of an account without statements, and none after the last statement of an account that is closed,
    for it has no more.
    """
    text, status = tx.rows(_SELECT_COVERAGE, account_id=account_id)[0]
    covered = _coverage.decode(text)
    if covered.from_date is None or covered.to_date is None:
        return [] if status == "closed" else list(_inside([ALWAYS], days))
    gaps = [DateRange(gap.from_date, gap.to_date) for gap in covered.gaps]
    if days.first < covered.from_date:
        gaps.insert(0, DateRange(days.first, before(covered.from_date)))
    if covered.to_date < days.last and status != "closed":
        gaps.append(DateRange(after(covered.to_date), days.last))
    return list(_inside(gaps, days))


def _inside(ranges: Iterable[DateRange], days: DateRange) -> Iterator[DateRange]:
    for first, last in ranges:
        part = DateRange(max(first, days.first), min(last, days.last))
        if part.first <= part.last:
            yield part
