"""How much an organization keeps in its vault. Owns the table `vault_usage`.

Documents count with the bytes that they have, those in the trash too, and each for itself: that equal bytes are stored
once is the instance's gain. What is kept is changed in the transaction that changes it, so that nothing is added up.
"""

from typing import NamedTuple

from gatewayd.errors import Problem
from gatewayd.store import ReadTx, WriteTx

_SELECT = "SELECT documents, bytes FROM vault_usage WHERE org_id = :org_id"
_ADD = """
INSERT INTO vault_usage (org_id, documents, bytes) VALUES (:org_id, 1, :bytes)
ON CONFLICT (org_id) DO UPDATE SET
    documents = vault_usage.documents + excluded.documents, bytes = vault_usage.bytes + excluded.bytes
"""
_TAKE = """
UPDATE vault_usage SET documents = documents - 1, bytes = bytes - CAST(:bytes AS INTEGER) WHERE org_id = :org_id
"""
_SET = """
INSERT INTO vault_usage (org_id, documents, bytes) VALUES (:org_id, :documents, :bytes)
ON CONFLICT (org_id) DO UPDATE SET documents = excluded.documents, bytes = excluded.bytes
"""
_COUNT = """
SELECT count(size_bytes), coalesce(sum(size_bytes), 0) FROM vault_documents
WHERE org_id = :org_id AND size_bytes IS NOT NULL
"""


class Usage(NamedTuple):
    """Documents that have bytes, and how many bytes those are."""

    documents: int
    bytes: int


def of_organization(tx: ReadTx) -> Usage:
    """What the organization keeps."""
    return Usage(*(tx.row(_SELECT) or (0, 0)))


def counted(tx: ReadTx) -> Usage:
    """The same, counted anew: for looking for damage."""
    return Usage(*(tx.row(_COUNT) or (0, 0)))


def count_anew(tx: WriteTx) -> None:
    """Note what is counted: where it was found to be otherwise."""
    tx.run(_SET, **counted(tx)._asdict())


def add(tx: WriteTx, size: int) -> None:
    """Note that the bytes of a document have come."""
    tx.run(_ADD, bytes=size)


def take(tx: WriteTx, size: int) -> None:
    """Note that a document went for good, with so many bytes."""
    tx.run(_TAKE, bytes=size)


def refuse_over_quota(tx: ReadTx, size: int, organization_bytes: int) -> None:
    """Raises `Problem` `payload_too_large` where so many bytes more are over the quota; 0: there is none."""
    if organization_bytes and of_organization(tx).bytes + size > organization_bytes:
        message = f"The organization may keep {organization_bytes} bytes of documents, its trash included."
        raise Problem("payload_too_large", message, extra={"quotaBytes": organization_bytes})
