"""VAT codes and the rates they carry on a day: a dated table, because the rate is chosen by the tax point (B5)."""

from decimal import Decimal
from typing import Literal, NamedTuple

VatCode = Literal[
    "standard",
    "reduced",
    "zero",
    "exempt",
    "outside_scope",
    "reverse_charge_domestic_standard",
    "reverse_charge_domestic_reduced",
    "reverse_charge_services_overseas",
    "export_goods_zero",
    "ni_eu_goods_zero",
    "margin_scheme",
]

DOMESTIC_REVERSE_CHARGES = frozenset({"reverse_charge_domestic_standard", "reverse_charge_domestic_reduced"})
NEEDS_REGISTRATION = DOMESTIC_REVERSE_CHARGES | {"standard", "reduced", "ni_eu_goods_zero", "margin_scheme"}
"""Codes that only a seller who is registered for VAT on the day may use."""


class DatedRate(NamedTuple):
    """One rate. Dates are ISO and inclusive; `last` None is until further notice."""

    first: str
    last: str | None
    percent: Decimal


class VatRate(NamedTuple):
    """What a code means on a day. With `reverse_charge` the customer accounts for the VAT."""

    percent: Decimal
    reverse_charge: bool


_ALWAYS = "0001-01-01"
_NIL = Decimal(0)
_CONSTRUCTION_REVERSE_CHARGE = "2021-03-01"  # VATREVCON10000: services on or after this day
_NI_PROTOCOL = "2021-01-01"  # goods between Northern Ireland and the EU

_STANDARD = (
    DatedRate("2011-01-04", None, Decimal(20)),  # Finance (No. 2) Act 2010 s3
    DatedRate("2010-01-01", "2011-01-03", Decimal("17.5")),
    DatedRate("2008-12-01", "2009-12-31", Decimal(15)),  # SI 2008/3020
    DatedRate("1991-04-01", "2008-11-30", Decimal("17.5")),  # Finance Act 1991 s13
)
_REDUCED = (DatedRate("1997-09-01", None, Decimal(5)),)  # Finance (No. 2) Act 1997 s6
_WITHOUT_VAT = (DatedRate(_ALWAYS, None, _NIL),)

_RATES: dict[VatCode, tuple[DatedRate, ...]] = {
    "standard": _STANDARD,
    "reduced": _REDUCED,
    "zero": _WITHOUT_VAT,
    "exempt": _WITHOUT_VAT,
    "outside_scope": _WITHOUT_VAT,
    "reverse_charge_domestic_standard": (DatedRate(_CONSTRUCTION_REVERSE_CHARGE, None, Decimal(20)),),
    "reverse_charge_domestic_reduced": (DatedRate(_CONSTRUCTION_REVERSE_CHARGE, None, Decimal(5)),),
    "reverse_charge_services_overseas": _WITHOUT_VAT,
    "export_goods_zero": _WITHOUT_VAT,
    "ni_eu_goods_zero": (DatedRate(_NI_PROTOCOL, None, _NIL),),
    "margin_scheme": _WITHOUT_VAT,  # the VAT is in the margin and never shown (Notice 718)
}


def rate_on(code: VatCode, date: str) -> VatRate | None:
    """The rate of `code` on an ISO date, or None where it had none (`vat_rate_invalid_on_date`)."""
    for rate in _RATES[code]:
        if rate.first <= date and (rate.last is None or date <= rate.last):
            return VatRate(rate.percent, code in DOMESTIC_REVERSE_CHARGES)
    return None
