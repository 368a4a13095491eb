"""Disposals of a person as they are served, from the days of the pool."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument
from gatewayd.areas.assets.gains.sections import section_of
from gatewayd.areas.assets.gains.shapes import Disposal, DisposalMatch, Treatment
from gatewayd.areas.assets.pools import reading
from gatewayd.areas.assets.pools.days import Match, Outcome, read_day
from gatewayd.areas.assets.pools.exact import cost_of, minor_of, quantity_of, quantity_text
from gatewayd.areas.assets.pools.holding_rows import StoredDay
from gatewayd.areas.assets.pools.matching import WINDOW_DAYS
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.clock import days_after
from gatewayd.errors import invalid, invalid_field
from gatewayd.ledger.csv_text import Cell
from gatewayd.ledger.dates.tax_calendar import bounds, is_tax_year, tax_year_of
from gatewayd.ledger.references import Reference, unknown
from gatewayd.ledger.taxpayers import owners
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.money import Money
from gatewayd.store import ReadTx

ALWAYS = ("0001-01-01", "9999-12-31")
SHEET_COLUMNS = (
    "date",
    "instrument",
    "isin",
    "quantity",
    "proceeds",
    "cost",
    "gain",
    "treatment",
    "section",
    "provisional",
    "matches",
)


def pooling_owner(tx: ReadTx, legal_entity_id: str, instrument_id: str | None = None) -> Owner:
    """The legal entity. Raises `Problem` `validation_failed` where there is none, no such instrument, or no pools."""
    named = [Reference("legalEntityId", "legal_entity", legal_entity_id)]
    errors = list(unknown(tx, [*named, Reference("instrumentId", "instrument", instrument_id)]))
    owner = owners.find(tx, legal_entity_id)
    if errors or owner is None:
        raise invalid(*errors)
    if not owner.has_pools:
        message = (
            "Gains of companies follow other rules, which are not supported: no figure is better than a wrong one."
        )
        raise invalid_field("legalEntityId", "conflict", message)
    return owner


def year_range(year: str) -> Range:
    """The days of a tax year. Raises `Problem` `validation_failed` for a year such as 2026-28."""
    if not is_tax_year(year):
        raise invalid_field("taxYear", "invalid_format", "Expected a tax year, such as 2026-27.")
    return Range(*bounds(year))


def listed(
    tx: ReadTx, legal_entity_id: str, days: Range, instrument_id: str | None = None, after: tuple[str, str] = ("", "")
) -> Iterator[Disposal]:
    """The disposals of a person, of one instrument or of all, oldest first, from behind a day and instrument on."""
    known: dict[str, Instrument] = {}

    def instrument(instrument_id: str) -> Instrument:
        if instrument_id not in known:
            known[instrument_id] = INSTRUMENTS.get(tx, instrument_id)
        return known[instrument_id]

    for id_, day in reading.disposals(tx, legal_entity_id, days, instrument_id, after):
        yield disposal(legal_entity_id, instrument(id_), day, tx.today)


def disposal(legal_entity_id: str, instrument: Instrument, stored: StoredDay, today: str) -> Disposal:
    """The disposal of a day as it is served. Chosen: the gain is rounded, and the cost is proceeds less gain."""
    day, outcome = read_day(stored.date, stored.inputs), stored.outcome
    short = short_quantity(day.disposed + day.passed, outcome)
    proceeds = minor_of(cost_of(outcome.capital_gain) + cost_of(outcome.distributed), POOL_CURRENCY)
    if day.disposed:
        covered = 1 - short / (day.disposed + day.passed)
        proceeds += minor_of(int(day.proceeds * covered), POOL_CURRENCY)
    gain = stored.gain or 0
    treatment = _treatment(instrument, gain)
    section, known = section_of(instrument) if treatment == "chargeable" else (None, True)
    return Disposal(
        legal_entity_id=legal_entity_id,
        instrument_id=instrument.id,
        name=instrument.name,
        isin=instrument.isin,
        date=stored.date,
        tax_year=tax_year_of(stored.date),
        quantity=stored.inputs.disposed,
        short_quantity=quantity_text(short),
        proceeds=_pounds(proceeds),
        cost=_pounds(proceeds - gain),
        gain=_pounds(gain),
        currency=POOL_CURRENCY,
        treatment=treatment,
        section=section,
        section_known=known,
        provisional=bool(short) or (bool(day.disposed) and today <= days_after(stored.date, WINDOW_DAYS)),
        final_after_date=days_after(stored.date, WINDOW_DAYS),
        matches=matches(outcome.matches, POOL_CURRENCY),
    )


def short_quantity(disposed: Fraction, outcome: Outcome) -> Fraction:
    """How much of a day's disposals nothing covers yet."""
    return disposed - sum((quantity_of(match.quantity) for match in outcome.matches), Fraction(0))


def matches(stored_matches: Iterable[Match], currency: str) -> list[DisposalMatch]:
    """Matches as they are served: each cost is rounded by itself."""
    return [
        DisposalMatch(
            rule=match.rule,
            date=match.date,
            quantity=match.quantity,
            cost=Money(minor_of(cost_of(match.cost), currency), currency),
            currency=currency,
        )
        for match in stored_matches
    ]


def _treatment(instrument: Instrument, gain: int) -> Treatment:
    """As what a gain counts. A loss on a fund that does not report is one of capital (SI 2009/3001 reg 42)."""
    if instrument.cgt_exempt:
        return "exempt"
    return "offshore_income" if instrument.reporting_fund is False and gain >= 0 else "chargeable"


def _pounds(minor: int) -> Money:
    return Money(minor, POOL_CURRENCY)


def sheet_rows(disposals: Iterable[Disposal]) -> Iterator[tuple[Cell, ...]]:
    """The names of the columns, and a row for each disposal."""
    yield SHEET_COLUMNS
    for sold in disposals:
        facts = (sold.date, sold.name, sold.isin, sold.quantity)
        amounts = (str(sold.proceeds), str(sold.cost), str(sold.gain))
        provisional = "yes" if sold.provisional else "no"
        matches = "; ".join(map(_match_told, sold.matches))
        yield *facts, *amounts, sold.treatment, sold.section, provisional, matches


def _match_told(match: DisposalMatch) -> str:
    return " ".join(filter(None, (match.quantity, match.rule, match.date, str(match.cost))))
