"""The rows behind the figures of an account (Domain F.1): a page of allocations by date, then of invoices by date."""

from collections.abc import Iterator

from gatewayd.areas.businesses.profit_and_loss.shapes import Explanation, GetBusinessPnl, PnlRow
from gatewayd.contract.pages import cursor_key, next_cursor
from gatewayd.ledger import allocated_rows
from gatewayd.ledger.allocated_money import posting_of
from gatewayd.ledger.allocated_rows import AllocatedRow, Place
from gatewayd.ledger.invoiced_income import Entry
from gatewayd.ledger.profit_and_loss import Posting
from gatewayd.ledger.results import Result
from gatewayd.money import Money
from gatewayd.store import ReadTx

_ALLOCATIONS, _INVOICES = 0, 1
Key = tuple[int, str, str]
"""Which of the two, and the date and the id of a row in it."""


def key_of(request: GetBusinessPnl) -> Key:
    """Where the page begins. Raises `Problem` `invalid_cursor`."""
    key = cursor_key(request, int, str, str)
    if key is None:
        return _ALLOCATIONS, "", ""
    stage, date, id_ = key
    return int(stage), str(date), str(id_)


def explain(tx: ReadTx, request: GetBusinessPnl, result: Result) -> Explanation:
    """The page that a request asks for. Raises `Problem` `invalid_cursor`."""
    stage, date, id_ = key_of(request)
    found: list[tuple[Key, PnlRow]] = []
    if stage == _ALLOCATIONS:
        found += _allocations(tx, request, result, Place(date, id_))
        date, id_ = "", ""
    if len(found) <= request.limit:
        invoiced = sorted(_invoices(request, result), key=lambda one: one[0])
        found += [one for one in invoiced if one[0] > (_INVOICES, date, id_)][: request.limit + 1 - len(found)]
    page = found[: request.limit]
    more = len(found) > request.limit
    return Explanation(data=[row for _, row in page], next_cursor=next_cursor(request, page[-1][0]) if more else None)


def _allocations(tx: ReadTx, request: GetBusinessPnl, result: Result, after: Place) -> Iterator[tuple[Key, PnlRow]]:
    for row in allocated_rows.page(tx, result.account, result.whole, request.category, after, request.limit + 1):
        posting = posting_of(result.account, row.money)
        yield (_ALLOCATIONS, row.date, row.money.id), _allocation(row, posting, result.account.currency)


def _allocation(row: AllocatedRow, posting: Posting, currency: str) -> PnlRow:
    return PnlRow(
        category=posting.category,
        date=row.money.counted_on,
        amount=Money(posting.amount, currency),
        disallowable=Money(posting.disallowable, currency),
        source="allocation",
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


def _invoices(request: GetBusinessPnl, result: Result) -> Iterator[tuple[Key, PnlRow]]:
    for entry in result.invoiced:
        if request.category in (None, entry.posting.category):
            event = entry.credit_note_id or f"{entry.payment_position or 0:09}"
            place = f"{entry.invoice_id} {event} {entry.posting.category} {entry.property_id or ''}"
            yield (_INVOICES, entry.date, place), _invoice(entry, result.account.currency)


def _invoice(entry: Entry, currency: str) -> PnlRow:
    paid, credited = entry.payment_position is not None, entry.credit_note_id is not None
    return PnlRow(
        category=entry.posting.category,
        date=entry.date,
        amount=Money(entry.posting.amount, currency),
        disallowable=Money(0, currency),
        source="payment" if paid else "credit_note" if credited else "invoice",
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
