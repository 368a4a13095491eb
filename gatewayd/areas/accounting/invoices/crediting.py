"""How much of an invoice its credit notes may take back: nothing that was not charged (domain model C4.6).

What is credited of each VAT code and rate lies between nothing and what was charged, for net and for VAT, which is what
returns are made of. Reverse-charged VAT counts as VAT: it is in the client's return.
"""

from collections.abc import Iterator

from gatewayd.areas.accounting.invoices import rows
from gatewayd.areas.accounting.invoices.rows import Group
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow
from gatewayd.errors import FieldError, invalid
from gatewayd.money import Money
from gatewayd.store import ReadTx


def refuse_excess(tx: ReadTx, row: InvoiceRow, original: InvoiceRow) -> None:
    """Raises `Problem` `validation_failed` where the credit notes in force would be above what they credit."""
    errors = [*_gross_mistakes(tx, row, original)] or [*_group_mistakes(tx, row, original)]
    if errors:
        raise invalid(errors[0])


def _gross_mistakes(tx: ReadTx, row: InvoiceRow, original: InvoiceRow) -> Iterator[FieldError]:
    gross, payable = rows.credited(tx, original)
    gross, payable = gross + row.gross_total, payable + row.gross_total - row.cis_deduction
    if gross > original.gross_total:
        yield _error("The credit notes would come to more than the invoice.")
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
