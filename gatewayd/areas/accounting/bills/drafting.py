"""From a request to a bill: who charges whom, dates, currency and lines. Reads only.

A bill that changes goes the way of a new one: what is stored and what the request gives become the request of a new
bill.
"""

import datetime
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.accounting.bills import line_figures, rows
from gatewayd.areas.accounting.bills.line_figures import Around, Figured
from gatewayd.areas.accounting.bills.rows import BILLS
from gatewayd.areas.accounting.bills.shapes import (
    BillLine,
    BillRow,
    BillWarning,
    CreateBill,
    TakenRateSource,
    UpdateBill,
)
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import StoredClient
from gatewayd.areas.accounting.invoices.drafts import rate_of_exchange
from gatewayd.clock import days_after
from gatewayd.errors import FieldError, gathered, invalid, invalid_field, invalid_state
from gatewayd.ledger import references
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.allocating.lets import Names
from gatewayd.ledger.exchange import exchange_rates
from gatewayd.ledger.exchange.exchange_rates import Pair
from gatewayd.ledger.references import Reference, unknown_reference
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_EARLIEST: Final = "1973-04-01"  # Chosen: VAT began then
_MOST_AHEAD: Final = 366  # Chosen: of days; what is dated later is a slip of the pen
_TAKEN: Final[dict[str, TakenRateSource]] = {"recorded": "recorded", "hmrc": "hmrc"}


class Drafted(NamedTuple):
    """A bill that is about to be stored, its lines, and what is to be told of it. `original` is what it credits."""

    row: BillRow
    lines: list[BillLine]
    warnings: list[BillWarning]
    original: BillRow | None


class _Parties(NamedTuple):
    """Who charges which business. `supplier` None: a claim that names none. `original`: the bill that is credited."""

    supplier: StoredClient | None
    business: Business
    original: BillRow | None


class _Dates(NamedTuple):
    """ISO dates."""

    bill: str
    tax_point: str
    due: str


class Rate(NamedTuple):
    """Units of the business's currency for one of the bill's; None: they are one. `source` None: it was given.

    `date` is the ISO date of one that was taken.
    """

    text: str | None
    source: TakenRateSource | None = None
    date: str | None = None


def of_request(tx: WriteTx, request: CreateBill, before: BillRow | None = None) -> Drafted:
    """The bill that a request describes. `before` is the bill that becomes so.

    Raises `Problem`: `validation_failed` with all that is wrong, `invalid_state` (what is credited is a draft or void).
    """
    errors = [*_conflicts(request), *_unknown(tx, request)]
    parties = _parties(tx, request, before, errors)
    if parties is None:
        raise invalid(*errors)
    dates = _dates(request, parties)
    errors += _date_mistakes(dates, tx.today, parties.original)
    currency = request.currency or (parties.original or parties.business).currency
    rate = gathered(errors, _rate, tx, request, parties, Pair(currency, parties.business.currency))
    bill_id = tx.new_id("bill") if before is None else before.id
    rates_of = dates.tax_point if parties.original is None else parties.original.tax_point
    fx_rate = "1" if rate is None else rate.text
    around = Around(bill_id, parties.business, currency, fx_rate, rates_of, request.amounts_are == "inclusive")
    figured = line_figures.figured(tx, request.lines, around, errors)
    errors += _total_mistakes(figured, currency)
    if errors or rate is None:
        raise invalid(*errors)
    row = _row(tx, request, parties, dates, rate)
    row = _with_figures(replace(row, id=bill_id, currency=currency), figured)
    warnings = [*figured.warnings, *_warnings(row)]
    if row.kind != "credit_note":
        warnings += line_figures.goods_warnings(tx, figured.parts)
    return Drafted(row if before is None else _in_place_of(before, row), figured.lines, warnings, parties.original)


def amended(tx: ReadTx, row: BillRow, request: UpdateBill) -> CreateBill:
    """The request of a new bill that is this one with what `request` changes."""
    original = None if row.credits_bill_id is None else BILLS.get(tx, row.credits_bill_id)
    rates_of = row.tax_point if original is None else original.tax_point
    is_inclusive = row.amounts_are == "inclusive"
    is_of_others = any(
        getattr(request, name) not in (UNSET, getattr(row, name)) for name in ("currency", "business_id")
    )
    keeps_rate = row.fx_rate_source is None and original is None and not is_of_others  # else it is taken anew
    lines = rows.lines_of(tx, row)
    stored = CreateBill(
        kind=row.kind,
        supplier_id=row.supplier_id,
        claimant=row.claimant,
        number=row.number,
        credits_bill_id=row.credits_bill_id,
        business_id=row.business_id,
        currency=row.currency,
        amounts_are=row.amounts_are,
        notes=row.notes,
        document_ids=row.document_ids,
        external_id=row.external_id,
        bill_date=datetime.date.fromisoformat(row.bill_date),
        tax_point=datetime.date.fromisoformat(row.tax_point),
        due_date=datetime.date.fromisoformat(row.due_date),
        lines=[line_figures.asked_again(line, rates_of, is_inclusive=is_inclusive) for line in lines],
        fx_rate=row.fx_rate if keeps_rate else None,
        status="draft" if row.status == "draft" else "awaiting_payment",
        allow_duplicate=request.allow_duplicate,
    )
    names = (name for name in CreateBill.__struct_fields__ if name not in ("kind", "credits_bill_id"))
    given = {name: value for name in names if (value := getattr(request, name)) is not UNSET}
    return replace(stored, **given)


