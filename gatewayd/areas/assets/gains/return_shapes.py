"""What of a year's gains goes into a return (SA108), and what losses are carried: requests and responses. Pounds."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, AmountText, Date, DateText, Id, Request, Response

TaxYear = Annotated[str, Meta(pattern=r"^[12][0-9]{3}-[0-9]{2}$", examples=["2026-27"])]
Section = Literal["listed_shares", "unlisted_shares", "cryptoassets", "other_assets"]
"""Where the return asks for a chargeable disposal."""

Claim = Literal["claimed", "open", "lapsed"]
"""Whether the losses of a year were claimed; can be, until `claimBy`; or can not any more, and are carried nowhere."""


class GainTotals(Response, frozen=True, kw_only=True):
    """Disposals together. `losses` has no sign; `net` is gains less losses."""

    disposals: int
    proceeds: Amount
    costs: Amount
    gains: Amount
    losses: Amount
    net: Amount
    currency: str


class ReturnSection(GainTotals, frozen=True, kw_only=True):
    """The chargeable disposals of one section of the return."""

    section: Section


class ReturnBox(Response, frozen=True, kw_only=True):
    """A figure of the return: a number of disposals (`count`), or an `amount` and its whole `pounds`.

    Whole pounds are to the taxpayer's favour: proceeds and gains are rounded down, costs and losses up.
    """

    box: str
    name: str
    count: int | None
    amount: Amount | None
    pounds: int | None
    currency: str
    source: str


class RatePeriod(Response, frozen=True, kw_only=True):
    """The days of a tax year with the same rates, and what is taxed at them.

    `deducted` are losses and the exempt amount, which go to where the rates are highest first. Rates are in percent:
    `basicRate` for gains within the basic rate band, `higherRate` above it, and for trustees.
    """

    first_day: DateText
    last_day: DateText
    gains: Amount
    losses: Amount
    deducted: Amount
    taxable: Amount
    basic_rate: int
    higher_rate: int
    currency: str
    source: str


class RateAdjustment(Response, frozen=True, kw_only=True):
    """What box 51 of 2024-25 adds, because the return reckons with the rates before 30 October 2024.

    All of it at one of the rates: what of the gains is within the basic rate band depends on income that is not known
    here.
    """

    box: str
    at_basic_rate: Amount
    at_higher_rate: Amount
    currency: str
    source: str


class LossYear(Response, frozen=True, kw_only=True):
    """The losses of a tax year and what became of them.

    `net` is all gains of the year less all its losses, `elsewhere` among them. What is `broughtForward` is `used` as
    far as the net gains are above the exempt amount; null where that is not known. `claim` null: there is no loss.
    """

    tax_year: str
    net: Amount
    elsewhere: Amount
    brought_forward: Amount | None
    used: Amount | None
    carried_forward: Amount | None
    claim: Claim | None
    claimed_date: DateText | None
    claim_by: DateText
    notes: str | None
    currency: str


class CapitalLosses(Response, frozen=True, kw_only=True):
    """The losses of a person by tax year, oldest first."""

    legal_entity_id: Id
    data: list[LossYear]


class RecordCapitalLoss(Request, frozen=True, kw_only=True):
    """The losses of a tax year, in the place of what was recorded of it.

    `elsewhere`: those on assets that are not kept here, less the gains on such. `claimedDate`: when the losses of the
    year, these and those of the books, were claimed; null: not yet.
    """

    legal_entity_id: Id
    tax_year: TaxYear
    elsewhere: AmountText = "0"
    claimed_date: Date | None = None
    notes: Annotated[str, Meta(max_length=2000)] | None = None


class ListCapitalLosses(Request, frozen=True, kw_only=True):
    """Whose losses; until this tax year, or until the present one."""

    legal_entity_id: Id
    tax_year: TaxYear | None = None
