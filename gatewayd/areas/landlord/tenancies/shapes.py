"""What tenancies look like (Domain B4): requests, responses, and the row where it differs."""

import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.landlord.register.tenancy_shapes import (
    DepositScheme,
    NoticeBy,
    NoticeGround,
    NoticeKind,
    RentFrequency,
    RentNotice,
    StoredTenancy,
    TenancyStatus,
    TenancyType,
    TenantSpan,
)
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
    Version,
)
from gatewayd.ledger.rents.schedule import QuarterDays

RentQuarterDays = Annotated[
    QuarterDays,
    Meta(
        description="The quarter days on which quarterly rent is due, in the place of `rentDueDay`: english 25 March, "
        "24 June, 29 September and 25 December; scottish the 28th of February, May, August and November; modern the "
        "1st of January, April, July and October. Without them it is due on the first `rentDueDay` and each three "
        "months after it."
    ),
]
TenancyWarningCode = Literal[
    "fixed_term_not_allowed",
    "term_over",
    "tenants_day_supposed",
    "rent_period_ended",
    "rent_apportioned",
    "deposit_unprotected",
    "deposit_protected_late",
    "deposit_scheme_elsewhere",
    "deposit_cap",
    "epc_below_minimum",
    "notice_kind_missing",
    "notice_by_missing",
    "notice_kind_unknown",
    "notice_ground_missing",
    "notice_ground_unknown",
    "notice_too_early",
    "notice_too_short",
    "notice_proceedings_by",
    "notice_expired",
    "rent_notice_missing",
    "rent_notice_form",
    "rent_notice_too_short",
    "rent_before_notice",
    "rent_within_period",
    "rent_raised_too_often",
]

TenantIds = Annotated[list[Id], Meta(min_length=1, max_length=10, description="The lead tenant first.")]
TenantsFromDate = Annotated[
    Date,
    Meta(
        description="The first day of the tenants that `tenantIds` names; the tenancy's first day puts right who was "
        "entered wrongly."
    ),
]
RentDueDay = Annotated[
    int,
    Meta(
        ge=1,
        le=31,
        description="Day of the month, 31 being its last; with weekly to four-weekly rent the day of the week, "
        "1 Monday to 7 Sunday.",
    ),
]
TermEnd = Annotated[
    datetime.date,
    Meta(
        description="Last day of the term that was agreed. What the law continues goes on past it until `endedDate` or "
        "a notice says when it ended: assured and regulated tenancies, occupation contracts, private tenancies in "
        "Northern Ireland, commercial leases. The let of a lodger, of a company, and other ones end on it."
    ),
]
LastDay = Annotated[
    datetime.date,
    Meta(description="Last day of the tenancy, come or to come: when the tenants left, or will as was agreed."),
]
Notes = Annotated[str, Meta(max_length=2000)]
Reference = Annotated[str, Meta(max_length=80)]
NoticeKindField = Annotated[
    NoticeKind,
    Meta(
        description="England, Housing Act 1988: `section_8`, with grounds; `section_21` before 2026-05-01. Wales, "
        "Renting Homes (Wales) Act 2016: `section_173`, `section_186`, `section_194` (a break clause), "
        "`possession_notice` with grounds. Scotland: `notice_to_leave`, with grounds. Business premises: `section_25` "
        "of the Landlord and Tenant Act 1954. `notice_to_quit`: Northern Ireland, and where there is the common law "
        "alone. `tenant_notice`: by the tenant, wherever it lies."
    ),
]
NoticeGrounds = Annotated[
    list[NoticeGround],
    Meta(
        max_length=20,
        description="With `section_8` the grounds of Schedule 2 of the Housing Act 1988, with `notice_to_leave` those "
        "of Schedule 3 of the Private Housing (Tenancies) (Scotland) Act 2016, with `possession_notice` the words.",
    ),
]


class AgreedRent(Response, frozen=True, kw_only=True):
    """The rent that was agreed for longer than the law has it: of how long, and on which day it was due.

    `dueDay` null: on the days that `quarterDays` names.
    """

    amount: Amount
    frequency: RentFrequency
    due_day: int | None
    quarter_days: QuarterDays | None


