"""Which periods and obligations a taxpayer has, as the calendar sees it (domain model B9 and C6). Pure.

    periods        from the tax year before the one in which the entity came into the books, to the next one
    obligations    of those, what is due from the start of that tax year on

Chosen: what was due before nobody here could have marked as met. What the authority says goes before: see `Said`.
"""

import datetime
from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from gatewayd.clock import months_later
from gatewayd.ledger.dates import companies, income_tax, tax_calendar, vat
from gatewayd.ledger.dates.months import DuePeriod
from gatewayd.ledger.taxpayers.taxpayers import INCOME_TAX_SOURCES, Source, Taxpayer

PeriodType = Literal["vat_period", "itsa_quarter", "tax_year", "financial_year", "month"]
ObligationKind = Literal[
    "vat_return",
    "vat_payment",
    "itsa_quarterly_update",
    "itsa_final_declaration",
    "self_assessment_payment",
    "payment_on_account",
    "corporation_tax_return",
    "corporation_tax_payment",
    "annual_accounts",
    "confirmation_statement",
    "cgt_property_report",
    "paye",
    "cis_return",
    "certificate_renewal",
    "custom",
]

_YEARS_LOOKED_BACK = 4  # two years before the last of three that decide who may leave


class PeriodKey(NamedTuple):
    """What tells the periods of an entity apart. `end` is an ISO date."""

    type: PeriodType
    business_id: str | None
    end: str


class Horizon(NamedTuple):
    """Periods end on or after `first` and begin on or before `last`; obligations are due on or after `due_from`."""

    first: datetime.date
    last: datetime.date
    due_from: datetime.date
    today: datetime.date


class ExpectedPeriod(NamedTuple):
    """A period that there should be. Dates are ISO; `filing_due` None: nothing is filed for it."""

    key: PeriodKey
    label: str
    tax_year: str | None
    start: str
    cumulative: bool
    filing_due: str | None


class ExpectedObligation(NamedTuple):
    """An obligation that there should be. Dates are ISO; `period` None: it is about none of the periods.

    `slot` tells several of a kind and period apart. `amount` is what is due, pence, where that is known. `undecided`:
    nobody knows whether it is asked for.
    """

    kind: ObligationKind
    business_id: str | None
    start: str
    end: str
    due: str
    period: PeriodKey | None
    slot: str = ""
    amount: int | None = None
    undecided: bool = False


class Said(NamedTuple):
    """A period that the authority named by an obligation of a kind. `business_id` None: it is the entity's own."""

    kind: str
    business_id: str | None
    start: datetime.date
    end: datetime.date


class Forecast(NamedTuple):
    """All that there should be."""

    periods: list[ExpectedPeriod]
    obligations: list[ExpectedObligation]


def horizon(created: datetime.date, today: datetime.date) -> Horizon:
    """What is looked at for an entity that came into the books on one day, on another."""
    year = income_tax.year_of(created)
    return Horizon(
        first=income_tax.year_start(year - 1),
        last=income_tax.year_end(income_tax.year_of(today) + 1),
        due_from=income_tax.year_start(year),
        today=today,
    )


def forecast(
    taxpayer: Taxpayer,
    said: Iterable[Said],
    seen: Horizon,
    business_id: str | None = None,
    *,
    contracted: Collection[str] = (),
) -> Forecast:
    """What there should be; nothing for an archived entity.

    `business_id` leaves out what is of other businesses, and months. `contracted` are the ends, as ISO dates, of the
    tax months for which a return as a contractor was expected before.
    """
    expected = Forecast([], [])
    if taxpayer.is_archived:
        return expected
    named = list(said)
    if business_id is None:
        _add_months(expected, seen)
    _add_contractors_returns(expected, taxpayer, seen, contracted)
    _add_vat(expected, taxpayer, [confirmed for confirmed in named if confirmed.kind == "vat_return"], seen)
    if taxpayer.is_person:
        updates = [confirmed for confirmed in named if confirmed.kind == "itsa_quarterly_update"]
        _add_income_tax(expected, taxpayer, updates, seen, business_id)
    else:
        _add_financial_years(expected, taxpayer, seen)
    due_from = seen.due_from.isoformat()
    expected.obligations[:] = [obligation for obligation in expected.obligations if obligation.due >= due_from]
    return expected


def vat_label(end: datetime.date) -> str:
    """`VAT 06/26`."""
    return f"VAT {end.month:02}/{end.year % 100:02}"


# -- VAT


