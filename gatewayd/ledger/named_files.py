"""Which files beside the database anything names: bundles of seals, documents, what was made of them. Reads only."""

from gatewayd.ledger import period_seals
from gatewayd.store import ReadTx

_SELECT_DOCUMENT_ANY_ORG = "SELECT 1 FROM vault_documents WHERE sha256 = :sha256 LIMIT 1"
_SELECT_VARIANT_ANY_ORG = "SELECT 1 FROM vault_variants WHERE sha256 = :sha256 LIMIT 1"


def is_named(tx: ReadTx, sha256: str) -> bool:
    """Whether the file with this digest is needed, by whichever organization; one in the trash is."""
    if period_seals.is_file_of_any(tx, sha256):
        return True
    if tx.row(_SELECT_DOCUMENT_ANY_ORG, sha256=sha256) is not None:
        return True
    return tx.row(_SELECT_VARIANT_ANY_ORG, sha256=sha256) is not None
