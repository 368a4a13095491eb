"""What tenancies look like (Domain B4): requests, responses, and the row where it differs."""

import datetime
from typing import Annotated, ClassVar, Literal

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

TenantIds = Annotated[
    list[Id], Meta(min_length=1, max_length=10, description="Who the tenants are, the lead tenant first.")
]
TenantsFromDate = Annotated[
    Date,
    Meta(
        description="The first day of the tenants that `tenantIds` names; the tenancy's first day puts right who was "
        "entered wrongly."
    ),
]
RentDueDay = Annotated[int, Meta(ge=1, le=31)]
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
    """The rent that was agreed for longer than the law has it."""

    amount: Amount
    """The rent for each `frequency` that was agreed last, in the tenancy's currency."""
    frequency: RentFrequency
    """How often it was due: by the quarter or the year."""
    due_day: int | None
    """The day of the month on which it was due, 31 being the last. Null: on `quarterDays`."""
    quarter_days: QuarterDays | None
    """The quarter days on which it was due. Null: on `dueDay`."""


class Deposit(Response, frozen=True, kw_only=True):
    """What the landlord holds, where it is protected, and what was given back."""

    amount: Amount
    """What was taken as a deposit, in the tenancy's currency."""
    scheme: DepositScheme | None
    """The scheme that protects it; `none`: it is in none. Null: nobody said."""
    reference: str | None
    """The number that the scheme gave it. Null: not entered."""
    received_date: DateText | None
    """The day on which it came. Null: not entered, and it counts as received on the first day of the tenancy."""
    protected_date: DateText | None
    """The day from which the scheme protects it. Null: none is known."""
    returned_amount: Amount | None
    """What was given back of it. Null: nothing so far."""
    returned_date: DateText | None
    """The day on which it was given back: from then on nothing of it is held. Null: it is held."""


class TenancyWarning(Response, frozen=True, kw_only=True):
    """What is not as the law asks for, and was taken all the same."""

    code: TenancyWarningCode
    """What is not as the law asks, for programs."""
    message: str
    """What is not as the law asks and by which law, for people."""


class Tenancy(StoredTenancy, frozen=True, kw_only=True):
    """Who lives in a property, or a unit of it, and for what rent."""

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
    """Filters of the list."""

    former_names: ClassVar = {"activeOn": "asOfDate"}

    property_id: Id | None = None
    business_id: Id | None = None
    """Only those of this business's properties."""
    legal_entity_id: Id | None = None
    """Only those of the properties of this legal entity's businesses."""
    unit_id: Id | None = None
    tenant_id: Id | None = None
    """Only those of which this tenant is one, or ever was."""
    status: TenancyStatus | None = None
    """Only those in this state today."""
    as_of_date: Date | None = None
    """Only those that had begun by this day, had not ended before it, and were not called off."""
    external_id: ExternalId | None = None


class DepositPart(Part, frozen=True, kw_only=True):
    """A deposit, whole: what it does not say is not so."""

    amount: AmountText
    """What was taken as a deposit, in the tenancy's currency."""
    scheme: DepositScheme | None = None
    """The scheme that protects it; `none`: it is in none. Null: nobody said; with `protectedDate` it is required."""
    reference: Reference | None = None
    """The number that the scheme gave it. Null: none is known."""
    received_date: Date | None = None
    """The day on which it came, not one to come. Null: the first day of the tenancy counts."""
    protected_date: Date | None = None
    """The day from which the scheme protects it, not one to come. Null: none is known."""
    returned_amount: AmountText | None = None
    """What was given back of it, at most `amount`, with `returnedDate`. Null: nothing so far."""
    returned_date: Date | None = None
    """The day on which it was given back, not one to come, with `returnedAmount`. Null: it is held."""


class GetTenancy(Request, frozen=True, kw_only=True):
    """Which tenancy."""

    id: Id


class CreateTenancy(Request, frozen=True, kw_only=True):
    """A new tenancy."""

    property_id: Id
    unit_id: Id | None = None
    """The unit that is let. Left out: the whole property, with all its units."""
    tenant_ids: TenantIds
    type: TenancyType | None = None
    """What the agreement is in law. That of a new tenancy follows by default from where the property lies and what it
    is used for, from whether all tenants are companies, and from `startDate`."""
    start_date: Date
    end_date: TermEnd | None = None
    ended_date: LastDay | None = None
    rent_amount: AmountText
    """The rent for each `rentFrequency` from `startDate` on, in the property's currency, VAT included where it is
    charged."""
    rent_frequency: RentFrequency
    rent_due_day: RentDueDay | None = None
    """The day on which rent is due: of the month, 31 being its last; with weekly to four-weekly rent of the week, 1
    Monday to 7 Sunday. Of a new tenancy it is by default that of `startDate`; rent on `rentQuarterDays` has none."""
    rent_quarter_days: RentQuarterDays | None = None
    bills_included: bool = False
    deposit: DepositPart | None = None
    """The deposit that was taken, whole; that of a new tenancy can be given by its parts instead."""
    deposit_amount: AmountText | None = None
    """`amount` of the deposit by name, in the place of `deposit`."""
    deposit_scheme: DepositScheme | None = None
    """`scheme` of the deposit by name, beside `depositAmount`."""
    deposit_reference: Reference | None = None
    """`reference` of the deposit by name, beside `depositAmount`."""
    deposit_received_date: Date | None = None
    """`receivedDate` of the deposit by name, beside `depositAmount`."""
    deposit_protected_date: Date | None = None
    """`protectedDate` of the deposit by name, beside `depositAmount`."""
    notes: Notes | None = None
    external_id: ExternalId | None = None


class RentChange(Part, frozen=True, kw_only=True):
    """A new rent, from a day on."""

    from_date: Date
    """The first day of the rent. Within a period it counts from the next due day on."""
    amount: AmountText | None
    """The rent for each period; for a month where the tenancy is monthly by law from that day or before. Null: the rent
    that was entered for that day is taken out, and the one before it goes on."""
    notice: RentNotice | None = None
    """The notice that raises the rent. Left out: none was served, or none is known."""


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
    """A new rent from a day on, or the one to take out."""
    deposit: DepositPart | UnsetType | None = UNSET
    cancelled: bool = False
    """Whether to call off a tenancy that has not begun."""
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
