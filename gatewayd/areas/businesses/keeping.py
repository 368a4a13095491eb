"""How a business comes into the table and changes there, whoever says so: a caller, or the tax authority.

The rules that need the other rows hold for both: one externalId, one name at the authority of an entity, one live UK
property business of a person, and the accounting basis of closed books.
"""

from collections.abc import Mapping

import msgspec

from gatewayd.areas.businesses import rows
from gatewayd.areas.businesses.rows import BusinessRow, TaxRecord
from gatewayd.errors import Problem, external_id_exists, invalid_state, not_found
from gatewayd.ledger import owners, period_locks
from gatewayd.ledger.owners import Owner
from gatewayd.store import ReadTx, WriteTx

KIND = "business"
SAID_BY_AUTHORITY = frozenset(
    {"name", "trading_name", "type", "trading_type", "accounting_basis", "commencement_date", "cessation_date"}
    | {"quarterly_period_type", "quarterly_period_tax_year", "address", "tax_business_id"}
)
"""The fields that `adopt` and `take_over` write."""
NEVER = TaxRecord("never")

_NAMES = {
    "self_employment": "Self-employment",
    "uk_property": "UK property",
    "foreign_property": "Foreign property",
    "property_unspecified": "Property",
}
"""What a business is called whose name nobody gave."""

_SELECT_EXTERNAL = "SELECT id FROM businesses WHERE org_id = :org_id AND id <> :id AND external_id = :external_id"
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


def adopt(tx: WriteTx, legal_entity_id: str, values: Mapping[str, object], tax_sync: TaxRecord = NEVER) -> BusinessRow:
    """Keep a business that the tax authority knows and we do not. `values` as in `take_over`, `type` among them.

    Without `name` it has its trading name, or the name of its type. Raises `Problem`: `already_exists`,
    `limit_reached`, `not_found` (the legal entity); `ValueError` for a field that is not the authority's to say.
    """
    owner = owners.find(tx, legal_entity_id)
    if owner is None:
        raise not_found("legal entity")
    _refuse_foreign(values)
    named = values.get("name") or values.get("trading_name") or _NAMES.get(str(values["type"]), "Business")
    row = _as_ceased(new_row(tx, owner, {**values, "name": named}), tx.today)
    return add(tx, rows.recorded(row, tax_sync), owner)


def take_over(tx: WriteTx, business_id: str, changes: Mapping[str, object], tax_sync: TaxRecord) -> BusinessRow:
    """Write what the tax authority says, and the record of the comparison.

    `changes` are of `SAID_BY_AUTHORITY`; dates may be ISO texts. A cessation that has come makes the business ceased,
    and one that is taken back active. Chosen: the version rises only where something other than `taxSync` changed, so
    that a comparison makes no `expectedVersion` fail; `updatedAt` moves, so that `updatedSince` shows the record.

    Raises `Problem`: `not_found`, `already_exists`, and `invalid_state` where `accounting_basis` would change under
    closed books; `ValueError` for a field that is not the authority's to say.
    """
    before = rows.find(tx, business_id)
    if before is None:
        raise not_found(KIND)
    _refuse_foreign(changes)
    after = changed(before, changes)
    if after.cessation_date != before.cessation_date:
        after = _as_ceased(after, tx.today)
    if after == before:
        return rows.update(tx, rows.recorded(before, tax_sync))
    return change(tx, before, rows.recorded(after, tax_sync))


def new_row(tx: WriteTx, owner: Owner, values: Mapping[str, object]) -> BusinessRow:
    """A business that is not kept yet: the defaults, and `values` by the names of the fields."""
    columns: dict[str, object] = {
        **dict.fromkeys(BusinessRow.__struct_fields__),
        "status": "active",
        "accounting_basis": "accruals" if owner.is_incorporated else "cash",
        "quarterly_period_type": "standard",
        "uses_consolidated_expenses": 0,
        "currency": owner.base_currency,
        "bank_account_ids": "[]",
        "owner_share_percent": "100",
        "tax_sync_status": "never",
        **{name: rows.column(name, value) for name, value in values.items() if value is not None},
        "id": tx.new_id("biz"),
        "legal_entity_id": owner.id,
        "created_at": tx.now,
        "updated_at": tx.now,
        "version": 1,
    }
    return msgspec.convert(columns, BusinessRow)


