"""Lines of a credit note that name the line of the invoice which they take back, whole or in part (domain model C4.6).

Price, code and rate are the invoice's, and the figures a share of its own by quantity, never computed again. They are
rounded so that the parts of a line come to the line: each is the share of all that was credited of it so far, less
what was credited before. The CIS deduction goes by the labour in the same way.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import rows
from gatewayd.areas.accounting.invoices.line_shapes import LineRequest, LineRow
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow
from gatewayd.areas.accounting.invoices.totals import LineInput, LineTotals, Totals, summarise
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.vat.vat_rates import DOMESTIC_REVERSE_CHARGES
from gatewayd.money import Money, canonical
from gatewayd.store import ReadTx

_NONE, _NOTHING = Decimal(0), LineTotals(0, 0, 0, 0)


class Credited(NamedTuple):
    """Totals and lines of a credit note."""

    totals: Totals
    lines: list[LineRow]


class _Taken(NamedTuple):
    """What was credited of a line so far."""

    quantity: Decimal
    totals: LineTotals


def is_by_lines(lines: Sequence[LineRequest] | None) -> bool:
    """True where lines name those of an invoice."""
    return any(line.credits_line is not None for line in lines or ())


def credited(tx: ReadTx, original: InvoiceRow, requests: Sequence[LineRequest]) -> Credited:
    """The lines of a credit note against `original`. Raises `Problem` `validation_failed`."""
    charged = {line.position: line for line in rows.lines_of(tx, original)}
    earlier = rows.credited_lines(tx, original)
    taken = _taken(earlier)
    errors: list[FieldError] = []
    found = []
    for index, request in enumerate(requests):
        line = charged.get(request.credits_line or 0)
        if line is None:
            errors.append(
                FieldError(f"lines[{index}].creditsLine", "unknown_reference", "The invoice has no such line.")
            )
            continue
        before = taken.get(line.position, _Taken(_NONE, _NOTHING))
        quantity = _quantity(request, line, before.quantity, f"lines[{index}]", errors)
        row = _part(request, line, before, quantity)
        taken[line.position] = _plus(before, row)
        found.append(replace(row, position=index + 1))
    if errors:
        raise invalid(*errors)
    return Credited(_totals(tx, original, earlier, found), found)


def _taken(earlier: Iterable[LineRow]) -> dict[int, _Taken]:
    found: dict[int, _Taken] = {}
    for row in earlier:
        if isinstance(row.credits_line, int):
            found[row.credits_line] = _plus(found.get(row.credits_line, _Taken(_NONE, _NOTHING)), row)
    return found


def _plus(before: _Taken, row: LineRow) -> _Taken:
    net, vat, gross, reverse_charge_vat = before.totals
    more = LineTotals(
        net + row.net.minor,
        vat + row.vat.minor,
        gross + row.gross.minor,
        reverse_charge_vat + row.reverse_charge_vat.minor,
    )
    return _Taken(before.quantity + Decimal(row.quantity), more)


def _quantity(request: LineRequest, line: LineRow, before: Decimal, path: str, errors: list[FieldError]) -> Decimal:
    """How much of the line is credited: what is asked for, or all that is left of it."""
    whole = Decimal(line.quantity)
    left = whole - before
    asked = left if request.quantity is None else Decimal(request.quantity)
    within = min(left, _NONE) <= asked <= max(left, _NONE)
    if not within or (whole and not asked):
        name = "creditsLine" if request.quantity is None else "quantity"
        errors.append(FieldError(f"{path}.{name}", "out_of_range", f"Of the quantity of the line {left:f} is left."))
    return asked


def _part(request: LineRequest, line: LineRow, before: _Taken, quantity: Decimal) -> LineRow:
    whole = Decimal(line.quantity)
    share = Fraction(before.quantity + quantity) / Fraction(whole) if whole else Fraction(1)
    currency = line.net.currency
    net, vat = (
        Money(_rounded(amount.minor * share) - earlier, currency)
        for amount, earlier in ((line.net, before.totals.net), (line.vat, before.totals.vat))
    )
    reverse_charge_vat = _rounded(line.reverse_charge_vat.minor * share) - before.totals.reverse_charge_vat
    return replace(
        line,
        description=request.description or line.description,
        quantity=canonical(f"{quantity:f}"),
        net=net,
        vat=vat,
        gross=net + vat,
        reverse_charge_vat=Money(reverse_charge_vat, currency),
        vat_code_defaulted=False,
        credits_line=line.position,
    )


def _totals(tx: ReadTx, original: InvoiceRow, earlier: Sequence[LineRow], found: Sequence[LineRow]) -> Totals:
    lines = tuple([_line_totals(row) for row in found])
    net, vat, gross, reverse_charge_vat = map(sum, zip(*lines, strict=True))
    if gross < 0:
        raise invalid(FieldError("lines", "out_of_range", "The total is below zero: credit more with it."))
    labour = any(row.cis_labour for row in found)
    return Totals(
        lines,
        net,
        vat,
        gross,
        0,  # Chosen: the figures are those after the discounts of the invoice
        reverse_charge_vat,
        summarise([_input(row) for row in found], lines),
        _deduction(tx, original, (*earlier, *found)) if labour else 0,
        original.cis_rate if labour else None,
    )


def _deduction(tx: ReadTx, original: InvoiceRow, lines: Iterable[LineRow]) -> int:
    """What is credited of the CIS deduction with all these lines, less what was credited before."""
    if original.cis_rate is None:
        return 0
    labour = sum(row.net.minor for row in lines if row.cis_labour)
    gross, payable = rows.credited(tx, original)
    before = gross.minor - payable.minor
    return max(0, min(_rounded(Fraction(labour * original.cis_rate, 100)), original.cis_deduction.minor) - before)


def _line_totals(row: LineRow) -> LineTotals:
    return LineTotals(row.net.minor, row.vat.minor, row.gross.minor, row.reverse_charge_vat.minor)


def _input(row: LineRow) -> LineInput:
    return LineInput(
        Decimal(row.quantity),
        Decimal(row.unit_price),
        Decimal(row.discount_percent),
        row.vat_code,
        Decimal(row.vat_rate_percent),
        row.vat_code in DOMESTIC_REVERSE_CHARGES,
        row.cis_labour,
    )


def _rounded(amount: Fraction) -> int:
    """Half up, away from zero (VATREC12030)."""
    whole = (2 * abs(amount.numerator) + amount.denominator) // (2 * amount.denominator)
    return whole if amount >= 0 else -whole
