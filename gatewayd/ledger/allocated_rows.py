"""The allocations behind a figure of profit and loss, in pages (Domain F.1). Reads only."""

from typing import NamedTuple

import msgspec

from gatewayd.ledger.allocated_money import FIGURES, OF_BUSINESS, Account, Allocated, money_of
from gatewayd.ledger.date_ranges import DateRange
from gatewayd.store import ReadTx, Row

_DETAILS = "date, source_id, import_id, description, matched_by, rule_id, reason, document_ids"
_FIGURE_COUNT = 12
_NEXT = """
    AND (CAST(:category AS TEXT) IS NULL OR category = :category) AND (date > :start OR id > :after_id)
ORDER BY date, id LIMIT :count
"""
_PAGE_BY_MONEY = f"SELECT {FIGURES}, {_DETAILS} {OF_BUSINESS} AND date BETWEEN :start AND :last {_NEXT}"
_PAGE_BY_BILL = f"""
SELECT {FIGURES}, {_DETAILS} {OF_BUSINESS}
    AND date >= :start
    AND ((document_date IS NULL AND date BETWEEN :first AND :last) OR document_date BETWEEN :first AND :last)
{_NEXT}
"""
_ids = msgspec.json.Decoder(list[str])


class AllocatedRow(NamedTuple):
    """An allocation with where it comes from. `date` is the ISO date of the money."""

    money: Allocated
    date: str
    source_id: str | None
    import_id: str | None
    description: str
    matched_by: str
    rule_id: str | None
    reason: str | None
    document_ids: list[str]


class Place(NamedTuple):
    """Where a page begins: after the row of this date and id."""

    date: str = ""
    id: str = ""


def page(
    tx: ReadTx, account: Account, whole: DateRange, category: str | None, after: Place, count: int
) -> list[AllocatedRow]:
    """The next `count` rows that count in a range, by the date of the money; of one category, or None for all."""
    asked = {"category": category, "after_id": after.id, "count": count, "last": whole.last}
    if account.basis == "cash":
        sql, asked["start"] = _PAGE_BY_MONEY, max(whole.first, after.date)
    else:  # money moves before and after its bill
        sql, asked["first"], asked["start"] = _PAGE_BY_BILL, whole.first, after.date
    rows = tx.rows(sql, business_id=account.business_id, **asked)
    return [_row(account, row) for row in rows]


def _row(account: Account, row: Row) -> AllocatedRow:
    figures, details, document_ids = row[:_FIGURE_COUNT], row[_FIGURE_COUNT:-1], row[-1]
    date, source_id, import_id, description, matched_by, rule_id, reason = details
    return AllocatedRow(
        money=money_of(figures, account.basis),
        date=date,
        source_id=source_id,
        import_id=import_id,
        description=description,
        matched_by=matched_by,
        rule_id=rule_id,
        reason=reason,
        document_ids=_ids.decode(document_ids),
    )