def changed(row: BusinessRow, changes: Mapping[str, object]) -> BusinessRow:
    """The row with other values, by the names of the fields."""
    return msgspec.structs.replace(row, **{name: rows.column(name, value) for name, value in changes.items()})


def add(tx: WriteTx, row: BusinessRow, owner: Owner) -> BusinessRow:
    """Keep a new business. Raises `Problem`: `already_exists`, `limit_reached`."""
    if tx.value(_COUNT_OF_ENTITY, legal_entity_id=owner.id) >= rows.MAX_PER_ENTITY:
        message = f"A legal entity has at most {rows.MAX_PER_ENTITY} businesses."
        raise Problem("limit_reached", message, extra={"limit": rows.MAX_PER_ENTITY})
    _refuse_clash(tx, row)
    if _is_live_uk_property(row):
        _refuse_second_property(tx, row, owner)
    return rows.insert(tx, row)


def change(tx: WriteTx, before: BusinessRow, after: BusinessRow) -> BusinessRow:
    """Keep what a business has become, one version on. Raises `Problem`: `already_exists`, `invalid_state`."""
    resting = after.accounting_basis, after.currency  # Chosen: the currency too, as an entity's base currency is
    if resting != (before.accounting_basis, before.currency) and is_basis_fixed(tx, before):
        raise invalid_state("A period is closed: accounting basis and currency stay as they are.", "closed", ())
    _refuse_clash(tx, after)
    if _is_live_uk_property(after) and not _is_live_uk_property(before):
        owner = owners.find(tx, after.legal_entity_id)
        assert owner is not None  # a foreign key
        _refuse_second_property(tx, after, owner)
    return rows.update(tx, msgspec.structs.replace(after, version=before.version + 1))


def is_basis_fixed(tx: ReadTx, row: BusinessRow) -> bool:
    """True where books are closed that rest on the accounting basis."""
    return period_locks.any_closed(tx, row.legal_entity_id)


def _refuse_foreign(values: Mapping[str, object]) -> None:
    foreign = values.keys() - SAID_BY_AUTHORITY
    if foreign:
        raise ValueError(f"not for the tax authority to say: {', '.join(sorted(foreign))}")


def _as_ceased(row: BusinessRow, today: str) -> BusinessRow:
    """The row in the state that its date of cessation gives it; one that is still to come changes nothing yet."""
    if row.cessation_date is not None and row.cessation_date <= today:
        return msgspec.structs.replace(row, status="ceased")
    return msgspec.structs.replace(row, status="active" if row.status == "ceased" else row.status)


def _is_live_uk_property(row: BusinessRow) -> bool:
    return row.type == "uk_property" and row.archived_at is None and row.status != "ceased"


def _refuse_clash(tx: ReadTx, row: BusinessRow) -> None:
    if row.external_id is not None:
        existing_id = tx.value(_SELECT_EXTERNAL, id=row.id, external_id=row.external_id)
        if existing_id is not None:
            raise external_id_exists("A business", existing_id)
    if row.tax_business_id is not None:
        sought = {"legal_entity_id": row.legal_entity_id, "tax_business_id": row.tax_business_id}
        existing_id = tx.value(_SELECT_TAX_ID, id=row.id, **sought)
        if existing_id is not None:
            message = f"A business with this taxBusinessId exists: {existing_id}."
            raise Problem("already_exists", message, extra={"existingId": existing_id, "field": "taxBusinessId"})


def _refuse_second_property(tx: ReadTx, row: BusinessRow, owner: Owner) -> None:
    """HMRC takes all UK lets of a person for one business."""
    if not owner.is_person:
        return
    existing_id = tx.value(_SELECT_UK_PROPERTY, id=row.id, legal_entity_id=row.legal_entity_id)
    if existing_id is not None:
        message = f"A person has one UK property business: {existing_id}."
        raise Problem("already_exists", message, extra={"existingId": existing_id, "field": "type"})
