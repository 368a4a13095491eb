"""The gains of a tax year, as the capital gains pages of a return (SA108) ask for them (Domain C5). Reads only."""

from collections.abc import Iterable, Iterator, Sequence

from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument
from gatewayd.areas.assets.gains import losses, notices, rates, sections
from gatewayd.areas.assets.gains.rates import Gain
from gatewayd.areas.assets.gains.return_shapes import GainTotals, LossYear, RatePeriod, ReturnBox, ReturnSection
from gatewayd.areas.assets.gains.shapes import CapitalGains, Disposal, GainWarning, Treatment
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.contract.wire import project
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.money import Money
from gatewayd.store import ReadTx

_NONE = Money(0, POOL_CURRENCY)


def report(tx: ReadTx, owner: Owner, year: str, days: Range, disposals: Sequence[Disposal]) -> CapitalGains:
    """What the disposals of a tax year come to."""
    chargeable = _totals(disposal for disposal in disposals if disposal.treatment == "chargeable")
    exempt = rates.exempt_amount(year) if owner.is_person else None
    amount = None if exempt is None else Money(exempt.amount, POOL_CURRENCY)
    known = losses.years(tx, owner, year)
    periods = _periods(year, disposals, known[-1], amount)
    return CapitalGains(
        legal_entity_id=owner.id,
        tax_year=year,
        currency=POOL_CURRENCY,
        chargeable=chargeable,
        exempt=_totals_of(disposals, "exempt"),
        offshore_income=_totals_of(disposals, "offshore_income"),
        exempt_amount=amount,
        exempt_amount_source=None if exempt is None else exempt.source,
        above_exempt_amount=None if amount is None else max(chargeable.net - amount, _NONE),
        provisional_disposals=sum(disposal.provisional for disposal in disposals),
        sections=list(_sections(disposals)),
        boxes=list(_boxes(year, disposals, known[-1])),
        losses=known[-1],
        taxable=_taxable(known[-1], amount),
        rate_periods=periods,
        rate_adjustment=rates.adjustment(periods),
        warnings=[
            *notices.of_year(tx, owner, days, disposals, _instruments(tx, disposals)),
            *_unknown_figures(owner, amount, known),
        ],
    )


def _unknown_figures(owner: Owner, amount: Money | None, known: Sequence[LossYear]) -> Iterator[GainWarning]:
    if amount is None:
        yield notices.of_exempt_amount(owner)
    yield from notices.of_losses(known)


def _totals_of(disposals: Iterable[Disposal], treatment: Treatment) -> GainTotals:
    return _totals(disposal for disposal in disposals if disposal.treatment == treatment)


def _totals(disposals: Iterable[Disposal]) -> GainTotals:
    """Disposals together. Chosen: those of a day in one instrument are one, as the law has it (TCGA 1992 s105)."""
    counted = list(disposals)
    gains = sum(max(disposal.gain.minor, 0) for disposal in counted)
    lost = sum(max(-disposal.gain.minor, 0) for disposal in counted)
    return GainTotals(
        disposals=len(counted),
        proceeds=_pounds(sum(disposal.proceeds.minor for disposal in counted)),
        costs=_pounds(sum(disposal.cost.minor for disposal in counted)),
        gains=_pounds(gains),
        losses=_pounds(lost),
        net=_pounds(gains - lost),
        currency=POOL_CURRENCY,
    )


def _sections(disposals: Sequence[Disposal]) -> Iterator[ReturnSection]:
    for section in sections.ORDER:
        of_section = [disposal for disposal in disposals if disposal.section == section]
        if of_section:
            yield project(_totals(of_section), ReturnSection, section=section)


def _boxes(year: str, disposals: Sequence[Disposal], of_year: LossYear) -> Iterator[ReturnBox]:
    """The boxes of a return that are known; none of a year whose form has other numbers."""
    if int(year[:4]) < sections.FIRST_YEAR:
        return
    for heading in sections.ORDER:
        of_heading = [
            disposal
            for disposal in disposals
            if disposal.section and sections.heading_of(year, disposal.section) == heading
        ]
        if of_heading:
            yield from sections.boxes(heading, _totals(of_heading))
    told = "SA108, Losses and adjustments"
    if of_year.used:
        name = "Losses brought forward and used in-year"
        yield sections.of_amount("45", name, of_year.used, told, up=True)
    if of_year.carried_forward:
        name = "Losses available to be carried forward"
        yield sections.of_amount("47", name, of_year.carried_forward, told, up=True)


def _taxable(of_year: LossYear, amount: Money | None) -> Money | None:
    """What is left after all losses and the exempt amount."""
    if amount is None or of_year.used is None:
        return None
    return max(of_year.net - of_year.used - amount, _NONE)


def _periods(year: str, disposals: Sequence[Disposal], of_year: LossYear, amount: Money | None) -> list[RatePeriod]:
    """The parts of the year with the same rates; none where it is not known what is deducted."""
    if amount is None or of_year.used is None:
        return []
    gains = [Gain(disposal.date, disposal.gain.minor) for disposal in disposals if disposal.treatment == "chargeable"]
    lost = -sum(min(gain.minor, 0) for gain in gains) + of_year.elsewhere.minor
    return rates.periods(year, gains, lost + of_year.used.minor + amount.minor)


def _instruments(tx: ReadTx, disposals: Iterable[Disposal]) -> dict[str, Instrument]:
    return {id_: INSTRUMENTS.get(tx, id_) for id_ in {disposal.instrument_id for disposal in disposals}}


def _pounds(minor: int) -> Money:
    return Money(minor, POOL_CURRENCY)