# -- what a request says of itself, and what it names


def _conflicts(request: CreateBill) -> Iterator[FieldError]:
    """Where what a request says of itself does not hold together."""
    kind = request.kind
    if kind == "credit_note" and request.credits_bill_id is None:
        yield FieldError("creditsBillId", "required", "Which bill does the credit note take back?")
    if kind != "credit_note" and request.credits_bill_id is not None:
        yield FieldError("creditsBillId", "conflict", "Only a credit note takes a bill back: leave this out.")
    if kind == "expense_claim" and request.claimant is None:
        yield FieldError("claimant", "required", "Who paid, and is owed it?")
    if kind != "expense_claim" and request.claimant is not None:
        yield FieldError(
            "claimant", "conflict", "Only of an expense claim: give `kind` expense_claim, or leave it out."
        )
    if kind == "bill" and request.supplier_id is None:
        yield FieldError("supplierId", "required", "Which client charges it?")


def _unknown(tx: ReadTx, request: CreateBill) -> Iterator[FieldError]:
    """What a request names beside its parties that the organization does not have; lines are looked at later."""
    named = [Reference(f"documentIds[{index}]", "document", id_) for index, id_ in enumerate(request.document_ids)]
    return references.unknown(tx, named)


def _parties(tx: WriteTx, request: CreateBill, before: BillRow | None, errors: list[FieldError]) -> _Parties | None:
    """The parties of a bill. None: something is wrong with them, told in `errors`.

    Raises `Problem` `invalid_state`.
    """
    original = None
    if request.credits_bill_id is not None and request.kind == "credit_note":
        original = gathered(errors, _credited, tx, request, request.credits_bill_id)
        if original is None:
            return None
    business = gathered(errors, _business, tx, request, original)
    supplier = None
    if original is not None and original.supplier_id is not None:
        supplier = CLIENTS.get(tx, original.supplier_id)
    elif request.supplier_id is not None:
        is_same = before is not None and before.supplier_id == request.supplier_id
        supplier = gathered(errors, _supplier, tx, request.supplier_id, may_be_archived=is_same)
    if business is None:
        return None
    return _Parties(supplier, business, original)


def _credited(tx: ReadTx, request: CreateBill, bill_id: str) -> BillRow:
    original = BILLS.find(tx, bill_id)
    if original is None:
        raise invalid(unknown_reference("creditsBillId", "bill"))
    if original.kind != "bill":
        raise invalid_field("creditsBillId", "conflict", "Expected a bill of a supplier.")
    if original.status in ("draft", "void"):
        message = f"A bill that is {original.status} cannot be credited: expected one that is owed or paid."
        raise invalid_state(message, original.status, ("awaiting_payment", "part_paid", "paid"))
    errors = [
        FieldError(path, "conflict", f"It is that of the bill, {its}: leave this out.")
        for path, given, its in (
            ("supplierId", request.supplier_id, original.supplier_id),
            ("businessId", request.business_id, original.business_id),
            ("currency", request.currency, original.currency),
        )
        if given not in (None, its)
    ]
    if errors:
        raise invalid(*errors)
    return original


def _business(tx: ReadTx, request: CreateBill, original: BillRow | None) -> Business:
    """The business whose expense it is. Raises `Problem` `validation_failed`."""
    business_id = request.business_id if original is None else original.business_id
    if business_id is None:
        names = (Names(None, line.property_id, line.unit_id, line.tenancy_id) for line in request.lines)
        of_lines = (lets.place_of(tx, name).filled(name)["business_id"] for name in names)
        business_id = next((found for found in of_lines if found is not None), None)
    if business_id is None:
        only = businesses.find_only(tx)
        if only is None:
            raise invalid_field("businessId", "required", "Of which business is it an expense?")
        return only
    business = businesses.find(tx, business_id)
    if business is None:
        raise invalid(unknown_reference("businessId", "business"))
    if business.archived and original is None:
        message = "The business is archived: bring it back first, or choose another."
        raise invalid_field("businessId", "conflict", message)
    return business


def _supplier(tx: ReadTx, supplier_id: str, *, may_be_archived: bool) -> StoredClient:
    supplier = CLIENTS.find(tx, supplier_id)
    if supplier is None:
        raise invalid(unknown_reference("supplierId", "client"))
    if supplier.archived_at is not None and not may_be_archived:
        message = "The client is archived: bring it back first, or choose another."
        raise invalid_field("supplierId", "conflict", message)
    return supplier


# -- dates, currency and totals


