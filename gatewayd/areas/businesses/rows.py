"""Businesses as they are stored. Owns the table `businesses`.

    wire         the JSON of the business without `status` and the closing brace
    archived_on  the civil date in London of `archived_at`

Served is `wire` and the status, which depends on today. Some rules compare a business with other rows, whether a caller
or the tax authority changes it: an externalId is used once, a taxBusinessId once in a legal entity, a person has one
live UK property business, closed books keep their accounting basis, and no business ends before its last entry.
"""

from gatewayd.areas.businesses.rules import shown_status
from gatewayd.areas.businesses.shapes import (
    Business,
    BusinessRow,
    CreateBusiness,
    Status,
    StoredBusiness,
    TaxSync,
)
from gatewayd.clock import london_date
from gatewayd.contract.wire import open_wire, project
from gatewayd.errors import Problem, invalid_state
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.results import owner_shares
from gatewayd.ledger.results.allocated_money import Basis
from gatewayd.ledger.taxpayers import owners
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.ledger.taxpayers.quarter_choices import Choice
from gatewayd.store import ReadTx, Table, WriteTx

MAX_PER_ENTITY = 500  # Chosen: all of an entity are looked at together; HMRC keeps 50 self-employments of a person
ON_CALENDAR = (
    "type",
    "commencement_date",
    "cessation_date",
    "quarterly_period_type",
    "quarterly_period_tax_year",
    "archived_at",
    "tax_sync",
)
"""The fields from which periods and obligations follow."""
NEVER_CHOSEN = Choice(0, "standard")
NEVER_SYNCED = TaxSync(status="never", synced_at=None, error=None, latency=None, year_of_migration=None)
_SELECT_LAST_MONEY = """
SELECT max(date) FROM allocations
WHERE org_id = :org_id AND business_id = :business_id AND category <> 'not_pnl'
"""
_SELECT_LAST_BILL = """
SELECT max(coalesce(document_date, date)) FROM allocations
WHERE org_id = :org_id AND business_id = :business_id AND category <> 'not_pnl'
"""
_SELECT_LAST_SUPPLY = """
SELECT max(supply_date) FROM invoices
WHERE org_id = :org_id AND business_id = :business_id AND status <> 'draft' AND status <> 'void'
"""


def _archived_on(row: BusinessRow) -> str | None:
    return None if row.archived_at is None else london_date(row.archived_at)


BUSINESSES = Table(
    "businesses",
    BusinessRow,
    kind="business",
    prefix="biz",
    written={"wire": lambda row: open_wire(row, StoredBusiness), "archived_on": _archived_on},
)
_SELECT_OF_ENTITY = f"{BUSINESSES.select} AND legal_entity_id = :legal_entity_id ORDER BY id LIMIT :count"
_SELECT_TAX_ID = """
SELECT id FROM businesses
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND id <> :id AND tax_business_id = :tax_business_id
"""
_SELECT_UK_PROPERTY = """
SELECT id FROM businesses
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND id <> :id AND type = 'uk_property'
    AND archived_at IS NULL AND status <> 'ceased'
LIMIT 1
"""
_COUNT_OF_ENTITY = "SELECT count(id) FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id"


def of_entity(tx: ReadTx, legal_entity_id: str) -> list[BusinessRow]:
    """Every business of a legal entity, archived ones too, oldest first: at most `MAX_PER_ENTITY`."""
    rows = tx.rows(_SELECT_OF_ENTITY, legal_entity_id=legal_entity_id, count=MAX_PER_ENTITY)
    return [BUSINESSES.read(tx, row) for row in rows]


def new(tx: WriteTx, owner: Owner, request: CreateBusiness | None, **values: object) -> BusinessRow:
    """A business of `owner` that is not stored yet, with defaults for what neither `request` nor `values` has."""
    defaults: dict[str, object] = {
        "status": "active",
        "accounting_basis": "accruals" if owner.is_incorporated else "cash",
        "quarterly_period_type": "standard",
        "uses_consolidated_expenses": False,
        "currency": owner.base_currency,
        "bank_account_ids": [],
        "owner_share_percent": "100",
        "tax_sync": NEVER_SYNCED,
    }
    missing = {name: value for name, value in defaults.items() if getattr(request, name, None) is None}
    known = {name: value for name, value in values.items() if value is not None}
    return BUSINESSES.new(tx, request, **{**missing, **known, "legal_entity_id": owner.id})


