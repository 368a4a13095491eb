"""The tables of a bundle that are computed: profit and loss with the rows behind it, and a VAT return. Reads only.

What has foreign money without a rate of exchange cannot be added up: it is left out, and told.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gatewayd.errors import Problem
from gatewayd.ledger.calendar.periods import PeriodRow
from gatewayd.ledger.csv_text import Cell
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import allocated_money, profit_and_loss, results, vat_figures
from gatewayd.ledger.results.allocated_money import Account, Place, posting_of
from gatewayd.ledger.results.results import Result
from gatewayd.ledger.vat import vat_return, vat_standing
from gatewayd.money import from_minor
from gatewayd.store import ReadTx

_SELECT_BUSINESSES = """
SELECT id, type, currency, accounting_basis, uses_consolidated_expenses FROM businesses
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id
    AND (CAST(:business_id AS TEXT) IS NULL OR id = :business_id)
ORDER BY id
"""
_PAGE: Final = 1_000  # rows asked for at a time
PROFIT: Final = "profit_and_loss.csv"
PROFIT_HEADING: Final = ["id", "businessId", "basis", "section", "category", "currency", "amount", "disallowable"]
ROWS: Final = "profit_and_loss_rows.csv"
ROWS_HEADING: Final = [
    *("id", "businessId", "category", "date", "currency", "amount", "disallowable", "source", "allocationId"),
    *("bankTransactionId", "invoiceId", "paymentPosition", "creditNoteId", "billId", "billCreditNoteId"),
]
VAT: Final = "vat_return.csv"
VAT_HEADING: Final = ["id", "currency", "amount"]

_NONE: Final = (None,) * 5  # of what is of no invoice and no bill
Cells = Iterator[list[Cell]]


class Computed(NamedTuple):
    """The results of the businesses of a period, on their own basis; `consolidated`: shown with one expense."""

    results: list[tuple[Result, bool]]
    notes: list[str]


def compute(tx: ReadTx, period: PeriodRow) -> Computed:
    """What each business made in the days of a period."""
    days = DateRange(period.start_date, period.end_date)
    whose = {"legal_entity_id": period.legal_entity_id, "business_id": period.business_id}
    computed = Computed([], [])
    for id_, type_, currency, basis, uses_consolidated in tx.rows(_SELECT_BUSINESSES, **whose):
        account = Account(id_, type_, currency, basis, vat_standing.of_entity(tx, period.legal_entity_id))
        try:
            result = results.compute(tx, account, days)
        except Problem as problem:
            computed.notes.append(_note(problem, f"profit and loss of {id_}"))
            continue
        consolidated = bool(uses_consolidated) and results.above_consolidated_limit(result) is None
        computed.results.append((result, consolidated))
    return computed


def profit(computed: Computed) -> Cells:
    """The lines and totals of each account."""
    for result, consolidated in computed.results:
        account, statement = result.account, result.statement()
        if consolidated:
            statement = profit_and_loss.consolidated(statement)
        head = (account.business_id, account.basis)
        for section, lines in (
            ("income", statement.income),
            ("expense", statement.expenses),
            ("memorandum", statement.memoranda),
        ):
            for line in lines:
                amounts = (_amount_text(line.amount, account), _amount_text(line.disallowable, account))
                yield [f"{head[0]}/{line.category}", *head, section, line.category, account.currency, *amounts]
        for name, amount in statement.totals._asdict().items():
            yield [f"{head[0]}/{name}", *head, "total", name, account.currency, _amount_text(amount, account), None]


def rows(tx: ReadTx, computed: Computed) -> Cells:
    """What each allocation, invoice, bill and payment counts for: it adds up to the lines."""
    for result, _ in computed.results:
        yield from _allocated(tx, result)
        beside = (*_invoiced(result), *_billed(result), *_rents(result))
        yield from sorted(beside, key=lambda cells: (cells[3], cells[0]))


def vat(tx: ReadTx, period: PeriodRow, notes: list[str]) -> Cells:
    """The boxes of a VAT period, by the names of the tax authority; of another nothing."""
    if period.type != "vat_period":
        return
    days = DateRange(period.start_date, period.end_date)
    try:
        boxes = vat_return.boxes(vat_figures.of_period(tx, period.legal_entity_id, days))
    except Problem as problem:
        notes.append(_note(problem, "the VAT return"))
        return
    currency = vat_standing.of_entity(tx, period.legal_entity_id).seller.base_currency
    for name, amount in boxes._asdict().items():
        yield [name, currency, from_minor(amount, currency)]


def _allocated(tx: ReadTx, result: Result) -> Cells:
    account, after, settled = result.account, Place(), result.beside.rents.settled
    while True:
        page = allocated_money.page(tx, account, result.date_range, None, after, _PAGE)
        for row in page:
            posting = posting_of(account, row.money)
            if row.money.id in settled:
                posting = posting._replace(amount=0, disallowable=0)
            amounts = (_amount_text(posting.amount, account), _amount_text(posting.disallowable, account))
            of = (account.business_id, posting.category, row.money.counted_on, account.currency)
            yield [row.money.id, *of, *amounts, "allocation", row.money.id, row.source_id, *_NONE]
        if len(page) < _PAGE:
            return
        after = Place(page[-1].date, page[-1].money.id)


def _invoiced(result: Result) -> Cells:
    account = result.account
    for entry in result.invoiced:
        posting, payment, note = entry.posting, entry.payment_position, entry.credit_note_id
        source = "payment" if payment is not None else "credit_note" if note is not None else "invoice"
        event = note or ("" if payment is None else str(payment))
        of = (
            account.business_id,
            posting.category,
            entry.date,
            account.currency,
            _amount_text(posting.amount, account),
        )
        id_ = "/".join((entry.invoice_id, event, posting.category, *filter(None, [entry.property_id])))
        behind = (None, entry.bank_transaction_id, entry.invoice_id, payment, note, None, None)
        yield [id_, *of, _amount_text(0, account), source, *behind]


def _billed(result: Result) -> Cells:
    account = result.account
    for entry in result.beside.billed:
        posting, payment, note = entry.posting, entry.payment_position, entry.credit_note_id
        source = "bill_payment" if payment is not None else "bill_credit_note" if note is not None else "bill"
        event = note or ("" if payment is None else str(payment))
        of = (account.business_id, posting.category, entry.date, account.currency)
        amounts = (_amount_text(posting.amount, account), _amount_text(posting.disallowable, account))
        id_ = "/".join((entry.bill_id, event, posting.category, *filter(None, [entry.property_id])))
        yield [id_, *of, *amounts, source, None, entry.bank_transaction_id, None, payment, None, entry.bill_id, note]


def _rents(result: Result) -> Cells:
    account = result.account
    for rent in result.beside.rents.entries:
        if rent.kind != "settled":
            posting, source = rent.posting, "rent" if rent.kind == "due" else "rent_written_off"
            of = (
                account.business_id,
                posting.category,
                rent.date,
                account.currency,
                _amount_text(posting.amount, account),
            )
            id_ = "/".join(filter(None, [rent.tenancy_id, rent.date, rent.allocation_id]))
            yield [id_, *of, _amount_text(0, account), source, rent.allocation_id, None, *_NONE]


def _amount_text(amount: int, account: Account) -> str:
    return from_minor(amount, account.currency)


def _note(problem: Problem, what: str) -> str:
    """Raises the problem again where it is another than a missing rate."""
    if problem.code != "currency_mismatch":
        raise problem
    return f"{what} is left out: {problem.message}"
