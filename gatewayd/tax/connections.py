"""What the authority granted to an organization: tokens, encrypted at rest. Owns the table `tax_connections`.

A person grants it for eighteen months; refreshing its tokens does not put that off. The organization's legal entities
say what is granted, and the audit log who connected and disconnected it.
"""

import datetime
from typing import Final, NamedTuple

from gatewayd.areas.legal_entities import tax_standings
from gatewayd.areas.legal_entities.rows import change_tax_standing
from gatewayd.areas.legal_entities.tax_standings import TaxStanding
from gatewayd.clock import DAY, SECOND, Instant, months_later, to_wire
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.store import ReadTx, WriteTx

GRANT_MONTHS: Final = 18  # Domain model §B1: HMRC, Authorisation
EXPIRY_MAX: Final = 3_650 * DAY  # Chosen: whatever an answer says, it can be stored

_GET = """
SELECT access_sealed, refresh_sealed, scope, expires_at, generation FROM tax_connections WHERE org_id = :org_id
"""
_SAVE = """
INSERT INTO tax_connections (
    org_id, access_sealed, refresh_sealed, scope, expires_at, generation, connected_by, created_at, updated_at
) VALUES (:org_id, :access, :refresh, :scope, :expires_at, :now, :actor, :now, :now)
ON CONFLICT (org_id) DO UPDATE SET
    access_sealed = excluded.access_sealed, refresh_sealed = excluded.refresh_sealed, scope = excluded.scope,
    expires_at = excluded.expires_at, generation = tax_connections.generation + 1,
    connected_by = excluded.connected_by, created_at = excluded.created_at, updated_at = excluded.updated_at
"""
# RFC 6749 §5.1: a scope that is not answered is the one there was.
_REPLACE = """
UPDATE tax_connections SET access_sealed = :access, refresh_sealed = :refresh,
    scope = CASE WHEN CAST(:scope AS TEXT) = '' THEN scope ELSE :scope END, expires_at = :expires_at,
    generation = generation + 1, updated_at = :now
WHERE org_id = :org_id AND generation = :generation
"""
_STANDING = "SELECT connected_by, created_at FROM tax_connections WHERE org_id = :org_id"
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
    """An organization's tokens as they are kept. `generation` is another for whatever replaces them."""

    access: str
    refresh: str | None
    scope: str
    expires_at: Instant | None
    generation: int

    def __repr__(self) -> str:
        return f"Connection(generation={self.generation})"


class Standing(NamedTuple):
    """A connection as people see it. `by` is a user's id, or `operator`; `granted` ends with `granted.expires_at`."""

    by: str
    since: Instant
    granted: TaxStanding


def standing(tx: ReadTx) -> Standing | None:
    """Who connected the transaction's organization, when, and until when; None: it is not connected."""
    row, granted = tx.row(_STANDING), tax_standings.find(tx)
    return None if row is None or granted is None else Standing(row[0], row[1], granted)


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
    change_tax_standing(tx, _granted(tx, tokens))
    _record(tx, "tax.connected", actor, {"scope": tokens.scope})


def replace(tx: WriteTx, tokens: Tokens, generation: int) -> bool:
    """Keep refreshed tokens; False where what they were refreshed from is no longer there."""
    return tx.run(_REPLACE, generation=generation, **_columns(tx, tokens)) > 0


def remove(tx: WriteTx, actor: str) -> None:
    """Forget the tokens. Raises `Problem` `tax_not_connected` where there are none."""
    if not tx.run(_REMOVE):
        raise Problem("tax_not_connected", "The organization is not connected.")
    change_tax_standing(tx, None)
    _record(tx, "tax.disconnected", actor, {})


def _granted(tx: WriteTx, tokens: Tokens) -> TaxStanding:
    """What the tokens stand for. Chosen: where nobody said which scope, it may be both."""
    scopes = set(tokens.scope.split())
    return TaxStanding(
        vat=not scopes or bool(scopes & {"read:vat", "write:vat"}),
        itsa=not scopes or bool(scopes & {"read:self-assessment", "write:self-assessment"}),
        expires_at=_grant_end(tx.now, tokens),
    )


def _grant_end(now: Instant, tokens: Tokens) -> Instant:
    """Eighteen months on at most; an access token that nothing renews ends the grant with it."""
    day = datetime.date.fromisoformat(to_wire(now)[:10])
    end = Instant(now + (months_later(day, GRANT_MONTHS) - day).days * DAY)
    expiry = _expiry(now, tokens)
    return end if tokens.refresh is not None or expiry is None else min(end, expiry)


def _expiry(now: Instant, tokens: Tokens) -> Instant | None:
    if tokens.expires_in is None:
        return None
    return Instant(now + min(max(tokens.expires_in, 0) * SECOND, EXPIRY_MAX))


def _record(tx: WriteTx, action: audit.Action, actor: str, detail: audit.Detail) -> None:
    audit.record(tx, audit.Act(actor=actor, action=action, subject=tx.org_id, org_id=tx.org_id, detail=detail))


def _columns(tx: WriteTx, tokens: Tokens) -> dict[str, object]:
    refresh = None if tokens.refresh is None else tx.seal(tokens.refresh, _context(tx.org_id, "refresh"))
    return {
        "access": tx.seal(tokens.access, _context(tx.org_id, "access")),
        "refresh": refresh,
        "scope": tokens.scope,
        "expires_at": _expiry(tx.now, tokens),
    }


def _context(org_id: str, column: str) -> str:
    return f"tax_connections.{column}:{org_id}"