def _add_vat(expected: Forecast, taxpayer: Taxpayer, said: list[Said], seen: Horizon) -> None:
    registration = taxpayer.registration
    predicted = [] if registration is None else list(vat.periods(registration, seen.first, seen.last))
    annual = registration is not None and registration.annual
    named = [DuePeriod(confirmed.start, confirmed.end, vat.due(confirmed.end, annual)) for confirmed in said]
    free = [
        period
        for period in predicted
        if not any(period.start <= other.end and other.start <= period.end for other in named)
    ]
    every = sorted([*named, *free])
    on_account = {} if annual else vat.asked_of(every, taxpayer.vat_years)
    for period in every:
        key = PeriodKey("vat_period", None, period.end.isoformat())
        dues = list(vat.dues(period, on_account.get(period.end)))
        _add_period(expected, key, (vat_label(period.end), None), period._replace(due=dues[0].day))
        for due in dues:
            _add_obligation(expected, due.kind, None, period._replace(due=due.day), key)
            slot = due.day.isoformat() if due.kind == "payment_on_account" else ""
            expected.obligations[-1] = expected.obligations[-1]._replace(
                slot=slot, amount=due.amount, undecided=due.undecided
            )


# -- the Construction Industry Scheme


def _add_contractors_returns(
    expected: Forecast, taxpayer: Taxpayer, seen: Horizon, contracted: Collection[str]
) -> None:
    """Chosen: nobody says since when, or until when, somebody is a contractor. So what is still to be returned follows
    from today, and months that are over stay as they were then.
    """
    for month in tax_calendar.construction_returns(seen.first, seen.last):
        is_due = taxpayer.is_contractor and month.due >= seen.today
        if is_due or (month.end < seen.today and month.end.isoformat() in contracted):
            _add_obligation(expected, "cis_return", None, month, None)


# -- Income Tax


def _add_income_tax(
    expected: Forecast, taxpayer: Taxpayer, said: list[Said], seen: Horizon, business_id: str | None
) -> None:
    sources = [source for source in taxpayer.sources if source.type in INCOME_TAX_SOURCES]
    for year in range(income_tax.year_of(seen.first), income_tax.year_of(seen.last) + 1):
        live = [source for source in sources if _is_live(source, year)]
        for source in live:
            if source.archived is None and business_id in (None, source.id):
                named = [confirmed for confirmed in said if confirmed.business_id == source.id]
                _add_quarters(expected, source, year, named, _are_due(taxpayer, source, sources, year))
        if live or taxpayer.has_utr:  # Chosen: who has neither a source nor a reference files no return
            _add_tax_year(expected, year)
            _add_payments_on_account(expected, taxpayer, year)


def _are_due(taxpayer: Taxpayer, source: Source, sources: list[Source], year: int) -> bool | None:
    """Whether updates of a source are due in a tax year; None: nobody knows.

    What the authority says of the source goes first. In a year before every source began there was no income.
    """
    if year < income_tax.MANDATED_FROM or year in source.annual:
        return False
    if year in source.quarterly:
        return True
    figures = taxpayer.figures.get(year)
    if figures is not None and figures.is_exempt:
        return False
    incomes = taxpayer.incomes
    for before in range(year - _YEARS_LOOKED_BACK, year):
        if all(source.commenced is not None and source.commenced > income_tax.year_end(before) for source in sources):
            incomes.setdefault(before, 0)
    return income_tax.updates_are_due(year, incomes)


def _is_live(source: Source, year: int) -> bool:
    """Whether a source is there in a tax year: through the one in which it ceases (domain model B2) or is archived."""
    if source.commenced is not None and source.commenced > income_tax.year_end(year):
        return False
    return all(last is None or income_tax.year_of(last) >= year for last in (source.ceased, source.archived))


def _add_quarters(expected: Forecast, source: Source, year: int, said: list[Said], are_due: bool | None) -> None:
    """The quarters of a tax year that end on or after the commencement.

    Chosen: where nobody knows the income that decides, updates are predicted all the same, and are undecided.
    """
    before = source.quarters.type_in(year - 1)
    for quarter in income_tax.quarters(year, source.quarters.type_in(year), before):
        if source.commenced is not None and quarter.end < source.commenced:
            continue
        if any(quarter.opens <= confirmed.end < quarter.end for confirmed in said):
            continue  # the authority has the other type of quarters
        start = quarter.start if source.commenced is None else max(quarter.start, source.commenced)
        start = next((confirmed.start for confirmed in said if confirmed.end == quarter.end), start)
        key = PeriodKey("itsa_quarter", source.id, quarter.end.isoformat())
        name, dates = tax_calendar.tax_year(year), DuePeriod(start, quarter.end, quarter.due)
        cumulative = year >= income_tax.CUMULATIVE_FROM
        _add_period(expected, key, (f"{name} Q{quarter.number}", name), dates, cumulative=cumulative)
        if are_due is not False:
            _add_obligation(expected, "itsa_quarterly_update", source.id, dates, key)
            expected.obligations[-1] = expected.obligations[-1]._replace(undecided=are_due is None)


