"""From a quote to its invoices: all of it, a part, or the rest.

A part is an amount that is paid, VAT included, shared out over what the quote has of each VAT code: its invoice is a
tax point of its own (VATA 1994 s.6(4)), and the VAT in it is the fraction of its rate. The last invoice has every line
of the quote at its gross, and takes off what was invoiced before, line by line. Gross amounts are whole pennies and
are shared exactly, so that the invoices come to the quote, and never to more.

Other rates than the quote shows are not chosen here: what is owed changes with them unless it was agreed otherwise
(VATA 1994 s.89).
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import drafts
from gatewayd.areas.accounting.invoices import rows as invoices
from gatewayd.areas.accounting.invoices.drafts import Draft
from gatewayd.areas.accounting.invoices.line_shapes import LineRequest, LineRow, requested
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice, InvoiceRow
from gatewayd.areas.accounting.invoices.totals import spread
from gatewayd.areas.accounting.quotes import rows
from gatewayd.areas.accounting.quotes.shapes import InvoiceQuote, QuoteLine, StoredQuote
from gatewayd.errors import invalid_field, invalid_state
from gatewayd.ledger.vat.vat_rates import VatCode
from gatewayd.money import Money, from_minor
from gatewayd.store import ReadTx, WriteTx


class Share(NamedTuple):
    """What lines of one invoice are alike in."""

    vat_code: VatCode
    category: str | None
    property_id: str | None
    cis_labour: bool
    capital_goods: bool


def draft_of(tx: WriteTx, row: StoredQuote, request: InvoiceQuote) -> Draft:
    """The invoice of what is asked for of an accepted quote, not stored yet.

    Raises `Problem`: `validation_failed`, `invalid_state` (an invoice of it is a draft still).
    """
    earlier = [INVOICES.get(tx, invoice_id) for invoice_id in rows.invoices_of(tx, row.id)]
    _refuse_drafts(row, earlier)
    left = row.gross_total - row.invoiced_total
    wanted = _wanted(row, request, left)
    terms: dict[str, object]
    if wanted == left and not earlier:
        asked = [replace(requested(line), vat_code=line.vat_code) for line in row.lines]
        terms = {"amounts_are": row.amounts_are, "discount_amount": str(row.discount_amount)}
    else:
        asked = [*_rest(tx, row, earlier)] if wanted == left else [*_part(tx, row, earlier, wanted)]
        at_gross = "no_vat" if row.amounts_are == "no_vat" else "inclusive"
        terms = {"amounts_are": at_gross, "discount_amount": None}
    draft = drafts.of_request(tx, _request(row, request, asked, terms))
    _refuse_other_rates(row, draft)
    return draft._replace(row=replace(draft.row, quote_id=row.id))


def _request(
    row: StoredQuote, request: InvoiceQuote, asked: list[LineRequest], terms: Mapping[str, object]
) -> CreateInvoice:
    names = ("issue_date", "payment_terms_days", "supply_date")
    return drafts.request_by(row, lines=asked, **{name: getattr(request, name) for name in names}, **terms)


def _refuse_drafts(row: StoredQuote, earlier: Iterable[InvoiceRow]) -> None:
    for invoice in earlier:
        if invoice.status == "draft":
            message = (
                f"Its invoice {invoice.id} is a draft: issue that first with `accounting.issueInvoice`, or delete it"
                " with `accounting.deleteInvoice`."
            )
            raise invalid_state(message, row.status, ())


def _wanted(row: StoredQuote, request: InvoiceQuote, left: Money) -> Money:
    """What is to be invoiced, gross. Raises `Problem` `validation_failed`."""
    if request.percent is not None and request.amount is not None:
        raise invalid_field("amount", "conflict", "Give percent or amount, not both.")
    if request.percent is not None:
        share = (row.gross_total.minor * Decimal(request.percent) / 100).to_integral_value(ROUND_HALF_UP)
        path, wanted = "percent", Money(int(share), row.currency)
    elif request.amount is not None:
        path = "amount"
        try:
            wanted = Money.of(request.amount, row.currency)
        except ValueError as error:
            raise invalid_field("amount", "invalid_decimal", f"{error}.") from None
    else:
        return left
    if wanted.minor <= 0 or wanted > left:
        message = f"Of the quote {left} is left to invoice: expected more than 0, and no more than that."
        raise invalid_field(path, "out_of_range", message)
    return wanted


def _part(tx: ReadTx, row: StoredQuote, earlier: list[InvoiceRow], wanted: Money) -> Iterator[LineRequest]:
    """A line for each kind that the quote has, in proportion to what is left of it."""
    left = _by_share((_share(line), Money.of(line.gross, row.currency).minor) for line in row.lines)
    for share, amount in _taken(tx, earlier):
        left[share] = left.get(share, 0) - amount
    parts = spread(wanted.minor, [max(0, amount) for amount in left.values()])
    for share, amount in zip(left, parts, strict=True):
        if amount:
            yield _line(f"Part of quote {row.number} of {row.issue_date}", amount, share, row.currency)


def _rest(tx: ReadTx, row: StoredQuote, earlier: list[InvoiceRow]) -> Iterator[LineRequest]:
    """Every line of the quote, less what was invoiced before."""
    for line in row.lines:
        counted = f" ({line.quantity} {line.unit})" if line.unit else f" ({line.quantity})"
        of = "" if line.quantity == "1" else counted
        yield _line(f"{line.description}{of}", Money.of(line.gross, row.currency).minor, _share(line), row.currency)
    for invoice in earlier:
        for share, amount in _by_share(_taken(tx, [invoice])).items():
            if amount:
                text = f"Less invoice {invoice.number} of {invoice.issue_date}"
                yield _line(text, -amount, share, row.currency)


def _taken(tx: ReadTx, earlier: Iterable[InvoiceRow]) -> Iterator[tuple[Share, int]]:
    """What invoices charged of each kind, gross, less what was credited of them."""
    for invoice in earlier:
        for line in invoices.lines_of(tx, invoice):
            yield _share(line), line.gross.minor
        for line in invoices.credited_lines(tx, invoice):
            yield _share(line), -line.gross.minor


def _by_share(amounts: Iterable[tuple[Share, int]]) -> dict[Share, int]:
    sums: dict[Share, int] = {}
    for share, amount in amounts:
        sums[share] = sums.get(share, 0) + amount
    return sums


def _share(line: QuoteLine | LineRow) -> Share:
    return Share(line.vat_code, line.category, line.property_id, line.cis_labour, bool(line.capital_goods))


def _line(description: str, amount: int, share: Share, currency: str) -> LineRequest:
    return LineRequest(description=description, unit_price=from_minor(amount, currency), **share._asdict())


def _refuse_other_rates(row: StoredQuote, draft: Draft) -> None:
    """Raises `Problem` `validation_failed` where the invoice would bear other VAT than the quote shows."""
    shown = {line.vat_code: line.vat_rate_percent for line in row.lines}
    for line in draft.lines:
        if shown.get(line.vat_code) != line.vat_rate_percent:
            message = (
                f"{line.vat_code} is {line.vat_rate_percent} % on this day, and {shown.get(line.vat_code)} % on the"
                " quote. The price changes with the VAT unless you agreed otherwise: make out the invoice with"
                " `accounting.createInvoice`."
            )
            raise invalid_field("supplyDate", "conflict", message)