class Deposit(Response, frozen=True, kw_only=True):
    """What the landlord holds, where it is protected, and what was given back."""

    amount: Amount
    scheme: DepositScheme | None
    reference: str | None
    received_date: DateText | None
    protected_date: DateText | None
    returned_amount: Amount | None
    returned_date: DateText | None


class TenancyWarning(Response, frozen=True, kw_only=True):
    """What is not as the law asks for, and was taken all the same."""

    code: TenancyWarningCode
    message: str


class Tenancy(StoredTenancy, frozen=True, kw_only=True):
    """Who lives in a property, or a unit of it, and for what rent.

    `unitId` null: the whole property. `tenantIds` are the tenants of now, `tenants` all that ever were. `rentAmount` is
    that of today, or of the start of a tenancy to come. `type` is what the law makes of the agreement today, and
    `convertedFrom` what it was before, null where nothing changed it. `endDate` is its last day: `endedDate`, when
    somebody said that it ended or will, else the expiry of a notice that ends it, else the end of the term where the
    law lets it end the tenancy; null: it goes on. `termEndDate` is the end of the term that was agreed; past it a home,
    or business premises, stay let until somebody leaves. `rentDueDay` is null where rent is due on `rentQuarterDays`.
    From `monthlySinceDate` on, which may be to come, the law has rent by the month in the place of the longer period
    that was agreed: then `rentAmount`, `rentFrequency` and `rentDueDay` are those of the law, and `agreedRent` what
    they were. `arrears` is rent due until today less rent received; `credit` is what was paid ahead. `warnings` are of
    the notice, the deposit, the rent in force, the next one, and of what the call asked for that they answer.
    """

    tenants: list[TenantSpan]
    """Everybody who ever was a tenant of it, those of now first."""
    converted_from: TenancyType | None
    """What it was before the law made it something else. Null: nothing changed it."""
    status: TenancyStatus
    """`upcoming` before `startDate`; `active`; `notice` from `noticeServedDate` on; `ended` after `endDate`;
    `cancelled`: called off before it began."""
    ended_date: DateText | None
    """The last day as somebody said it, come or to come. Null: nobody did."""
    rent_amount: Amount
    """The rent for each `rentFrequency` today, in `currency`, VAT included where it is charged; of a tenancy to come
    that of its start."""
    rent_due_day: int | None
    """The day on which rent is due: of the month, 31 being its last; with weekly to four-weekly rent of the week, 1
    Monday to 7 Sunday. Null: on `rentQuarterDays`."""
    agreed_rent: AgreedRent | None
    """The rent that was agreed by the quarter or year, where the law has it by the month today. Null: the rent is as it
    was agreed."""
    monthly_since_date: DateText | None
    """The day, come or to come, from which on the law has rent by the month in the place of a longer period. Null: it
    is due as it was agreed."""
    deposit: Deposit | None
    """The deposit that was taken. Null: there is none."""
    arrears: Amount
    """Rent due up to today less what was received and written off, in `currency`; 0.00 where nothing is owed."""
    credit: Amount
    """Rent that was received beyond what is due up to today, in `currency`; 0.00 where nothing was paid ahead."""
    warnings: list[TenancyWarning]
    """What is not as the law asks, and was taken all the same: of the term, the notice, the deposit, the rents and the
    EPC."""


