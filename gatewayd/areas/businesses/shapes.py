"""What businesses look like (domain model B2): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Address,
    AddressRequest,
    CanonicalDecimal,
    Currency,
    Date,
    DateText,
    DecimalText,
    ExternalId,
    Flat,
    Id,
    Request,
    Response,
    Timestamp,
    Version,
)

BusinessType = Literal[
    "self_employment", "uk_property", "foreign_property", "property_unspecified", "company_trade", "other"
]
AccountingBasis = Literal["cash", "accruals"]
QuarterlyPeriodType = Literal["standard", "calendar"]
StoredStatus = Literal["active", "dormant", "ceased"]
LiveStatus = Literal["pending", "active", "dormant", "ceased"]
Status = Literal["pending", "active", "dormant", "ceased", "archived"]
TaxSyncStatus = Literal["never", "in_sync", "differs", "failed", "not_found"]
Frequency = Literal["A", "Q"]
GivenType = Literal["self_employment", "uk_property", "foreign_property", "company_trade", "other"]
"""The types that a request may name: `property_unspecified` is the tax authority's to say."""
BusinessName = Annotated[str, Meta(min_length=1, max_length=105, pattern=r"\S")]
TradingName = Annotated[str, Meta(min_length=1, max_length=105)]  # HMRC's limit
TradingType = Annotated[str, Meta(min_length=1, max_length=35, examples=["Plastering"])]  # HMRC's limit
OwnerShare = Annotated[DecimalText, Meta(description="Percent that is the entity's own: more than 0, at most 100.")]
BankAccountIds = Annotated[list[Id], Meta(max_length=50)]
UsesConsolidated = Annotated[bool, Meta(description="One figure for all expenses: turnover below 90,000 only.")]
ChoiceYear = Annotated[
    str,
    Meta(
        pattern=r"^2[0-9]{3}-[0-9]{2}$",
        description="The tax year in which `quarterlyPeriodType` was chosen, and from which on it holds: at the latest"
        " the present one, which is the default.",
        examples=["2026-27"],
    ),
]
Reason = Annotated[str, Meta(max_length=500)]


class ListBusinesses(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    legal_entity_id: Id | None = None
    type: BusinessType | None = None
    status: Status | None = None
    external_id: ExternalId | None = None
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
    quarterly_period_tax_year: ChoiceYear | None = None
    uses_consolidated_expenses: UsesConsolidated = False
    address: AddressRequest | None = None
    currency: Currency | None = None
    bank_account_ids: BankAccountIds | None = None
    owner_share_percent: OwnerShare = "100"
    external_id: ExternalId | None = None


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


class StoredBusiness(Response, frozen=True, kw_only=True):
    """The part of a business whose JSON is stored with its row."""

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
    owner_share_percent: CanonicalDecimal
    tax_business_id: str | None
    tax_sync: Flat[TaxSync]
    archive_reason: str | None  # Chosen: what `archive` was told is shown, as an invoice's voidReason is
    archived_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


@updates(CreateBusiness, of=StoredBusiness, without=("legal_entity_id",))
class UpdateBusiness(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears, an object replaces the one before.

    `cessationDate` corrects that of a business that has ceased.
    """

    id: Id
    expected_version: Version | None = None
    cessation_date: Date | UnsetType | None = UNSET
    quarterly_period_tax_year: ChoiceYear | UnsetType = UNSET
    bank_account_ids: BankAccountIds | UnsetType = UNSET
    owner_share_percent: OwnerShare | UnsetType = UNSET


class Business(StoredBusiness, frozen=True, kw_only=True):
    """A source of income of a legal entity."""

    status: Status


class BusinessRow(StoredBusiness, frozen=True, kw_only=True):
    """A business as it is stored: with the state that neither the archive nor a commencement to come is part of."""

    status: StoredStatus
