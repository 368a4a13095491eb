"""Authorization codes: made by a consent, redeemed once for tokens (RFC 6749 §4.1, RFC 7636).

The token endpoint:

    state = read(read_code, code)                   None: invalid_grant, or invalid_client where there is no such client
    if not state.used: check_code(state, ...)       raises; the code can still be redeemed
    if state.used: check_replay(state, ...)         raises; the grant goes on
    sign the tokens
    failure = write(redeem_code, state, ...)        raise it, if there is one; otherwise send the tokens
"""

import base64
import hashlib
import hmac
import re

import msgspec

from gatewayd.clock import DAY, Instant
from gatewayd.identity.clients import grants
from gatewayd.identity.clients.grants import CODE_LIFE, GRANT_COLUMNS, GRANT_JOINS, Grant, NewGrant, grant_of
from gatewayd.identity.clients.oauth_errors import OAuthFailure, invalid_grant
from gatewayd.identity.clients.redirect_uris import host_of
from gatewayd.identity.people import memberships
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.identity.tokens import refresh_tokens
from gatewayd.identity.tokens.authorizations import PendingRequest, consume, needs_sign_in, request_gone
from gatewayd.store import ReadTx, WriteTx

PREFIX = "gwc_"
RETENTION = DAY  # Chosen: for so long after its time a code that comes again is recognized as a replay
SWEEP_ROWS = 500  # of one transaction

_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}")  # RFC 7636 §4.1

_INSERT = """
INSERT INTO authorization_codes (hash, grant_id, redirect_uri, code_challenge, key_thumbprint, expires_at)
VALUES (:hash, :grant_id, :redirect_uri, :code_challenge, :key_thumbprint, :expires_at)
"""
_READ_ANY_ORG = f"""
SELECT {GRANT_COLUMNS}, a.hash, a.redirect_uri, a.code_challenge, a.key_thumbprint, a.expires_at, a.used_at
FROM authorization_codes a JOIN grants g ON g.id = a.grant_id {GRANT_JOINS}
WHERE a.hash = :hash
"""
_USE = "UPDATE authorization_codes SET used_at = :now WHERE hash = :hash AND used_at IS NULL AND expires_at > :now"
_USED = "SELECT used_at IS NOT NULL FROM authorization_codes WHERE hash = :hash"
_SWEEP = """
DELETE FROM authorization_codes WHERE hash IN (
    SELECT hash FROM authorization_codes WHERE expires_at <= :before AND used_at IS NOT NULL
    ORDER BY expires_at LIMIT :count
)
"""


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """What a person allowed, for one organization. `scopes` that were not requested are ignored.

    `session_id`, `authenticated_at` and `methods` are those of the browser session it was given in.
    """

    user_id: str
    org_id: str
    session_id: str
    scopes: frozenset[str]
    authenticated_at: Instant
    methods: tuple[str, ...]


