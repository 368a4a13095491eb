"""What accounts say beside their figures (Domain F.1): the rows behind them, what `warnings` tell, how it is served.

A page of rows holds allocations by date, then invoices, bills and rents. On accruals, money that paid a rent which had
been due counts for nothing: its row says 0.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Literal

from gatewayd.contract.pages import cursor_key, next_cursor
from gatewayd.ledger.results import allocated_money, invoiced_income, rents_accrued
from gatewayd.ledger.results.allocated_money import AllocatedRow, Basis, Evidence, Place, posting_of
from gatewayd.ledger.results.billed_costs import BillEntry
from gatewayd.ledger.results.invoiced_income import Entry
from gatewayd.ledger.results.profit_and_loss import Line, Posting
from gatewayd.ledger.results.rents_accrued import RentEntry
from gatewayd.ledger.results.report_shapes import (
    ExpenseLine,
    Explanation,
    PnlEvidence,
    PnlLine,
    PnlRow,
    PnlWarning,
    RentDebtors,
    ReportRequest,
)
from gatewayd.ledger.results.results import Result
from gatewayd.money import Money, canonical
from gatewayd.store import ReadTx

Key = tuple[int, str, str]
"""Which rows, and the date and the id of one of them: 0 the allocations of the first account, 1 its invoices,
bills and rents, 2 the allocations of the second, and so on."""
Keyed = Iterator[tuple[Key, PnlRow]]
_MOST_COUNTED = 1000  # Chosen: that there are many is enough


def key_of(request: ReportRequest) -> Key:
    """Where the page begins. Raises `Problem` `invalid_cursor`."""
    key = cursor_key(request, int, str, str)
    if key is None:
        return 0, "", ""
    stage, date, id_ = key
    return int(stage), str(date), str(id_)


def explain(tx: ReadTx, request: ReportRequest, *results: Result) -> Explanation:
    """The page that a request asks for, of one account after the other. Raises `Problem` `invalid_cursor`."""
    after = key_of(request)
    keyed: list[tuple[Key, PnlRow]] = []
    for stage in range(max(after[0], 0), 2 * len(results)):
        result, wanted = results[stage // 2], request.limit + 1 - len(keyed)
        _, date, id_ = after if stage == after[0] else (stage, "", "")
        if wanted > 0 and stage % 2:
            later = (entry for entry in _invoices(request, result, stage) if entry[0] > (stage, date, id_))
            keyed += sorted(later, key=lambda entry: entry[0])[:wanted]
        elif wanted > 0:
            rows = allocated_money.page(
                tx, result.account, result.date_range, request.category, Place(date, id_), wanted
            )
            keyed += _allocations(result, stage, rows)
    page = keyed[: request.limit]
    more = len(keyed) > request.limit
    return Explanation(data=[row for _, row in page], next_cursor=next_cursor(request, page[-1][0]) if more else None)


def _allocations(result: Result, stage: int, rows: Sequence[AllocatedRow]) -> Keyed:
    settled = result.beside.rents.settled
    for row in rows:
        posting = posting_of(result.account, row.money)
        if row.money.id in settled:
            posting = posting._replace(amount=0, disallowable=0)
        yield (stage, row.date, row.money.id), _allocation(row, posting, result.account.currency)


def _allocation(row: AllocatedRow, posting: Posting, currency: str) -> PnlRow:
    return PnlRow(
        category=posting.category,
        date=row.money.counted_on,
        amount=Money(posting.amount, currency),
        disallowable=Money(posting.disallowable, currency),
        source="allocation",
        property_id=row.property_id,
        tenancy_id=None,
        allocation_id=row.money.id,
        bank_transaction_id=row.source_id,
        import_id=row.import_id,
        invoice_id=None,
        bill_id=None,
        payment_position=None,
        credit_note_id=None,
        bill_credit_note_id=None,
        description=row.description,
        matched_by=row.matched_by,
        rule_id=row.rule_id,
        reason=row.reason,
        document_ids=row.document_ids,
    )


def _invoices(request: ReportRequest, result: Result, stage: int) -> Keyed:
    for entry in result.invoiced:
        if request.category in (None, entry.posting.category):
            event = "write_off" if entry.is_write_off else entry.credit_note_id or f"{entry.payment_position or 0:09}"
            place = f"{entry.invoice_id} {event} {entry.posting.category} {entry.property_id or ''}"
            yield (stage, entry.date, place), _invoice(entry, result.account.currency)
    for bill in result.beside.billed:
        if request.category in (None, bill.posting.category):
            event = bill.credit_note_id or f"{bill.payment_position or 0:09}"
            place = f"{bill.bill_id} {event} {bill.posting.category} {bill.property_id or ''}"
            yield (stage, bill.date, place), _bill(bill, result.account.currency)
    for rent in result.beside.rents.entries:
        if rent.kind != "settled" and request.category in (None, rent.posting.category):
            place = f"{rent.tenancy_id} {rent.kind} {rent.allocation_id or ''}"
            yield (stage, rent.date, place), _rent(rent, result.account.currency)


def _invoice(entry: Entry, currency: str) -> PnlRow:
    paid, credited = entry.payment_position is not None, entry.credit_note_id is not None
    whole: Literal["invoice", "write_off"] = "write_off" if entry.is_write_off else "invoice"
    return PnlRow(
        category=entry.posting.category,
        date=entry.date,
        amount=Money(entry.posting.amount, currency),
        disallowable=Money(0, currency),
        source="payment" if paid else "credit_note" if credited else whole,
        property_id=entry.property_id,
        tenancy_id=None,
        allocation_id=None,
        bank_transaction_id=entry.bank_transaction_id,
        import_id=None,
        invoice_id=entry.invoice_id,
        bill_id=None,
        payment_position=entry.payment_position,
        credit_note_id=entry.credit_note_id,
        bill_credit_note_id=None,
        description=None,
        matched_by=None,
        rule_id=None,
        reason=None,
        document_ids=[],
    )


def _bill(entry: BillEntry, currency: str) -> PnlRow:
    paid, credited = entry.payment_position is not None, entry.credit_note_id is not None
    return PnlRow(
        category=entry.posting.category,
        date=entry.date,
        amount=Money(entry.posting.amount, currency),
        disallowable=Money(entry.posting.disallowable, currency),
        source="bill_payment" if paid else "bill_credit_note" if credited else "bill",
        property_id=entry.property_id,
        tenancy_id=None,
        allocation_id=None,
        bank_transaction_id=entry.bank_transaction_id,
        import_id=None,
        invoice_id=None,
        bill_id=entry.bill_id,
        payment_position=entry.payment_position,
        credit_note_id=None,
        bill_credit_note_id=entry.credit_note_id,
        description=None,
        matched_by=None,
        rule_id=None,
        reason=None,
        document_ids=[],
    )


def _rent(entry: RentEntry, currency: str) -> PnlRow:
    is_due = entry.kind == "due"
    return PnlRow(
        category=entry.posting.category,
        date=entry.date,
        amount=Money(entry.posting.amount, currency),
        disallowable=Money(0, currency),
        source="rent" if is_due else "rent_written_off",
        property_id=entry.property_id,
        tenancy_id=entry.tenancy_id,
        allocation_id=entry.allocation_id,
        bank_transaction_id=None,
        import_id=None,
        invoice_id=None,
        bill_id=None,
        payment_position=None,
        credit_note_id=None,
        bill_credit_note_id=None,
        description="Rent due" if is_due else "Rent written off",
        matched_by=None,
        rule_id=None,
        reason=None,
        document_ids=[],
    )


def of_choices(result: Result, own_basis: Basis, forbidding_year: str | None = None) -> Iterator[PnlWarning]:
    """The warnings about basis, expenses and VAT. `own_basis` is the one on which the business keeps its books.

    `forbidding_year` is the tax year whose turnover forbids consolidated expenses.
    """
    if result.account.basis != own_basis:
        yield PnlWarning(
            code="other_basis",
            message=f"The business keeps its books on {own_basis} basis. What was owed at the start and at the end of"
            " these days is not adjusted for.",
        )
    if forbidding_year is not None:
        yield PnlWarning(
            code="consolidated_expenses_not_allowed",
            message=f"The turnover of {forbidding_year} is too large for one figure for all expenses.",
        )
    yield from _of_rents(result)
    vat = result.account.vat
    for span, _ in result.spans:
        if vat.treatment_on(span.first) == "flat_rate" and vat.percent_on(span.first) is None:
            yield PnlWarning(
                code="flat_rate_percent_unknown",
                message=f"No flat rate of VAT is known from {span.first} on: nothing was taken off for it.",
            )
            return


def _of_rents(result: Result) -> Iterator[PnlWarning]:
    rents = result.beside.rents
    if rents.by_money:
        yield PnlWarning(
            code="rents_by_money",
            message=f"{rents.by_money} tenancies are in another currency, or of a property whose rent is invoiced: they"
            " count by what was received and invoiced, and not by what fell due.",
        )
    if rents.net_of_vat:
        yield PnlWarning(
            code="rents_net_by_payments",
            message="Rents that fell due are net of VAT by the part that the money of each tenancy has of it.",
        )


def of_invoices(tx: ReadTx, result: Result) -> Iterator[PnlWarning]:
    """The warnings about invoices that name no business."""
    here, nowhere = invoiced_income.without_business(tx, result.account, result.date_range, _MOST_COUNTED)
    at_most = here + nowhere == _MOST_COUNTED
    if nowhere:
        yield PnlWarning(
            code="invoices_without_business",
            message=f"{_without_business(nowhere, at_most)}: they count nowhere.",
        )
    if here:
        yield PnlWarning(
            code="invoices_of_only_business",
            message=f"{_without_business(here, at_most)}: they count here, in the only business of their day.",
        )


def _without_business(count: int, at_most: bool) -> str:
    number = f"{count} or more" if at_most else str(count)
    return f"Of the invoices that the legal entity issued in these days, {number} name no business"


def lines(statement_lines: Sequence[Line], currency: str) -> list[PnlLine]:
    """Income, or memoranda."""
    return [PnlLine(category=line.category, amount=Money(line.amount, currency)) for line in statement_lines]


def expenses(statement_lines: Sequence[Line], currency: str) -> list[ExpenseLine]:
    """Expenses, with what tax does not allow of them."""
    return [
        ExpenseLine(
            category=line.category,
            amount=Money(line.amount, currency),
            disallowable=Money(line.disallowable, currency),
        )
        for line in statement_lines
    ]


def evidence(figures: Evidence, currency: str) -> PnlEvidence:
    """How far expenses are documented. The share is cut to one place: only all of them are 100."""
    percent = None
    if figures.expenses > 0:
        percent = canonical(str(Decimal(figures.documented * 1000 // figures.expenses).scaleb(-1)))
    return PnlEvidence(
        expenses=Money(figures.expenses, currency),
        documented=Money(figures.documented, currency),
        percent=percent,
        missing=figures.missing,
    )


def rent_debtors(figures: rents_accrued.RentDebtors, currency: str) -> RentDebtors:
    """What tenants owed, and what became of it."""
    return RentDebtors(**{name: Money(amount, currency) for name, amount in figures._asdict().items()})
