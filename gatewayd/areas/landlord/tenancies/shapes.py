"""What tenancies look like (Domain B4): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    Date,
    DateText,
    ExternalId,
    Id,
    Part,
    Request,
    Response,
    Timestamp,
    Version,
)

TenancyType = Literal[
    "assured_periodic",
    "assured_shorthold",
    "occupation_contract",
    "private_residential_tenancy",
    "private_tenancy_ni",
    "regulated",
    "lodger",
    "company_let",
    "commercial_lease",
    "other",
]
RentFrequency = Literal["weekly", "fortnightly", "four_weekly", "monthly", "quarterly", "annually"]
DepositScheme = Literal["dps", "tds", "mydeposits", "safedeposits_scotland", "lps_scotland", "tdsni", "none"]
NoticeBy = Literal["landlord", "tenant"]
TenancyStatus = Literal["upcoming", "active", "notice", "ended", "cancelled"]

TenantIds = Annotated[list[Id], Meta(min_length=1, max_length=10, description="The lead tenant first.")]
RentDueDay = Annotated[
    int,
    Meta(
        ge=1,
        le=31,
        description="Day of the month, 31 being its last; with weekly to four-weekly rent the day of the week, "
        "1 Monday to 7 Sunday.",
    ),
]
NoticeForm = Annotated[str, Meta(min_length=1, max_length=40, examples=["Form 4A"])]
Notes = Annotated[str, Meta(max_length=2000)]
Reference = Annotated[str, Meta(max_length=80)]


class RentNotice(Part, frozen=True, kw_only=True):
    """The notice that raised a rent."""

    form: NoticeForm | None = None
    served_date: Date | None = None
    effective_date: Date | None = None


class RentStep(Response, frozen=True, kw_only=True):
    """A rent, from a day on. `amount` is in the tenancy's currency."""

    from_date: DateText
    amount: AmountText
    notice: RentNotice | None


class Deposit(Response, frozen=True, kw_only=True):
    """What the landlord holds, where it is protected, and what was given back."""

    amount: Amount
    scheme: DepositScheme | None
    reference: str | None
    protected_date: DateText | None
    returned_amount: Amount | None
    returned_date: DateText | None


class TenancyRow(Response, frozen=True, kw_only=True):
    """A tenancy as it is stored. `type` is that of its agreement, whatever the law has made of it since.

    `term_end_date` is the last day of the term that was agreed, `end_date` the last day after all; when a tenancy ends
    is what `states.last_day` says. `rent_due_day` is as `RentDueDay` says. `deposit_amount` None: there is no deposit.
    """

    id: Id
    external_id: str | None
    property_id: Id
    unit_id: str | None
    tenant_ids: list[Id]
    type: TenancyType
    start_date: DateText
    term_end_date: DateText | None
    end_date: DateText | None
    rent_frequency: RentFrequency
    rent_due_day: int
    bills_included: bool
    currency: str
    rent_history: list[RentStep]
    deposit_amount: Amount | None
    deposit_scheme: DepositScheme | None
    deposit_reference: str | None
    deposit_protected_date: DateText | None
    deposit_returned_amount: Amount | None
    deposit_returned_date: DateText | None
    notice_served_date: DateText | None
    notice_by: NoticeBy | None
    notice_expiry_date: DateText | None
    notes: str | None
    cancelled_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Tenancy(Response, frozen=True, kw_only=True):
    """Who lives in a property, or a unit of it, and for what rent.

    `unitId` null: the whole property. `rentAmount` is that of today, or of the start of a tenancy to come. `type` is
    what the law makes of the agreement today, and `convertedFrom` what it was before, null where nothing changed it.
    `arrears` is rent due until today less rent received; `credit` is what was paid ahead.
    """

    id: Id
    external_id: str | None
    property_id: Id
    unit_id: str | None
    tenant_ids: list[Id]
    type: TenancyType
    converted_from: TenancyType | None
    status: TenancyStatus
    start_date: DateText
    end_date: DateText | None
    rent_amount: Amount
    rent_frequency: RentFrequency
    rent_due_day: int
    bills_included: bool
    currency: str
    rent_history: list[RentStep]
    deposit: Deposit | None
    notice_served_date: DateText | None
    notice_by: NoticeBy | None
    notice_expiry_date: DateText | None
    arrears: Amount
    credit: Amount
    notes: str | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class ListTenancies(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. `activeOn`: those that had begun by that day and had not ended before it."""

    property_id: Id | None = None
    unit_id: Id | None = None
    tenant_id: Id | None = None
    status: TenancyStatus | None = None
    active_on: Date | None = None
    external_id: ExternalId | None = None


class DepositPart(Part, frozen=True, kw_only=True):
    """A deposit, whole: what it does not say is not so."""

    amount: AmountText
    scheme: DepositScheme | None = None
    reference: Reference | None = None
    protected_date: Date | None = None
    returned_amount: AmountText | None = None
    returned_date: Date | None = None


class CreateTenancy(Request, frozen=True, kw_only=True):
    """A new tenancy. Its type follows from where the property lies and when it begins; rent is due on its first day.

    The deposit is either `deposit` or its parts by name.
    """

    property_id: Id
    unit_id: Id | None = None
    tenant_ids: TenantIds
    type: TenancyType | None = None
    start_date: Date
    end_date: Date | None = None
    rent_amount: AmountText
    rent_frequency: RentFrequency
    rent_due_day: RentDueDay | None = None
    bills_included: bool = False
    deposit: DepositPart | None = None
    deposit_amount: AmountText | None = None
    deposit_scheme: DepositScheme | None = None
    deposit_reference: Reference | None = None
    deposit_protected_date: Date | None = None
    notes: Notes | None = None
    external_id: ExternalId | None = None


class RentChange(Part, frozen=True, kw_only=True):
    """A new rent, from a day on."""

    from_date: Date
    amount: AmountText
    notice: RentNotice | None = None


class UpdateTenancy(Request, frozen=True, kw_only=True):
    """The end, the notice, the rent or the deposit to change. An absent field stays, null clears.

    A notice ends the tenancy on the day it expires, unless `endDate` says otherwise. `cancelled` calls off a tenancy
    that has not begun.
    """

    id: Id
    expected_version: Version | None = None
    end_date: Date | UnsetType | None = UNSET
    notice_served_date: Date | UnsetType | None = UNSET
    notice_by: NoticeBy | UnsetType | None = UNSET
    notice_expiry_date: Date | UnsetType | None = UNSET
    rent: RentChange | UnsetType = UNSET
    deposit: DepositPart | UnsetType | None = UNSET
    bills_included: bool | UnsetType = UNSET
    cancelled: bool = False
    notes: Notes | UnsetType | None = UNSET
    external_id: ExternalId | UnsetType | None = UNSET
