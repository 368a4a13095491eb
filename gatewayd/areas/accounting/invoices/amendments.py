"""A draft that changes: what is stored and what the request gives, as the request of a new draft. Pure.

A changed draft goes the way of a new one, so that its figures come about in one way.
"""

import datetime
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.accounting.invoices.drafts import COPIED
from gatewayd.areas.accounting.invoices.line_shapes import LineRequest, LineRow
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice, InvoiceRow, UpdateInvoice
from gatewayd.contract.wire import project

_FIGURES = ("amounts_are", "vat_rounding", "discount_amount")
"""What says how lines are computed; a full credit copies it with them."""


def request_of(row: InvoiceRow, lines: Sequence[LineRow]) -> CreateInvoice:
    """The request that makes this draft: nothing is left to a default, but for VAT codes that were left to it.

    Those of a credit note stay: it takes back what was charged.
    """
    copied = dict.fromkeys(_FIGURES) if any(line.credits_line for line in lines) else {}
    return project(
        row,
        CreateInvoice,
        client=None,
        lines=[_line_request(row, line) for line in lines],
        status="draft",
        issue_date=datetime.date.fromisoformat(row.issue_date),
        supply_date=datetime.date.fromisoformat(row.supply_date),
        due_date=datetime.date.fromisoformat(row.due_date),
        payment_terms_days=None,
        **{"discount_amount": str(row.discount_amount), **copied},
        origin="system",
    )


def _line_request(row: InvoiceRow, line: LineRow) -> LineRequest:
    if line.credits_line:
        return LineRequest(description=line.description, quantity=line.quantity, credits_line=line.credits_line)
    follows = line.vat_code_defaulted and row.kind == "invoice"
    return project(line, LineRequest, vat_code=None if follows else line.vat_code, credits_line=None)


def amended(whole: CreateInvoice, request: UpdateInvoice, *, credits_all: bool) -> CreateInvoice:
    """The request that makes the draft as it is to become. `credits_all`: it copies the invoice that it credits."""
    given = {name: getattr(request, name) for name in CreateInvoice.__struct_fields__ if hasattr(request, name)}
    given = {name: value for name, value in given.items() if value is not UNSET}
    absent: dict[str, Any] = {}
    if given.get("payment_terms_days") is not None:
        absent["due_date"] = None
    if any(given.get(name, getattr(whole, name)) != getattr(whole, name) for name in ("currency", "legal_entity_id")):
        absent["fx_rate"] = None  # Chosen: a rate is of two currencies, and one may be another
    copies = credits_all and not given.keys() & {"lines", *_FIGURES}
    if copies or given.get("lines", whole.lines) is None:
        absent |= dict.fromkeys(("lines", *_FIGURES))
    return replace(whole, **{**absent, **given})


def is_full_credit(
    row: InvoiceRow, lines: Sequence[LineRow], original: InvoiceRow, original_lines: Sequence[LineRow]
) -> bool:
    """True for a credit note that has the figures of the invoice it credits."""
    return list(lines) == list(original_lines) and all(getattr(row, n) == getattr(original, n) for n in COPIED)
