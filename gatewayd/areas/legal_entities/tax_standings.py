"""What the tax authority grants to an organization, as its entities show it. Owns the table `tax_standings`.

There is one grant for an organization (domain model B1: `taxConnection`), so all its entities show the same.
"""

from typing import NamedTuple

from gatewayd.clock import Instant
from gatewayd.store import ReadTx, WriteTx

_GET = "SELECT vat, itsa, expires_at FROM tax_standings WHERE org_id = :org_id"
_SAVE = """
INSERT INTO tax_standings (org_id, vat, itsa, expires_at) VALUES (:org_id, :vat, :itsa, :expires_at)
ON CONFLICT (org_id) DO UPDATE SET vat = excluded.vat, itsa = excluded.itsa, expires_at = excluded.expires_at
"""
_REMOVE = "DELETE FROM tax_standings WHERE org_id = :org_id"


class TaxStanding(NamedTuple):
    """Which services are granted, and until when the grant lasts; it is the authority that ends it."""

    vat: bool
    itsa: bool
    expires_at: Instant


def find(tx: ReadTx) -> TaxStanding | None:
    """The standing of the transaction's organization; None: it is not connected."""
    row = tx.row(_GET)
    return None if row is None else TaxStanding(bool(row[0]), bool(row[1]), Instant(row[2]))


def store(tx: WriteTx, standing: TaxStanding | None) -> None:
    """Store another one; None: the organization is not connected any more."""
    if standing is None:
        tx.run(_REMOVE)
    else:
        tx.run(_SAVE, vat=int(standing.vat), itsa=int(standing.itsa), expires_at=standing.expires_at)
