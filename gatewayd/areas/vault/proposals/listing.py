"""Documents on whose proposals nobody has decided. Reads only."""

from collections.abc import Iterator

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.areas.vault.proposals.shapes import ProposalKind
from gatewayd.store import ReadTx

_SELECT_OPEN = f"""
{documents.SELECT_PROPOSING} AND q.document_id < :before ORDER BY q.document_id DESC LIMIT :count
"""
_SELECT_OPEN_OF_KIND = f"""
{documents.SELECT_PROPOSING} AND q.kind = :kind AND q.document_id < :before ORDER BY q.document_id DESC LIMIT :count
"""


def undecided(tx: ReadTx, kind: ProposalKind | None, before: str, count: int) -> Iterator[Document]:
    """Documents on which nobody has decided, newest first, of one kind or of all."""
    asked = {"before": before, "count": count}
    found = tx.each(_SELECT_OPEN, **asked) if kind is None else tx.each(_SELECT_OPEN_OF_KIND, kind=kind, **asked)
    for values in found:
        yield documents.read(tx, values)
