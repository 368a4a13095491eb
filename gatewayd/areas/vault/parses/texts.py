"""The text that was read in documents, page by page. Owns the table `vault_pages`."""

from collections.abc import Iterator, Sequence
from typing import Final

from gatewayd.extraction.shapes import Page
from gatewayd.store import ReadTx, WriteTx

BETWEEN_PAGES: Final = "\n\f\n"  # Chosen: form feed, as pdftotext does
_ADD = "INSERT INTO vault_pages (org_id, document_id, number, text) VALUES (:org_id, :document_id, :number, :text)"
_SELECT = """
SELECT text FROM vault_pages WHERE org_id = :org_id AND document_id = :document_id ORDER BY number
"""
_FORGET = "DELETE FROM vault_pages WHERE org_id = :org_id AND document_id = :document_id"


def replace(tx: WriteTx, document_id: str, pages: Sequence[Page]) -> None:
    """Store the text of a document, in the place of what was read before."""
    forget(tx, document_id)
    tx.run_each(_ADD, [(tx.org_id, document_id, page.number, page.text) for page in pages])
    tx.changed("vault_pages", document_id, None, document_id)


def text_of(tx: ReadTx, document_id: str) -> Iterator[str]:
    """The text of a document in parts, with what stands between pages."""
    for index, (text,) in enumerate(tx.each(_SELECT, document_id=document_id)):
        if index:
            yield BETWEEN_PAGES
        yield text


def forget(tx: WriteTx, document_id: str) -> None:
    """Delete the text of a document."""
    tx.run(_FORGET, document_id=document_id)
