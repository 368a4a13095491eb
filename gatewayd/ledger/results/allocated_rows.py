"""The allocations behind a figure of profit and loss, in pages (Domain F.1). Reads only."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results.allocated_money import (
    FIGURE_COUNT,
    FIGURES,
    OF_BUSINESS,
    OF_NO_PROPERTY,
    OF_PROPERTY,
    Account,
    Allocated,
    Basis,
    Scope,
    money_of,
)
from gatewayd.store import ReadTx, Row

_DETAILS = "date, source_id, import_id, description, matched_by, rule_id, reason, property_id, document_ids"
_NEXT = """
    AND (CAST(:category AS TEXT) IS NULL OR category = :category) AND (date > :start OR id > :after_id)
ORDER BY date, id LIMIT :count
"""
_BY_MONEY = "date BETWEEN :start AND :last"
_BY_BILL = """
    date >= :start
    AND ((document_date IS NULL AND date BETWEEN :first AND :last) OR document_date BETWEEN :first AND :last)
"""
PAGES: Final[Mapping[tuple[Scope, Basis], str]] = {
    ("business", "cash"): f"SELECT {FIGURES}, {_DETAILS} {OF_BUSINESS} AND {_BY_MONEY} {_NEXT}",
    ("business", "accruals"): f"SELECT {FIGURES}, {_DETAILS} {OF_BUSINESS} AND {_BY_BILL} {_NEXT}",
    ("property", "cash"): f"SELECT {FIGURES}, {_DETAILS} {OF_PROPERTY} AND {_BY_MONEY} {_NEXT}",
    ("property", "accruals"): f"SELECT {FIGURES}, {_DETAILS} {OF_PROPERTY} AND {_BY_BILL} {_NEXT}",
    ("no_property", "cash"): f"SELECT {FIGURES}, {_DETAILS} {OF_NO_PROPERTY} AND {_BY_MONEY} {_NEXT}",
    ("no_property", "accruals"): f"SELECT {FIGURES}, {_DETAILS} {OF_NO_PROPERTY} AND {_BY_BILL} {_NEXT}",
}
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
    property_id: str | None
    document_ids: list[str]


class Place(NamedTuple):
    """Where a page begins: after the row of this date and id."""

    date: str = ""
    id: str = ""


def page(
    tx: ReadTx, account: Account, whole: DateRange, category: str | None, after: Place, count: int
) -> list[AllocatedRow]:
    """The next `count` rows that count in a range, by the date of the money; of one category, or None for all."""
    asked = {"category": category, "after_id": after.id, "count": count, **whole._asdict()}
    # money moves before and after its bill, so that on accruals any day may be the next
    asked["start"] = max(whole.first, after.date) if account.basis == "cash" else after.date
    rows = tx.rows(PAGES[account.scope, account.basis], **account.whose, **asked)
    return [_row(account, row) for row in rows]


def _row(account: Account, row: Row) -> AllocatedRow:
    figures, details, document_ids = row[:FIGURE_COUNT], row[FIGURE_COUNT:-1], row[-1]
    date, source_id, import_id, description, matched_by, rule_id, reason, property_id = details
    return AllocatedRow(
        money=money_of(figures, account.basis),
        date=date,
        source_id=source_id,
        import_id=import_id,
        description=description,
        matched_by=matched_by,
        rule_id=rule_id,
        reason=reason,
        property_id=property_id,
        document_ids=_ids.decode(document_ids),
    )