class ListTenancies(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. `activeOn`: those that had begun by that day and had not ended before it."""

    property_id: Id | None = None
    unit_id: Id | None = None
    tenant_id: Id | None = None
    status: TenancyStatus | None = None
    active_on: Date | None = None
    external_id: ExternalId | None = None


class DepositPart(Part, frozen=True, kw_only=True):
    """A deposit, whole: what it does not say is not so. `receivedDate` null: it came when the tenancy began."""

    amount: AmountText
    scheme: DepositScheme | None = None
    reference: Reference | None = None
    received_date: Date | None = None
    protected_date: Date | None = None
    returned_amount: AmountText | None = None
    returned_date: Date | None = None


class CreateTenancy(Request, frozen=True, kw_only=True):
    """A new tenancy. Its type follows from where and what the property is, and from when it begins.

    `rentDueDay` is by default that of `startDate`; rent on `rentQuarterDays` has none. The deposit is either `deposit`
    or its parts by name.
    """

    property_id: Id
    unit_id: Id | None = None
    tenant_ids: TenantIds
    type: TenancyType | None = None
    start_date: Date
    end_date: TermEnd | None = None
    ended_date: LastDay | None = None
    rent_amount: AmountText
    rent_frequency: RentFrequency
    rent_due_day: RentDueDay | None = None
    rent_quarter_days: RentQuarterDays | None = None
    bills_included: bool = False
    deposit: DepositPart | None = None
    deposit_amount: AmountText | None = None
    deposit_scheme: DepositScheme | None = None
    deposit_reference: Reference | None = None
    deposit_received_date: Date | None = None
    deposit_protected_date: Date | None = None
    notes: Notes | None = None
    external_id: ExternalId | None = None


class RentChange(Part, frozen=True, kw_only=True):
    """A new rent, from a day on: of a month where the tenancy is monthly by law from that day or before.

    `amount` null takes out the rent that was entered for that day, and the one before it goes on.
    """

    from_date: Date
    amount: AmountText | None
    notice: RentNotice | None = None


class UpdateTenancy(Request, frozen=True, kw_only=True):
    """The end, the notice, the rent or the deposit to change. An absent field stays, null clears.

    `endedDate`, and so `endDate`, is when the tenancy ends after all. Null for `endedDate` takes that back; null for
    `endDate` takes the term back as well: the tenancy goes on, whatever was agreed. `termEndDate` is the term that is
    agreed, the first or a later one. A notice has `noticeServedDate` and `noticeExpiryDate`, `noticeBy` or
    `noticeKind`, and `noticeGrounds` where the law asks for them; null for the first takes the whole notice back. A
    tenant's notice ends the tenancy on the day it expires, and so does a landlord's where there is a contract alone:
    with a lodger, a company, of business premises. A landlord's notice on a home does not: until `endedDate` says when
    somebody left, the tenancy goes on and rent is due. `rent` is a new rent from a day on, in the place of one from
    that day; without an amount it takes that one out. `cancelled` calls off a tenancy that has not begun. `tenantIds`
    are the tenants from `tenantsFromDate` on, today by default: who is replaced stays a tenant up to the day before.
    `type`, `startDate`, `rentFrequency`, `rentDueDay` and `rentQuarterDays` correct what was entered, of the whole
    tenancy; without the last, rent is due on `rentDueDay`.
    """

    id: Id
    expected_version: Version | None = None
    end_date: LastDay | UnsetType | None = UNSET
    ended_date: LastDay | UnsetType | None = UNSET
    term_end_date: TermEnd | UnsetType | None = UNSET
    notice_served_date: Date | UnsetType | None = UNSET
    notice_by: NoticeBy | UnsetType | None = UNSET
    notice_kind: NoticeKindField | UnsetType | None = UNSET
    notice_grounds: NoticeGrounds | UnsetType = UNSET
    notice_expiry_date: Date | UnsetType | None = UNSET
    rent: RentChange | UnsetType = UNSET
    deposit: DepositPart | UnsetType | None = UNSET
    cancelled: bool = False
    tenant_ids: TenantIds | UnsetType = UNSET
    tenants_from_date: TenantsFromDate | UnsetType = UNSET
    type: TenancyType | UnsetType = UNSET
    start_date: Date | UnsetType = UNSET
    rent_frequency: RentFrequency | UnsetType = UNSET
    rent_due_day: RentDueDay | UnsetType = UNSET
    rent_quarter_days: RentQuarterDays | UnsetType | None = UNSET
    bills_included: bool | UnsetType = UNSET
    notes: Notes | UnsetType | None = UNSET
    external_id: ExternalId | UnsetType | None = UNSET
