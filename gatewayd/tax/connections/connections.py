"""What the tax authority granted: tokens, encrypted at rest. Owns the table `tax_connections`.

A person grants it for eighteen months; refreshing its tokens does not put that off. A grant is one legal entity's, as
of an owner who signs in for a company and for themselves, or the organization's, as of an agent who signs in for all.
Connecting replaces the grant of the same entity and no other. Entities say what is granted them, and the audit log who
connected and disconnected it.
"""

import datetime
from typing import Final, NamedTuple

from gatewayd.areas.legal_entities import rows
from gatewayd.areas.legal_entities.rows import TaxStanding, change_tax_standing
from gatewayd.clock import DAY, SECOND, Instant, months_later, to_wire
from gatewayd.errors import Problem, invalid_field, invalid_state
from gatewayd.identity import audit
from gatewayd.store import ReadTx, Row, WriteTx

GRANT_MONTHS: Final = 18  # Domain model §B1: HMRC, Authorisation
EXPIRY_MAX: Final = 3_650 * DAY  # Chosen: whatever an answer says, it can be stored

_COLUMNS = "legal_entity_id, access_sealed, refresh_sealed, scope, expires_at, generation"
_GET = f"SELECT {_COLUMNS} FROM tax_connections WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of"
_GET_OF_ENTITY = f"""
SELECT {_COLUMNS} FROM tax_connections WHERE org_id = :org_id AND coalesce(legal_entity_id, '') IN (:of, '')
ORDER BY legal_entity_id IS NULL LIMIT 1
"""
_GET_SOME = f"""
SELECT {_COLUMNS} FROM tax_connections WHERE org_id = :org_id
ORDER BY legal_entity_id IS NULL DESC, legal_entity_id LIMIT 2
"""
_UPDATE = """
UPDATE tax_connections SET access_sealed = :access, refresh_sealed = :refresh, scope = :scope,
    expires_at = :expires_at, generation = generation + 1, connected_by = :actor, created_at = :now, updated_at = :now
WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of
"""
_INSERT = """
INSERT INTO tax_connections (
    org_id, legal_entity_id, access_sealed, refresh_sealed, scope, expires_at, generation, connected_by, created_at,
    updated_at
) VALUES (:org_id, :legal_entity_id, :access, :refresh, :scope, :expires_at, :now, :actor, :now, :now)
"""
# RFC 6749 §5.1: a scope that is not answered is the one there was.
_REPLACE = """
UPDATE tax_connections SET access_sealed = :access, refresh_sealed = :refresh,
    scope = CASE WHEN CAST(:scope AS TEXT) = '' THEN scope ELSE :scope END, expires_at = :expires_at,
    generation = generation + 1, updated_at = :now
WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of AND generation = :generation
"""
_TOUCH = """
UPDATE tax_connections SET updated_at = :now
WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of AND generation = :generation
"""
_STANDINGS = """
SELECT c.legal_entity_id, e.name, c.connected_by, c.created_at
FROM tax_connections c LEFT JOIN legal_entities e ON e.org_id = c.org_id AND e.id = c.legal_entity_id
WHERE c.org_id = :org_id ORDER BY c.legal_entity_id IS NULL DESC, c.legal_entity_id
"""
_SPENT = """
SELECT 1 FROM tax_connections
WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of
    AND updated_at < :restored_at AND expires_at < :restored_at
"""
_REMOVE = "DELETE FROM tax_connections WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of"


class Tokens(NamedTuple):
    """What a token endpoint answers. `expires_in` in seconds, None where it was not said. Never to be logged."""

    access: str
    refresh: str | None
    scope: str
    expires_in: int | None

    def __repr__(self) -> str:
        return f"Tokens(scope={self.scope!r})"


class Connection(NamedTuple):
    """Tokens as they are kept. Whatever replaces them has another `generation`.

    `legal_entity_id` None: the organization's, for every entity that has none of its own.
    """

    legal_entity_id: str | None
    access: str
    refresh: str | None
    scope: str
    expires_at: Instant | None
    generation: int

    def __repr__(self) -> str:
        return f"Connection(legal_entity_id={self.legal_entity_id!r}, generation={self.generation})"


class Standing(NamedTuple):
    """A connection as people see it. `by` is a user's id, or `operator`; `granted` ends with `granted.expires_at`.

    `legal_entity_id` and `legal_entity` (its name) are None for the organization's.
    """

    legal_entity_id: str | None
    legal_entity: str | None
    by: str
    since: Instant
    granted: TaxStanding


def list_standings(tx: ReadTx) -> list[Standing]:
    """Who connected the transaction's organization and its entities, when, and until when; the organization first."""
    standings = []
    for legal_entity_id, name, by, since in tx.rows(_STANDINGS):
        granted = rows.tax_standing(tx, legal_entity_id)
        if granted is not None:
            standings.append(Standing(legal_entity_id, name, by, Instant(since), granted))
    return standings


def standing(tx: ReadTx, legal_entity_id: str | None = None) -> Standing | None:
    """The connection of an entity alone, or with None of the organization; None: it is not connected."""
    return next((each for each in list_standings(tx) if each.legal_entity_id == legal_entity_id), None)


