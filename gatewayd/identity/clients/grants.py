"""Grants: one consent of one person for one client and organization, on which all its tokens rest.

A grant ends by being revoked, with its reason. For every access token its grant is looked up, so that
disconnecting an app, removing a member or changing a password acts on the next request.
"""

from collections.abc import Collection
from typing import Literal

import msgspec

from gatewayd.clock import DAY, HOUR, MINUTE, Instant, to_wire
from gatewayd.contract.caller import Role
from gatewayd.contract.scopes import RESTRICTED, ordered
from gatewayd.errors import not_found
from gatewayd.identity import audit
from gatewayd.identity.clients.client_metadata import SigningAlgorithm
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.ids import first_at
from gatewayd.store import ReadTx, Row, WriteTx

CODE_LIFE = 10 * MINUTE  # Spec §5
ACCESS_TOKEN_LIFE = HOUR  # Spec §5
REFRESH_LIFE = 30 * DAY  # Spec §5; Chosen: from the consent, and no refresh puts it off
RETENTION = 120 * DAY  # Chosen: from the consent; the audit log remembers longer
SWEEP_ROWS = 500  # of one transaction

RevokedReason = Literal[
    "user", "client", "operator", "code_replayed", "refresh_reused", "password_changed", "member_removed"
]

GRANT_COLUMNS = """g.id, g.org_id, g.user_id, g.client_id, g.scopes, g.session_id, g.authenticated_at, g.methods,
g.nonce, g.key_thumbprint, g.generation, g.expires_at,
g.revoked_at IS NOT NULL OR c.revoked_at IS NOT NULL OR m.role IS NULL, c.tax_approved_at IS NOT NULL, c.metadata,
g.resource"""
"""What `grant_of` takes, of the table `grants` as `g` and `GRANT_JOINS`."""
GRANT_JOINS = """JOIN oauth_clients c ON c.id = g.client_id
LEFT JOIN memberships m ON m.org_id = g.org_id AND m.user_id = g.user_id"""

_INSERT_ANY_ORG = """
INSERT INTO grants (id, org_id, user_id, client_id, scopes, session_id, authenticated_at, methods, nonce,
    redirect_host, resource, key_thumbprint, generation, expires_at, created_at)
VALUES (:id, :of_org, :user_id, :client_id, :scopes, :session_id, :authenticated_at, :methods, :nonce,
    :redirect_host, :resource, NULL, 0, :expires_at, :now)
"""
_FIND_ANY_ORG = f"SELECT {GRANT_COLUMNS} FROM grants g {GRANT_JOINS} WHERE g.id = :id"
_LIVES_ANY_ORG = """
SELECT g.org_id, g.user_id, g.client_id, m.role, c.tax_approved_at IS NOT NULL
FROM grants g JOIN oauth_clients c ON c.id = g.client_id
JOIN memberships m ON m.org_id = g.org_id AND m.user_id = g.user_id
WHERE g.id = :id AND g.revoked_at IS NULL AND c.revoked_at IS NULL
"""
_GRANTED_ANY_ORG = """
SELECT 1 FROM grants WHERE user_id = :user_id AND client_id = :client_id AND revoked_at IS NULL LIMIT 1
"""
_BEGIN_ANY_ORG = """
UPDATE grants SET generation = :generation, key_thumbprint = :key_thumbprint WHERE id = :id AND revoked_at IS NULL
"""
_ADVANCE_ANY_ORG = """
UPDATE grants SET generation = generation + 1
WHERE id = :id AND generation = :generation AND revoked_at IS NULL AND expires_at > :now
"""
_REVOKE_ANY_ORG = """
UPDATE grants SET revoked_at = :now, revoked_reason = :reason WHERE id = :id AND revoked_at IS NULL
RETURNING id, org_id, user_id, client_id
"""
_REVOKE_OF_USER_ANY_ORG = """
UPDATE grants SET revoked_at = :now, revoked_reason = :reason
WHERE user_id = :user_id AND revoked_at IS NULL AND expires_at > :over
RETURNING id, org_id, user_id, client_id
"""
_REVOKE_OF_CLIENT_ANY_ORG = """
UPDATE grants SET revoked_at = :now, revoked_reason = :reason
WHERE client_id = :client_id AND revoked_at IS NULL AND expires_at > :over
RETURNING id, org_id, user_id, client_id
"""
_REVOKE_OF_MEMBER = """
UPDATE grants SET revoked_at = :now, revoked_reason = :reason
WHERE org_id = :org_id AND user_id = :user_id AND revoked_at IS NULL AND expires_at > :over
RETURNING id, org_id, user_id, client_id
"""
_OWNER_ANY_ORG = "SELECT user_id FROM grants WHERE id = :id"
_ORGANIZATION_ANY_ORG = "SELECT org_id FROM grants WHERE id = :id"
_NOTE_USE_ANY_ORG = """
UPDATE grants SET last_used_day = :day WHERE id = :id AND (last_used_day IS NULL OR last_used_day < :day)
"""
# A code that nobody redeemed in time: nothing ever came of the consent.
_SWEEP_UNUSED_ANY_ORG = """
DELETE FROM grants WHERE id IN (
    SELECT grant_id FROM authorization_codes WHERE expires_at <= :now AND used_at IS NULL
    ORDER BY expires_at LIMIT :count
)
"""
# Ids sort by time, and all that are so old have ended.
_SWEEP_OLD_ANY_ORG = """
DELETE FROM grants WHERE id IN (
    SELECT id FROM grants WHERE id < :young AND expires_at <= :now ORDER BY id LIMIT :count
)
"""


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """A grant, with all that its tokens depend on.

    `consented`: what the person allowed. `scopes`: the part of it that tokens carry now, without `tax:*` unless the
    client is approved. `key_thumbprint`: tokens are bound to this DPoP key (None: bearer). `generation` of the newest
    refresh token, 0 for none. `expires_at`: no refresh from then on. `ended`: revoked, or its client is, or the person
    is no longer a member. `resource` is the audience of its access tokens (None: the API).
    """

    id: str
    org_id: str
    user_id: str
    client_id: str
    scopes: frozenset[str]
    consented: frozenset[str]
    session_id: str
    authenticated_at: Instant
    methods: tuple[str, ...]
    nonce: str | None
    key_thumbprint: str | None
    generation: int
    expires_at: Instant
    ended: bool
    id_token_alg: SigningAlgorithm
    dpop_required: bool
    resource: str | None


