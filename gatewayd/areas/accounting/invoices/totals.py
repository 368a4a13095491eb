"""Invoice lines, totals and VAT (domain model C4). Pure: from the lines of a request to those that are stored.

Each line bears a VAT code at the rate of the day, where it may; what the lines come to is computed of decimals, in
minor units:

    exclusive  prices are net:    VAT = net x rate / 100            gross = net + VAT
    inclusive  prices are gross:  VAT = gross x rate / (100 + rate) net = gross - VAT, so that gross is exact
    no_vat     every rate is 0

VAT is rounded on each line (`line`), or once for each code and rate (`total`, `total_down`); the lines then share the
rounded sum by largest remainder. Reverse-charged VAT is reported and never added: the customer accounts for it.
"""

import decimal
from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any, Literal, NamedTuple

from gatewayd.areas.accounting.invoices.line_shapes import LineRequest, LineRow, VatSummary
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger.vat.sellers import CisRate
from gatewayd.ledger.vat.vat_rates import DOMESTIC_REVERSE_CHARGES, NEEDS_REGISTRATION, VatCode, VatRate, rate_on
from gatewayd.money import Money, canonical, exponent, from_minor

AmountsAre = Literal["exclusive", "inclusive", "no_vat"]
VatRounding = Literal["line", "total", "total_down"]
"""`total_down` drops the fraction of a penny, which HMRC lets the total VAT on an invoice do (VATREC12010)."""

_EXACT = decimal.Context(prec=80, rounding=ROUND_HALF_UP)  # 13+12 digits x 13+4 x a percentage of 15: nothing is lost
_ZERO = Decimal(0)
_ONE = Decimal(1)
_HUNDRED = Decimal(100)
_PERCENT = Decimal("0.01")
MAX_WHOLE_DIGITS = 13  # domain model §0.2: what an amount on the wire can hold
NO_VAT_CODE: VatCode = "outside_scope"
_NIL, _ALL = Decimal(0), Decimal(100)  # percent
_ONE_PIECE = "1"


class LineInput(NamedTuple):
    """One line as it was asked for. `unit_price` is in major units, `discount_percent` from 0 to 100."""

    quantity: Decimal
    unit_price: Decimal
    discount_percent: Decimal
    vat_code: VatCode
    rate_percent: Decimal
    reverse_charge: bool
    cis_labour: bool


class TaxContext(NamedTuple):
    """What decides how lines are taxed. `client_treatment` is what the client bears by default, None: the standard."""

    amounts_are: AmountsAre
    supply_date: str
    registered: bool
    client_treatment: VatCode | None
    client_is_vat_registered: bool
    client_is_end_user: bool


class Conditions(NamedTuple):
    """What else holds for all lines. `discount` is decimal text of `currency`; `cis_rate` None: nothing is deducted."""

    currency: str
    vat_rounding: VatRounding
    discount: str | None
    cis_rate: CisRate | None


class TaxedLine(NamedTuple):
    """A line with its code, and the figures its totals are computed from."""

    request: LineRequest
    figures: LineInput


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


class Charged(NamedTuple):
    """What the lines of a request come to: `figures` under the names of the invoice's row, and the lines of it."""

    figures: dict[str, Any]
    lines: list[LineRow]


def charged(lines: Sequence[LineRequest], context: TaxContext, conditions: Conditions) -> Charged:
    """The lines of a request with their totals. Raises `Problem` `validation_failed` naming what is wrong."""
    taxed = _taxed(lines, context)
    currency = conditions.currency
    discount = _discount_amount(conditions.discount, currency)
    terms = Terms(context.amounts_are, conditions.vat_rounding, exponent(currency), discount.minor, conditions.cis_rate)
    totals = compute([line.figures for line in taxed], terms)
    figures = {
        "amounts_are": context.amounts_are,
        "vat_rounding": conditions.vat_rounding,
        "discount_amount": discount,
        **amounts_of(totals, currency),
    }
    return Charged(figures, _line_rows(taxed, totals.lines, currency))


def _discount_amount(text: str | None, currency: str) -> Money:
    if text is None:
        return Money(0, currency)
    try:
        amount = Money.of(text, currency)
    except ValueError as error:
        raise invalid_field("discountAmount", "invalid_decimal", f"{error}.") from None
    if amount.minor < 0:
        raise invalid_field("discountAmount", "out_of_range", "Expected 0 or more.")
    return amount


# -- the lines: which code each bears, at what rate, and whether it may


def _default_code(context: TaxContext) -> VatCode:
    """What a line bears that names no code.

    Chosen: the client's default treatment, else standard; outside the scope where no VAT can be charged.
    """
    if context.amounts_are == "no_vat" or not context.registered:
        return NO_VAT_CODE
    return context.client_treatment or "standard"


def _taxed(lines: Sequence[LineRequest], context: TaxContext) -> list[TaxedLine]:
    """The lines with their codes and rates. Raises `Problem` `validation_failed` naming every line that is wrong."""
    errors: list[FieldError] = []
    rates: dict[VatCode, VatRate] = {}
    taxed = []
    default_code = _default_code(context)
    for index, line in enumerate(lines):
        code = line.vat_code or default_code
        discount = _discount(line.discount_percent, index, errors)
        rate = rates.get(code) or _rate(code, index, context, errors)
        if rate is not None:
            rates[code] = rate
            taxed.append(TaxedLine(line, _figures(line, code, discount, rate)))
    if errors:
        raise invalid(*errors)
    return taxed