def _add_tax_year(expected: Forecast, year: int) -> None:
    start, end = income_tax.year_start(year), income_tax.year_end(year)
    name = tax_calendar.tax_year(year)
    key = PeriodKey("tax_year", None, end.isoformat())
    declared = DuePeriod(start, end, income_tax.declaration_due(year))
    _add_period(expected, key, (name, name), declared)
    _add_obligation(expected, "itsa_final_declaration", None, declared, key)
    payment = DuePeriod(start, end, income_tax.balancing_payment_due(year))
    _add_obligation(expected, "self_assessment_payment", None, payment, key)


def _add_payments_on_account(expected: Forecast, taxpayer: Taxpayer, year: int) -> None:
    """The two payments of a tax year, where the tax of the year before is known and asks for them."""
    before = taxpayer.figures.get(year - 1)
    if before is None or before.tax_assessed is None:
        return
    amount = income_tax.payment_on_account(before.tax_assessed, before.tax_deducted or 0)
    if not amount:
        return
    start, end = income_tax.year_start(year), income_tax.year_end(year)
    key = PeriodKey("tax_year", None, end.isoformat())
    for due in income_tax.payments_on_account_due(year):
        _add_obligation(expected, "payment_on_account", None, DuePeriod(start, end, due), key)
        expected.obligations[-1] = expected.obligations[-1]._replace(slot=due.isoformat(), amount=amount)


# -- companies, and the financial years of all that is no person


def _add_financial_years(expected: Forecast, taxpayer: Taxpayer, seen: Horizon) -> None:
    """Chosen: of what was due before the entity came into the books nobody knows whether it was met."""
    incorporated, others = taxpayer.incorporated, len(expected.obligations)
    for year in companies.financial_years(taxpayer.year_end, incorporated, seen.first, seen.last):
        key = PeriodKey("financial_year", None, year.end.isoformat())
        accounts = DuePeriod(year.start, year.end, companies.accounts_due(year))
        _add_period(expected, key, (f"Year to {key.end}", None), accounts, files=taxpayer.is_on_register)
        if taxpayer.is_on_register:
            _add_obligation(expected, "annual_accounts", None, accounts, key)
        if taxpayer.type == "limited_company" and taxpayer.is_domestic:
            _add_corporation_tax(expected, taxpayer, year, key)
    if taxpayer.is_on_register and incorporated is not None:
        for review in companies.review_periods(incorporated, seen.first, seen.last):
            _add_obligation(expected, "confirmation_statement", None, review, None)
    entered, added = taxpayer.created.isoformat(), expected.obligations[others:]
    expected.obligations[others:] = [obligation._replace(undecided=obligation.due < entered) for obligation in added]


def _add_corporation_tax(expected: Forecast, taxpayer: Taxpayer, year: companies.FinancialYear, key: PeriodKey) -> None:
    """Chosen: a company trades from its first business's commencement, or at once where one of them has none."""
    begun = [source.commenced for source in taxpayer.sources]
    first = min(filter(None, begun)) if begun and None not in begun else None
    for period in companies.tax_periods(year, first):
        dates = DuePeriod(period.start, period.end, period.return_due)
        _add_obligation(expected, "corporation_tax_return", None, dates, key)
        dates = DuePeriod(period.start, period.end, period.payment_due)
        _add_obligation(expected, "corporation_tax_payment", None, dates, key)


# -- months


def _add_months(expected: Forecast, seen: Horizon) -> None:
    """The calendar months of the horizon, of the entity as a whole.

    Chosen: every entity has them, ready to be closed, and nothing is filed for one. They lie across tax years, so that
    they are of none. Who asks about one business has not asked for them: they follow from the entity alone.
    """
    first = seen.first.replace(day=1)
    while first <= seen.last:
        following = months_later(first, 1)
        end = (following - datetime.timedelta(days=1)).isoformat()
        dates = DuePeriod(first, following - datetime.timedelta(days=1), first)
        _add_period(expected, PeriodKey("month", None, end), (end[:7], None), dates, files=False)
        first = following


# -- what all of them share


def _add_period(
    expected: Forecast,
    key: PeriodKey,
    names: tuple[str, str | None],
    dates: DuePeriod,
    *,
    cumulative: bool = False,
    files: bool = True,
) -> None:
    """`names` are label and tax year; `files`: whether anything is filed for it."""
    due = dates.due.isoformat() if files else None
    expected.periods.append(ExpectedPeriod(key, *names, dates.start.isoformat(), cumulative, due))


def _add_obligation(
    expected: Forecast, kind: ObligationKind, business_id: str | None, dates: DuePeriod, key: PeriodKey | None
) -> None:
    start, end, due = (day.isoformat() for day in dates)
    expected.obligations.append(ExpectedObligation(kind, business_id, start, end, due, key))
