"""Which documents belong to which bank line. Owns the table `line_documents`.

A document's own row says it too, and is what people change; this is the other way round, and changed with it.
"""

from gatewayd.store import ReadTx, WriteTx

_SELECT_OF_LINE = """
SELECT l.document_id FROM line_documents l
JOIN vault_documents d ON d.org_id = l.org_id AND d.id = l.document_id
WHERE l.org_id = :org_id AND l.bank_transaction_id = :line_id AND d.org_id = :org_id AND d.status = 'uploaded'
ORDER BY l.document_id
"""
UNDOCUMENTED = """
NOT EXISTS (
    SELECT 1 FROM line_documents AS l JOIN vault_documents AS d ON d.org_id = l.org_id AND d.id = l.document_id
    WHERE l.org_id = :org_id AND l.bank_transaction_id = lines.id AND d.org_id = :org_id AND d.status = 'uploaded'
) AND NOT EXISTS (
    SELECT 1 FROM allocations AS parts
    WHERE parts.org_id = :org_id AND parts.source_id = lines.id AND parts.document_ids <> '[]'
)
""".strip()
"""The condition that a bank line, by the name `lines`, has no document."""
_PUT = """
INSERT INTO line_documents (org_id, bank_transaction_id, document_id) VALUES (:org_id, :line_id, :document_id)
ON CONFLICT (org_id, bank_transaction_id, document_id) DO NOTHING
"""
_TAKE = """
DELETE FROM line_documents WHERE org_id = :org_id AND bank_transaction_id = :line_id AND document_id = :document_id
"""
_FORGET = "DELETE FROM line_documents WHERE org_id = :org_id AND document_id = :document_id"


def of_line(tx: ReadTx, line_id: str) -> list[str]:
    """The documents of a bank line whose bytes are there and not in the trash, oldest first."""
    return [row[0] for row in tx.rows(_SELECT_OF_LINE, line_id=line_id)]


def put(tx: WriteTx, line_id: str, document_id: str) -> None:
    """Note that a document belongs to a bank line."""
    tx.run(_PUT, line_id=line_id, document_id=document_id)


def take(tx: WriteTx, line_id: str, document_id: str) -> None:
    """Note that a document does not belong to a bank line any more."""
    tx.run(_TAKE, line_id=line_id, document_id=document_id)


def forget(tx: WriteTx, document_id: str) -> None:
    """Delete what is known of a document that goes for good."""
    tx.run(_FORGET, document_id=document_id)
