"""Businesses compared with the tax authority's (Domain A2, B2): shapes and the row, whose handler is `tax`'s."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.businesses.shapes import Business
from gatewayd.contract.operation import AT_CATALOGUE, TAX_FORWARD, Operation
from gatewayd.contract.wire import Address, Id, Request, Response, Timestamp


class SyncTaxBusiness(Request, frozen=True, kw_only=True):
    """One business by `id`, or every source of income of a person by `legalEntityId`."""

    id: Id | None = None
    legal_entity_id: Id | None = None
    dry_run: Annotated[bool, Meta(description="Only compare: nothing is changed.")] = False


class TaxBusinessChange(Response, frozen=True, kw_only=True):
    """One field that differs. `businessId` is null for a source that is not kept here."""

    business_id: str | None
    tax_business_id: str | None
    field: str
    local: str | Address | None
    remote: str | Address | None


class TaxBusinessSync(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was compared, as it is now. `business` answers `id`, `businesses` answers `legalEntityId`."""

    business: Business | UnsetType = UNSET
    businesses: list[Business] | UnsetType = UNSET
    changes: list[TaxBusinessChange]
    synced_at: Timestamp


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
        example={"id": "biz_01k0000000000000000000000a"},
    ),
)