class LiveGrant(msgspec.Struct, frozen=True):
    """A grant that is in force. Without `tax_approved` its `tax:*` scopes open nothing."""

    org_id: str
    user_id: str
    client_id: str
    role: Role
    tax_approved: bool


class NewGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A grant to be inserted, with all values validated. `scopes` in order.

    `redirect_host` is where the person was sent: the app is named by it from then on. `resource` None: the API.
    """

    org_id: str
    user_id: str
    client_id: str
    scopes: list[str]
    session_id: str
    authenticated_at: Instant
    methods: tuple[str, ...]
    nonce: str | None
    redirect_host: str
    resource: str | None = None


class _Settings(msgspec.Struct, frozen=True):
    """What tokens depend on, of a client's metadata."""

    id_token_signed_response_alg: SigningAlgorithm
    dpop_bound_access_tokens: bool


_decode_settings = msgspec.json.Decoder(_Settings).decode


# -- reads


def find_live(tx: ReadTx, grant_id: str) -> LiveGrant | None:
    """What an access token of this grant may do now, in one indexed read.

    None: the grant is revoked or there is none, its client is revoked, or the person is no member any more.
    """
    row = tx.row(_LIVES_ANY_ORG, id=grant_id)
    if row is None:
        return None
    org_id, user_id, client_id, role, tax_approved = row
    return LiveGrant(org_id, user_id, client_id, role, bool(tax_approved))


def find(tx: ReadTx, grant_id: str) -> Grant | None:
    """The grant, also one that has ended."""
    row = tx.row(_FIND_ANY_ORG, id=grant_id)
    return None if row is None else grant_of(row)


def organization_of(tx: ReadTx, grant_id: str) -> str:
    """Which organization a grant is for, for the operator. Raises `Problem` `not_found`."""
    org_id: str | None = tx.value(_ORGANIZATION_ANY_ORG, id=grant_id)
    if org_id is None:
        raise not_found("connected app")
    return org_id


def has_granted(tx: ReadTx, user_id: str, client_id: str) -> bool:
    """Whether this person granted this client anything, in any organization, that was not revoked."""
    return tx.value(_GRANTED_ANY_ORG, user_id=user_id, client_id=client_id) is not None


def narrow(grant: Grant, scope: str | None) -> list[str]:
    """The scopes of an access token, in order: all of the grant's, or those of the request (RFC 6749 §6).

    Raises `OAuthFailure` `invalid_scope` for one that was never granted, and where none is left.
    """
    requested = frozenset((scope or "").split()) or grant.consented
    if not requested <= grant.consented:
        raise OAuthFailure("invalid_scope", "a scope was asked for that the person did not grant")
    if not requested & grant.scopes:
        raise OAuthFailure("invalid_scope", "the client is not approved for these scopes any more")
    return ordered(requested & grant.scopes)


def grant_of(row: Row) -> Grant:
    """The grant of a row that begins with `GRANT_COLUMNS`; further columns are ignored."""
    tax_approved, metadata = row[13:15]
    settings = _decode_settings(metadata)
    consented = frozenset(row[4].split())
    return Grant(
        id=row[0],
        org_id=row[1],
        user_id=row[2],
        client_id=row[3],
        scopes=consented if tax_approved else consented - RESTRICTED,
        consented=consented,
        session_id=row[5],
        authenticated_at=row[6],
        methods=tuple(row[7].split()),
        nonce=row[8],
        key_thumbprint=row[9],
        generation=row[10],
        expires_at=row[11],
        ended=bool(row[12]),
        id_token_alg=settings.id_token_signed_response_alg,
        dpop_required=settings.dpop_bound_access_tokens,
        resource=row[15],
    )


