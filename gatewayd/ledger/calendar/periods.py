"""Periods of a legal entity and its businesses (domain model B9). Owns the table `periods`.

Served is the row with the ids of its obligations. Which there are is for `schedule` to say.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import DateText, Id, Response, Timestamp
from gatewayd.ledger.calendar.forecast import PeriodKey, PeriodType
from gatewayd.store import ReadTx, Table, WriteTx

PeriodStatus = Literal["open", "closing", "closed"]
Label = Annotated[str, Meta(examples=["2026-27 Q2"])]


class PeriodRow(Response, frozen=True, kw_only=True):
    """A period as it is stored."""

    id: Id
    legal_entity_id: Id
    """Whose period it is."""
    business_id: Id | None
    """The business whose quarter it is. Null: it is of the whole legal entity."""
    type: PeriodType
    """`vat_period`: of a VAT return; `itsa_quarter`: of a quarterly update for Income Tax; `tax_year`: 6 April to 5
    April; `financial_year`: that of a company or a partnership; `month`: a calendar month, for closing books alone."""
    label: Label
    """What people call it."""
    tax_year: str | None
    """The tax year that it is, or is in, such as 2026-27. Null: it is no period of Income Tax."""
    start_date: DateText
    """Its first day."""
    end_date: DateText
    """Its last day, included."""
    cumulative: bool
    """True of quarters from 2025-26 on: what is sent for one is of the year so far."""
    filing_due_date: DateText | None
    """By when what is filed for it is due; the authority's day, once it has said one. Null: nothing is filed for it."""
    status: PeriodStatus
    """`closing`: its days are written to with `Period-Override: closing` alone; `closed`: they stay as they are."""
    locked_through_date: DateText | None
    """Its last day, once it is closed. Null: it is not closed."""
    closed_at: Timestamp | None
    """When it was closed. Null: it is not closed."""
    closed_by: str | None
    """The user who closed it, else the credential; `operator`: whoever runs the server. Null: it is not closed."""
    forced_reason: str | None
    """Why it was closed while points of the checklist were not done. Null: all were done, or it is not closed."""
    reopened_count: int
    """How often it was opened again once it was closed."""
    reopened_reason: str | None
    """Why it was opened again, or closing it was left off, the last time. Null: it never was."""
    archived_at: Timestamp | None
    """Since when it applies no more, because the entity or the business became another. Null: it applies."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


PERIODS = Table("periods", PeriodRow, kind="period", prefix="per")

_SELECT_OF_ENTITY = f"{PERIODS.select} AND legal_entity_id = :legal_entity_id ORDER BY end_date, id"
_SELECT_BESIDE_BUSINESSES = f"""{PERIODS.select} AND legal_entity_id = :legal_entity_id
    AND (business_id IS NULL OR business_id = :business_id) AND type <> 'month'
ORDER BY end_date, id"""
_SELECT_BY_KEY = f"""{PERIODS.select} AND legal_entity_id = :legal_entity_id
    AND coalesce(business_id, '') = :of AND type = :type AND end_date = :end_date"""
_SELECT_EARLIER_OPEN = f"""{PERIODS.select} AND legal_entity_id = :legal_entity_id
    AND coalesce(business_id, '') = :of AND type = :type AND end_date < :end_date AND status <> 'closed'
    AND archived_at IS NULL
ORDER BY end_date, id"""
_SELECT_BEGUN_AND_OPEN = f"""{PERIODS.select} AND legal_entity_id = :legal_entity_id
    AND start_date <= :date AND status <> 'closed' AND archived_at IS NULL
ORDER BY end_date, id"""
_SELECT_LATER_CLOSED = f"""{PERIODS.select} AND legal_entity_id = :legal_entity_id
    AND coalesce(business_id, '') = :of AND type = :type AND end_date > :end_date AND status = 'closed'
ORDER BY end_date, id LIMIT 1"""

_SELECT_ALIKE = f"""{PERIODS.select} AND legal_entity_id = :legal_entity_id
    AND coalesce(business_id, '') = :of AND type <> :type AND start_date = :start_date AND end_date = :end_date
    AND status = :status
ORDER BY id LIMIT 1"""


def touch(tx: WriteTx, period_id: str) -> None:
    """Let who follows changes learn that a period has other obligations."""
    PERIODS.touch(tx, period_id)


def key_of(row: PeriodRow) -> PeriodKey:
    """What tells it from the other periods of its entity."""
    return PeriodKey(row.type, row.business_id, row.end_date)


def of_entity(tx: ReadTx, legal_entity_id: str, business_id: str | None = None) -> dict[PeriodKey, PeriodRow]:
    """All periods of a legal entity, archived ones too; with a business, without those of the others and months."""
    select = _SELECT_OF_ENTITY if business_id is None else _SELECT_BESIDE_BUSINESSES
    rows = tx.rows(select, legal_entity_id=legal_entity_id, business_id=business_id)
    periods = (PERIODS.read(tx, row) for row in rows)
    return {key_of(row): row for row in periods}


def find(tx: ReadTx, legal_entity_id: str, key: PeriodKey) -> PeriodRow | None:
    """The period of that key, archived or not."""
    values = {"of": key.business_id or "", "type": key.type, "end_date": key.end}
    columns = tx.row(_SELECT_BY_KEY, legal_entity_id=legal_entity_id, **values)
    return None if columns is None else PERIODS.read(tx, columns)


def earlier_open(tx: ReadTx, row: PeriodRow) -> Iterator[PeriodRow]:
    """The periods of the same type and business before this one that are not closed, earliest first."""
    return (PERIODS.read(tx, columns) for columns in tx.rows(_SELECT_EARLIER_OPEN, **_siblings(row)))


def begun_and_open(tx: ReadTx, legal_entity_id: str, date: str) -> Iterator[PeriodRow]:
    """The periods that began on an ISO date at the latest and are not closed, by their last day."""
    rows = tx.rows(_SELECT_BEGUN_AND_OPEN, legal_entity_id=legal_entity_id, date=date)
    return (PERIODS.read(tx, row) for row in rows)


def later_closed(tx: ReadTx, row: PeriodRow) -> PeriodRow | None:
    """The first period of the same type and business after this one that is closed."""
    columns = tx.row(_SELECT_LATER_CLOSED, **_siblings(row))
    return None if columns is None else PERIODS.read(tx, columns)


def alike(tx: ReadTx, row: PeriodRow) -> PeriodRow | None:
    """Another period of the very same days in the same state, whose lock is the same."""
    columns = tx.row(_SELECT_ALIKE, start_date=row.start_date, status=row.status, **_siblings(row))
    return None if columns is None else PERIODS.read(tx, columns)


def new(tx: WriteTx, legal_entity_id: str, key: PeriodKey, **values: object) -> PeriodRow:
    """A period that is not stored yet, and open."""
    named = {"legal_entity_id": legal_entity_id, "business_id": key.business_id, "type": key.type, "end_date": key.end}
    return PERIODS.new(tx, None, **named, status="open", reopened_count=0, **values)


def _siblings(row: PeriodRow) -> dict[str, object]:
    return {
        "legal_entity_id": row.legal_entity_id,
        "of": row.business_id or "",
        "type": row.type,
        "end_date": row.end_date,
    }
