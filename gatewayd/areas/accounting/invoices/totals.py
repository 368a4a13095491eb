"""Invoice totals and VAT (domain model C4). Pure: decimals in, minor units out.

    exclusive  prices are net:    VAT = net x rate / 100            gross = net + VAT
    inclusive  prices are gross:  VAT = gross x rate / (100 + rate) net = gross - VAT, so that gross is exact
    no_vat     every rate is 0

VAT is rounded on each line (`line`), or once for each code and rate (`total`, `total_down`); the lines then share the
rounded sum by largest remainder. Reverse-charged VAT is reported and never added: the customer accounts for it.
"""

import decimal
from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Literal, NamedTuple

from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.vat.sellers import CisRate
from gatewayd.ledger.vat.vat_rates import VatCode

AmountsAre = Literal["exclusive", "inclusive", "no_vat"]
VatRounding = Literal["line", "total", "total_down"]
"""`total_down` drops the fraction of a penny, which HMRC lets the total VAT on an invoice do (VATREC12010)."""

_EXACT = decimal.Context(prec=80, rounding=ROUND_HALF_UP)  # 13+12 digits x 13+4 x a percentage of 15: nothing is lost
_ZERO = Decimal(0)
_ONE = Decimal(1)
_HUNDRED = Decimal(100)
_PERCENT = Decimal("0.01")
MAX_WHOLE_DIGITS = 13  # domain model §0.2: what an amount on the wire can hold


class LineInput(NamedTuple):
    """One line as it was asked for. `unit_price` is in major units, `discount_percent` from 0 to 100."""

    quantity: Decimal
    unit_price: Decimal
    discount_percent: Decimal
    vat_code: VatCode
    rate_percent: Decimal
    reverse_charge: bool
    cis_labour: bool


class Terms(NamedTuple):
    """What holds for the whole invoice. `exponent` is the currency's number of fraction digits.

    `discount` is in minor units, net or gross as the prices are. `cis_rate` None means no deduction.
    """

    amounts_are: AmountsAre
    vat_rounding: VatRounding
    exponent: int
    discount: int
    cis_rate: CisRate | None


class LineTotals(NamedTuple):
    """One line in minor units: `gross` is `net + vat`. `reverse_charge_vat` is in neither."""

    net: int
    vat: int
    gross: int
    reverse_charge_vat: int


class VatGroup(NamedTuple):
    """One row of the VAT summary. With `reverse_charge`, `vat` is what the customer accounts for."""

    vat_code: VatCode
    rate_percent: Decimal
    net: int
    vat: int
    reverse_charge: bool


class Totals(NamedTuple):
    """The invoice in minor units. `cis_rate` None where nothing is deducted."""

    lines: tuple[LineTotals, ...]
    net: int
    vat: int
    gross: int
    discount: int
    reverse_charge_vat: int
    vat_summary: tuple[VatGroup, ...]
    cis_deduction: int
    cis_rate: CisRate | None


def compute(lines: Sequence[LineInput], terms: Terms) -> Totals:
    """The totals of an invoice.

    Raises `Problem` `validation_failed` with `out_of_range`: an amount beyond 13 whole digits, a discount larger than
    what it is taken from, or a total below zero.
    """
    with decimal.localcontext(_EXACT):
        before, amounts = _amounts(lines, terms)
        totals = _line_totals(lines, amounts, terms)
        net, vat, gross, reverse_charge_vat = map(sum, zip(*totals, strict=True))
        discount, summary = before - sum(amounts), summarise(lines, totals)
        rate = terms.cis_rate if terms.cis_rate is not None and any(line.cis_labour for line in lines) else None
        deduction = 0 if rate is None else _deduction(lines, totals, rate)
    parts = [net, vat, gross, reverse_charge_vat, discount, deduction]
    for group in summary:
        parts += group.net, group.vat
    _refuse_misfits(totals, gross, parts, terms.exponent)
    return Totals(totals, net, vat, gross, discount, reverse_charge_vat, summary, deduction, rate)


def spread(amount: int, weights: Sequence[int]) -> list[int]:
    """`amount` shared out in proportion to `weights`, which are not negative; the parts add up to it exactly."""
    whole = sum(weights)
    if whole == 0:
        return [0] * len(weights)
    shares = [divmod(amount * weight, whole) for weight in weights]
    parts = [part for part, _ in shares]
    by_remainder = sorted(range(len(parts)), key=lambda index: -shares[index][1])
    for index in by_remainder[: amount - sum(parts)]:
        parts[index] += 1
    return parts


def convert(amount: int, rate: Decimal, exponent: int, to_exponent: int) -> int:
    """`amount` of one currency in minor units of another, at `rate` units of the other for one of it."""
    with decimal.localcontext(_EXACT):
        return _rounded((amount * rate).scaleb(to_exponent - exponent))


def fits(amount: int, exponent: int) -> bool:
    """True where the amount has at most 13 whole digits."""
    limit: int = 10 ** (MAX_WHOLE_DIGITS + exponent)
    return abs(amount) < limit


def _rounded(amount: Decimal) -> int:
    """Half up, away from zero (VATREC12030)."""
    return int(amount.to_integral_value(ROUND_HALF_UP))