# -- writes


def create(tx: WriteTx, new: NewGrant) -> str:
    """Insert a grant and return its id. It expires with the last token that it can have. Raises nothing."""
    grant_id = tx.new_id("grt")
    life = REFRESH_LIFE if "offline_access" in new.scopes else CODE_LIFE + ACCESS_TOKEN_LIFE
    tx.run(
        _INSERT_ANY_ORG,
        id=grant_id,
        of_org=new.org_id,
        user_id=new.user_id,
        client_id=new.client_id,
        scopes=" ".join(new.scopes),
        session_id=new.session_id,
        authenticated_at=new.authenticated_at,
        methods=" ".join(new.methods),
        nonce=new.nonce,
        redirect_host=new.redirect_host,
        resource=new.resource,
        expires_at=tx.now + life,
    )
    detail: audit.Detail = {"client": new.client_id, "host": new.redirect_host, "scopes": new.scopes}
    act = audit.Act(actor=new.user_id, action="grant.created", subject=grant_id, org_id=new.org_id, detail=detail)
    audit.record(tx, act)
    return grant_id


def begin(tx: WriteTx, grant_id: str, generation: int, key_thumbprint: str | None) -> bool:
    """The code was redeemed: generation 1 with a refresh token, 0 without. False where the grant was revoked."""
    return tx.run(_BEGIN_ANY_ORG, id=grant_id, generation=generation, key_thumbprint=key_thumbprint) == 1


def advance(tx: WriteTx, grant_id: str, generation: int) -> bool:
    """Move on to the next generation. False where this is not the newest one any more, or the grant has ended."""
    return tx.run(_ADVANCE_ANY_ORG, id=grant_id, generation=generation) == 1


def revoke(tx: WriteTx, grant_id: str, reason: RevokedReason, actor: str) -> bool:
    """End a grant and record it; False where it had ended or never was. Raises nothing."""
    return _record(tx, tx.rows(_REVOKE_ANY_ORG, id=grant_id, reason=reason), reason, actor) == 1


def revoke_own(tx: WriteTx, grant_id: str, user_id: str) -> None:
    """End a grant that this user gave; again changes nothing. Raises `Problem` `not_found` for anybody else's."""
    if tx.value(_OWNER_ANY_ORG, id=grant_id) != user_id:
        raise not_found("connected app")
    revoke(tx, grant_id, "user", user_id)


def revoke_user(tx: WriteTx, user_id: str, reason: RevokedReason, actor: str) -> int:
    """End all grants of one person, in every organization; returns how many."""
    over = tx.now - ACCESS_TOKEN_LIFE
    return _record(tx, tx.rows(_REVOKE_OF_USER_ANY_ORG, user_id=user_id, reason=reason, over=over), reason, actor)


def revoke_membership(tx: WriteTx, user_id: str, actor: str) -> int:
    """End all grants of one person in the transaction's organization; returns how many."""
    over = tx.now - ACCESS_TOKEN_LIFE
    revoked = tx.rows(_REVOKE_OF_MEMBER, user_id=user_id, reason="member_removed", over=over)
    return _record(tx, revoked, "member_removed", actor)


def revoke_client(tx: WriteTx, client_id: str, reason: RevokedReason, actor: str) -> int:
    """End all grants of one client; returns how many."""
    over = tx.now - ACCESS_TOKEN_LIFE
    return _record(tx, tx.rows(_REVOKE_OF_CLIENT_ANY_ORG, client_id=client_id, reason=reason, over=over), reason, actor)


def note_use(tx: WriteTx, grant_ids: Collection[str]) -> None:
    """Record that these grants were used on the transaction's day; ids of other things are ignored."""
    day = to_wire(tx.now)[:10]
    for grant_id in grant_ids:
        tx.run(_NOTE_USE_ANY_ORG, id=grant_id, day=day)


def sweep(tx: WriteTx) -> int:
    """Delete grants whose code was never redeemed, and those past `RETENTION`, with their codes and refresh tokens.

    At most `SWEEP_ROWS` of each; returns how many in all.
    """
    unused = tx.run(_SWEEP_UNUSED_ANY_ORG, count=SWEEP_ROWS)
    young = first_at("grt", tx.now - RETENTION)
    return unused + tx.run(_SWEEP_OLD_ANY_ORG, young=young, count=SWEEP_ROWS)


def _record(tx: WriteTx, rows: list[Row], reason: RevokedReason, actor: str) -> int:
    """Record each in its organization's audit log."""
    action: audit.Action = "grant.revoked"
    if reason == "code_replayed":
        action = "grant.code_replayed"
    elif reason == "refresh_reused":
        action = "grant.refresh_reused"
    for grant_id, org_id, user_id, client_id in rows:
        detail: audit.Detail = {"client": client_id, "user": user_id, "reason": reason}
        audit.record(tx, audit.Act(actor=actor, action=action, subject=grant_id, org_id=org_id, detail=detail))
    return len(rows)
