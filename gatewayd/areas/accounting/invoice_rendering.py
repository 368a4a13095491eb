"""Rows of an invoice, and how they become the bytes that are kept and served. Pure.

    wire         the JSON of the invoice, its lines last, without `isOverdue` and the closing brace
    head_length  the bytes of it before `,"lines":`

Served are `wire`, or its head where no lines are asked for, and whether it is overdue today.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import TypeVar, cast

import msgspec

from gatewayd.areas.accounting.invoice_numbers import InvoiceKind
from gatewayd.areas.accounting.invoice_shapes import (
    ClientSnapshot,
    InvoiceHead,
    InvoiceLine,
    InvoicePayment,
    Origin,
    SellerSnapshot,
    VatSummary,
)
from gatewayd.areas.accounting.invoice_states import OPEN, Status
from gatewayd.areas.accounting.invoice_totals import AmountsAre, VatGroup, VatRounding
from gatewayd.clock import Instant, to_wire
from gatewayd.contract.wire import encode, open_wire
from gatewayd.ledger.sellers import CisRate
from gatewayd.ledger.vat_rates import VatCode
from gatewayd.money import exponent, from_minor

_LINES = b',"lines":'
OVERDUE = b',"isOverdue":true}'
NOT_OVERDUE = b',"isOverdue":false}'
_ID = b'{"id":"'

T = TypeVar("T")


class InvoiceRow(msgspec.Struct, frozen=True):
    """The typed columns of one invoice, in the order the table's statements name them."""

    id: str
    external_id: str | None
    kind: InvoiceKind
    origin: Origin
    status: Status
    number: str | None
    seller_key: str
    legal_entity_id: str | None
    business_id: str | None
    client_id: str
    credits_invoice_id: str | None
    client_snapshot: str | None
    seller_snapshot: str | None
    issue_date: str
    supply_date: str
    due_date: str
    currency: str
    base_currency: str
    fx_rate: str | None
    amounts_are: AmountsAre
    vat_rounding: VatRounding
    net_total: int
    vat_total: int
    gross_total: int
    discount_amount: int
    discount_total: int
    reverse_charge_vat: int
    vat_total_base: int | None
    vat_summary: str
    cis_deduction: int
    cis_rate: CisRate | None
    paid_total: int
    credited_total: int
    balance_due: int
    reference: str | None
    po_number: str | None
    notes: str | None
    terms: str | None
    bank_account_id: str | None
    property_id: str | None
    sent_at: Instant | None
    viewed_at: Instant | None
    paid_date: str | None
    voided_at: Instant | None
    void_reason: str | None
    pdf_document_id: str | None
    created_at: Instant
    updated_at: Instant
    version: int


class LineRow(msgspec.Struct, frozen=True):
    """The typed columns of one line."""

    position: int
    description: str
    quantity: str
    unit: str | None
    unit_price: str
    discount_percent: str
    vat_code: VatCode
    vat_rate_percent: str
    category: str | None
    net: int
    vat: int
    gross: int
    reverse_charge_vat: int
    property_id: str | None
    cis_labour: int


class PaymentRow(msgspec.Struct, frozen=True):
    """The typed columns of one payment."""

    position: int
    date: str
    amount: int
    bank_transaction_id: str | None
    method: str | None
    reference: str | None


class AmountTexts(dict[int, str]):
    """The wire form of minor units of one currency. The amounts of an invoice are the same few, again and again."""

    def __init__(self, currency: str) -> None:
        self.currency = currency

    def __missing__(self, amount: int) -> str:
        text = self[amount] = from_minor(amount, self.currency)
        return text


