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
    """A period as it is stored.

    `filingDueDate` null: nothing is filed for it. `archivedAt` is since when it applies no more, for the entity or the
    business became another.
    """

    id: Id
    legal_entity_id: Id
    business_id: Id | None
    type: PeriodType
    label: Label
    tax_year: str | None
    start_date: DateText
    end_date: DateText
    cumulative: bool
    filing_due_date: DateText | None
    status: PeriodStatus
    locked_through_date: DateText | None
    closed_at: Timestamp | None
    closed_by: str | None
    forced_reason: str | None
    reopened_count: int
    reopened_reason: str | None
    archived_at: Timestamp | None
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
