"""What the figures of a year's gains do not say by themselves. Reads only."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument
from gatewayd.areas.assets.gains import residence
from gatewayd.areas.assets.gains.return_shapes import LossYear
from gatewayd.areas.assets.gains.shapes import Disposal, GainWarning, WarningCode
from gatewayd.areas.assets.pools import unsettled
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.ledger.taxpayers.owners import Owner
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
_SELECT_VENTURES = """
SELECT DISTINCT account.tax_wrapper, account.name FROM asset_accounts AS account
JOIN asset_days AS day ON day.org_id = :org_id AND day.scope_id = account.id AND day.disposes = 1
    AND day.date >= :first AND day.date <= :last
WHERE account.org_id = :org_id AND account.legal_entity_id = :legal_entity_id
    AND (account.tax_wrapper = 'eis' OR account.tax_wrapper = 'seis')
ORDER BY account.tax_wrapper, account.name
"""
_FUNDS: Final = frozenset({"etf", "oeic", "unit_trust", "money_market"})

_SUPPOSED: Final = (
    "Stock dividends of companies outside the United Kingdom count as bonus issues without cost, because nobody told"
    " whether they were paid as dividends (taxedAsDividend)",
    "Stock dividends are taxed on the cash that they replace, which is their cost, and were entered as worth nothing",
)
"""What is supposed of stock dividends, in the order in which they are found."""


def of_year(
    tx: ReadTx, owner: Owner, days: Range, disposals: Sequence[Disposal], instruments: Mapping[str, Instrument]
) -> Iterator[GainWarning]:
    """The warnings of a year, but for those of its exempt amount and of losses."""
    yield from _unfinished(disposals)
    yield from _other_currencies(tx, owner, days)
    yield from _untold(disposals, instruments)
    yield from _ventures(tx, owner, days)
    yield from _unsettled(tx, owner, days, disposals)
    if owner.is_person:
        yield from residence.of_year(tx, owner, days, disposes=bool(disposals))


def of_exempt_amount(owner: Owner) -> GainWarning:
    """The warning that the exempt amount is not known."""
    message = (
        "The annual exempt amount of the year is not known."
        if owner.is_person
        else "A trust has half of the annual exempt amount or less, by how many its settlor has made."
    )
    return GainWarning(code="exempt_amount_unknown", message=message)


def of_losses(loss_years: Sequence[LossYear]) -> Iterator[GainWarning]:
    """The warnings of losses that were not claimed: until when they can be, and which of them are lost."""
    for claim, code, message in _CLAIMS:
        if of_years := [f"{year.tax_year} (by {year.claim_by})" for year in loss_years if year.claim == claim]:
            yield GainWarning(code=code, message=f"{message}: {', '.join(of_years)}.")


_CLAIMS: Final[tuple[tuple[str, WarningCode, str], ...]] = (
    (
        "open",
        "loss_not_claimed",
        "Losses count as carried forward that nobody told to be claimed (assets.recordCapitalLoss, claimedDate)",
    ),
    (
        "lapsed",
        "loss_claim_late",
        "Losses are not carried forward, because nobody told that they were claimed within four years",
    ),
)


def _unfinished(disposals: Sequence[Disposal]) -> Iterator[GainWarning]:
    provisional = sum(disposal.provisional for disposal in disposals)
    if provisional:
        yield GainWarning(
            code="provisional",
            message=f"{provisional} disposals may still be matched with what is bought within 30 days of them.",
        )
    short = sorted({disposal.name for disposal in disposals if disposal.short_quantity != "0"})
    if short:
        yield GainWarning(
            code="short_position", message=f"Sold and not covered yet, and so without a gain: {', '.join(short)}."
        )


def _other_currencies(tx: ReadTx, owner: Owner, days: Range) -> Iterator[GainWarning]:
    rows = tx.rows(_SELECT_OTHER_CURRENCIES, legal_entity_id=owner.id, first=days.first, last=days.last)
    if rows:
        names = ", ".join(row[0] for row in rows)
        message = f"Portfolios that are not kept in pounds have disposals that are not counted: {names}."
        yield GainWarning(code="other_currency", message=message)


def _untold(disposals: Iterable[Disposal], instruments: Mapping[str, Instrument]) -> Iterator[GainWarning]:
    """The warnings of facts of instruments that nobody told, and on which their place in a return depends."""
    sold = [(instruments[disposal.instrument_id], disposal) for disposal in disposals if disposal.treatment != "exempt"]
    if offshore := sorted({of.name for of, _ in sold if of.reporting_fund is None and _may_be_offshore(of)}):
        message = (
            "Funds outside the United Kingdom count as ones that report, because nobody told (reportingFund); gains of"
            f" those that do not are income: {', '.join(offshore)}."
        )
        yield GainWarning(code="offshore_status_unknown", message=message)
    unlisted = {disposal.name for _, disposal in sold if disposal.section is not None and not disposal.section_known}
    if unlisted:
        message = (
            "Shares count as listed on a recognised stock exchange, because nobody told whether they are (listed):"
            f" {', '.join(sorted(unlisted))}."
        )
        yield GainWarning(code="listing_unknown", message=message)


def _may_be_offshore(instrument: Instrument) -> bool:
    fund = instrument.asset_class == "fund" or instrument.asset_sub_class in _FUNDS
    return fund and instrument.domicile_country != "GB"


def _ventures(tx: ReadTx, owner: Owner, days: Range) -> Iterator[GainWarning]:
    rows = tx.rows(_SELECT_VENTURES, legal_entity_id=owner.id, first=days.first, last=days.last)
    if rows:
        names = ", ".join(f"{name} ({wrapper.upper()})" for wrapper, name in rows)
        message = (
            "Disposals of EIS and SEIS shares are not counted. A gain is exempt after three years where Income Tax"
            " relief was given and not withdrawn (TCGA 1992 s150A, s150E), and else goes into the return with unlisted"
            f" shares, as does a loss less the relief, which may be set against income: {names}."
        )
        yield GainWarning(code="eis_seis", message=message)


def _unsettled(tx: ReadTx, owner: Owner, days: Range, disposals: Sequence[Disposal]) -> Iterator[GainWarning]:
    """The warnings of what was supposed of the year's distributions, and of stock dividends of what was disposed of."""
    if instrument_ids := unsettled.distributions(tx, owner.id, *days):
        message = (
            "Money for shares came off their cost, though it is more than is small by itself, because nobody told what"
            f" they were worth after it (remainingValue): {_instrument_names(tx, instrument_ids)}."
        )
        yield GainWarning(code="distribution_value_unknown", message=message)
    sold = {disposal.instrument_id for disposal in disposals}
    for kind, ids in zip(_SUPPOSED, unsettled.stock_dividends(tx, owner.id, "", days.last), strict=True):
        if of_sold := [id_ for id_ in ids if id_ in sold]:
            yield GainWarning(code="stock_dividend_unknown", message=f"{kind}: {_instrument_names(tx, of_sold)}.")


def _instrument_names(tx: ReadTx, instrument_ids: Iterable[str]) -> str:
    return ", ".join(sorted(INSTRUMENTS.get(tx, id_).name for id_ in instrument_ids))
