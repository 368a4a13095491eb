"""What the tax authority grants, as legal entities show it (domain model B1: `taxConnection`). Owns `tax_standings`.

A grant is one entity's own, or the organization's: that is what entities show which have none of their own.
"""

from typing import NamedTuple

from gatewayd.clock import Instant
from gatewayd.store import ReadTx, Row, WriteTx

_GET = """
SELECT vat, itsa, expires_at FROM tax_standings WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of
"""
_GET_SHOWN = """
SELECT vat, itsa, expires_at FROM tax_standings WHERE org_id = :org_id AND coalesce(legal_entity_id, '') IN (:of, '')
ORDER BY legal_entity_id IS NULL LIMIT 1
"""
_UPDATE = """
UPDATE tax_standings SET vat = :vat, itsa = :itsa, expires_at = :expires_at
WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of
"""
_INSERT = """
INSERT INTO tax_standings (org_id, legal_entity_id, vat, itsa, expires_at)
VALUES (:org_id, :legal_entity_id, :vat, :itsa, :expires_at)
"""
_REMOVE = "DELETE FROM tax_standings WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of"


class TaxStanding(NamedTuple):
    """Which services are granted, and until when the grant lasts; it is the authority that ends it."""

    vat: bool
    itsa: bool
    expires_at: Instant


def find(tx: ReadTx, legal_entity_id: str | None = None) -> TaxStanding | None:
    """The standing of an entity's own grant, or with None of the organization's; None: it is not connected."""
    return _standing(tx.row(_GET, of=legal_entity_id or ""))


def shown(tx: ReadTx, legal_entity_id: str) -> TaxStanding | None:
    """What an entity shows: the standing of its own grant, else that of the organization's."""
    return _standing(tx.row(_GET_SHOWN, of=legal_entity_id))


def store(tx: WriteTx, standing: TaxStanding | None, legal_entity_id: str | None = None) -> None:
    """Store another one; None: it is not connected any more."""
    of = legal_entity_id or ""
    if standing is None:
        tx.run(_REMOVE, of=of)
        return
    values = {"vat": int(standing.vat), "itsa": int(standing.itsa), "expires_at": standing.expires_at}
    if not tx.run(_UPDATE, of=of, **values):
        tx.run(_INSERT, legal_entity_id=legal_entity_id, **values)


def _standing(row: Row | None) -> TaxStanding | None:
    return None if row is None else TaxStanding(bool(row[0]), bool(row[1]), Instant(row[2]))
