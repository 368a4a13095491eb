"""A document that belongs to a bank line belongs to all that is allocated of it, and counts as evidence for it.

What lies in a period that is closed, or is being closed, stays as it was sealed.
"""

from collections.abc import Collection

from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocations import MOST_DOCUMENTS
from gatewayd.store import WriteTx


def settle(tx: WriteTx, document_id: str, before: Collection[str], after: Collection[str], *, counts: bool) -> None:
    """Note which bank lines a document belonged to, and belongs to now.

    `counts`: its bytes are there; without them it belongs to the lines, and proves nothing so far.
    """
    for line_id in before:
        if line_id not in after:
            bank_lines.take_document(tx, line_id, document_id)
            _strike(tx, line_id, document_id)
    for line_id in after:
        if line_id not in before:
            bank_lines.put_document(tx, line_id, document_id)
            if counts:
                count(tx, line_id, document_id)


def count(tx: WriteTx, line_id: str, document_id: str) -> None:
    """Add a document to what is allocated of a bank line, as long as an allocation has room for one."""
    for row in allocations.of_line(tx, line_id):
        if document_id not in row.document_ids and len(row.document_ids) < MOST_DOCUMENTS:
            allocations.keep_documents(tx, row, [*row.document_ids, document_id])


def _strike(tx: WriteTx, line_id: str, document_id: str) -> None:
    for row in allocations.of_line(tx, line_id):
        if document_id in row.document_ids:
            allocations.keep_documents(tx, row, [each for each in row.document_ids if each != document_id])