def is_spent(tx: ReadTx, restored_at: Instant, legal_entity_id: str | None = None) -> bool:
    """Whether the tokens came out of a backup that was restored then, and were probably replaced since it was made: the
    access token had ended by then, so that who used it has spent the refresh token, which works once.
    """
    return tx.value(_SPENT, restored_at=restored_at, of=legal_entity_id or "") is not None


def find(tx: ReadTx, legal_entity_id: str | None = None) -> Connection | None:
    """The connection of an entity alone, or with None that of the organization."""
    return _connection(tx, tx.row(_GET, of=legal_entity_id or ""))


def find_for(tx: ReadTx, legal_entity_id: str | None) -> Connection | None:
    """The connection that an entity's taxes are asked about over: its own, else the organization's.

    None stands for a taxpayer who is none of the organization's entities, or whom nobody named. Chosen: that is asked
    over the organization's connection, else over the only one there is. Raises `Problem` `validation_failed` where
    there are several and no telling which.
    """
    if legal_entity_id is not None:
        return _connection(tx, tx.row(_GET_OF_ENTITY, of=legal_entity_id))
    rows = tx.rows(_GET_SOME)
    if len(rows) == 2 and rows[0][0] is not None:
        message = "Several legal entities are connected to the tax authority: name the one whose connection is meant."
        raise invalid_field("legalEntityId", "required", message)
    return _connection(tx, rows[0] if rows else None)


def save(tx: WriteTx, tokens: Tokens, actor: str, legal_entity_id: str | None = None) -> None:
    """Keep what a person has just granted, in place of what was there for the same entity or the organization."""
    values = _values(tx, tokens, legal_entity_id)
    if not tx.run(_UPDATE, actor=actor, **values):
        del values["of"]
        tx.run(_INSERT, actor=actor, legal_entity_id=legal_entity_id, **values)
    change_tax_standing(tx, _granted(tx, tokens), legal_entity_id)
    _record(tx, "tax.connected", actor, legal_entity_id, {"scope": tokens.scope})


def refuse_replacing(tx: ReadTx, legal_entity_id: str | None, agreed: Instant | None) -> None:
    """Raises `Problem` `invalid_state` where a connection would be replaced that nobody agreed to lose.

    `agreed` is the `since` of the one that may go, None: there was none. One that has ended is no loss.
    """
    there = standing(tx, legal_entity_id)
    if there is not None and there.since != agreed and there.granted.expires_at > tx.now:
        raise invalid_state("It is connected already. Agree to replace that connection first.", "connected", ())


def replace(tx: WriteTx, tokens: Tokens, generation: int, legal_entity_id: str | None = None) -> bool:
    """Keep refreshed tokens; False where what they were refreshed from is no longer there."""
    return tx.run(_REPLACE, generation=generation, **_values(tx, tokens, legal_entity_id)) > 0


def touch(tx: WriteTx, generation: int, legal_entity_id: str | None = None) -> bool:
    """Write, and change nothing: shows that something can be written. False where these tokens are no longer there."""
    return tx.run(_TOUCH, generation=generation, of=legal_entity_id or "") > 0


def refreshed(spent: Connection, tokens: Tokens, now: Instant) -> Connection:
    """The connection that `replace` makes of `spent`."""
    return spent._replace(
        access=tokens.access,
        refresh=tokens.refresh,
        scope=tokens.scope or spent.scope,
        expires_at=_expiry(now, tokens),
        generation=spent.generation + 1,
    )


def remove(tx: WriteTx, actor: str, legal_entity_id: str | None = None) -> None:
    """Forget the tokens. Raises `Problem` `tax_not_connected` where there are none."""
    if not tx.run(_REMOVE, of=legal_entity_id or ""):
        whose = "organization" if legal_entity_id is None else "legal entity"
        raise Problem("tax_not_connected", f"The {whose} is not connected.")
    change_tax_standing(tx, None, legal_entity_id)
    _record(tx, "tax.disconnected", actor, legal_entity_id, {})


def _connection(tx: ReadTx, row: Row | None) -> Connection | None:
    if row is None:
        return None
    of, access, refresh, scope, expires_at, generation = row
    opened = None if refresh is None else tx.unseal(refresh, _context(tx.org_id, "refresh", of))
    return Connection(of, tx.unseal(access, _context(tx.org_id, "access", of)), opened, scope, expires_at, generation)


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


def _record(tx: WriteTx, action: audit.Action, actor: str, legal_entity_id: str | None, detail: audit.Detail) -> None:
    subject = legal_entity_id or tx.org_id
    audit.record(tx, audit.Act(actor=actor, action=action, subject=subject, org_id=tx.org_id, detail=detail))


def _values(tx: WriteTx, tokens: Tokens, legal_entity_id: str | None) -> dict[str, object]:
    of, refresh = legal_entity_id, tokens.refresh
    return {
        "of": of or "",
        "access": tx.seal(tokens.access, _context(tx.org_id, "access", of)),
        "refresh": None if refresh is None else tx.seal(refresh, _context(tx.org_id, "refresh", of)),
        "scope": tokens.scope,
        "expires_at": _expiry(tx.now, tokens),
    }


def _context(org_id: str, column: str, legal_entity_id: str | None) -> str:
    """What a token is sealed for: it opens in its own row alone."""
    of = "" if legal_entity_id is None else f":{legal_entity_id}"
    return f"tax_connections.{column}:{org_id}{of}"
