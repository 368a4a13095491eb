"""The gains of a tax year, as the capital gains pages of a return (SA108) ask for them (Domain C5)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gatewayd.areas.assets.gains import exempt_amounts
from gatewayd.areas.assets.gains.shapes import CapitalGains, Disposal, GainTotals, GainWarning, Treatment
from gatewayd.areas.assets.instruments.rows import INSTRUMENTS
from gatewayd.areas.assets.pools import unsettled
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.ledger.owners import Owner
from gatewayd.money import Money
from gatewayd.store import ReadTx

_SELECT_OTHER_CURRENCIES = """
SELECT DISTINCT portfolio.name FROM asset_portfolios AS portfolio
JOIN asset_accounts AS account ON account.org_id = :org_id AND account.portfolio_id = portfolio.id
    AND account.tax_wrapper = 'none'
JOIN asset_days AS day ON day.org_id = :org_id AND day.scope_id = account.id AND day.disposes = 1
    AND day.date >= :first AND day.date <= :last
WHERE portfolio.org_id = :org_id AND portfolio.legal_entity_id = :legal_entity_id AND portfolio.base_currency <> 'GBP'
ORDER BY portfolio.name
"""

_SUPPOSED: Final = (
    "Stock dividends of companies outside the United Kingdom count as bonus issues without cost, because nobody told"
    " whether they were paid as dividends (taxedAsDividend)",
    "Stock dividends are taxed on the cash that they replace, which is their cost, and were entered as worth nothing",
)
"""What is supposed of stock dividends, in the order in which they are found."""


def report(tx: ReadTx, owner: Owner, year: str, days: Range, disposals: Sequence[Disposal]) -> CapitalGains:
    """What the disposals of a tax year come to."""
    chargeable = _totals(disposals, "chargeable")
    exempt = exempt_amounts.of_individuals(year) if owner.is_person else None
    amount = None if exempt is None else Money(exempt.amount, POOL_CURRENCY)
    provisional = sum(one.provisional for one in disposals)
    return CapitalGains(
        legal_entity_id=owner.id,
        tax_year=year,
        currency=POOL_CURRENCY,
        chargeable=chargeable,
        exempt=_totals(disposals, "exempt"),
        offshore_income=_totals(disposals, "offshore_income"),
        exempt_amount=amount,
        exempt_amount_source=None if exempt is None else exempt.source,
        above_exempt_amount=None if amount is None else max(chargeable.net - amount, Money(0, POOL_CURRENCY)),
        provisional_disposals=provisional,
        warnings=[
            *_warnings(owner, disposals, provisional, known=exempt is not None),
            *_other_currencies(tx, owner, days),
            *_unsettled(tx, owner, days, disposals),
        ],
    )


def _totals(disposals: Iterable[Disposal], treatment: Treatment) -> GainTotals:
    """Chosen: disposals of a day in one instrument are one, since the law makes them one (TCGA 1992 s105)."""
    found = [one for one in disposals if one.treatment == treatment]
    gains = sum(max(one.gain.minor, 0) for one in found)
    losses = sum(max(-one.gain.minor, 0) for one in found)
    return GainTotals(
        disposals=len(found),
        proceeds=_pounds(sum(one.proceeds.minor for one in found)),
        costs=_pounds(sum(one.cost.minor for one in found)),
        gains=_pounds(gains),
        losses=_pounds(losses),
        net=_pounds(gains - losses),
        currency=POOL_CURRENCY,
    )


def _warnings(owner: Owner, disposals: Sequence[Disposal], provisional: int, *, known: bool) -> Iterator[GainWarning]:
    if provisional:
        yield GainWarning(
            code="provisional",
            message=f"{provisional} disposals may still be matched with what is bought within 30 days of them.",
        )
    short = sorted({one.name for one in disposals if one.short_quantity != "0"})
    if short:
        yield GainWarning(
            code="short_position", message=f"Sold and not covered yet, and so without a gain: {', '.join(short)}."
        )
    if not known:
        message = (
            "The annual exempt amount of the year is not known."
            if owner.is_person
            else "A trust has half of the annual exempt amount or less, by how many its settlor has made."
        )
        yield GainWarning(code="exempt_amount_unknown", message=message)


def _other_currencies(tx: ReadTx, owner: Owner, days: Range) -> Iterator[GainWarning]:
    rows = tx.rows(_SELECT_OTHER_CURRENCIES, legal_entity_id=owner.id, first=days.first, last=days.last)
    if rows:
        names = ", ".join(row[0] for row in rows)
        message = f"Portfolios that are not kept in pounds have disposals that are not counted: {names}."
        yield GainWarning(code="other_currency", message=message)


def _unsettled(tx: ReadTx, owner: Owner, days: Range, disposals: Sequence[Disposal]) -> Iterator[GainWarning]:
    """What was supposed: of the year's distributions, and of all stock dividends of what the year disposed of."""
    if found := unsettled.distributions(tx, owner.id, *days):
        message = (
            "Money for shares came off their cost, though it is more than is small by itself, because nobody told what"
            f" they were worth after it (remainingValue): {_names(tx, found)}."
        )
        yield GainWarning(code="distribution_value_unknown", message=message)
    sold = {one.instrument_id for one in disposals}
    for kind, ids in zip(_SUPPOSED, unsettled.stock_dividends(tx, owner.id, "", days.last), strict=True):
        if of_sold := [id_ for id_ in ids if id_ in sold]:
            yield GainWarning(code="stock_dividend_unknown", message=f"{kind}: {_names(tx, of_sold)}.")


def _names(tx: ReadTx, instrument_ids: Iterable[str]) -> str:
    return ", ".join(sorted(INSTRUMENTS.get(tx, id_).name for id_ in instrument_ids))


def _pounds(minor: int) -> Money:
    return Money(minor, POOL_CURRENCY)