def _amounts(lines: Sequence[LineInput], terms: Terms) -> tuple[int, list[int]]:
    """What the lines come to without any discount, and each line's amount after its share of all discounts."""
    before = 0
    amounts = []
    for line in lines:
        full = (line.quantity * line.unit_price).scaleb(terms.exponent)
        rounded = _rounded(full)
        before += rounded
        if line.discount_percent:
            rounded = _rounded(full * (_HUNDRED - line.discount_percent) * _PERCENT)
        amounts.append(rounded)
    if terms.discount:
        weights = [max(0, amount) for amount in amounts]
        if terms.discount > sum(weights):
            raise invalid(FieldError("discountAmount", "out_of_range", "The discount is more than the lines come to."))
        amounts = [amount - part for amount, part in zip(amounts, spread(terms.discount, weights), strict=True)]
    return before, amounts


def _line_totals(lines: Sequence[LineInput], amounts: Sequence[int], terms: Terms) -> tuple[LineTotals, ...]:
    amounts_are = terms.amounts_are
    exact = [_exact_vat(line, amount, amounts_are) for line, amount in zip(lines, amounts, strict=True)]
    if terms.vat_rounding == "line":
        vats = [_rounded(vat) for vat in exact]
    else:
        vats = _grouped(lines, exact, ROUND_HALF_UP if terms.vat_rounding == "total" else ROUND_DOWN)
    inclusive = amounts_are == "inclusive"
    return tuple(
        [
            _line_total(amount, vat, inclusive, line.reverse_charge)
            for line, amount, vat in zip(lines, amounts, vats, strict=True)
        ]
    )


def _exact_vat(line: LineInput, amount: int, amounts_are: AmountsAre) -> Decimal:
    rate = line.rate_percent
    if amounts_are == "no_vat" or not rate:
        return _ZERO
    if amounts_are == "inclusive" and not line.reverse_charge:
        return amount * rate / (_HUNDRED + rate)
    return amount * rate * _PERCENT  # a reverse-charged price never holds VAT


def _line_total(amount: int, vat: int, inclusive: bool, reverse_charge: bool) -> LineTotals:
    if reverse_charge:
        return LineTotals(amount, 0, amount, vat)
    if inclusive:
        return LineTotals(amount - vat, vat, amount, 0)
    return LineTotals(amount, vat, amount + vat, 0)


def _grouped(lines: Sequence[LineInput], exact: Sequence[Decimal], rounding: str) -> list[int]:
    """Line VATs that add up to one rounded VAT for each code and rate."""
    groups: dict[tuple[VatCode, Decimal, bool], list[int]] = {}
    for index, line in enumerate(lines):
        groups.setdefault((line.vat_code, line.rate_percent, line.reverse_charge), []).append(index)
    vats = [0] * len(lines)
    for members in groups.values():
        parts = [exact[index] for index in members]
        total = int(sum(parts, Decimal(0)).quantize(_ONE, rounding))
        for index, vat in zip(members, _shared(total, parts), strict=True):
            vats[index] = vat
    return vats


def _shared(total: int, parts: Sequence[Decimal]) -> list[int]:
    """Whole numbers close to `parts` that add up to `total`: the largest remainders take what is left over."""
    floors = [int(part.to_integral_value(decimal.ROUND_FLOOR)) for part in parts]
    left = total - sum(floors)
    by_remainder = sorted(range(len(parts)), key=lambda index: floors[index] - parts[index])
    for index in by_remainder[:left]:  # never negative: no rounding of a sum is below the sum of the floors
        floors[index] += 1
    return floors


def _deduction(lines: Sequence[LineInput], totals: Sequence[LineTotals], rate: CisRate) -> int:
    """What a contractor withholds from the net of labour; never below zero."""
    labour = sum(total.net for line, total in zip(lines, totals, strict=True) if line.cis_labour)
    return max(0, _rounded(Decimal(labour * rate) / _HUNDRED))


def summarise(lines: Sequence[LineInput], totals: Sequence[LineTotals]) -> tuple[VatGroup, ...]:
    """The sums of each code and rate, in the order in which they come first."""
    groups: list[VatGroup] = []  # searched, not hashed: there are few, and the hash of a Decimal is dear
    for line, (net, vat, _, reverse_charge_vat) in zip(lines, totals, strict=True):
        code, rate, reverse_charge = line.vat_code, line.rate_percent, line.reverse_charge
        vat += reverse_charge_vat
        for index, group in enumerate(groups):
            if group.vat_code == code and group.rate_percent == rate and group.reverse_charge == reverse_charge:
                groups[index] = VatGroup(code, rate, group.net + net, group.vat + vat, reverse_charge)
                break
        else:
            groups.append(VatGroup(code, rate, net, vat, reverse_charge))
    return tuple(groups)


def _refuse_misfits(totals: Sequence[LineTotals], gross: int, parts: Sequence[int], exponent: int) -> None:
    limit = 10 ** (MAX_WHOLE_DIGITS + exponent)
    if max(map(max, totals)) >= limit or min(map(min, totals)) <= -limit:
        raise invalid(
            *(
                FieldError(f"lines[{index}].unitPrice", "out_of_range", "The line comes to more than 13 whole digits.")
                for index, total in enumerate(totals)
                if not fits(max(map(abs, total)), exponent)
            )
        )
    if gross < 0:
        raise invalid(FieldError("lines", "out_of_range", "The total is below zero: make out a credit note."))
    if max(parts) >= limit or min(parts) <= -limit:
        raise invalid(FieldError("lines", "out_of_range", "The lines come to more than 13 whole digits."))
