"""Documents that are bills of suppliers: the bill that each proposes, and the one that is made by accepting it.

The sender is the one client in use that has the VAT number that was read, else the name; where none has, or several
do, nobody is chosen. A copy of what the organization sent itself is nobody's bill.
"""

import datetime
from typing import Final, NamedTuple

from gatewayd.areas.accounting.bills import moves, rows
from gatewayd.areas.accounting.bills.rows import BILLS
from gatewayd.areas.accounting.bills.shapes import AcceptBill, Bill, BillLineRequest, CreateBill
from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.areas.vault.parses import senders
from gatewayd.areas.vault.proposals import rows as proposals
from gatewayd.areas.vault.proposals.bank_lines import BankLines
from gatewayd.areas.vault.proposals.shapes import ProposedBill
from gatewayd.contract.caller import Caller
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.references import Reference
from gatewayd.money import CURRENCIES, Money
from gatewayd.store import ReadTx, WriteTx

_KNOWN, _UNKNOWN = 80, 55  # Chosen: with a supplier who is a client, and without
_BILLS: Final = frozenset({"invoice", "receipt"})
_CURRENCY: Final = "GBP"  # Chosen: of a total beside which none stands
_LONGEST_NUMBER: Final = 64
_SELECT_ENTERED = """
SELECT 1 FROM bills
WHERE org_id = :org_id AND supplier_id = :supplier_id AND number_folded = :number_folded AND status <> 'void'
LIMIT 1
"""


class BillMatch(NamedTuple):
    """The bill that a document proposes, how sure that is of 100, and why."""

    score: int
    reason: str
    bill: ProposedBill


def match(tx: ReadTx, document: Document, bank_lines: BankLines) -> BillMatch | None:
    """The bill that a document proposes; None: it is none, has no total, is the organization's own, or is entered."""
    facts = document.extracted
    if facts is None or facts.kind not in _BILLS or bank_lines.is_own(document):
        return None
    bill = _proposed(tx, document)
    if bill.gross is None or bill.bill_date is None or _is_entered(tx, bill):
        return None
    if bill.supplier_id is None:
        return BillMatch(_UNKNOWN, f"It is a bill of {bill.gross} {bill.currency}; its sender is no client.", bill)
    return BillMatch(_KNOWN, f"It is a bill of {bill.gross} {bill.currency}, and its sender is a client.", bill)


def accept(tx: WriteTx, caller: Caller, request: AcceptBill) -> Bill:
    """Enter the bill that a document proposes, as `accounting.createBill` would.

    What is given goes before what was read. The document is the bill's. To accept the same again changes nothing.
    """
    named = (
        Reference("supplierId", "client", request.supplier_id),
        Reference("businessId", "business", request.business_id),
    )
    document = proposals.document_named(tx, request.document_id, *named)
    state = proposals.find(tx, document.id)
    made = None if state is None or state.target_id is None else BILLS.find(tx, state.target_id)
    if made is not None:
        return rows.shown(tx, made)
    proposals.is_open(state, "accepted", None)
    entered = moves.enter(tx, _to_create(_proposed(tx, documents.shown(tx, document)), request))
    proposals.decide(tx, document.id, "accepted", entered.row.id, caller.reference)
    return rows.shown(tx, entered.row, entered.warnings)


def _proposed(tx: ReadTx, document: Document) -> ProposedBill:
    """What was read, as far as a bill may have it: a stranger's file says what it likes."""
    facts = document.extracted
    if facts is None:
        return ProposedBill(
            supplier_id=None,
            supplier_name=None,
            number=None,
            bill_date=None,
            due_date=None,
            gross=None,
            vat=None,
            currency=_CURRENCY,
        )
    currency = facts.currency or _CURRENCY
    number = None if facts.reference is None else facts.reference.strip()[:_LONGEST_NUMBER] or None
    gross, vat = _amount(facts.total, currency), _amount(facts.vat, currency)
    bill_date = document.document_date or facts.date
    return ProposedBill(
        supplier_id=senders.party_of(senders.parties(tx), facts.vat_number, facts.counterparty),
        supplier_name=facts.counterparty,
        number=number,
        bill_date=bill_date,
        due_date=facts.due_date if (facts.due_date or "") >= (bill_date or "") else None,
        gross=gross if gross is not None and gross.minor > 0 else None,
        vat=vat if gross is not None and vat is not None and 0 <= vat.minor < gross.minor else None,
        currency=currency,
    )


def _amount(text: str | None, currency: str) -> Money | None:
    try:
        return Money.of(text or "", currency) if currency in CURRENCIES else None
    except ValueError:
        return None


def _is_entered(tx: ReadTx, bill: ProposedBill) -> bool:
    values = {"supplier_id": bill.supplier_id, "number_folded": rows.folded(bill.number)}
    return tx.row(_SELECT_ENTERED, **values) is not None


def _to_create(bill: ProposedBill, request: AcceptBill) -> CreateBill:
    """Raises `Problem` `validation_failed` for what was neither given nor read."""
    date = request.bill_date or (None if bill.bill_date is None else datetime.date.fromisoformat(bill.bill_date))
    lines = request.lines or _line(bill, request)
    errors = []
    if date is None:
        errors.append(FieldError("billDate", "required", "It was not found in the document: of which day is the bill?"))
    if not lines:
        message = "It was not found in the document: what does it come to? Give `lines`."
        missing = ("category", "For what is it? Give this, or `lines`.") if request.category is None else None
        path, message = missing or ("lines", message)
        errors.append(FieldError(path, "required", message))
    if errors or date is None:
        raise invalid(*errors)
    return CreateBill(
        kind="bill" if request.claimant is None else "expense_claim",
        bill_date=date,
        lines=lines,
        supplier_id=request.supplier_id or bill.supplier_id,
        claimant=request.claimant,
        number=request.number or bill.number,
        business_id=request.business_id,
        tax_point=request.tax_point,
        due_date=request.due_date or _due(bill, date),
        currency=request.currency or bill.currency,
        amounts_are="inclusive",
        document_ids=[request.document_id],
        allow_duplicate=request.allow_duplicate,
    )


def _due(bill: ProposedBill, date: datetime.date) -> datetime.date | None:
    """The due date that was read, unless the bill is of a later day after all."""
    due = None if bill.due_date is None else datetime.date.fromisoformat(bill.due_date)
    return due if due is not None and due >= date else None


def _line(bill: ProposedBill, request: AcceptBill) -> list[BillLineRequest]:
    """One line of the total and VAT that were read; none, where the total or the category is not known."""
    if bill.gross is None or request.category is None:
        return []
    line = BillLineRequest(
        description=bill.supplier_name or "As in the document",
        amount=str(bill.gross),
        category=request.category,
        vat_code=request.vat_code,
        vat_amount=None if bill.vat is None else str(bill.vat),
    )
    return [line]
