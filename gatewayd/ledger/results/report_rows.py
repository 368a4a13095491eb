"""The rows behind the figures of accounts (Domain F.1): of each a page of allocations by date, then of invoices and
rents.

Money that paid a rent which had been due counts for nothing on accruals: its row says 0.
"""

from collections.abc import Iterator, Sequence

from gatewayd.contract.pages import cursor_key, next_cursor
from gatewayd.ledger.results import allocated_rows
from gatewayd.ledger.results.allocated_money import posting_of
from gatewayd.ledger.results.allocated_rows import AllocatedRow, Place
from gatewayd.ledger.results.invoiced_income import Entry
from gatewayd.ledger.results.profit_and_loss import Posting
from gatewayd.ledger.results.rents_accrued import RentEntry
from gatewayd.ledger.results.report_shapes import Explanation, PnlRow, ReportRequest
from gatewayd.ledger.results.results import Result
from gatewayd.money import Money
from gatewayd.store import ReadTx

Key = tuple[int, str, str]
"""Which rows, and the date and the id of one of them: 0 the allocations of the first account, 1 its invoices, 2 the
allocations of the second, and so on."""
Keyed = Iterator[tuple[Key, PnlRow]]


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
    found: list[tuple[Key, PnlRow]] = []
    for stage in range(max(after[0], 0), 2 * len(results)):
        result, wanted = results[stage // 2], request.limit + 1 - len(found)
        _, date, id_ = after if stage == after[0] else (stage, "", "")
        if wanted > 0 and stage % 2:
            later = (one for one in _invoices(request, result, stage) if one[0] > (stage, date, id_))
            found += sorted(later, key=lambda one: one[0])[:wanted]
        elif wanted > 0:
            rows = allocated_rows.page(tx, result.account, result.whole, request.category, Place(date, id_), wanted)
            found += _allocations(result, stage, rows)
    page = found[: request.limit]
    more = len(found) > request.limit
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
        payment_position=None,
        credit_note_id=None,
        description=row.description,
        matched_by=row.matched_by,
        rule_id=row.rule_id,
        reason=row.reason,
        document_ids=row.document_ids,
    )


def _invoices(request: ReportRequest, result: Result, stage: int) -> Keyed:
    for entry in result.invoiced:
        if request.category in (None, entry.posting.category):
            event = entry.credit_note_id or f"{entry.payment_position or 0:09}"
            place = f"{entry.invoice_id} {event} {entry.posting.category} {entry.property_id or ''}"
            yield (stage, entry.date, place), _invoice(entry, result.account.currency)
    for rent in result.beside.rents.entries:
        if rent.kind != "settled" and request.category in (None, rent.posting.category):
            place = f"{rent.tenancy_id} {rent.kind} {rent.allocation_id or ''}"
            yield (stage, rent.date, place), _rent(rent, result.account.currency)


def _invoice(entry: Entry, currency: str) -> PnlRow:
    paid, credited = entry.payment_position is not None, entry.credit_note_id is not None
    return PnlRow(
        category=entry.posting.category,
        date=entry.date,
        amount=Money(entry.posting.amount, currency),
        disallowable=Money(0, currency),
        source="payment" if paid else "credit_note" if credited else "invoice",
        property_id=entry.property_id,
        tenancy_id=None,
        allocation_id=None,
        bank_transaction_id=entry.bank_transaction_id,
        import_id=None,
        invoice_id=entry.invoice_id,
        payment_position=entry.payment_position,
        credit_note_id=entry.credit_note_id,
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
        payment_position=None,
        credit_note_id=None,
        description="Rent due" if is_due else "Rent written off",
        matched_by=None,
        rule_id=None,
        reason=None,
        document_ids=[],
    )
