"""Invoice numbers: a sequence without gaps for each seller and kind. Owns the table `invoice_sequences`.

VAT needs a sequential number that identifies the document (VAT Regulations 1995 reg. 14(1)(a)). The number is allotted
in the transaction that issues, so that a rollback gives it back.
"""

from typing import Literal

from gatewayd.store import ReadTx, WriteTx

InvoiceKind = Literal["invoice", "credit_note"]

_PREFIXES: dict[InvoiceKind, str] = {"invoice": "INV", "credit_note": "CN"}
DIGITS = 6

_COUNT_ON = """
UPDATE invoice_sequences SET last_number = last_number + 1
WHERE org_id = :org_id AND seller_key = :seller_key AND kind = :kind
RETURNING last_number
"""
_BEGIN = """
INSERT INTO invoice_sequences (org_id, seller_key, kind, last_number) VALUES (:org_id, :seller_key, :kind, 1)
RETURNING last_number
"""
_SELECT_HOLDER = """
SELECT id FROM invoices WHERE org_id = :org_id AND seller_key = :seller_key AND number = :number
"""


def written(kind: InvoiceKind, number: int) -> str:
    """`INV-000001`; past 999999 it grows longer."""
    return f"{_PREFIXES[kind]}-{number:0{DIGITS}d}"


def holder(tx: ReadTx, seller_key: str, number: str) -> str | None:
    """The id of the seller's invoice that bears this number, if any."""
    found: str | None = tx.value(_SELECT_HOLDER, seller_key=seller_key, number=number)
    return found


def allot(tx: WriteTx, seller_key: str, kind: InvoiceKind) -> str:
    """The next number of the seller's sequence. Numbers that an imported invoice took are passed over."""
    while True:
        count = tx.value(_COUNT_ON, seller_key=seller_key, kind=kind)
        if count is None:
            count = tx.value(_BEGIN, seller_key=seller_key, kind=kind)
        number = written(kind, count)
        if holder(tx, seller_key, number) is None:
            return number
