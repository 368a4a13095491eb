"""Which files beside the database anything names: bundles of seals, documents, what was made of them. Reads only."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from gatewayd.ledger.calendar import period_seals
from gatewayd.store import ReadTx, Row
from gatewayd.store.backups.named_blobs import PAGE, NamedFile, Naming, paged

_SELECT_DOCUMENT_ANY_ORG = "SELECT 1 FROM vault_documents WHERE sha256 = :sha256 LIMIT 1"
_SELECT_VARIANT_ANY_ORG = "SELECT 1 FROM vault_variants WHERE sha256 = :sha256 LIMIT 1"
_DOCUMENTS_ANY_ORG = """
SELECT sha256, max(size_bytes), max(id) FROM vault_documents WHERE sha256 > :after
GROUP BY sha256 ORDER BY sha256 LIMIT :count
"""
_VARIANTS_ANY_ORG = """
SELECT sha256, max(size_bytes), max(document_id) FROM vault_variants WHERE sha256 > :after
GROUP BY sha256 ORDER BY sha256 LIMIT :count
"""
_SEALS_ANY_ORG = """
SELECT sha256, max(size_bytes), max(id) FROM period_seals WHERE sha256 > :after
GROUP BY sha256 ORDER BY sha256 LIMIT :count
"""
_OF_DOCUMENTS = """
SELECT DISTINCT sha256 FROM vault_documents WHERE org_id = :org_id AND sha256 > :after ORDER BY sha256 LIMIT :count
"""
_OF_VARIANTS = """
SELECT DISTINCT sha256 FROM vault_variants WHERE org_id = :org_id AND sha256 > :after ORDER BY sha256 LIMIT :count
"""
_OF_SEALS = """
SELECT DISTINCT sha256 FROM period_seals WHERE org_id = :org_id AND sha256 > :after ORDER BY sha256 LIMIT :count
"""
NAMING: Final[Naming] = {
    "vault_documents": _DOCUMENTS_ANY_ORG,
    "vault_variants": _VARIANTS_ANY_ORG,
    "period_seals": _SEALS_ANY_ORG,
}
"""For backups, which are made and looked at without a store."""


def is_named(tx: ReadTx, sha256: str) -> bool:
    """Whether the file with this digest is needed, by whichever organization; one in the trash is."""
    if period_seals.is_file_of_any(tx, sha256):
        return True
    selects = (_SELECT_DOCUMENT_ANY_ORG, _SELECT_VARIANT_ANY_ORG)
    return any(tx.row(select, sha256=sha256) is not None for select in selects)


def every(tx: ReadTx) -> Iterator[NamedFile]:
    """Every file that is named, of all organizations, and perhaps by several."""
    for select in NAMING.values():
        yield from paged(partial(_page, tx, select))


def _page(tx: ReadTx, select: str, after: str) -> list[Row]:
    return tx.rows(select, after=after, count=PAGE)


def of_organization(tx: ReadTx) -> Iterator[str]:
    """The digest of every file that the transaction's organization names, perhaps several times."""
    for select in (_OF_DOCUMENTS, _OF_VARIANTS, _OF_SEALS):
        after = ""
        while rows := tx.rows(select, after=after, count=PAGE):
            yield from (sha256 for (sha256,) in rows)
            after = rows[-1][0]
