"""What gains look like (Domain C5): requests and responses. Amounts are in pounds, as pools are."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.assets.gains.return_shapes import (
    GainTotals,
    LossYear,
    RateAdjustment,
    RatePeriod,
    ReturnBox,
    ReturnSection,
    Section,
    TaxYear,
)
from gatewayd.areas.assets.pools.days import Rule
from gatewayd.contract.pages import LongLimit, PageRequest
from gatewayd.contract.wire import Amount, CanonicalDecimal, Date, DateText, DecimalText, Id, Request, Response

Treatment = Literal["chargeable", "exempt", "offshore_income"]
Quantity = Annotated[str, Meta(description="Exact: a decimal, or a fraction such as 100/3.", examples=["100"])]
WarningCode = Literal[
    "other_currency",
    "short_position",
    "provisional",
    "exempt_amount_unknown",
    "offshore_status_unknown",
    "distribution_value_unknown",
    "stock_dividend_unknown",
    "listing_unknown",
    "eis_seis",
    "residence_unknown",
    "not_resident",
    "split_year",
    "temporary_non_residence",
    "loss_not_claimed",
    "loss_claim_late",
]


class ListDisposals(PageRequest, frozen=True, kw_only=True):
    """Whose disposals, and which: those of a tax year, or of a range of days. Without any, all."""

    legal_entity_id: Id
    tax_year: TaxYear | None = None
    """Only disposals of this tax year; not with dates."""
    from_date: Date | None = None
    """Only disposals of this day or later; not with `taxYear`."""
    to_date: Date | None = None
    """Only disposals of this day or earlier; not with `taxYear`."""
    instrument_id: Id | None = None
    limit: LongLimit = 50


class GetCapitalGains(Request, frozen=True, kw_only=True):
    """Whose gains, and of which tax year."""

    legal_entity_id: Id
    tax_year: TaxYear


class DisposalMatch(Response, frozen=True, kw_only=True):
    """What a part of a disposal is identified with."""

    rule: Rule
    """By which rule: acquisitions of the `same_day`, of the `thirty_days` after it, the section 104 holding (`pool`),
    or of a short position the next acquisitions whenever they come (`later`)."""
    date: DateText | None
    """The day of the acquisition. Null: the section 104 holding."""
    quantity: Quantity
    """How many units, as they count on the day of the disposal."""
    cost: Amount
    """What they cost, rounded by itself."""
    currency: str
    """The currency of the cost: pounds, of an account the base currency of its portfolio."""


class Disposal(Response, frozen=True, kw_only=True):
    """All that was disposed of on a day, of one instrument (TCGA 1992 s105).

    Money that was paid for no shares and is not small is in it: a return of capital, a takeover's cash (s122).
    """

    legal_entity_id: Id
    """The person, trust or partnership that disposed of it."""
    instrument_id: Id
    """What was disposed of."""
    name: str
    """The name of the instrument."""
    isin: str | None
    """The ISIN of the instrument. Null: not known."""
    date: DateText
    """The day on which it was disposed of."""
    tax_year: str
    """The tax year of that day, such as `2026-27`."""
    quantity: Quantity
    """How many units were disposed of; 0 where money alone was paid on them."""
    short_quantity: Quantity
    """How many of them nothing covers yet, sold beyond what was held: they have no gain so far."""
    proceeds: Amount
    """What was got for it, less fees and taxes, as far as it is covered."""
    cost: Amount
    """What it cost: `proceeds` less `gain`."""
    gain: Amount
    """The gain, rounded to the penny; below 0 a loss."""
    currency: str
    """The currency of the amounts: always pounds."""
    treatment: Treatment
    """`chargeable`: it counts for Capital Gains Tax. `exempt`: neither gain nor loss counts. `offshore_income`: the
    gain on an offshore fund that does not report, which is income."""
    section: Section | None
    """Where the return asks for it. Null: nowhere, as it is not chargeable."""
    section_known: bool
    """Whether the section is sure. False: nobody said whether the shares are listed, and they count as such."""
    provisional: bool
    """Whether a purchase may still change it: until `finalAfterDate` is past, and as long as some of it is short."""
    final_after_date: DateText
    """The last day whose purchases can be matched with it, 30 days after it."""
    matches: list[DisposalMatch]
    """What it is identified with, part by part."""


class GainWarning(Response, frozen=True, kw_only=True):
    """What the figures do not say by themselves."""

    code: WarningCode
    """What it is about. `other_currency`: disposals of portfolios not kept in pounds are not counted. `eis_seis`: nor
    are those of EIS and SEIS shares. `offshore_status_unknown`, `listing_unknown`: what nobody told of an instrument is
    supposed. `distribution_value_unknown`, `stock_dividend_unknown`: so is what nobody told of a transaction.
    `residence_unknown`, `not_resident`, `split_year`, `temporary_non_residence`: the figures are of a resident.
    `loss_not_claimed`: such a loss counts. `loss_claim_late`: such a loss does not."""
    message: str
    """What it is about, and what would settle it, for people."""


class CapitalGains(Response, frozen=True, kw_only=True):
    """The gains of a tax year as the capital gains pages of a return (SA108) ask for them."""

    legal_entity_id: Id
    """The person, trust or partnership whose gains they are."""
    tax_year: str
    """The tax year, such as `2026-27`."""
    currency: str
    """The currency of the amounts: always pounds."""
    chargeable: GainTotals
    """The disposals that count for Capital Gains Tax, losses on offshore funds that do not report among them."""
    exempt: GainTotals
    """The disposals that count for nothing, such as those of gilts."""
    offshore_income: GainTotals
    """The gains on offshore funds that do not report, which are income and no chargeable gains."""
    exempt_amount: Amount | None
    """The annual exempt amount of an individual. Null: that of the year is not known, or it is a trust or
    partnership."""
    exempt_amount_source: str | None
    """Where the exempt amount stands. Null: it is not known."""
    above_exempt_amount: Amount | None
    """The chargeable gains less losses of the year in these books, less the exempt amount, not below 0: before losses
    elsewhere and of other years. Null: the exempt amount is not known."""
    provisional_disposals: int
    """How many disposals a purchase may still change, of all treatments."""
    sections: list[ReturnSection]
    """The chargeable disposals by section of the return; sections without any are left out."""
    boxes: list[ReturnBox]
    """The boxes of the return that are known here; none before 2019-20."""
    losses: LossYear
    """The losses of the year, and what is brought and carried forward."""
    taxable: Amount | None
    """What is left after all losses and the exempt amount, not below 0. Null: the exempt amount or the losses brought
    forward are not known."""
    rate_periods: list[RatePeriod]
    """The parts of the year with the same rates, oldest first; none before 2016-17, or where `taxable` is null."""
    rate_adjustment: RateAdjustment | None
    """What the return has to add for the change of rates within the year. Null: there is none, or nothing is taxed at
    the later rates."""
    warnings: list[GainWarning]
    """What the figures do not say by themselves."""


class ExplainPosition(PageRequest, frozen=True, kw_only=True):
    """Which position: of an account, or of the pool of a legal entity over all accounts without a wrapper."""

    instrument_id: Id
    """The instrument that is held."""
    legal_entity_id: Id | None = None
    """The person whose pool is explained; or give `accountId`."""
    account_id: Id | None = None
    """The account whose holding is explained, at its average cost; or give `legalEntityId`."""
    as_of_date: Date | None = None
    """The last day that is told; what came later is not matched either. Left out: today."""
    limit: LongLimit = 50


class PoolState(Response, frozen=True, kw_only=True):
    """What is in the section 104 holding; of an account, what it holds."""

    quantity: Quantity
    """How many units there are; below 0 more were sold than there were."""
    cost: Amount
    """What they cost; of an account at its average."""
    currency: str
    """The currency of the cost: pounds, of an account the base currency of its portfolio."""


class ExplainedDay(Response, frozen=True, kw_only=True):
    """A day of a position: what its transactions brought, what its disposals were matched with, and the pool around
    it."""

    date: DateText
    """The day on which it all happened."""
    transaction_ids: list[Id]
    """The transactions of the day that count, those that were reversed left out."""
    acquired: Quantity
    """How many units were bought, or came from somebody else: they take part in matching."""
    acquired_cost: Amount
    """What they cost, fees and taxes included."""
    disposed: Quantity
    """How many units were sold, or went to somebody else but a spouse."""
    proceeds: Amount
    """What was got for them, less fees and taxes, covered or not."""
    added: Quantity
    """How many units came without being an acquisition: by rights, bonus issues, spin-offs, mergers, transfers from own
    accounts."""
    added_cost: Amount
    """What they cost, or brought with them of cost."""
    removed: Quantity
    """How many units left without a gain: to a spouse, to own accounts, by mergers."""
    removed_cost: Amount
    """The cost that went with them, and with spin-offs."""
    adjustment: Amount
    """What was added to the cost by income that a fund kept, less equalisation and small distributions."""
    distributed: Amount
    """Money paid for no shares that counts as a disposal of a part: a return of capital, a takeover's cash."""
    distributed_cost: Amount
    """What of the cost went with that part."""
    gain: Amount | None
    """The gain of the day, below 0 a loss. Null: nothing was disposed of."""
    currency: str
    """The currency of the amounts: pounds, of an account the base currency of its portfolio."""
    matches: list[DisposalMatch]
    """What the units disposed of, and given to a spouse, are identified with, part by part."""
    pool_before: PoolState
    """What was in the pool before the day, in units of that time."""
    pool_after: PoolState
    """What is in the pool after the day."""
    held: Quantity
    """How many units are held after the day: what was sold and is bought again within 30 days is in the pool, and not
    held."""


