"""As what income is taxed (Domain B3). Pure."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gatewayd.areas.assets.books import instruments
from gatewayd.areas.assets.books.transactions import INCOME_KINDS, IncomeKind, TransactionType
from gatewayd.areas.assets.income.shapes import UkCategory

TYPES: Final[Mapping[IncomeKind, tuple[TransactionType, ...]]] = {
    kind: tuple(type_ for type_, income_kind in INCOME_KINDS.items() if income_kind == kind)
    for kind in dict.fromkeys(INCOME_KINDS.values())
}

# Chosen: EIS and SEIS relieve tax of the investment and of its gain, and not of its dividends.
_TAXED: Final = frozenset({"none", "eis", "seis"})
"""Wrappers in which income is taxed."""


class Source(NamedTuple):
    """What the category of an income depends on.

    The middle four are of the instrument; None: there is none, or it is not known. `type` is what the transaction
    counts as (`counted_type`).
    """

    type: TransactionType
    tax_wrapper: str
    asset_class: str | None
    asset_sub_class: str | None
    domicile_country: str | None
    quote_currency: str | None
    is_withheld: bool


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