class CodeState(msgspec.Struct, frozen=True, kw_only=True):
    """A code as it was read. `key_thumbprint` is the `dpop_jkt` of the authorization request, if it had one."""

    hash: bytes
    grant: Grant
    redirect_uri: str
    code_challenge: str
    key_thumbprint: str | None
    expires_at: Instant
    used: bool


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a client sends with a code. None: was not sent. `key_thumbprint` is that of the DPoP proof."""

    client_id: str
    redirect_uri: str | None
    code_verifier: str | None
    key_thumbprint: str | None

    def __repr__(self) -> str:
        return f"TokenRequest(client_id={self.client_id!r})"


def issue_code(tx: WriteTx, pending: PendingRequest, consent: Consent) -> str:
    """Turn a request and a consent to it into a grant and its code; the request is used up.

    Raises `DirectFailure` `invalid_request` where the request was used up already, expired or is another session's.
    Raises `OAuthFailure`, to be redirected: `access_denied` where no scope is left or the person is no member of the
    organization or is disabled; `login_required` where the request asks for a newer authentication.
    """
    parameters = pending.parameters
    if pending.expires_at <= tx.now or pending.session_id not in (None, consent.session_id):
        raise request_gone()
    if needs_sign_in(pending, consent.authenticated_at, tx.now):
        raise OAuthFailure("login_required", "the person has to sign in anew")
    scopes = [scope for scope in parameters.scope if scope in consent.scopes]
    tx.bind(consent.org_id)
    if not scopes or not memberships.is_active(tx, consent.user_id):
        raise OAuthFailure("access_denied", "the person allowed nothing")
    if not consume(tx, pending.hash):
        raise request_gone()
    new = NewGrant(
        org_id=consent.org_id,
        user_id=consent.user_id,
        client_id=parameters.client_id,
        scopes=scopes,
        session_id=consent.session_id,
        authenticated_at=consent.authenticated_at,
        methods=consent.methods,
        nonce=parameters.nonce,
        redirect_host=host_of(parameters.redirect_uri),
        resource=parameters.resource,
    )
    return _make_code(tx, pending, grants.create(tx, new))


def read_code(tx: ReadTx, code: str) -> CodeState | None:
    """The code and its grant, also when it is used, expired or revoked; None where there is none."""
    row = tx.row(_READ_ANY_ORG, hash=hash_token(code))
    if row is None:
        return None
    digest, redirect_uri, code_challenge, key_thumbprint, expires_at, used_at = row[-6:]
    return CodeState(
        hash=digest,
        grant=grant_of(row),
        redirect_uri=redirect_uri,
        code_challenge=code_challenge,
        key_thumbprint=key_thumbprint,
        expires_at=expires_at,
        used=used_at is not None,
    )


def check_code(state: CodeState, request: TokenRequest, now: Instant) -> None:
    """Whether an unused code may be redeemed by this request. A refusal does not use it up.

    Raises `OAuthFailure`: `invalid_request` for a missing `redirect_uri` or `code_verifier`; `invalid_dpop_proof` for a
    missing proof; `invalid_grant` for a code that is another client's, expired or revoked, or where anything differs.
    """
    grant = state.grant
    if request.client_id != grant.client_id:
        raise invalid_grant("the code was issued to another client")
    if grant.ended or state.expires_at <= now:
        raise invalid_grant("the code has expired or was revoked")
    if request.redirect_uri is None or request.code_verifier is None:
        raise OAuthFailure("invalid_request", "redirect_uri and code_verifier are needed")
    if request.redirect_uri != state.redirect_uri:  # RFC 6749 §4.1.3
        raise invalid_grant("redirect_uri is not that of the authorization request")
    if not _verifier_matches(request.code_verifier, state.code_challenge):
        raise invalid_grant("code_verifier does not fit code_challenge")
    if request.key_thumbprint is None and (grant.dpop_required or state.key_thumbprint is not None):
        raise OAuthFailure("invalid_dpop_proof", "a DPoP proof is needed")
    if state.key_thumbprint not in (None, request.key_thumbprint):  # RFC 9449 §10
        raise invalid_grant("the DPoP proof is of another key than dpop_jkt names")


def check_replay(state: CodeState, code_verifier: str | None) -> None:
    """Whether a used code comes from somebody who could have redeemed it, which is for `redeem_code` to act on.

    Chosen: who knows the code without its verifier could never have had its tokens, and must not be able to end them.
    Raises `OAuthFailure` `invalid_grant`.
    """
    if code_verifier is None or not _verifier_matches(code_verifier, state.code_challenge):
        raise invalid_grant("the code was used already")


def redeem_code(
    tx: WriteTx, state: CodeState, refresh_hash: bytes | None, key_thumbprint: str | None
) -> OAuthFailure | None:
    """Use up a code that `check_code` or `check_replay` let pass.

    `refresh_hash` is that of the first refresh token, None for none.
    `key_thumbprint` is the DPoP key that the tokens are bound to. None: done. Otherwise the failure `invalid_grant`,
    for the caller to raise once this is durable: a code that comes a second time ends its grant (RFC 6749
    §4.1.2), and to raise here would undo that.
    """
    grant_id = state.grant.id
    if not tx.run(_USE, hash=state.hash):
        if tx.value(_USED, hash=state.hash):
            grants.revoke(tx, grant_id, "code_replayed", state.grant.client_id)
            return invalid_grant("the code was used already")
        return invalid_grant("the code has expired")
    if not grants.begin(tx, grant_id, 0 if refresh_hash is None else 1, key_thumbprint):
        return invalid_grant("the grant was revoked")
    if refresh_hash is not None:
        refresh_tokens.begin(tx, grant_id, refresh_hash)
    return None


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` codes that were used and are older than `RETENTION`; returns how many.

    Those that were not used go with their grants.
    """
    return tx.run(_SWEEP, before=tx.now - RETENTION, count=SWEEP_ROWS)


def _make_code(tx: WriteTx, pending: PendingRequest, grant_id: str) -> str:
    code = make_token(PREFIX)
    tx.run(
        _INSERT,
        hash=hash_token(code),
        grant_id=grant_id,
        redirect_uri=pending.parameters.redirect_uri,
        code_challenge=pending.parameters.code_challenge,
        key_thumbprint=pending.parameters.dpop_jkt,
        expires_at=tx.now + CODE_LIFE,
    )
    return code


def _verifier_matches(verifier: str, challenge: str) -> bool:
    """RFC 7636 §4.6, S256."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return hmac.compare_digest(base64.urlsafe_b64encode(digest).rstrip(b"="), challenge.encode("ascii"))
