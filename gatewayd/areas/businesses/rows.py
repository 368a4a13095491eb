"""The row of a business: its typed columns, the wire form that they give, and the table. Owns the table `businesses`.

    wire    the JSON of the business without `status` and the closing brace

Served is `wire` and the status, which depends on today.
"""

import datetime
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from gatewayd.areas.businesses import states
from gatewayd.areas.businesses.states import LiveStatus, Status, StoredStatus
from gatewayd.clock import Instant, to_wire
from gatewayd.contract.wire import Address, Id, Response, Timestamp, encode, open_wire
from gatewayd.money import canonical
from gatewayd.store import ReadTx, WriteTx

BusinessType = Literal[
    "self_employment", "uk_property", "foreign_property", "property_unspecified", "company_trade", "other"
]
AccountingBasis = Literal["cash", "accruals"]
QuarterlyPeriodType = Literal["standard", "calendar"]
TaxSyncStatus = Literal["never", "in_sync", "differs", "failed", "not_found"]
Frequency = Literal["A", "Q"]
DateText = Annotated[str, Meta(description="A civil date in Europe/London.", extra_json_schema={"format": "date"})]

MAX_PER_ENTITY = 500  # Chosen: all of an entity are looked at together; HMRC keeps 50 self-employments of a person


class Latency(Response, frozen=True, kw_only=True):
    """How a new source reports in its first years: A annually, Q quarterly."""

    end_date: DateText
    tax_year1: str
    indicator1: Frequency
    tax_year2: str
    indicator2: Frequency


class TaxSync(Response, frozen=True, kw_only=True):
    """What came of the last comparison with the tax authority. `error` is the code of what went wrong."""

    status: TaxSyncStatus
    synced_at: Timestamp | None
    error: str | None
    latency: Latency | None
    year_of_migration: str | None


class Kept(Response, frozen=True, kw_only=True):
    """The part of a business whose JSON is kept with the row."""

    id: Id
    external_id: str | None
    legal_entity_id: Id
    type: BusinessType
    name: str
    trading_name: str | None
    trading_type: str | None
    commencement_date: DateText | None
    cessation_date: DateText | None
    accounting_basis: AccountingBasis
    quarterly_period_type: QuarterlyPeriodType
    quarterly_period_tax_year: str | None
    uses_consolidated_expenses: bool
    address: Address | None
    currency: str
    bank_account_ids: list[Id]
    owner_share_percent: str
    tax_business_id: str | None
    tax_sync: TaxSync
    archive_reason: str | None  # Chosen: what `archive` was told is shown, as an invoice's voidReason is
    archived_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Business(Kept, frozen=True, kw_only=True):
    """A source of income of a legal entity."""

    status: Status


class TaxRecord(NamedTuple):
    """What a comparison with the tax authority leaves on a business."""

    status: TaxSyncStatus
    synced_at: Instant | None = None
    error: str | None = None
    latency: Latency | None = None
    year_of_migration: str | None = None


class BusinessRow(msgspec.Struct, frozen=True):
    """The typed columns of one business, in the order the table's statements name them.

    Dates are ISO texts; `address`, `bank_account_ids` and `tax_latency` are JSON.
    """

    id: str
    external_id: str | None
    legal_entity_id: str
    type: BusinessType
    name: str
    trading_name: str | None
    trading_type: str | None
    status: StoredStatus
    commencement_date: str | None
    cessation_date: str | None
    accounting_basis: AccountingBasis
    quarterly_period_type: QuarterlyPeriodType
    quarterly_period_tax_year: str | None
    uses_consolidated_expenses: int
    address: str | None
    currency: str
    bank_account_ids: str
    owner_share_percent: str
    tax_business_id: str | None
    tax_sync_status: TaxSyncStatus
    tax_synced_at: Instant | None
    tax_sync_error: str | None
    tax_latency: str | None
    tax_year_of_migration: str | None
    archive_reason: str | None
    archived_at: Instant | None
    created_at: Instant
    updated_at: Instant
    version: int

    def unarchived_status(self, today: str) -> LiveStatus:
        """The state on a day, as if it were not archived."""
        return states.unarchived(self.status, self.commencement_date, today)

    def shown_status(self, today: str) -> Status:
        """The state on a day."""
        return "archived" if self.archived_at is not None else self.unarchived_status(today)

    @property
    def kept_address(self) -> Address | None:
        """The address as a struct."""
        return None if self.address is None else msgspec.json.decode(self.address, type=Address)


