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
    """Whose disposals, and which: `taxYear`, or `fromDate` and `toDate`. Without any, all."""

    legal_entity_id: Id
    tax_year: TaxYear | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    instrument_id: Id | None = None
    limit: LongLimit = 50


class GetCapitalGains(Request, frozen=True, kw_only=True):
    """Whose gains, and of which tax year."""

    legal_entity_id: Id
    tax_year: TaxYear


class DisposalMatch(Response, frozen=True, kw_only=True):
    """What a part of a disposal is identified with. `date` null: the section 104 holding."""

    rule: Rule
    date: DateText | None
    quantity: Quantity
    cost: Amount
    currency: str


class Disposal(Response, frozen=True, kw_only=True):
    """All that was disposed of on a day, of one instrument (TCGA 1992 s105). `gain` is `proceeds` less `cost`.

    Money that was paid for no shares and is not small is in it: a return of capital, a takeover's cash (s122).
    `section` is where the return asks for it, null: nowhere; not known where nobody told whether shares are listed.
    It is provisional until `finalAfterDate` is past, or as long as some of it is short.
    """

    legal_entity_id: Id
    instrument_id: Id
    name: str
    isin: str | None
    date: DateText
    tax_year: str
    quantity: Quantity
    short_quantity: Quantity
    proceeds: Amount
    cost: Amount
    gain: Amount
    currency: str
    treatment: Treatment
    section: Section | None
    section_known: bool
    provisional: bool
    final_after_date: DateText
    matches: list[DisposalMatch]


class GainWarning(Response, frozen=True, kw_only=True):
    """What the figures do not say by themselves."""

    code: WarningCode
    message: str


class CapitalGains(Response, frozen=True, kw_only=True):
    """The gains of a tax year as the capital gains pages of a return (SA108) ask for them.

    `chargeable` counts for Capital Gains Tax. `exempt` are gilts and the like; `offshoreIncome` gains of offshore funds
    that do not report, which are income; their losses lower no income, and are among the `chargeable` ones.
    `exemptAmount` null: it is not known, or depends on more than we know. `aboveExemptAmount` is before losses of other
    years; `taxable` after all `losses`. `ratePeriods` are the days with the same rates; `rateAdjustment` is null but
    where a year has two. `boxes` are those of the return that are known here, and none before 2019-20.
    """

    legal_entity_id: Id
    tax_year: str
    currency: str
    chargeable: GainTotals
    exempt: GainTotals
    offshore_income: GainTotals
    exempt_amount: Amount | None
    exempt_amount_source: str | None
    above_exempt_amount: Amount | None
    provisional_disposals: int
    sections: list[ReturnSection]
    boxes: list[ReturnBox]
    losses: LossYear
    taxable: Amount | None
    rate_periods: list[RatePeriod]
    rate_adjustment: RateAdjustment | None
    warnings: list[GainWarning]


class ExplainPosition(PageRequest, frozen=True, kw_only=True):
    """Which position: of an account, or of the pool of a legal entity; as of a day, today where none is given."""

    instrument_id: Id
    legal_entity_id: Id | None = None
    account_id: Id | None = None
    as_of_date: Date | None = None
    limit: LongLimit = 50


class PoolState(Response, frozen=True, kw_only=True):
    """What is in the pool. Of an account: what it holds, at its average cost."""

    quantity: Quantity
    cost: Amount
    currency: str


class ExplainedDay(Response, frozen=True, kw_only=True):
    """A day of a position: what its transactions brought, what its disposals were matched with, and the pool around it.

    `held` is what is held after it: what leaves and is bought again within 30 days stays in the pool. `added` came
    without being an acquisition: by rights, bonus issues, spin-offs, mergers, own transfers; `removed` left so. Of
    `distributed` money, which was paid for no shares, a part of the cost is `distributedCost`; what is small is in
    `adjustment`.
    """

    date: DateText
    transaction_ids: list[Id]
    acquired: Quantity
    acquired_cost: Amount
    disposed: Quantity
    proceeds: Amount
    added: Quantity
    added_cost: Amount
    removed: Quantity
    removed_cost: Amount
    adjustment: Amount
    distributed: Amount
    distributed_cost: Amount
    gain: Amount | None
    currency: str
    matches: list[DisposalMatch]
    pool_before: PoolState
    pool_after: PoolState
    held: Quantity


class GetGainForecast(Request, frozen=True, kw_only=True):
    """Whose disposals. With `instrumentId`, `quantity` and `unitPrice` (pounds) a purchase today is imagined."""

    legal_entity_id: Id
    instrument_id: Id | None = None
    quantity: DecimalText | None = None
    unit_price: DecimalText | None = None


class ForecastDisposal(Response, frozen=True, kw_only=True):
    """A disposal that an acquisition may still be matched with: one on `doNotRebuyBefore` or later is not."""

    instrument_id: Id
    name: str
    date: DateText
    quantity: Quantity
    from_pool: Quantity
    do_not_rebuy_before: DateText
    gain: Amount
    gain_after_rebuy: Amount | None
    currency: str


class GainForecast(Response, frozen=True, kw_only=True):
    """Disposals of the last 30 days, oldest first. `change` is what the purchase does to their gains together."""

    legal_entity_id: Id
    currency: str
    disposals: list[ForecastDisposal]
    change: Amount | None


class ComparePools(Request, frozen=True, kw_only=True):
    """Whose pools, of one instrument or of all that are held."""

    legal_entity_id: Id
    instrument_id: Id | None = None


class BrokerHolding(Response, frozen=True, kw_only=True):
    """What an account holds, at its own average cost, as its broker would show it."""

    account_id: Id
    account_name: str
    quantity: Quantity
    cost: Amount
    average_cost: CanonicalDecimal | None
    currency: str


CostEvent = Literal["disposal", "adjustment", "gift", "merger", "spin_off"]


class CostDifference(Response, frozen=True, kw_only=True):
    """An event that took another cost out of the pool than out of the accounts; what brought cost in is below 0.

    `disposal` is all of a day, with its matches; `adjustment` is what a return of capital or an equalisation took off
    beyond the cost that was left. A `gift` to or from a spouse, a `merger` and a `spin_off` name their transaction.
    """

    date: DateText
    kind: CostEvent
    transaction_id: Id | None
    pool_cost: Amount
    account_cost: Amount
    difference: Amount
    currency: str
    matches: list[DisposalMatch]


class ComparedPool(Response, frozen=True, kw_only=True):
    """One pool over all accounts without a wrapper, beside the accounts.

    `difference` is the accounts' costs together less the pool's: the sum of those of `days`, which are the latest 100
    events, and of `earlierDifference`.
    """

    instrument_id: Id
    name: str
    pool: PoolState
    average_cost: CanonicalDecimal | None
    accounts: list[BrokerHolding]
    difference: Amount
    earlier_difference: Amount
    currency: str
    days: list[CostDifference]


class ComparedPools(Response, frozen=True, kw_only=True):
    """The pools of a legal entity, beside what its brokers show."""

    legal_entity_id: Id
    data: list[ComparedPool]
