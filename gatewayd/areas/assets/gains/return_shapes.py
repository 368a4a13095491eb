"""What of a year's gains goes into a return (SA108), and what losses are carried: requests and responses. Pounds."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, AmountText, Date, DateText, Id, Request, Response

TaxYear = Annotated[str, Meta(pattern=r"^[12][0-9]{3}-[0-9]{2}$", extra={"form": "a tax year"}, examples=["2026-27"])]
Section = Literal["listed_shares", "unlisted_shares", "cryptoassets", "other_assets"]
Claim = Literal["claimed", "open", "lapsed"]


class GainTotals(Response, frozen=True, kw_only=True):
    """Disposals together. All that was disposed of on a day, of one instrument, is one disposal (TCGA 1992 s105)."""

    disposals: int
    """How many there are."""
    proceeds: Amount
    """What was got for them, less fees and taxes."""
    costs: Amount
    """What was disposed of cost, fees and taxes of its purchase included."""
    gains: Amount
    """The gains of those with a gain, together, before losses."""
    losses: Amount
    """The losses of those with a loss, together, without a sign."""
    net: Amount
    """Gains less losses; below 0 a loss."""
    currency: str
    """The currency of the amounts: always pounds."""


class ReturnSection(GainTotals, frozen=True, kw_only=True):
    """The chargeable disposals of one section of the return."""

    section: Section
    """Where the return asks for them."""


class ReturnBox(Response, frozen=True, kw_only=True):
    """A figure of the return: a number of disposals, or an amount."""

    box: str
    """The number of the box on the form."""
    name: str
    """What the form calls the box."""
    count: int | None
    """The number of disposals that goes into the box. Null: an amount does."""
    amount: Amount | None
    """The exact amount. Null: a number of disposals goes into the box."""
    pounds: int | None
    """The amount in whole pounds that goes into the box, rounded to the taxpayer's favour: proceeds and gains down,
    costs and losses up. Null: a number of disposals does."""
    currency: str
    """The currency of the amounts: always pounds."""
    source: str
    """The form and the section that the box is of."""


class RatePeriod(Response, frozen=True, kw_only=True):
    """The days of a tax year with the same rates, and what is taxed at them."""

    first_day: DateText
    """The first day with these rates."""
    last_day: DateText
    """The last day with these rates, included."""
    gains: Amount
    """Chargeable gains of these days before losses."""
    losses: Amount
    """Losses of these days on chargeable disposals, without a sign; they are among what is `deducted`, whichever days
    that comes off."""
    deducted: Amount
    """What of the year's losses, the losses brought forward and the exempt amount comes off these gains: they go where
    rates are highest first."""
    taxable: Amount
    """The gains less what is deducted."""
    basic_rate: int
    """The rate in percent of gains within the basic rate band."""
    higher_rate: int
    """The rate in percent of gains above the basic rate band, and of trustees."""
    currency: str
    """The currency of the amounts: always pounds."""
    source: str
    """The section of the Act that has the rates."""


class RateAdjustment(Response, frozen=True, kw_only=True):
    """What the return of 2024-25 has to add, because its calculation takes the rates before 30 October 2024."""

    box: str
    """The number of the box on the form."""
    at_basic_rate: Amount
    """What is added where all gains from that day on are within the basic rate band, which depends on income that is
    not known here."""
    at_higher_rate: Amount
    """What is added where all of them are above the basic rate band."""
    currency: str
    """The currency of the amounts: always pounds."""
    source: str
    """The form and the section that the box is of."""


class LossYear(Response, frozen=True, kw_only=True):
    """The losses of a tax year and what became of them."""

    tax_year: str
    """The tax year, such as `2026-27`."""
    net: Amount
    """All chargeable gains of the year less all its losses, those elsewhere among them; below 0 a loss."""
    elsewhere: Amount
    """Losses on assets that are not kept here, less gains on such, as they were recorded."""
    brought_forward: Amount | None
    """The losses of earlier years that are left as the year begins. Null: that depends on an exempt amount that is not
    known."""
    used: Amount | None
    """What of the losses brought forward comes off the year's net gains, down to the exempt amount. Null: that is not
    known."""
    carried_forward: Amount | None
    """The losses that are left for later years, the year's own among them unless their claim has lapsed. Null: that
    depends on an exempt amount that is not known."""
    claim: Claim | None
    """Whether the year's losses were `claimed`, can be until `claimBy` (`open`), or can no more and are carried nowhere
    (`lapsed`). Null: the year has no loss."""
    claimed_date: DateText | None
    """The day on which the year's losses were claimed. Null: nobody said that they were."""
    claim_by: DateText
    """The last day on which losses of the year can be claimed, 4 years after its end."""
    notes: str | None
    """Notes of people. Null: none."""
    currency: str
    """The currency of the amounts: always pounds."""


class CapitalLosses(Response, frozen=True, kw_only=True):
    """The losses of a person by tax year, oldest first."""

    legal_entity_id: Id
    """The person whose losses they are."""
    data: list[LossYear]
    """A row for each tax year from the first that has a gain or a loss, oldest first."""


class RecordCapitalLoss(Request, frozen=True, kw_only=True):
    """The losses of a tax year, in the place of all that was recorded of it."""

    legal_entity_id: Id
    """The person, trust or partnership whose losses they are."""
    tax_year: TaxYear
    """The tax year of the losses, not one to come."""
    elsewhere: AmountText = "0"
    """Losses on assets that are not kept here, less gains on such; 0 or more."""
    claimed_date: Date | None = None
    """The day on which the losses of the year, these and those of the books, were claimed. Left out: not yet."""
    notes: Annotated[str, Meta(max_length=2000)] | None = None


class ListCapitalLosses(Request, frozen=True, kw_only=True):
    """Whose losses, and until which year."""

    legal_entity_id: Id
    tax_year: TaxYear | None = None
    """The last tax year of the list. Left out: the present one."""
