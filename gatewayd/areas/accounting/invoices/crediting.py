"""What credit notes take back of an invoice: nothing that was not charged (domain model C4.6).

What is credited of each VAT code and rate lies between nothing and what was charged, for net and for VAT, which is what
returns are made of. Reverse-charged VAT counts as VAT: it is in the client's return.

A line of a credit note may name the line of the invoice which it takes back, whole or in part. Price, code and rate are
the invoice's, and the figures a share of its own by quantity, never computed again. They are rounded so that the parts
of a line come to the line: each is the share of all that was credited of it so far, less what was credited before. The
CIS deduction goes by the labour in the same way.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import rows
from gatewayd.areas.accounting.invoices.line_shapes import LineRequest, LineRow
from gatewayd.areas.accounting.invoices.rows import Group
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


# -- how much may be taken back


def refuse_excess(tx: ReadTx, row: InvoiceRow, original: InvoiceRow) -> None:
    """Raises `Problem` `validation_failed` where the credit notes in force would be above what they credit."""
    errors = [*_gross_mistakes(tx, row, original)] or [*_group_mistakes(tx, row, original)]
    if errors:
        raise invalid(errors[0])


def _gross_mistakes(tx: ReadTx, row: InvoiceRow, original: InvoiceRow) -> Iterator[FieldError]:
    gross, payable = rows.credited(tx, original)
    gross, payable = gross + row.gross_total, payable + row.gross_total - row.cis_deduction
    if gross > original.gross_total:
        message = f"The credit notes would come to {gross}: expected no more than the invoice, {original.gross_total}."
        yield _error(message)
    if gross - payable > original.cis_deduction:
        yield _error("The credit notes would take back more CIS deduction than there was.")
    if payable > original.gross_total - original.cis_deduction:
        yield _error("Less its CIS deduction, the client owes less than this: mark what is labour.")


def _group_mistakes(tx: ReadTx, row: InvoiceRow, original: InvoiceRow) -> Iterator[FieldError]:
    charged, credited = _groups(original), rows.credited_groups(tx, original)
    for group, amounts in _groups(row).items():
        before, bounds = credited.get(group, (0, 0)), charged.get(group, (0, 0))
        for name, amount, earlier, bound in zip(("net", "VAT"), amounts, before, bounds, strict=True):
            if not min(0, bound) <= earlier + amount <= max(0, bound):
                of = f"{group[0]} at {group[1]} %"
                yield _error(f"The credit notes would take back another {name} of {of} than was charged.")


def _groups(row: InvoiceRow) -> dict[Group, tuple[int, int]]:
    """Net and VAT of each code and rate, in minor units."""
    return {
        (group.vat_code, group.rate_percent): (
            Money.of(group.net, row.currency).minor,
            Money.of(group.vat, row.currency).minor,
        )
        for group in row.vat_summary
    }


def _error(message: str) -> FieldError:
    return FieldError("lines", "out_of_range", message)


# -- lines that take a line of the invoice back


def credited(tx: ReadTx, original: InvoiceRow, requests: Sequence[LineRequest]) -> Credited:
    """The lines of a credit note against `original`. Raises `Problem` `validation_failed`."""
    charged = {line.position: line for line in rows.lines_of(tx, original)}
    earlier = rows.credited_lines(tx, original)
    taken = _taken(earlier)
    errors: list[FieldError] = []
    lines = []
    for index, request in enumerate(requests):
        line = charged.get(request.credits_line or 0)
        if line is None:
            errors.append(
                FieldError(
                    f"lines[{index}].creditsLine",
                    "unknown_reference",
                    f"The invoice has no such line: it has 1 to {len(charged)}.",
                )
            )
            continue
        before = taken.get(line.position, _Taken(_NONE, _NOTHING))
        quantity = _quantity(request, line, before.quantity, f"lines[{index}]", errors)
        row = _credited_part(request, line, before, quantity)
        taken[line.position] = _plus(before, row)
        lines.append(replace(row, position=index + 1))
    if errors:
        raise invalid(*errors)
    return Credited(_totals(tx, original, earlier, lines), lines)


def _taken(earlier: Iterable[LineRow]) -> dict[int, _Taken]:
    taken: dict[int, _Taken] = {}
    for row in earlier:
        if isinstance(row.credits_line, int):
            taken[row.credits_line] = _plus(taken.get(row.credits_line, _Taken(_NONE, _NOTHING)), row)
    return taken


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
    charged = Decimal(line.quantity)
    left = charged - before
    quantity = left if request.quantity is None else Decimal(request.quantity)
    within = min(left, _NONE) <= quantity <= max(left, _NONE)
    if not within or (charged and not quantity):
        name = "creditsLine" if request.quantity is None else "quantity"
        message = f"Of the quantity of the line {left:f} is left: expected no more."
        errors.append(FieldError(f"{path}.{name}", "out_of_range", message))
    return quantity


def _credited_part(request: LineRequest, line: LineRow, before: _Taken, quantity: Decimal) -> LineRow:
    charged = Decimal(line.quantity)
    share = Fraction(before.quantity + quantity) / Fraction(charged) if charged else Fraction(1)
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


def _totals(tx: ReadTx, original: InvoiceRow, earlier: Sequence[LineRow], parts: Sequence[LineRow]) -> Totals:
    lines = tuple([_line_totals(row) for row in parts])
    net, vat, gross, reverse_charge_vat = map(sum, zip(*lines, strict=True))
    if gross < 0:
        raise invalid(FieldError("lines", "out_of_range", "The total is below zero: credit more with it."))
    labour = any(row.cis_labour for row in parts)
    return Totals(
        lines,
        net,
        vat,
        gross,
        0,  # Chosen: the figures are those after the discounts of the invoice
        reverse_charge_vat,
        summarise([_input(row) for row in parts], lines),
        _deduction(tx, original, (*earlier, *parts)) if labour else 0,
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
    rounded = (2 * abs(amount.numerator) + amount.denominator) // (2 * amount.denominator)
    return rounded if amount >= 0 else -rounded