def add(tx: WriteTx, row: BusinessRow, owner: Owner) -> BusinessRow:
    """Store a new business. Raises `Problem`: `already_exists`, `limit_reached`."""
    if tx.value(_COUNT_OF_ENTITY, legal_entity_id=owner.id) >= MAX_PER_ENTITY:
        message = f"A legal entity has at most {MAX_PER_ENTITY} businesses."
        raise Problem("limit_reached", message, extra={"limit": MAX_PER_ENTITY})
    BUSINESSES.refuse_taken(tx, row.external_id)
    _refuse_same_tax_id(tx, row)
    if _is_live(row):
        _refuse_second_property(tx, row, owner)
    return BUSINESSES.insert(tx, row)


def change(tx: WriteTx, before: BusinessRow, after: BusinessRow) -> BusinessRow:
    """Store what a business has become, one version on. Raises `Problem`: `already_exists`, `invalid_state`."""
    fixed = after.accounting_basis, after.currency  # Chosen: the currency too, as an entity's base currency is
    if fixed != (before.accounting_basis, before.currency) and is_basis_fixed(tx, before):
        message = (
            "A period is closed: `accountingBasis` and `currency` stay as they are until `periods.reopen` opens it."
        )
        raise invalid_state(message, "closed", ("open",))
    BUSINESSES.refuse_taken(tx, after.external_id, after.id)
    _refuse_same_tax_id(tx, after)
    if _is_live(after) and (after.type != before.type or not _is_live(before)):
        _refuse_unlike_owner(tx, before, after)
    if after.owner_share_percent != before.owner_share_percent:
        last_closed = period_locks.last_closed(tx, before.legal_entity_id, before.id)
        owner_shares.keep(tx, before.id, None, before.owner_share_percent, last_closed)
    return BUSINESSES.update(tx, after)


def choice_of(row: BusinessRow) -> Choice:
    """The last choice of the type of its quarters."""
    year = row.quarterly_period_tax_year
    return Choice(0 if year is None else int(year[:4]), row.quarterly_period_type)


def is_basis_fixed(tx: ReadTx, row: BusinessRow) -> bool:
    """True where books are closed that rest on the accounting basis."""
    return period_locks.any_closed(tx, row.legal_entity_id, row.id)


def served(wire: bytes, status: Status) -> bytes:
    """The JSON of a business."""
    return b'%b,"status":"%b"}' % (wire, status.encode())


def shown(row: BusinessRow, today: str) -> Business:
    """The business as it is on a day."""
    return project(row, Business, status=shown_status(row, today))


def _is_live(row: BusinessRow) -> bool:
    return row.archived_at is None and row.status != "ceased"


def _refuse_same_tax_id(tx: ReadTx, row: BusinessRow) -> None:
    if row.tax_business_id is None:
        return
    sought = {"legal_entity_id": row.legal_entity_id, "tax_business_id": row.tax_business_id}
    existing_id = tx.value(_SELECT_TAX_ID, id=row.id, **sought)
    if existing_id is not None:
        message = f"A business with this taxBusinessId exists: {existing_id}. Use that one."
        raise Problem("already_exists", message, extra={"existingId": existing_id, "field": "taxBusinessId"})


def _refuse_unlike_owner(tx: ReadTx, before: BusinessRow, after: BusinessRow) -> None:
    """Raises `Problem` where a business that comes back does not fit its owner, which may have another type by now."""
    owner = owners.find(tx, after.legal_entity_id)
    assert owner is not None  # a foreign key
    _refuse_second_property(tx, after, owner)
    if owner.is_incorporated and after.type == "self_employment":
        message = "Its legal entity has become a company, which is nobody's self-employment: create a company_trade."
        raise invalid_state(message, "archived" if before.archived_at is not None else before.status, ())


def _refuse_second_property(tx: ReadTx, row: BusinessRow, owner: Owner) -> None:
    """HMRC takes all UK lets of a person for one business."""
    if row.type != "uk_property" or not owner.is_person:
        return
    existing_id = tx.value(_SELECT_UK_PROPERTY, id=row.id, legal_entity_id=row.legal_entity_id)
    if existing_id is not None:
        message = f"A person has one UK property business, for all lets here: use {existing_id}."
        raise Problem("already_exists", message, extra={"existingId": existing_id, "field": "type"})


def last_entry_date(tx: ReadTx, business_id: str, basis: Basis) -> str | None:
    """The ISO date of the last income, expense or supply of a business; None: it has none.

    Chosen: drawings, and clients who pay for what was supplied before, may come after its end.
    """
    money = tx.value(_SELECT_LAST_MONEY if basis == "cash" else _SELECT_LAST_BILL, business_id=business_id)
    dates = (money, tx.value(_SELECT_LAST_SUPPLY, business_id=business_id))
    return max((date for date in dates if date is not None), default=None)
