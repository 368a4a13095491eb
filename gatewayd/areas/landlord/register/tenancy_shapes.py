"""Tenancies as they are stored: the row, and the names that stand in it (Domain B4)."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, AmountText, Date, DateText, Id, Part, Response, Timestamp
from gatewayd.ledger.rents.schedule import Frequency, QuarterDays

NoticeBy = Literal["landlord", "tenant"]
NoticeKind = Literal[
    "section_8",
    "section_21",
    "section_173",
    "section_186",
    "section_194",
    "possession_notice",
    "notice_to_leave",
    "notice_to_quit",
    "section_25",
    "tenant_notice",
]
_Ones = Literal["1", "1A", "1B", "2", "2ZA", "2ZB", "2ZC", "2ZD", "3", "4", "4A", "5", "5A", "5B", "5C", "5D", "5E"]
_Sixes = Literal["5F", "5G", "5H", "6", "6A", "6B", "7", "7A", "7B", "8", "9", "10", "11", "12", "12A", "13", "14"]
_Others = Literal["14ZA", "14A", "15", "16", "17", "18"]
_Words = Literal["breach", "anti_social_behaviour", "estate_management", "serious_arrears"]
NoticeGround = Literal[_Ones, _Sixes, _Others, _Words]
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
RentFrequency = Frequency
DepositScheme = Literal["dps", "tds", "mydeposits", "safedeposits_scotland", "lps_scotland", "tdsni", "none"]
TenancyStatus = Literal["upcoming", "active", "notice", "ended", "cancelled"]

NoticeForm = Annotated[str, Meta(min_length=1, max_length=40, examples=["Form 4A"])]


class RentNotice(Part, frozen=True, kw_only=True):
    """The notice that raised a rent."""

    form: NoticeForm | None = None
    """The form that the notice is on, such as Form 4A. Null: not entered."""
    served_date: Date | None = None
    """The day on which it was served. Null: not entered."""
    effective_date: Date | None = None
    """The day from which the notice has the new rent. Null: not entered."""


class RentStep(Response, frozen=True, kw_only=True):
    """A rent, from a day on."""

    from_date: DateText
    """The first day of the rent."""
    amount: AmountText
    """The rent for each `frequency`, in the tenancy's currency, VAT included where it is charged."""
    notice: RentNotice | None
    """The notice that raised it. Null: none was entered."""
    frequency: RentFrequency | None = None  # stored where it is not that of the tenancy, served always
    """How often `amount` is due. Never null in answers."""


class TenantSpan(Response, frozen=True, kw_only=True):
    """A tenant of the tenancy, from a day to a day."""

    tenant_id: Id
    """The tenant."""
    from_date: DateText
    """The first day as a tenant of it."""
    to_date: DateText | None
    """The last day as a tenant of it. Null: as long as the tenancy goes on."""


class StoredTenancy(Response, frozen=True, kw_only=True):
    """What of a tenancy stands in its row and in its answer, where the law of today may give it another value.

    Sentences are of the answer; `TenancyRow` says what it means in the row.
    """

    id: Id
    external_id: str | None
    property_id: Id
    """The property that is let."""
    unit_id: str | None
    """The unit that is let. Null: the whole property."""
    tenant_ids: list[Id]
    """The tenants of now, the lead tenant first."""
    type: TenancyType
    """What the law makes of the agreement today; `occupation_contract` is of Wales, `private_residential_tenancy` of
    Scotland, `private_tenancy_ni` of Northern Ireland, `company_let` to companies alone."""
    start_date: DateText
    """The first day of the tenancy."""
    end_date: DateText | None
    """The last day, come or to come: `endedDate`, else the expiry of a notice that ends it, else the end of a term that
    no law continues. Null: it goes on."""
    term_end_date: DateText | None
    """The last day of the term that was agreed; past it a home, or business premises, stay let until somebody leaves.
    Null: no term was agreed, or the law has none."""
    rent_frequency: RentFrequency
    """How often `rentAmount` is due, in advance; `four_weekly`: every 28 days."""
    rent_quarter_days: QuarterDays | None
    """The quarter days on which quarterly rent is due. Null: on `rentDueDay`."""
    bills_included: bool
    """Whether the rent pays for gas, water, electricity and the like too."""
    currency: str
    """The property's currency."""
    rent_history: list[RentStep]
    """All rents since the start and those to come, the oldest first."""
    notice_served_date: DateText | None
    """The day on which notice was served to end the tenancy. Null: none was."""
    notice_by: NoticeBy | None
    """Who gave the notice. Null: nobody said, and it counts as the landlord's; or there is none."""
    notice_kind: NoticeKind | None
    """Under which law notice was given. Null: nobody said, or there is none."""
    notice_grounds: list[NoticeGround]
    """The grounds that a landlord's notice names, by their numbers in the Act, or by words for Wales. Empty: none."""
    notice_expiry_date: DateText | None
    """The day on which the notice expires. That ends the tenancy where the tenant gave it, or a contract alone protects
    the let; a landlord's notice on a home ends nothing. Null: there is none."""
    notes: str | None
    """Whatever people want to remember of it. Null: nothing."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class TenancyRow(StoredTenancy, frozen=True, kw_only=True):
    """A tenancy as it is stored. `type` is that of its agreement, whatever the law has made of it since.

    `term_end_date` is the last day of the term that was agreed, `end_date` the last day after all; when a tenancy ends
    is what `tenancy_states.last_day` says. `tenant_spans` is empty where the tenants are those of all days.
    `rent_due_day` is a day of the month, 31 being its last, or with weekly to four-weekly rent a day of the week, 1
    Monday to 7 Sunday; `rent_quarter_days`, of quarterly rent alone, go before it, and None leaves it to it.
    `deposit_amount` None: there is no deposit.
    """

    tenant_spans: list[TenantSpan]
    rent_due_day: int
    deposit_amount: Amount | None
    deposit_scheme: DepositScheme | None
    deposit_reference: str | None
    deposit_received_date: DateText | None
    deposit_protected_date: DateText | None
    deposit_returned_amount: Amount | None
    deposit_returned_date: DateText | None
    cancelled_at: Timestamp | None
