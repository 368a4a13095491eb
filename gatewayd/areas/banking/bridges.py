"""Days that no statement holds, and on which nothing can be missing: the balances on both sides agree (Domain B6, C10).

A balance is told at the end of a day: by a statement's foot, by its opening for the day before, or by a person. Between
two of them that follow upon each other the lines have to make up the difference.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gatewayd.ledger.allocating import bank_statements
from gatewayd.ledger.allocating.bank_statements import ALWAYS
from gatewayd.ledger.dates.date_ranges import DateRange, after, before, days
from gatewayd.store import ReadTx

BRIDGED_DAYS: Final = 31  # Chosen: that statements bridge by themselves; a person's word reaches any distance


class CountedStatement(NamedTuple):
    """A statement that counts: its days, and the balances that it begins and ends with."""

    first: str
    last: str
    opening: int | None
    closing: int | None


class _Anchor(NamedTuple):
    """What an account held at the end of a day. `is_stated`: a person says so."""

    date: str
    balance: int
    is_stated: bool


def bridged(
    tx: ReadTx,
    account_id: str,
    statements: Sequence[CountedStatement],
    covered: Sequence[DateRange],
    gone: Mapping[str, object],
) -> list[DateRange]:
    """The days between balances that the lines agree with, where no range of `covered` holds all of them.

    `covered` are in order. On the days of `gone` lines were taken out, and what holds these proves nothing.
    """
    by_day: dict[str, list[_Anchor]] = {}
    for one in _anchors(tx, account_id, statements):
        by_day.setdefault(one.date, []).append(one)
    dates = sorted(by_day)
    holes = list(_holes(covered, dates))
    found = []
    for start, end in itertools.pairwise(dates):
        between = DateRange(after(start), end)
        if not any(first <= between.last and last >= between.first for first, last in holes):
            continue
        if any(between.first <= day <= between.last for day in gone):
            continue
        if _agree(tx, account_id, between, by_day[start], by_day[end]):
            found.append(between)
    return found


def _anchors(tx: ReadTx, account_id: str, statements: Sequence[CountedStatement]) -> Iterator[_Anchor]:
    for one in statements:
        if one.opening is not None:
            yield _Anchor(before(one.first), one.opening, is_stated=False)
        if one.closing is not None:
            yield _Anchor(one.last, one.closing, is_stated=False)
    for stated in bank_statements.stated(tx, account_id, ALWAYS):
        yield _Anchor(stated.as_of, stated.balance, is_stated=True)


def _holes(covered: Sequence[DateRange], dates: Sequence[str]) -> Iterator[DateRange]:
    """The days from the first balance to the last that no range holds."""
    if not dates:
        return
    free = after(dates[0])
    for first, last in covered:
        if free < first:
            yield DateRange(free, before(first))
        free = max(free, after(last))
    if free <= dates[-1]:
        yield DateRange(free, dates[-1])


def _agree(tx: ReadTx, account_id: str, between: DateRange, start: Iterable[_Anchor], end: Sequence[_Anchor]) -> bool:
    """Whether the lines of these days lead from a balance at their beginning to one at their end.

    Chosen: statements alone bridge a month, and not where nothing was held: 0.00 stands at many an end.
    """
    moved = bank_statements.moved(tx, account_id, between)
    pairs = [(one, other) for one in start for other in end if one.balance + moved == other.balance]
    if any(one.is_stated or other.is_stated for one, other in pairs):
        return True
    return days(between) <= BRIDGED_DAYS and any(one.balance != 0 or other.balance != 0 for one, other in pairs)