def head(row: InvoiceRow, payments: Sequence[PaymentRow], texts: AmountTexts) -> bytes:
    """`wire` without its lines. `texts` are those of the invoice's currency."""
    updated_at = to_wire(row.updated_at)
    client, seller = row.client_snapshot, row.seller_snapshot
    return open_wire(
        InvoiceHead(
            id=row.id,
            external_id=row.external_id,
            number=row.number,
            origin=row.origin,
            kind=row.kind,
            status=row.status,
            legal_entity_id=row.legal_entity_id,
            business_id=row.business_id,
            client_id=row.client_id,
            credits_invoice_id=row.credits_invoice_id,
            client_snapshot=None if client is None else at_hand(client, ClientSnapshot),
            seller_snapshot=None if seller is None else at_hand(seller, SellerSnapshot),
            issue_date=row.issue_date,
            supply_date=row.supply_date,
            due_date=row.due_date,
            currency=row.currency,
            fx_rate=row.fx_rate,
            amounts_are=row.amounts_are,
            vat_rounding=row.vat_rounding,
            net_total=texts[row.net_total],
            vat_total=texts[row.vat_total],
            gross_total=texts[row.gross_total],
            discount_amount=texts[row.discount_amount],
            discount_total=texts[row.discount_total],
            reverse_charge_vat=texts[row.reverse_charge_vat],
            vat_total_base=None if row.vat_total_base is None else from_minor(row.vat_total_base, row.base_currency),
            vat_summary=at_hand(row.vat_summary, list[VatSummary]),
            cis_deduction=texts[row.cis_deduction],
            cis_rate=row.cis_rate,
            paid_total=texts[row.paid_total],
            credited_total=texts[row.credited_total],
            balance_due=texts[row.balance_due],
            payments=[_payment(payment, texts) for payment in payments],
            reference=row.reference,
            po_number=row.po_number,
            notes=row.notes,
            terms=row.terms,
            bank_account_id=row.bank_account_id,
            property_id=row.property_id,
            sent_at=_instant(row.sent_at),
            viewed_at=_instant(row.viewed_at),
            paid_date=row.paid_date,
            voided_at=_instant(row.voided_at),
            void_reason=row.void_reason,
            pdf_document_id=row.pdf_document_id,
            created_at=updated_at if row.created_at == row.updated_at else to_wire(row.created_at),
            updated_at=updated_at,
            version=row.version,
        )
    )


def lines(rows: Sequence[LineRow], texts: AmountTexts) -> bytes:
    """The rest of `wire`."""
    digits = exponent(texts.currency)
    return _LINES + encode([_line(row, texts, digits) for row in rows])


def whole(wire: bytes, overdue: bool) -> bytes:
    """One invoice as it is served."""
    return wire + (OVERDUE if overdue else NOT_OVERDUE)


def id_of(wire: bytes) -> str:
    """The id of an invoice, which is the first member of its JSON and has nothing to escape."""
    return wire[len(_ID) : wire.index(b'"', len(_ID))].decode()


def at_hand(text: str, kind: type[T]) -> T:
    """JSON in the place of the `kind` that it is the encoding of: encoders write it out as it is."""
    return cast(T, msgspec.Raw(text.encode()))


def open_due_date(row: InvoiceRow) -> str | None:
    """The due date where money is still due, else None."""
    return row.due_date if row.status in OPEN and row.balance_due > 0 else None


def summary_text(groups: Sequence[VatGroup], currency: str) -> str:
    """The `vat_summary` column."""
    return encode(
        [
            VatSummary(
                vat_code=group.vat_code,
                rate_percent=percent_text(group.rate_percent),
                net=from_minor(group.net, currency),
                vat=from_minor(group.vat, currency),
                reverse_charge=group.reverse_charge,
            )
            for group in groups
        ]
    ).decode()


def percent_text(percent: Decimal) -> str:
    """`20`, `17.5`."""
    return f"{percent:f}"


def _payment(payment: PaymentRow, texts: AmountTexts) -> InvoicePayment:
    return InvoicePayment(
        date=payment.date,
        amount=texts[payment.amount],
        bank_transaction_id=payment.bank_transaction_id,
        method=payment.method,
        reference=payment.reference,
    )


def _line(row: LineRow, texts: AmountTexts, digits: int) -> InvoiceLine:
    return InvoiceLine(
        position=row.position,
        description=row.description,
        quantity=row.quantity,
        unit=row.unit,
        unit_price=_padded(row.unit_price, digits),
        discount_percent=row.discount_percent,
        vat_code=row.vat_code,
        vat_rate_percent=row.vat_rate_percent,
        category=row.category,
        net=texts[row.net],
        vat=texts[row.vat],
        gross=texts[row.gross],
        property_id=row.property_id,
        cis_labour=bool(row.cis_labour),
    )


def _padded(price: str, digits: int) -> str:
    """A canonical decimal with at least `digits` fraction digits."""
    whole_part, _, fraction = price.partition(".")
    fraction = fraction.ljust(digits, "0")
    return f"{whole_part}.{fraction}" if fraction else whole_part


def _instant(instant: Instant | None) -> str | None:
    return None if instant is None else to_wire(instant)
