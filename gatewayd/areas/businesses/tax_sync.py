"""Businesses compared with the tax authority's (Domain A2, B2): shapes and the row, whose handler is `tax`'s.

What the authority says is written as it says it. Rules that compare a business with other rows hold for it as for
callers: see `rows`.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from gatewayd.areas.businesses import rows
from gatewayd.areas.businesses.rows import BUSINESSES, NEVER_SYNCED
from gatewayd.areas.businesses.shapes import Business, BusinessRow, TaxSync
from gatewayd.contract.operation import AT_CATALOGUE, TAX_FORWARD, Operation
from gatewayd.contract.wire import Address, Id, Request, Response, Timestamp
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


class SyncTaxBusiness(Request, frozen=True, kw_only=True):
    """One business, or every source of income of a person."""

    id: Id | None = None
    """One business. Needed, unless `legalEntityId` is given."""
    legal_entity_id: Id | None = None
    """A person, all of whose sources of income are compared; those not kept here are added."""
    dry_run: bool = False
    """Whether it is only compared, and nothing changed."""


class TaxBusinessChange(Response, frozen=True, kw_only=True):
    """One field that differs."""

    business_id: str | None
    """The business that it is of. Null: a source that is not kept here yet."""
    tax_business_id: str | None
    """HMRC's id of the source of income."""
    field: str
    """The field of the business that differs, such as `tradingName`."""
    local: str | Address | None
    """What it was here before. Null: nothing."""
    remote: str | Address | None
    """What the tax authority says. Null: nothing."""


class TaxBusinessSync(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was compared, as it is now."""

    business: Business | UnsetType = UNSET
    """The business that `id` named; else absent."""
    businesses: list[Business] | UnsetType = UNSET
    """All businesses that `legalEntityId` asked about; else absent."""
    changes: list[TaxBusinessChange]
    """What differed. It was taken over, unless `dryRun` was set, but for a cessation that the tax authority does not
    know of, and an accounting basis that closed books rest on."""
    synced_at: Timestamp
    """When it was compared."""


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
        return BUSINESSES.save(tx, replace(before, tax_sync=tax_sync))
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


OPERATIONS: Final = (
    Operation(
        id="businesses.syncTaxBusiness",
        kind="call",
        method="POST",
        path="/businesses/syncTaxBusiness",
        scopes=("entities:write", "tax:read"),
        request=SyncTaxBusiness,
        response=TaxBusinessSync,
        handler=AT_CATALOGUE,
        errors=(
            *("fraud_headers_invalid", "test_header_in_production", "nino_required"),
            *("tax_not_connected", "tax_reauthorisation_required", "tax_not_configured"),
            *("tax_upstream_error", "tax_upstream_timeout"),
            *("already_exists", "invalid_state", "limit_reached", "version_conflict"),
        ),
        takes_incoming=True,
        work=TAX_FORWARD,
        example={"id": "biz_01k0000000000000000000000c"},
    ),
)
