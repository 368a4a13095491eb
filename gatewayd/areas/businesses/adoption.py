"""What the tax authority says of businesses, written as it says it.

The rules that need the other rows hold for it as for callers: see `rows`.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from gatewayd.areas.businesses import rows
from gatewayd.areas.businesses.rows import BUSINESSES, NEVER_SYNCED
from gatewayd.areas.businesses.shapes import BusinessRow, TaxSync
from gatewayd.errors import not_found
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import WriteTx

SAID_BY_AUTHORITY = frozenset(
    {"name", "trading_name", "type", "trading_type", "accounting_basis", "commencement_date", "cessation_date"}
    | {"quarterly_period_type", "quarterly_period_tax_year", "address", "tax_business_id"}
)
"""The fields that `adopt` and `take_over` write."""
_NAMES = {
    "self_employment": "Self-employment",
    "uk_property": "UK property",
    "foreign_property": "Foreign property",
    "property_unspecified": "Property",
}
"""What a business is called whose name nobody gave."""


def adopt(
    tx: WriteTx, legal_entity_id: str, values: Mapping[str, object], tax_sync: TaxSync = NEVER_SYNCED
) -> BusinessRow:
    """Store a business that the tax authority knows and we do not. `values` as in `take_over`, `type` among them.

    Without `name` it has its trading name, or the name of its type. Raises `Problem`: `already_exists`,
    `limit_reached`, `not_found` (the legal entity); `ValueError` for a field that is not the authority's to say.
    """
    owner = owners.find(tx, legal_entity_id)
    if owner is None:
        raise not_found("legal entity")
    _refuse_foreign(values)
    named = values.get("name") or values.get("trading_name") or _NAMES.get(str(values["type"]), "Business")
    row = rows.new(tx, owner, None, **{**values, "name": named, "tax_sync": tax_sync})
    return rows.add(tx, _as_ceased(row, tx.today), owner)


def take_over(tx: WriteTx, business_id: str, changes: Mapping[str, object], tax_sync: TaxSync) -> BusinessRow:
    """Write what the tax authority says, and the record of the comparison.

    `changes` are of `SAID_BY_AUTHORITY`, dates ISO texts. A cessation that has come makes the business ceased,
    and one that is taken back active. Chosen: the version rises only where something other than `taxSync` changed, so
    that a comparison makes no `expectedVersion` fail; `updatedAt` moves, so that `updatedSince` shows the record.

    Raises `Problem`: `not_found`, `already_exists`, and `invalid_state` where `accounting_basis` would change under
    closed books; `ValueError` for a field that is not the authority's to say.
    """
    before = BUSINESSES.get(tx, business_id)
    _refuse_foreign(changes)
    after = replace(before, **changes)
    if after.cessation_date != before.cessation_date:
        after = _as_ceased(after, tx.today)
    if after == before:
        after = BUSINESSES.save(tx, replace(before, tax_sync=tax_sync))
        rows.refresh_calendar(tx, before, after)
        return after
    return rows.change(tx, before, replace(after, tax_sync=tax_sync))


def _refuse_foreign(values: Mapping[str, object]) -> None:
    foreign = values.keys() - SAID_BY_AUTHORITY
    if foreign:
        raise ValueError(f"not for the tax authority to say: {', '.join(sorted(foreign))}")


def _as_ceased(row: BusinessRow, today: str) -> BusinessRow:
    """The row in the state that its date of cessation gives it; one that is still to come changes nothing yet."""
    if row.cessation_date is not None and row.cessation_date <= today:
        return replace(row, status="ceased")
    return replace(row, status="active" if row.status == "ceased" else row.status)
