"""How much an organization keeps in its vault. Owns the table `vault_usage`.

Documents count with the bytes that they have, those in the trash too, and each for itself: that equal bytes are stored
once is the instance's gain. What is kept is changed in the transaction that changes it, so that nothing is added up.
"""

from typing import NamedTuple

from gatewayd.errors import Problem
from gatewayd.ledger.credits import plans
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
    """Raises `Problem` where one document more, of so many bytes, is over what the organization may keep.

    `payload_too_large` for the bytes, which the instance (0: it does not) and the plan may limit, the lower counting;
    `limit_reached` for the documents, which the plan may. Chosen: who got a smaller plan keeps what is there.
    """
    kept, plan = of_organization(tx), plans.limits(tx)
    quotas = [organization_bytes or None, plan.storage_bytes]
    quota = min((bytes_ for bytes_ in quotas if bytes_ is not None), default=None)
    if quota is not None and kept.bytes + size > quota:
        message = f"The organization may keep {quota} bytes of documents, its trash included."
        raise Problem("payload_too_large", message, extra={"quotaBytes": quota})
    if plan.documents is not None and kept.documents >= plan.documents:
        raise Problem("limit_reached", f"The plan has room for {plan.documents} documents, the trash included.")