_COLUMNS = ", ".join(BusinessRow.__struct_fields__)
_VALUES = ", ".join(f":{name}" for name in BusinessRow.__struct_fields__)
_FIXED = ("id", "legal_entity_id", "created_at")
_ASSIGNMENTS = ", ".join(f"{name} = :{name}" for name in BusinessRow.__struct_fields__ if name not in _FIXED)

_SELECT = f"SELECT {_COLUMNS} FROM businesses WHERE org_id = :org_id AND id = :id"
_SELECT_OF_ENTITY = f"""
SELECT {_COLUMNS} FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id
ORDER BY id LIMIT :count
"""
_INSERT = f"INSERT INTO businesses (org_id, {_COLUMNS}, wire) VALUES (:org_id, {_VALUES}, :wire)"
_UPDATE = f"UPDATE businesses SET {_ASSIGNMENTS}, wire = :wire WHERE org_id = :org_id AND id = :id"


def find(tx: ReadTx, business_id: str) -> BusinessRow | None:
    """The business of the caller's organization, archived or not."""
    row = tx.row(_SELECT, id=business_id)
    return None if row is None else BusinessRow(*row)


def of_entity(tx: ReadTx, legal_entity_id: str) -> list[BusinessRow]:
    """Every business of a legal entity, archived ones too, oldest first: at most `MAX_PER_ENTITY`."""
    rows = tx.rows(_SELECT_OF_ENTITY, legal_entity_id=legal_entity_id, count=MAX_PER_ENTITY)
    return [BusinessRow(*row) for row in rows]


def insert(tx: WriteTx, row: BusinessRow) -> BusinessRow:
    """Keep a new business."""
    tx.run(_INSERT, **msgspec.structs.asdict(row), wire=render(row))
    return row


def update(tx: WriteTx, row: BusinessRow) -> BusinessRow:
    """Keep a business that is there already, changed now. Its version is the caller's to raise."""
    row = msgspec.structs.replace(row, updated_at=tx.now)
    tx.run(_UPDATE, **msgspec.structs.asdict(row), wire=render(row))
    return row


def column(name: str, value: object) -> Any:
    """The value of a column from that of the field of the same name; a value in column form stays as it is."""
    match value:
        case bool():
            return int(value)
        case datetime.date():
            return value.isoformat()
        case Address() | Latency() | list():
            return encode(value).decode()
        case str() if name == "owner_share_percent":
            return canonical(value)
        case _:
            return value


def recorded(row: BusinessRow, record: TaxRecord) -> BusinessRow:
    """The row with another record of a comparison."""
    return msgspec.structs.replace(
        row,
        tax_sync_status=record.status,
        tax_synced_at=record.synced_at,
        tax_sync_error=record.error,
        tax_latency=column("tax_latency", record.latency),
        tax_year_of_migration=record.year_of_migration,
    )


def served(wire: bytes, status: Status) -> bytes:
    """One business as it is served."""
    return b'%b,"status":"%b"}' % (wire, status.encode())


def render(row: BusinessRow) -> bytes:
    """The `wire` column."""
    latency = row.tax_latency
    return open_wire(
        Kept(
            id=row.id,
            external_id=row.external_id,
            legal_entity_id=row.legal_entity_id,
            type=row.type,
            name=row.name,
            trading_name=row.trading_name,
            trading_type=row.trading_type,
            commencement_date=row.commencement_date,
            cessation_date=row.cessation_date,
            accounting_basis=row.accounting_basis,
            quarterly_period_type=row.quarterly_period_type,
            quarterly_period_tax_year=row.quarterly_period_tax_year,
            uses_consolidated_expenses=bool(row.uses_consolidated_expenses),
            address=row.kept_address,
            currency=row.currency,
            bank_account_ids=msgspec.json.decode(row.bank_account_ids, type=list[str]),
            owner_share_percent=row.owner_share_percent,
            tax_business_id=row.tax_business_id,
            tax_sync=TaxSync(
                status=row.tax_sync_status,
                synced_at=_instant(row.tax_synced_at),
                error=row.tax_sync_error,
                latency=None if latency is None else msgspec.json.decode(latency, type=Latency),
                year_of_migration=row.tax_year_of_migration,
            ),
            archive_reason=row.archive_reason,
            archived_at=_instant(row.archived_at),
            created_at=to_wire(row.created_at),
            updated_at=to_wire(row.updated_at),
            version=row.version,
        )
    )


def _instant(instant: Instant | None) -> str | None:
    return None if instant is None else to_wire(instant)
