"""VAT codes and the rates they carry on a day: a dated table, because the rate is chosen by the tax point (B5).

An invoice charges VAT or charges none. Of a purchase there are codes too whose VAT the customer accounts for, so that
it is in no amount that is paid: output VAT, and the same VAT as input.

What a code says is in an amount, or is accounted for on it, is in minor units, half up (Domain B5, C4).
"""

from decimal import Decimal
from typing import Literal, NamedTuple

from gatewayd.money import half_up

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
AllocationVatCode = Literal[
    "standard",
    "reduced",
    "zero",
    "exempt",
    "outside_scope",
    "reverse_charge_domestic_standard",
    "reverse_charge_domestic_reduced",
    "reverse_charge_services_overseas",
    "postponed_import_standard",
    "postponed_import_reduced",
    "ni_eu_acquisition_standard",
    "ni_eu_acquisition_reduced",
    "ni_eu_acquisition_zero",
    "export_goods_zero",
    "ni_eu_goods_zero",
]
"""What money was for: sales have the codes of invoices, purchases those of what came from elsewhere too.

`margin_scheme` is not among them: its VAT is in a margin that no payment shows.
"""

POSTPONED_IMPORTS = frozenset({"postponed_import_standard", "postponed_import_reduced"})
NI_ACQUISITIONS = frozenset({"ni_eu_acquisition_standard", "ni_eu_acquisition_reduced", "ni_eu_acquisition_zero"})
PURCHASES_ONLY = POSTPONED_IMPORTS | NI_ACQUISITIONS
SALES_ONLY = frozenset({"export_goods_zero", "ni_eu_goods_zero"})
SERVICES_OVERSEAS = "reverse_charge_services_overseas"
"""Of a sale, that the customer elsewhere accounts for its VAT; of a purchase, that it is accounted for here."""

DOMESTIC_REVERSE_CHARGES = frozenset({"reverse_charge_domestic_standard", "reverse_charge_domestic_reduced"})
NEEDS_REGISTRATION = DOMESTIC_REVERSE_CHARGES | {"standard", "reduced", "ni_eu_goods_zero", "margin_scheme"}
"""Codes that only a seller who is registered for VAT on the day may use."""
SELF_ACCOUNTED = PURCHASES_ONLY | DOMESTIC_REVERSE_CHARGES | {SERVICES_OVERSEAS}
"""Codes under which a purchase bears VAT that the customer accounts for."""
OUTSIDE_FLAT_RATE = DOMESTIC_REVERSE_CHARGES | {"outside_scope", "margin_scheme", SERVICES_OVERSEAS}
"""Chosen: codes that no flat rate is taken of: what is outside the scope, and what the customer accounts for."""
_MOST_OFF = 10  # Chosen: of minor units; more is no matter of rounding


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
_POSTPONED_ACCOUNTING = "2021-01-01"  # of VAT on imports (ICAEW, checking VAT returns post-Brexit)

_STANDARD = (
    DatedRate("2011-01-04", None, Decimal(20)),  # Finance (No. 2) Act 2010 s3
    DatedRate("2010-01-01", "2011-01-03", Decimal("17.5")),
    DatedRate("2008-12-01", "2009-12-31", Decimal(15)),  # SI 2008/3020
    DatedRate("1991-04-01", "2008-11-30", Decimal("17.5")),  # Finance Act 1991 s13
)
_REDUCED = (DatedRate("1997-09-01", None, Decimal(5)),)  # Finance (No. 2) Act 1997 s6
_WITHOUT_VAT = (DatedRate(_ALWAYS, None, _NIL),)

_RATES: dict[str, tuple[DatedRate, ...]] = {
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


def _since(first: str, rates: tuple[DatedRate, ...]) -> tuple[DatedRate, ...]:
    """What of a table holds from an ISO date on."""
    return tuple(
        rate._replace(first=max(first, rate.first)) for rate in rates if rate.last is None or rate.last >= first
    )


_PURCHASE_RATES: dict[str, tuple[DatedRate, ...]] = {
    "reverse_charge_services_overseas": _STANDARD,  # Chosen: services that are not rated so name no code
    "postponed_import_standard": _since(_POSTPONED_ACCOUNTING, _STANDARD),
    "postponed_import_reduced": _since(_POSTPONED_ACCOUNTING, _REDUCED),
    "ni_eu_acquisition_standard": _since(_NI_PROTOCOL, _STANDARD),
    "ni_eu_acquisition_reduced": _since(_NI_PROTOCOL, _REDUCED),
    "ni_eu_acquisition_zero": _since(_NI_PROTOCOL, _WITHOUT_VAT),
}
"""Codes that say another rate of a purchase than of a sale, or nothing of a sale."""


def rate_on(code: VatCode, date: str) -> VatRate | None:
    """The rate of `code` on an ISO date, or None where it had none (`vat_rate_invalid_on_date`)."""
    percent = _percent_on(_RATES[code], date)
    return None if percent is None else VatRate(percent, code in DOMESTIC_REVERSE_CHARGES)


def purchase_rate_on(code: AllocationVatCode, date: str) -> Decimal | None:
    """The percentage that a purchase bears on an ISO date, whoever accounts for it; None where it had none."""
    return _percent_on(_PURCHASE_RATES.get(code) or _RATES[code], date)


def rate_within(code: AllocationVatCode, date: str) -> Decimal | None:
    """The percentage whose VAT stands in an amount that was paid, 0 where it is accounted for; None: as above."""
    percent = purchase_rate_on(code, date)
    return _NIL if percent is not None and code in SELF_ACCOUNTED else percent


def _percent_on(rates: tuple[DatedRate, ...], date: str) -> Decimal | None:
    for rate in rates:
        if rate.first <= date and (rate.last is None or date <= rate.last):
            return rate.percent
    return None


def vat_within(code: AllocationVatCode, amount: int, date: str) -> int | None:
    """The VAT that stands in a gross amount at the rate of an ISO date; None where the code had no rate."""
    percent = rate_within(code, date)
    if percent is None:
        return None
    numerator, denominator = percent.as_integer_ratio()
    return half_up(amount * numerator, 100 * denominator + numerator)


def vat_tolerance(vat: int) -> int:
    """How far what a bill prints may be off from the VAT of its total.

    What is printed binds, and each line that is rounded alone is off by half a penny at most (Domain C4). Chosen: a
    penny, and another for each pound of VAT, up to ten.
    """
    return min(_MOST_OFF, 1 + vat // 100) if vat else 0


def vat_accounted(code: AllocationVatCode, value: int, date: str) -> int:
    """The VAT that a customer accounts for on a purchase of this value, at the rate of an ISO date."""
    percent = purchase_rate_on(code, date) or Decimal(0)
    numerator, denominator = percent.as_integer_ratio()
    return half_up(value * numerator, 100 * denominator)
