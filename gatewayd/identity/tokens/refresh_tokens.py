"""Refresh tokens: replaced at each use, so that one that was stolen shows (RFC 9700 §4.14.2).

Clients lose responses and refresh twice at once. So for a short grace window the token just superseded gets the very
response that superseded it. Anything older or later is taken for theft, and ends the grant with all its tokens.

The token endpoint:

    state = read(read_refresh, token)               None: invalid_grant, or invalid_client where there is no such client
    check_refresh(state, ...)                       raises; changes nothing
    response = read(stored_response, state, grace)  not None: give it again
    if the token is not superseded: sign the tokens
    response = write(rotate, state, Successor(...), grace)    a failure: raise it; otherwise give that response
"""

import msgspec

from gatewayd.clock import SECOND, Instant
from gatewayd.identity.clients import grants
from gatewayd.identity.clients.grants import GRANT_COLUMNS, GRANT_JOINS, Grant, grant_of
from gatewayd.identity.clients.oauth_errors import OAuthFailure, invalid_grant
from gatewayd.identity.random_tokens import hash_token
from gatewayd.identity.random_tokens import make_token as make_random
from gatewayd.store import ReadTx, WriteTx

PREFIX = "gwr_"
SWEEP_ROWS = 500  # of one transaction

_INSERT = """
INSERT INTO refresh_tokens (hash, grant_id, generation, created_at) VALUES (:hash, :grant_id, :generation, :now)
"""
_READ_ANY_ORG = f"""
SELECT {GRANT_COLUMNS}, r.hash, r.generation, r.superseded_at, r.answer_sealed
FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id {GRANT_JOINS}
WHERE r.hash = :hash
"""
_SUPERSEDE = """
UPDATE refresh_tokens SET superseded_at = :now, answer_sealed = :answer
WHERE grant_id = :grant_id AND generation = :generation
"""
# Responses older than the one for the grace window are never given again: they are emptied.
_EMPTY = "UPDATE refresh_tokens SET answer_sealed = :emptied WHERE grant_id = :grant_id AND generation = :generation"
_SWEEP_ANY_ORG = """
DELETE FROM refresh_tokens WHERE hash IN (
    SELECT r.hash FROM grants g CROSS JOIN refresh_tokens r
    WHERE r.grant_id = g.id AND (g.revoked_at IS NOT NULL OR g.expires_at <= :now) LIMIT :count
)
"""


class RefreshState(msgspec.Struct, frozen=True, kw_only=True):
    """A refresh token as it was read. `superseded_at` None: nobody has used it yet."""

    hash: bytes
    grant: Grant
    generation: int
    superseded_at: Instant | None
    answer_sealed: bytes | None


class Successor(msgspec.Struct, frozen=True):
    """The hash of the next refresh token, and the whole token response that holds it."""

    hash: bytes
    response: str

    def __repr__(self) -> str:
        return "Successor(...)"


def make_token() -> str:
    """A new refresh token."""
    return make_random(PREFIX)


def begin(tx: WriteTx, grant_id: str, digest: bytes) -> None:
    """Store the first refresh token of a grant, by its hash."""
    tx.run(_INSERT, hash=digest, grant_id=grant_id, generation=1)


def read_refresh(tx: ReadTx, token: str) -> RefreshState | None:
    """The token and its grant, also when it is superseded, expired or revoked; None where there is none."""
    return _read_state(tx, hash_token(token))


def check_refresh(state: RefreshState, client_id: str, key_thumbprint: str | None, now: Instant) -> None:
    """Whether this client may refresh with the token. `key_thumbprint` is that of the DPoP proof, None without one.

    Raises `OAuthFailure`: `invalid_grant` for one that is another client's, expired or revoked, or bound to another
    key; `invalid_dpop_proof` for a missing proof. Changes nothing, and ignores whether the token is superseded.
    """
    grant = state.grant
    if client_id != grant.client_id:
        raise invalid_grant("the refresh token was issued to another client")
    if grant.ended or grant.expires_at <= now:
        raise _expired()
    if key_thumbprint is None and (grant.dpop_required or grant.key_thumbprint is not None):
        raise OAuthFailure("invalid_dpop_proof", "a DPoP proof is needed")
    if grant.key_thumbprint not in (None, key_thumbprint):  # RFC 9449 §5
        raise invalid_grant("the refresh token is bound to another key")


def stored_response(tx: ReadTx, state: RefreshState, grace_seconds: int) -> str | None:
    """The response that superseded the token, where it may be given again; None otherwise.

    Raises `StoreFailure` where it does not open with the instance key.
    """
    superseded_at, sealed = state.superseded_at, state.answer_sealed
    if superseded_at is None or not sealed or state.generation != state.grant.generation - 1:
        return None
    if not grace_seconds or tx.now >= superseded_at + grace_seconds * SECOND:
        return None
    return tx.unseal(sealed, _context(state))


def rotate(tx: WriteTx, state: RefreshState, successor: Successor | None, grace_seconds: int) -> str | OAuthFailure:
    """Supersede the token and return what the client gets: the successor's response, or that of the request before it.

    `successor` is None for a token that was read as superseded already. An `OAuthFailure` `invalid_grant` is returned,
    not raised, for the caller to raise once this is durable: the token is too old, which ends the grant, or the grant
    had ended. Raises `StoreFailure` as `stored_response` does.
    """
    if successor is not None and grants.advance(tx, state.grant.id, state.generation):
        _supersede(tx, state, successor)
        return successor.response
    now = _read_state(tx, state.hash)
    if now is None or now.grant.ended or now.grant.expires_at <= tx.now or now.superseded_at is None:
        return _expired()
    response = stored_response(tx, now, grace_seconds)
    if response is not None:
        return response
    grants.revoke(tx, now.grant.id, "refresh_reused", now.grant.client_id)
    return invalid_grant("the refresh token was used already: all tokens of the grant are revoked")


def forget_answer(tx: WriteTx, grant_id: str, generation: int) -> None:
    """Give up the answer that superseded a token: who lost it has to sign in again."""
    tx.run(_EMPTY, grant_id=grant_id, generation=generation, emptied=b"")


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` refresh tokens of grants that have ended; returns how many."""
    return tx.run(_SWEEP_ANY_ORG, count=SWEEP_ROWS)


def _supersede(tx: WriteTx, state: RefreshState, successor: Successor) -> None:
    sealed = tx.seal(successor.response, _context(state))
    grant_id, generation = state.grant.id, state.generation
    tx.run(_SUPERSEDE, grant_id=grant_id, generation=generation, answer=sealed)
    tx.run(_EMPTY, grant_id=grant_id, generation=generation - 1, emptied=b"")
    tx.run(_INSERT, hash=successor.hash, grant_id=grant_id, generation=generation + 1)


def _read_state(tx: ReadTx, digest: bytes) -> RefreshState | None:
    row = tx.row(_READ_ANY_ORG, hash=digest)
    if row is None:
        return None
    stored, generation, superseded_at, answer_sealed = row[-4:]
    return RefreshState(
        hash=stored,
        grant=grant_of(row),
        generation=generation,
        superseded_at=superseded_at,
        answer_sealed=answer_sealed,
    )


def _context(state: RefreshState) -> str:
    return f"refresh_tokens.answer_sealed:{state.grant.id}:{state.generation}"


def _expired() -> OAuthFailure:
    return invalid_grant("the refresh token has expired or was revoked")
