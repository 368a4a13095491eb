"""The rules that the fields of an instrument follow, and what follows from its identifiers. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol

from gatewayd import check_digits
from gatewayd.areas.assets.books.instruments import AssetClass, AssetSubClass
from gatewayd.contract.countries import COUNTRIES
from gatewayd.errors import FieldError

_CHECKS: Final[Mapping[str, tuple[Callable[[str], bool], str]]] = {
    "isin": (check_digits.is_isin, "ISIN"),
    "sedol": (check_digits.is_sedol, "SEDOL"),
    "figi": (check_digits.is_figi, "FIGI"),
    "cusip": (check_digits.is_cusip, "CUSIP"),
}
IDENTIFIERS: Final = tuple(_CHECKS)
"""Those that are nobody else's, the surest first."""

_CLASS_OF: Final[Mapping[str, AssetClass]] = {
    "stock": "equity",
    "reit": "real_estate",
    "etf": "fund",
    "investment_trust": "equity",
    "oeic": "fund",
    "unit_trust": "fund",
    "gilt": "fixed_income",
    "corporate_bond": "fixed_income",
    "money_market": "cash",
    "crypto_token": "crypto",
    "precious_metal": "commodity",
    "private_equity": "alternative",
}


class Identified(Protocol):
    """What has the identifiers of an instrument."""

    @property
    def isin(self) -> str | None: ...
    @property
    def sedol(self) -> str | None: ...
    @property
    def figi(self) -> str | None: ...
    @property
    def cusip(self) -> str | None: ...


def member(path: str, name: str) -> str:
    """The path of a field of what stands at `path`; empty: at the root."""
    return f"{path}.{name}" if path else name


def identifier_mistakes(identified: Identified, path: str) -> Iterator[FieldError]:
    """What is wrong with the identifiers of what stands at `path`. Their form is checked already."""
    for name, (is_valid, title) in _CHECKS.items():
        text = getattr(identified, name)
        if text is not None and not is_valid(text):
            yield FieldError(member(path, name), "invalid_format", f"This is not a valid {title}: check its digits.")


def domicile_of(number: str | None) -> str | None:
    """The country of an ISIN; None where its first two letters are no country's, or there is none.

    Chosen: nothing else is read out of it. A SEDOL or CUSIP inside it is one as a rule, not always.
    """
    return number[:2] if number is not None and number[:2] in COUNTRIES else None


def class_of(sub_class: AssetSubClass | None) -> AssetClass:
    """The class of an instrument without one of its own. Chosen: equity where its sub-class says no more."""
    return _CLASS_OF.get(sub_class or "", "equity")


def is_exempt(sub_class: AssetSubClass | None) -> bool:
    """Whether gains on an instrument are exempt where nobody says: those on gilts are (TCGA 1992 s115)."""
    return sub_class == "gilt"