def _discount(text: str, index: int, errors: list[FieldError]) -> Decimal:
    if text == "0":
        return _NIL
    discount = Decimal(text)
    if not _NIL <= discount <= _ALL:
        path = f"lines[{index}].discountPercent"
        errors.append(FieldError(path, "out_of_range", "Expected a percentage from 0 to 100."))
    return discount


def _rate(code: VatCode, index: int, context: TaxContext, errors: list[FieldError]) -> VatRate | None:
    """The rate of a code that the line may bear; otherwise None, and what is wrong with it in `errors`."""
    error = _code_error(code, index, context)
    if error is not None:
        errors.append(error)
        return None
    rate = rate_on(code, context.supply_date)
    if rate is None:
        message = f"{code} had no rate on {context.supply_date}: expected another code, or another `supplyDate`."
        errors.append(FieldError(_code_path(index), "vat_rate_invalid_on_date", message))
    return rate


def _figures(line: LineRequest, code: VatCode, discount: Decimal, rate: VatRate) -> LineInput:
    quantity, unit_price = Decimal(line.quantity or _ONE_PIECE), Decimal(line.unit_price or 0)
    return LineInput(quantity, unit_price, discount, code, rate.percent, rate.reverse_charge, line.cis_labour)


def _code_error(code: VatCode, index: int, context: TaxContext) -> FieldError | None:
    if context.amounts_are == "no_vat":
        if code == NO_VAT_CODE:
            return None
        return FieldError(_code_path(index), "conflict", f"With amountsAre no_vat every line is {NO_VAT_CODE}.")
    if not context.registered and code in NEEDS_REGISTRATION:
        message = (
            f"The seller is not registered for VAT on {context.supply_date}: expected {NO_VAT_CODE}, or no `vatCode`."
        )
        return FieldError(_code_path(index), "vat_not_registered", message)
    if code in DOMESTIC_REVERSE_CHARGES:
        if not context.client_is_vat_registered:  # VATREVCON23000: the customer is registered in the United Kingdom
            message = (
                "The client has no British VAT number, without which it bears VAT as usual: give the client its"
                " `vatNumber`."
            )
            return FieldError(_code_path(index), "reverse_charge_needs_vrn", message)
        if context.client_is_end_user:  # VATREVCON23500
            return FieldError(
                _code_path(index), "reverse_charge_end_user", "The client is an end user: charge VAT as usual."
            )
    return None


def _code_path(index: int) -> str:
    return f"lines[{index}].vatCode"


# -- the arithmetic


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
    total = sum(weights)
    if total == 0:
        return [0] * len(weights)
    shares = [divmod(amount * weight, total) for weight in weights]
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
            message = f"The lines come to {Decimal(sum(weights)).scaleb(-terms.exponent)}: expected no more."
            raise invalid(FieldError("discountAmount", "out_of_range", message))
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


# -- as they are stored and shown


def amounts_of(computed: Totals, currency: str) -> dict[str, Any]:
    """Totals under the names of the row's fields."""
    return {
        "net_total": Money(computed.net, currency),
        "vat_total": Money(computed.vat, currency),
        "gross_total": Money(computed.gross, currency),
        "discount_total": Money(computed.discount, currency),
        "reverse_charge_vat": Money(computed.reverse_charge_vat, currency),
        "cis_deduction": Money(computed.cis_deduction, currency),
        "cis_rate": computed.cis_rate,
        "vat_summary": [_summary(group, currency) for group in computed.vat_summary],
    }


def _line_rows(lines: Sequence[TaxedLine], totals: Sequence[LineTotals], currency: str) -> list[LineRow]:
    """The lines as they are stored."""
    numbered = enumerate(zip(lines, totals, strict=True), start=1)
    return [_line_row(position, line, total, currency) for position, (line, total) in numbered]


def _line_row(position: int, line: TaxedLine, total: LineTotals, currency: str) -> LineRow:
    request, figures = line
    return LineRow(
        position=position,
        description=request.description or "",
        quantity=canonical(request.quantity or _ONE_PIECE),
        unit=request.unit,
        unit_price=canonical(request.unit_price or "0"),
        discount_percent=canonical(request.discount_percent),
        vat_code=figures.vat_code,
        vat_rate_percent=_percent(figures.rate_percent),
        category=request.category,
        net=Money(total.net, currency),
        vat=Money(total.vat, currency),
        gross=Money(total.gross, currency),
        reverse_charge_vat=Money(total.reverse_charge_vat, currency),
        property_id=request.property_id,
        cis_labour=request.cis_labour,
        vat_code_defaulted=request.vat_code is None,
        credits_line=None,
        capital_goods=request.capital_goods,
    )


def _summary(group: VatGroup, currency: str) -> VatSummary:
    """One row of the VAT summary as it is shown."""
    return VatSummary(
        vat_code=group.vat_code,
        rate_percent=_percent(group.rate_percent),
        net=from_minor(group.net, currency),
        vat=from_minor(group.vat, currency),
        reverse_charge=group.reverse_charge,
    )


def _percent(percent: Decimal) -> str:
    """`20`, `17.5`."""
    return f"{percent:f}"
