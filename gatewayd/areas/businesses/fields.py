"""What callers may say about a business: the fields of B2 and the requests made of them."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.businesses.rows import AccountingBasis, BusinessType, QuarterlyPeriodType
from gatewayd.areas.businesses.states import LiveStatus, Status
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import Address, Currency, Date, DecimalText, ExternalId, Id, Request, Version

GivenType = Literal["self_employment", "uk_property", "foreign_property", "company_trade", "other"]
"""The types that a request may name: `property_unspecified` is the tax authority's to say."""
BusinessName = Annotated[str, Meta(min_length=1, max_length=105, pattern=r"\S")]
TradingName = Annotated[str, Meta(min_length=1, max_length=105)]  # HMRC's limit
TradingType = Annotated[str, Meta(min_length=1, max_length=35, examples=["Plastering"])]  # HMRC's limit
OwnerShare = Annotated[DecimalText, Meta(description="Percent that is the entity's own: more than 0, at most 100.")]
BankAccountIds = Annotated[list[Id], Meta(max_length=50)]
UsesConsolidated = Annotated[bool, Meta(description="One figure for all expenses: turnover below 90,000 only.")]
Reason = Annotated[str, Meta(max_length=500)]


class ListBusinesses(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    legal_entity_id: Id | None = None
    type: BusinessType | None = None
    status: Status | None = None
    include_archived: bool = False


class GetBusiness(Request, frozen=True, kw_only=True):
    """Which business."""

    id: Id


class CreateBusiness(Request, frozen=True, kw_only=True):
    """A new business.

    By default unincorporated entities keep cash basis, companies accruals; the currency is that of the entity.
    """

    legal_entity_id: Id
    type: GivenType
    name: BusinessName
    trading_name: TradingName | None = None
    trading_type: TradingType | None = None
    commencement_date: Date | None = None
    accounting_basis: AccountingBasis | None = None
    quarterly_period_type: QuarterlyPeriodType | None = None
    uses_consolidated_expenses: UsesConsolidated = False
    address: Address | None = None
    currency: Currency | None = None
    bank_account_ids: BankAccountIds | None = None
    owner_share_percent: OwnerShare = "100"
    external_id: ExternalId | None = None


class UpdateBusiness(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears, an object replaces the one before.

    `cessationDate` corrects that of a business that has ceased.
    """

    id: Id
    expected_version: Version | None = None
    type: GivenType | UnsetType = UNSET
    name: BusinessName | UnsetType = UNSET
    trading_name: TradingName | UnsetType | None = UNSET
    trading_type: TradingType | UnsetType | None = UNSET
    commencement_date: Date | UnsetType | None = UNSET
    cessation_date: Date | UnsetType | None = UNSET
    accounting_basis: AccountingBasis | UnsetType = UNSET
    quarterly_period_type: QuarterlyPeriodType | UnsetType = UNSET
    uses_consolidated_expenses: UsesConsolidated | UnsetType = UNSET
    address: Address | UnsetType | None = UNSET
    currency: Currency | UnsetType = UNSET
    bank_account_ids: BankAccountIds | UnsetType = UNSET
    owner_share_percent: OwnerShare | UnsetType = UNSET
    external_id: ExternalId | UnsetType | None = UNSET


class ArchiveBusiness(Request, frozen=True, kw_only=True):
    """Which business to hide from lists, and why. `force` archives one that has open obligations."""

    id: Id
    expected_version: Version | None = None
    reason: Reason | None = None
    force: bool = False


class SetStatus(Request, frozen=True, kw_only=True):
    """The state to move to. `effectiveDate` is the last day of a business that ceases, and needed for that alone."""

    id: Id
    expected_version: Version | None = None
    status: LiveStatus
    effective_date: Date | None = None