class GetGainForecast(Request, frozen=True, kw_only=True):
    """Whose disposals; with quantity and price a purchase today is imagined."""

    legal_entity_id: Id
    instrument_id: Id | None = None
    """Only this instrument, which is the one that is bought. Left out: all."""
    quantity: DecimalText | None = None
    """How many units are bought; with `instrumentId` and `unitPrice`."""
    unit_price: DecimalText | None = None
    """What one unit is bought for, in pounds, without fees."""


class ForecastDisposal(Response, frozen=True, kw_only=True):
    """A disposal of the last 30 days that a purchase may still be matched with."""

    instrument_id: Id
    """What was disposed of."""
    name: str
    """The name of the instrument."""
    date: DateText
    """The day on which it was disposed of."""
    quantity: Quantity
    """How many units were disposed of that day."""
    from_pool: Quantity
    """How many of them come out of the pool so far: a purchase would be matched with these instead."""
    do_not_rebuy_before: DateText
    """The first day on which a purchase is not matched with it any more."""
    gain: Amount
    """The gain as it is now; below 0 a loss."""
    gain_after_rebuy: Amount | None
    """The gain after the purchase that is imagined. Null: none is, of this instrument."""
    currency: str
    """The currency of the amounts: always pounds."""


class GainForecast(Response, frozen=True, kw_only=True):
    """Disposals that a purchase may still be matched with, and what one would change."""

    legal_entity_id: Id
    """The person whose disposals they are."""
    currency: str
    """The currency of the amounts: always pounds."""
    disposals: list[ForecastDisposal]
    """The disposals of the last 30 days, oldest first, but for exempt ones."""
    change: Amount | None
    """What the purchase that is imagined does to the gains of all of them together. Null: none is."""


