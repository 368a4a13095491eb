"""From the lines of a request to taxed lines: which VAT code each bears, at what rate, and whether it may. Pure."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from gatewayd.areas.accounting.invoices.line_shapes import LineRequest, LineRow, VatSummary
from gatewayd.areas.accounting.invoices.totals import AmountsAre, LineInput, LineTotals, VatGroup
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.vat.vat_rates import DOMESTIC_REVERSE_CHARGES, NEEDS_REGISTRATION, VatCode, VatRate, rate_on
from gatewayd.money import Money, canonical, from_minor

NO_VAT_CODE: VatCode = "outside_scope"
_NIL, _ALL = Decimal(0), Decimal(100)  # percent
_ONE = "1"
_OF_THE_INVOICE = ("unit_price", "unit", "vat_code", "category", "property_id")
"""What a line that credits another takes from it."""


class TaxContext(NamedTuple):
    """What decides how lines are taxed. `default_code` is borne by lines that name none."""

    amounts_are: AmountsAre
    supply_date: str
    registered: bool
    default_code: VatCode
    client_is_vat_registered: bool
    client_is_end_user: bool


class TaxedLine(NamedTuple):
    """A line with its code, and the figures its totals are computed from."""

    request: LineRequest
    figures: LineInput


def default_code(amounts_are: AmountsAre, registered: bool, client_treatment: VatCode | None) -> VatCode:
    """What a line bears that names no code.

    Chosen: the client's default treatment, else standard; outside the scope where no VAT can be charged.
    """
    if amounts_are == "no_vat" or not registered:
        return NO_VAT_CODE
    return client_treatment or "standard"


def form_mistakes(lines: Sequence[LineRequest], *, of_credit: bool, by_lines: bool) -> Iterator[FieldError]:
    """What is missing from lines, and what does not go together in them. `by_lines`: some take a line back."""
    for index, line in enumerate(lines):
        if not by_lines and line.description is not None and line.unit_price is not None:
            continue
        path = f"lines[{index}]"
        if line.credits_line is not None:
            if not of_credit:
                yield FieldError(f"{path}.creditsLine", "conflict", "Only a credit note takes a line back.")
            yield from _foreign_to_credit(line, path)
        elif by_lines:  # Chosen: a sum that is no part of the invoice is another credit note
            yield FieldError(f"{path}.creditsLine", "required", "The other lines name one of the invoice: which one?")
        else:
            if line.description is None:
                yield FieldError(f"{path}.description", "required", "What is it for?")
            if line.unit_price is None:
                yield FieldError(f"{path}.unitPrice", "required", "What does one cost?")


def _foreign_to_credit(line: LineRequest, path: str) -> Iterator[FieldError]:
    given = [name for name in _OF_THE_INVOICE if getattr(line, name) is not None]
    given += ["discount_percent"] if line.discount_percent != "0" else []
    given += [name for name in ("cis_labour", "capital_goods") if getattr(line, name)]
    for name in given:
        head, *tail = name.split("_")
        camel = head + "".join(map(str.capitalize, tail))
        yield FieldError(f"{path}.{camel}", "conflict", "Beside creditsLine it is that of the invoice.")


def taxed(lines: Sequence[LineRequest], context: TaxContext) -> list[TaxedLine]:
    """The lines with their codes and rates. Raises `Problem` `validation_failed` naming every line that is wrong."""
    errors: list[FieldError] = []
    rates: dict[VatCode, VatRate] = {}
    found = []
    for index, line in enumerate(lines):
        code = line.vat_code or context.default_code
        discount = _discount(line.discount_percent, index, errors)
        rate = rates.get(code) or _rate(code, index, context, errors)
        if rate is not None:
            rates[code] = rate
            found.append(TaxedLine(line, _figures(line, code, discount, rate)))
    if errors:
        raise invalid(*errors)
    return found


def rows(lines: Sequence[TaxedLine], totals: Sequence[LineTotals], currency: str) -> list[LineRow]:
    """The lines as they are stored."""
    numbered = enumerate(zip(lines, totals, strict=True), start=1)
    return [_row(position, line, total, currency) for position, (line, total) in numbered]


def summary(group: VatGroup, currency: str) -> VatSummary:
    """One row of the VAT summary as it is shown."""
    return VatSummary(
        vat_code=group.vat_code,
        rate_percent=_percent(group.rate_percent),
        net=from_minor(group.net, currency),
        vat=from_minor(group.vat, currency),
        reverse_charge=group.reverse_charge,
    )


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
        message = f"{code} had no rate on {context.supply_date}."
        errors.append(FieldError(_code_path(index), "vat_rate_invalid_on_date", message))
    return rate


def _figures(line: LineRequest, code: VatCode, discount: Decimal, rate: VatRate) -> LineInput:
    quantity, unit_price = Decimal(line.quantity or _ONE), Decimal(line.unit_price or 0)
    return LineInput(quantity, unit_price, discount, code, rate.percent, rate.reverse_charge, line.cis_labour)


def _code_error(code: VatCode, index: int, context: TaxContext) -> FieldError | None:
    if context.amounts_are == "no_vat":
        if code == NO_VAT_CODE:
            return None
        return FieldError(_code_path(index), "conflict", f"With amountsAre no_vat every line is {NO_VAT_CODE}.")
    if not context.registered and code in NEEDS_REGISTRATION:
        return FieldError(_code_path(index), "vat_not_registered", "The seller is not registered for VAT on that day.")
    if code in DOMESTIC_REVERSE_CHARGES:
        if not context.client_is_vat_registered:  # VATREVCON23000: the customer is registered in the United Kingdom
            return FieldError(_code_path(index), "reverse_charge_needs_vrn", "The client has no British VAT number.")
        if context.client_is_end_user:  # VATREVCON23500
            return FieldError(
                _code_path(index), "reverse_charge_end_user", "The client is an end user: charge VAT as usual."
            )
    return None


def _code_path(index: int) -> str:
    return f"lines[{index}].vatCode"


def _row(position: int, line: TaxedLine, total: LineTotals, currency: str) -> LineRow:
    request, figures = line
    return LineRow(
        position=position,
        description=request.description or "",
        quantity=canonical(request.quantity or _ONE),
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


def _percent(percent: Decimal) -> str:
    """`20`, `17.5`."""
    return f"{percent:f}"
