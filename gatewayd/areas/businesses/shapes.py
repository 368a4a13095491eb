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
BankAccountIds = Annotated[list[Id], Meta(max_length=50)]
ChoiceYear = Annotated[
    str,
    Meta(
        pattern=r"^2[0-9]{3}-[0-9]{2}$",
        extra={"form": "a tax year"},
        description="The tax year in which `quarterlyPeriodType` was chosen, and from which on it holds: at the latest"
        " the present one, which is the default.",
        examples=["2026-27"],
    ),
]
Reason = Annotated[str, Meta(max_length=500)]


class ListBusinesses(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    legal_entity_id: Id | None = None
    """The legal entity whose businesses are listed."""
    type: BusinessType | None = None
    """The type to list."""
    status: Status | None = None
    """The state today: once its commencement date has come a business is no longer `pending`."""
    external_id: ExternalId | None = None
    include_archived: bool = False
    """Whether archived businesses are listed too, where no `status` is given."""


class GetBusiness(Request, frozen=True, kw_only=True):
    """Which business."""

    id: Id


class CreateBusiness(Request, frozen=True, kw_only=True):
    """A new business."""

    legal_entity_id: Id
    """Whose business it is."""
    type: GivenType
    name: BusinessName
    trading_name: TradingName | None = None
    trading_type: TradingType | None = None
    commencement_date: Date | None = None
    accounting_basis: AccountingBasis | None = None
    """When money counts: on `cash` basis when it comes or goes, on `accruals` when it is earned or owed. A new business
    of a company has `accruals` by default, any other `cash`."""
    quarterly_period_type: QuarterlyPeriodType | None = None
    quarterly_period_tax_year: ChoiceYear | None = None
    uses_consolidated_expenses: bool = False
    address: AddressRequest | None = None
    currency: Currency | None = None
    """The currency of its accounts. A new business without it has that of its legal entity."""
    bank_account_ids: BankAccountIds | None = None
    owner_share_percent: DecimalText = "100"
    external_id: ExternalId | None = None


class ArchiveBusiness(Request, frozen=True, kw_only=True):
    """Which business to hide from lists."""

    id: Id
    expected_version: Version | None = None
    reason: Reason | None = None
    """Why; kept as `archiveReason`."""
    force: bool = False
    """Whether it is archived although it has open obligations, which are then not required any more."""


class SetStatus(Request, frozen=True, kw_only=True):
    """The state to move to."""

    id: Id
    expected_version: Version | None = None
    status: LiveStatus
    """The state to move to. From the archive, only the state before leads out."""
    effective_date: Date | None = None
    """The last day of a business that ceases, which needs it, and no other move takes it."""


class Latency(Response, frozen=True, kw_only=True):
    """How a new source of income reports in its first years."""

    end_date: DateText
    """The day on which these years end."""
    tax_year1: str
    """The first tax year of the source."""
    indicator1: Frequency
    """How it reports in `taxYear1`: `A` once for the year, `Q` quarterly."""
    tax_year2: str
    """The second tax year of the source."""
    indicator2: Frequency
    """How it reports in `taxYear2`: `A` once for the year, `Q` quarterly."""


class TaxSync(Response, frozen=True, kw_only=True):
    """What came of the last comparison with the tax authority."""

    status: TaxSyncStatus
    """`never` compared; `in_sync`; `differs`: something that the authority says was not taken over; `failed`: it did
    not answer as it should; `not_found`: it does not know the business."""
    synced_at: Timestamp | None
    """When the tax authority last answered. Null: never."""
    error: str | None
    """The code of what went wrong at the last comparison. Null: nothing."""
    latency: Latency | None
    """What HMRC says of the first years of a new source. Null: it said nothing of it."""
    year_of_migration: str | None
    """The calendar year of migration, as HMRC calls it. Null: it said none."""


class StoredBusiness(Response, frozen=True, kw_only=True):
    """The part of a business whose JSON is stored with its row."""

    id: Id
    external_id: str | None
    legal_entity_id: Id
    """Whose business it is; this never changes."""
    type: BusinessType
    """The kind of source; `property_unspecified` is what HMRC says of some. A person has one `uk_property` at most, a
    company no `self_employment`."""
    name: str
    """What it is called here."""
    trading_name: str | None
    """The name it trades under, as HMRC has it. Null: none."""
    trading_type: str | None
    """What the trade is, in HMRC's 35 characters. Null: not said."""
    commencement_date: DateText | None
    """The first day of business. Null: not known, and it counts as begun."""
    cessation_date: DateText | None
    """The last day of business. Null: it goes on."""
    accounting_basis: AccountingBasis
    """When money counts: on `cash` basis when it comes or goes, on `accruals` when it is earned or owed."""
    quarterly_period_type: QuarterlyPeriodType
    """With which days the quarters of Income Tax end: `standard` on 5 July, 5 October, 5 January and 5 April;
    `calendar` with June, September, December and March."""
    quarterly_period_tax_year: str | None
    """The tax year in which `quarterlyPeriodType` was chosen, and from which on it holds. Null: nobody chose."""
    uses_consolidated_expenses: bool
    """Whether one figure stands for all expenses, which a turnover below 90,000 allows."""
    address: Address | None
    """Where the business is. Null: not known."""
    currency: str
    """The currency of its accounts."""
    bank_account_ids: list[Id]
    """Bank accounts whose lines are the business's, beside those that name it."""
    owner_share_percent: CanonicalDecimal
    """Percent of it that is the legal entity's own, more than 0 and at most 100; of property, that share is
    reported."""
    tax_business_id: str | None
    """HMRC's own id of the source of income. Null: not known; `businesses.syncTaxBusiness` finds it."""
    tax_sync: Flat[TaxSync]
    """What came of the last comparison with the tax authority."""
    # Chosen: what `archive` was told is shown, as an invoice's voidReason is
    archive_reason: str | None
    """Why it was archived. Null: nobody said, or it is not."""
    archived_at: Timestamp | None
    """When it was archived. Null: it is in use."""
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
    owner_share_percent: DecimalText | UnsetType = UNSET


class Business(StoredBusiness, frozen=True, kw_only=True):
    """A source of income of a legal entity."""

    status: Status
    """`pending` until its commencement date, then `active`; `dormant`: without business for now, though obligations go
    on; `ceased`: ended; `archived`: hidden from lists."""


class BusinessRow(StoredBusiness, frozen=True, kw_only=True):
    """A business as it is stored: with the state that neither the archive nor a commencement to come is part of."""

    status: StoredStatus
