"""What the authority granted to an organization: tokens, encrypted at rest. Owns the table `tax_connections`."""

from typing import NamedTuple

from gatewayd.clock import SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, WriteTx

_GET = """
SELECT access_sealed, refresh_sealed, scope, expires_at, generation FROM tax_connections WHERE org_id = :org_id
"""
_SAVE = """
INSERT INTO tax_connections (
    org_id, access_sealed, refresh_sealed, scope, expires_at, generation, connected_by, created_at, updated_at
) VALUES (:org_id, :access, :refresh, :scope, :expires_at, 1, :actor, :now, :now)
ON CONFLICT (org_id) DO UPDATE SET
    access_sealed = excluded.access_sealed, refresh_sealed = excluded.refresh_sealed, scope = excluded.scope,
    expires_at = excluded.expires_at, generation = tax_connections.generation + 1,
    connected_by = excluded.connected_by, updated_at = excluded.updated_at
"""
_REPLACE = """
UPDATE tax_connections SET access_sealed = :access, refresh_sealed = :refresh, scope = :scope,
    expires_at = :expires_at, generation = generation + 1, updated_at = :now
WHERE org_id = :org_id AND generation = :generation
"""
_REMOVE = "DELETE FROM tax_connections WHERE org_id = :org_id"


class Tokens(NamedTuple):
    """What a token endpoint answers. `expires_in` in seconds, None where it was not said. Never to be logged."""

    access: str
    refresh: str | None
    scope: str
    expires_in: int | None

    def __repr__(self) -> str:
        return f"Tokens(scope={self.scope!r})"


class Connection(NamedTuple):
    """An organization's tokens as they are kept. `generation` counts how often they were replaced."""

    access: str
    refresh: str | None
    scope: str
    expires_at: Instant | None
    generation: int

    def __repr__(self) -> str:
        return f"Connection(generation={self.generation})"


def find(tx: ReadTx) -> Connection | None:
    """The connection of the transaction's organization."""
    row = tx.row(_GET)
    if row is None:
        return None
    access, refresh, scope, expires_at, generation = row
    opened = None if refresh is None else tx.unseal(refresh, _context(tx.org_id, "refresh"))
    return Connection(tx.unseal(access, _context(tx.org_id, "access")), opened, scope, expires_at, generation)


def save(tx: WriteTx, tokens: Tokens, actor: str) -> None:
    """Keep what a person has just granted, in place of what was there."""
    tx.run(_SAVE, actor=actor, **_columns(tx, tokens))


def replace(tx: WriteTx, tokens: Tokens, generation: int) -> bool:
    """Keep refreshed tokens; False where what they were refreshed from is no longer there."""
    return tx.run(_REPLACE, generation=generation, **_columns(tx, tokens)) > 0


def remove(tx: WriteTx) -> None:
    """Forget the tokens. Raises `Problem` `tax_not_connected` where there are none."""
    if not tx.run(_REMOVE):
        raise Problem("tax_not_connected", "The organization is not connected.")


def _columns(tx: WriteTx, tokens: Tokens) -> dict[str, object]:
    refresh = None if tokens.refresh is None else tx.seal(tokens.refresh, _context(tx.org_id, "refresh"))
    return {
        "access": tx.seal(tokens.access, _context(tx.org_id, "access")),
        "refresh": refresh,
        "scope": tokens.scope,
        "expires_at": None if tokens.expires_in is None else tx.now + tokens.expires_in * SECOND,
    }


def _context(org_id: str, column: str) -> str:
    return f"tax_connections.{column}:{org_id}"