def _dates(request: CreateBill, parties: _Parties) -> _Dates:
    """The dates of a bill. Chosen: what nobody said of a due date is what the client's terms say, as of invoices."""
    bill = request.bill_date.isoformat()
    tax_point = bill if request.tax_point is None else request.tax_point.isoformat()
    if request.due_date is not None:
        return _Dates(bill, tax_point, request.due_date.isoformat())
    has_terms = request.kind == "bill" and parties.supplier is not None
    terms = parties.supplier.payment_terms_days if has_terms and parties.supplier is not None else 0
    return _Dates(bill, tax_point, days_after(bill, terms))


def _date_mistakes(dates: _Dates, today: str, original: BillRow | None) -> Iterator[FieldError]:
    latest = days_after(today, _MOST_AHEAD)
    for path, date in (("billDate", dates.bill), ("taxPoint", dates.tax_point)):
        if not _EARLIEST <= date <= latest:
            yield FieldError(path, "out_of_range", f"Expected a day from {_EARLIEST} to {latest}.")
    if dates.due < dates.bill:
        message = f"It is before the date of the bill, {dates.bill}: expected that day or a later one."
        yield FieldError("dueDate", "date_order", message)
    if original is not None and dates.tax_point < original.tax_point:
        message = f"It is before the tax point of the bill, {original.tax_point}: expected that day or a later one."
        yield FieldError("taxPoint", "date_order", message)


def _rate(tx: ReadTx, request: CreateBill, parties: _Parties, pair: Pair) -> Rate:
    """At what rate a bill counts. Raises `Problem` `validation_failed` where none is given and none known."""
    original = parties.original
    if original is not None and original.currency == pair.currency:
        if request.fx_rate is not None:
            raise invalid_field("fxRate", "conflict", "A credit note has the rate of its bill: leave this out.")
        return Rate(original.fx_rate, original.fx_rate_source, original.fx_rate_date)
    date = request.bill_date if request.tax_point is None else request.tax_point
    return rate_of(tx, request.fx_rate, pair, date.isoformat(), "bill")


def rate_of(tx: ReadTx, text: str | None, pair: Pair, day: str, subject: str) -> Rate:
    """The rate that was given, else what is known of an ISO date. `subject` is what lacks it.

    Raises `Problem` `validation_failed` where none is known, or one is given and not needed.
    """
    if text is not None:
        return Rate(rate_of_exchange(text, *pair))
    if pair.currency == pair.base_currency:
        return Rate(None)
    known = exchange_rates.for_day(tx, pair, day)
    if known is None:
        what = f"The {subject} is in {pair.currency} and the books are in {pair.base_currency}"
        raise invalid_field("fxRate", "required", exchange_rates.unknown(what, pair))
    return Rate(known.text, _TAKEN[known.source or "recorded"], known.date)


def _total_mistakes(figured: Figured, currency: str) -> Iterator[FieldError]:
    if figured.lines and sum(line.gross.minor for line in figured.lines) <= 0:
        message = f"They come to no more than 0 {currency}: what a supplier takes back is a credit note."
        yield FieldError("lines", "out_of_range", message)


def _row(tx: WriteTx, request: CreateBill, parties: _Parties, dates: _Dates, rate: Rate) -> BillRow:
    """The bill without its figures."""
    return BILLS.new(
        tx,
        request,
        supplier_id=None if parties.supplier is None else parties.supplier.id,
        business_id=parties.business.id,
        legal_entity_id=parties.business.legal_entity_id,
        bill_date=dates.bill,
        tax_point=dates.tax_point,
        due_date=dates.due,
        base_currency=parties.business.currency,
        fx_rate=rate.text,
        fx_rate_source=rate.source,
        fx_rate_date=rate.date,
    )


def _with_figures(row: BillRow, figured: Figured) -> BillRow:
    net, vat = (
        sum(amounts) for amounts in zip(*((line.net.minor, line.vat.minor) for line in figured.lines), strict=True)
    )
    zero, gross = Money(0, row.currency), Money(net + vat, row.currency)
    return replace(
        row,
        net_total=Money(net, row.currency),
        vat_total=Money(vat, row.currency),
        gross_total=gross,
        paid_total=zero,
        credited_total=zero,
        balance_due=zero if row.kind == "credit_note" else gross,
    )


def _in_place_of(before: BillRow, row: BillRow) -> BillRow:
    return replace(row, created_at=before.created_at, version=before.version)


def _warnings(row: BillRow) -> Iterator[BillWarning]:
    if row.fx_rate_source is not None:
        whose = "HMRC's of the month from" if row.fx_rate_source == "hmrc" else "recorded on"
        rate = f"1 {row.currency} is {row.fx_rate} {row.base_currency}"
        message = f"No `fxRate` was given: {rate}, {whose} {row.fx_rate_date}."
        yield BillWarning(path="fxRate", code="fx_rate_taken", message=message)
    if row.vat_total and row.bill_date > row.tax_point:
        message = (
            f"VAT is reclaimed where the bill is held, and it is dated {row.bill_date}: if you had it in no earlier VAT"
            " period than that, give that day as `taxPoint`."
        )
        yield BillWarning(path="taxPoint", code="bill_after_tax_point", message=message)