class ComparePools(Request, frozen=True, kw_only=True):
    """Whose pools."""

    legal_entity_id: Id
    instrument_id: Id | None = None
    """Only this instrument, held or not. Left out: all that are held."""


class BrokerHolding(Response, frozen=True, kw_only=True):
    """What an account holds, at its own average cost, as its broker would show it."""

    account_id: Id
    """The account."""
    account_name: str
    """What people call the account."""
    quantity: Quantity
    """How many units it holds; below 0 more were sold than held."""
    cost: Amount
    """What they cost at the account's own average."""
    average_cost: CanonicalDecimal | None
    """What one unit cost in pounds, to 6 places. Null: nothing is held."""
    currency: str
    """The currency of the amounts: always pounds."""


CostEvent = Literal["disposal", "adjustment", "gift", "merger", "spin_off"]


class CostDifference(Response, frozen=True, kw_only=True):
    """An event that took another cost out of the pool than out of the accounts."""

    date: DateText
    """The day of the event."""
    kind: CostEvent
    """`disposal`: all that was disposed of on a day. `adjustment`: a return of capital or equalisation beyond the cost
    that was left. `gift`: to or from a spouse. `merger` and `spin_off`: what they carried to another instrument."""
    transaction_id: Id | None
    """The transaction of a gift, merger or spin-off. Null: the event is of a whole day."""
    pool_cost: Amount
    """The cost that left the pool; below 0 it came in."""
    account_cost: Amount
    """The cost that left the accounts together; below 0 it came in."""
    difference: Amount
    """What left the pool less what left the accounts."""
    currency: str
    """The currency of the amounts: always pounds."""
    matches: list[DisposalMatch]
    """Of a disposal, what the pool identified it with, part by part; of others none."""


class ComparedPool(Response, frozen=True, kw_only=True):
    """One pool over all accounts without a wrapper, beside the accounts."""

    instrument_id: Id
    """The instrument."""
    name: str
    """The name of the instrument."""
    pool: PoolState
    """What the pool has, as tax reckons it."""
    average_cost: CanonicalDecimal | None
    """What one unit of the pool cost in pounds, to 6 places. Null: nothing is held."""
    accounts: list[BrokerHolding]
    """What each account holds by itself, those that once held it included."""
    difference: Amount
    """What the accounts' holdings cost together less what the pool cost: the differences of all events together."""
    earlier_difference: Amount
    """The differences of the events before those in `days`, together."""
    currency: str
    """The currency of the amounts: always pounds."""
    days: list[CostDifference]
    """The latest 100 events that made a difference, oldest first."""


class ComparedPools(Response, frozen=True, kw_only=True):
    """The pools of a legal entity, beside what its brokers show."""

    legal_entity_id: Id
    """The person whose pools they are."""
    data: list[ComparedPool]
    """The pools, by instrument."""
