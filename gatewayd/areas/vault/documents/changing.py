"""What every change of a document does."""

from collections.abc import Sequence

from msgspec.structs import replace

from gatewayd.areas.vault.documents import index_queue, keeping, rows, rules
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import MOST_LINKS, Document, DocumentLink, DocumentRow
from gatewayd.errors import Problem, invalid
from gatewayd.ledger import documenting
from gatewayd.store import ReadTx, WriteTx


def store(tx: WriteTx, before: DocumentRow, after: DocumentRow) -> Document:
    """Store what a document has become; what is so already costs no version."""
    if after.name != before.name and after.status == rows.UPLOADED:
        index_queue.put(tx, after.id)
    if (after.links, after.document_date) != (before.links, before.document_date):
        until = keeping.archive_until(tx, after.links, after.document_date, after.created_at)
        after = replace(after, archive_until_date=until)
    if after.links != before.links:
        documenting.settle(
            tx, after.id, bank_lines_of(before), bank_lines_of(after), counts=after.status == rows.UPLOADED
        )
    return rows.shown(tx, before if after == before else DOCUMENTS.update(tx, after))


def link(tx: WriteTx, row: DocumentRow, links: Sequence[DocumentLink]) -> Document:
    """Let a document belong to more than before. Raises `Problem` `limit_reached`."""
    after = [*row.links, *(one for one in links if one not in row.links)]
    if len(after) > MOST_LINKS:
        message = f"A document has at most {MOST_LINKS} links: take one away first."
        raise Problem("limit_reached", message, extra={"limit": MOST_LINKS})
    return store(tx, row, replace(row, links=after))


def bank_lines_of(row: DocumentRow) -> list[str]:
    """The bank lines that a document belongs to."""
    return [link.id for link in row.links if link.type == "bank_transaction"]


def refuse_unknown_folder(tx: ReadTx, folder_id: str | None) -> None:
    """Raises `Problem` `validation_failed` for a folder that there is not."""
    if errors := [*rules.reference_mistakes(tx, folder_id, ())]:
        raise invalid(*errors)
