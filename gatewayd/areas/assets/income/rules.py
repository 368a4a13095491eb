"""When income counts, and as what it is taxed (Domain B3). Pure."""

import datetime
from collections.abc import Mapping
from typing import Final, NamedTuple

from gatewayd.areas.assets.books import instruments
from gatewayd.areas.assets.income.shapes import IncomeKind, UkCategory
from gatewayd.areas.assets.transactions.shapes import TransactionType
from gatewayd.clock import months_later

KINDS: Final[Mapping[TransactionType, IncomeKind]] = {
    "dividend": "dividend",
    "interest": "interest",
    "distribution": "distribution",
    "notional_distribution": "notional_distribution",
    "excess_reportable_income": "excess_reportable_income",
    "return_of_capital": "return_of_capital",
    "stock_dividend": "dividend",
}
"""The types of transactions that are income, and of what kind."""

TYPES: Final[Mapping[IncomeKind, tuple[TransactionType, ...]]] = {
    kind: tuple(type_ for type_, one in KINDS.items() if one == kind) for kind in dict.fromkeys(KINDS.values())
}

# Chosen: EIS and SEIS relieve tax of the investment and of its gain, and not of its dividends.
_TAXED: Final = frozenset({"none", "eis", "seis"})
"""Wrappers in which income is taxed."""


class Source(NamedTuple):
    """What its category depends on. The middle four are of the instrument; None: there is none, or it is not known.

    `type` is as what it counts.
    """

    type: TransactionType
    tax_wrapper: str
    asset_class: str | None
    asset_sub_class: str | None
    domicile_country: str | None
    quote_currency: str | None
    is_withheld: bool


def counted_type(type_: TransactionType, taxed_as_dividend: bool | None) -> TransactionType:
    """As what it counts: shares in the place of a dividend that are taxed as one are one, of their cash value."""
    return "dividend" if type_ == "stock_dividend" and taxed_as_dividend else type_


def income_date(type_: TransactionType, trade_date: str) -> str | None:
    """The ISO date on which it counts: the pay date; None for what is no income.

    Excess reportable income is told with the end of the fund's period as its date, and counts 6 months later.
    """
    if type_ not in KINDS:
        return None
    if type_ != "excess_reportable_income":
        return trade_date
    return months_later(datetime.date.fromisoformat(trade_date), 6).isoformat()


def uk_category(source: Source) -> UkCategory:
    """As what a person in the United Kingdom is taxed on it."""
    if source.type == "return_of_capital":
        return "not_income"
    if source.tax_wrapper not in _TAXED:
        return "exempt_wrapper"
    if source.type == "stock_dividend":
        return "not_income"  # a bonus issue (CG51823); what is taxed counts as a dividend
    is_british = instruments.is_british(source.domicile_country, source.quote_currency)
    if source.type == "interest" or _pays_interest(source):
        return "uk_interest" if is_british else "foreign_interest"
    if is_british and _is_of_property(source):
        return "property_income_distribution"
    return "uk_dividend" if is_british else "foreign_dividend"


def _pays_interest(source: Source) -> bool:
    """Bonds, and funds of bonds or of cash, whatever they call what they pay (ITTOIA 2005 s376, s378A)."""
    return source.asset_class in ("fixed_income", "cash") or source.asset_sub_class == "money_market"


def _is_of_property(source: Source) -> bool:
    """Of a real estate investment trust: its distributions, and dividends of which tax was withheld.

    Chosen: nothing is withheld of a British dividend but of property income, and brokers call both dividends.
    """
    return source.asset_sub_class == "reit" and (source.type != "dividend" or source.is_withheld)
