"""Authorization requests: what one may hold (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1), and those that wait.

A request waits under a random handle while a person signs in and decides, or between being pushed (RFC 9126) and the
browser's arrival. It ends with a code, a refusal, or by its time.
"""

import re

import msgspec

from gatewayd.clock import HOUR, MINUTE, SECOND, Instant
from gatewayd.contract.scopes import ALL_SCOPES, RESTRICTED, SCOPES, ordered
from gatewayd.identity.clients.oauth_clients import Client, accepts_redirect
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.identity.clients.oauth_parameters import Audiences, Raw, requested_resource, single_value
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, WriteTx

PUSHED_LIFE = 10 * MINUTE  # Chosen, within RFC 9126 §2.2: the client may first have to ask its user for a click
REQUEST_LIFE = HOUR  # Chosen: time to find a second factor, or to have a password reset
STATE_LENGTH_MAX = 4096  # Chosen, in characters
SCOPE_LENGTH_MAX = 4096  # Chosen
NONCE_LENGTH_MAX = 1024  # Chosen: it travels in the ID token
LOGIN_HINT_LENGTH_MAX = 254  # an e-mail address
SWEEP_ROWS = 500  # of one transaction

DEFAULT_SCOPES = tuple(scope for scope in SCOPES if scope.endswith(":read") and scope not in RESTRICTED)
"""Chosen: the scopes of a request that names none (RFC 6749 §3.3)."""

_PROMPTS = ("none", "login", "consent", "select_account")
_HASH = re.compile(r"[A-Za-z0-9_-]{43}")  # a SHA-256 in base64url without padding: RFC 7636 §4.2, RFC 7638 §3
_SECONDS = re.compile(r"[0-9]{1,9}")

_INSERT = """
INSERT INTO authorization_requests (hash, client_id, pushed, parameters, expires_at, created_at)
SELECT :hash, id, :pushed, :parameters, :expires_at, :now FROM oauth_clients
WHERE id = :client_id AND revoked_at IS NULL
"""
_LOAD = """
SELECT r.hash, r.parameters, r.pushed, r.session_id, r.expires_at, r.created_at
FROM authorization_requests r JOIN oauth_clients c ON c.id = r.client_id
WHERE r.hash = :hash AND r.expires_at > :now AND c.revoked_at IS NULL
"""
_BIND = """
UPDATE authorization_requests SET session_id = :session_id, expires_at = created_at + :life
WHERE hash = :hash AND expires_at > :now
    AND (session_id IS NULL OR session_id = :session_id OR session_id = :replacing)
"""
_DELETE = "DELETE FROM authorization_requests WHERE hash = :hash"
_SWEEP = """
DELETE FROM authorization_requests WHERE hash IN (
    SELECT hash FROM authorization_requests WHERE expires_at <= :now ORDER BY expires_at LIMIT :count
)
"""


class Target(msgspec.Struct, frozen=True):
    """Where the client gets its response, success and error alike, and the `state` that it repeats (None: not sent)."""

    redirect_uri: str
    state: str | None


class AuthorizationParameters(msgspec.Struct, frozen=True, kw_only=True):
    """A request that was validated.

    `scope` is what may be consented to, in the specification's order, never empty. `left_out` are restricted scopes
    that were asked for and that the client is not approved for: the consent page says so. `max_age` in seconds.
    `resource` None: the API.
    """

    client_id: str
    redirect_uri: str
    scope: list[str]
    left_out: list[str]
    state: str | None
    code_challenge: str
    nonce: str | None
    prompt: list[str]
    max_age: int | None
    login_hint: str | None
    resource: str | None
    dpop_jkt: str | None


_decode = msgspec.json.Decoder(AuthorizationParameters).decode


class PendingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that waits. `session_id` None: bound to no browser session yet."""

    hash: bytes
    parameters: AuthorizationParameters
    pushed: bool
    session_id: str | None
    expires_at: Instant
    created_at: Instant


# -- pure


def target(client: Client | None, raw: Raw) -> Target:
    """Where to send what `check` raises: call this first.

    Raises `DirectFailure`: `invalid_client` for none or a revoked one; `invalid_request` for a redirect URI that is
    missing or not the client's, or a `client_id`, `redirect_uri` or `state` that is given twice or too long.
    """
    if client is None:
        raise _unknown_client()
    if client.revoked:
        raise DirectFailure("invalid_client", "this client has been revoked")
    try:
        single_value(raw, "client_id")
        redirect_uri, state = single_value(raw, "redirect_uri"), single_value(raw, "state")
    except OAuthFailure as failure:
        raise DirectFailure(failure.code, failure.description) from None
    if redirect_uri is None:  # Chosen: also where only one is registered, as OpenID Connect demands
        raise DirectFailure("invalid_request", "redirect_uri is needed")
    if not accepts_redirect(client, redirect_uri):
        raise DirectFailure("invalid_request", "redirect_uri is not one that the client registered")
    if state is not None and len(state) > STATE_LENGTH_MAX:
        raise DirectFailure("invalid_request", f"state has at most {STATE_LENGTH_MAX} characters")
    return Target(redirect_uri, state)


def check(client: Client | None, raw: Raw, audiences: Audiences) -> AuthorizationParameters:
    """The parameters of a request, as it came in the query, a form, or was pushed.

    Raises `DirectFailure` as `target` does. Otherwise `OAuthFailure`, which may be redirected to the target:
    `request_not_supported`, `request_uri_not_supported`, `unsupported_response_type`, `invalid_target`,
    `invalid_scope`, and `invalid_request` for anything else. `prompt=none` is for the caller to refuse.
    """
    to = target(client, raw)
    assert client is not None
    _check_kind(raw)
    resource = requested_resource(raw, audiences)
    scope, left_out = _scopes(client, single_value(raw, "scope"))
    hint = single_value(raw, "login_hint")
    return AuthorizationParameters(
        client_id=client.id,
        redirect_uri=to.redirect_uri,
        scope=scope,
        left_out=left_out,
        state=to.state,
        code_challenge=_challenge(raw),
        nonce=_nonce(raw),
        prompt=_prompts(raw),
        max_age=_max_age(raw),
        login_hint=hint if hint is not None and len(hint) <= LOGIN_HINT_LENGTH_MAX else None,
        resource=None if resource == audiences.issuer else resource,
        dpop_jkt=_hash_parameter(raw, "dpop_jkt"),
    )


def needs_sign_in(pending: PendingRequest, authenticated_at: Instant, now: Instant) -> bool:
    """Whether `prompt=login` or `max_age` asks the person to authenticate anew (OpenID Connect Core §3.1.2.1).

    A person who did since the request was made need not again, however small `max_age` is.
    """
    if authenticated_at >= pending.created_at:
        return False
    max_age = pending.parameters.max_age
    return "login" in pending.parameters.prompt or (max_age is not None and now - authenticated_at > max_age * SECOND)


# -- requests that wait


def save(tx: WriteTx, parameters: AuthorizationParameters, *, pushed: bool) -> str:
    """Store a request for `PUSHED_LIFE`, or for `REQUEST_LIFE` where a browser brought it. Returns the handle.

    Raises `DirectFailure` `invalid_client` where the client has gone or was revoked since it was read.
    """
    handle = make_token()
    inserted = tx.run(
        _INSERT,
        hash=hash_token(handle),
        client_id=parameters.client_id,
        pushed=int(pushed),
        parameters=msgspec.json.encode(parameters),
        expires_at=tx.now + (PUSHED_LIFE if pushed else REQUEST_LIFE),
    )
    if not inserted:
        raise _unknown_client()
    return handle


def load(tx: ReadTx, handle: str) -> PendingRequest | None:
    """The request; None where it is unknown, expired or used up, or its client was revoked.

    The caller compares `parameters.client_id` with the one that came beside the handle (RFC 9126 §4).
    """
    row = tx.row(_LOAD, hash=hash_token(handle))
    if row is None:
        return None
    digest, parameters, pushed, session_id, expires_at, created_at = row
    return PendingRequest(
        hash=digest,
        parameters=_decode(parameters),
        pushed=bool(pushed),
        session_id=session_id,
        expires_at=expires_at,
        created_at=created_at,
    )


def bind(tx: WriteTx, handle: str, session_id: str, replacing: str | None = None) -> None:
    """Bind the request to this browser session alone; it then expires `REQUEST_LIFE` after it was made.

    `replacing` is the session that the same browser had until now. Binding again changes nothing.
    Raises `DirectFailure` `invalid_request` where the request is gone or another session's.
    """
    bound = tx.run(_BIND, hash=hash_token(handle), session_id=session_id, replacing=replacing, life=REQUEST_LIFE)
    if not bound:
        raise request_gone()


def drop(tx: WriteTx, handle: str) -> bool:
    """End a request without a code: the person said no. False where it was gone. Raises nothing."""
    return consume(tx, hash_token(handle))


def consume(tx: WriteTx, digest: bytes) -> bool:
    """End a request by the hash of its handle; True for the one that ended it."""
    return tx.run(_DELETE, hash=digest) == 1


def request_gone() -> DirectFailure:
    """The failure for a request that is used up, expired, or not of this browser."""
    return DirectFailure("invalid_request", "this request has expired, was answered, or began in another browser")


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` expired requests; returns how many."""
    return tx.run(_SWEEP, count=SWEEP_ROWS)


# -- validation of parameters


def _check_kind(raw: Raw) -> None:
    """Check that it asks for a code, in the query, with plain parameters (OpenID Connect Core §6)."""
    for name in ("request", "request_uri"):
        if single_value(raw, name) is not None:
            raise OAuthFailure(f"{name}_not_supported", f"{name} is not supported here")
    response_type = single_value(raw, "response_type")
    if response_type is None:
        raise _invalid("response_type is needed")
    if response_type != "code":
        raise OAuthFailure("unsupported_response_type", "the only response_type is code")
    if single_value(raw, "response_mode") not in (None, "query"):
        raise _invalid("the only response_mode is query")


def _scopes(client: Client, requested: str | None) -> tuple[list[str], list[str]]:
    """What can be granted, and what is left out. Chosen: unknown scopes are ignored (RFC 6749 §3.3 allows it)."""
    requested = requested if requested is not None and requested.strip() else client.metadata.scope
    if requested is not None and len(requested) > SCOPE_LENGTH_MAX:
        raise OAuthFailure("invalid_scope", f"scope has at most {SCOPE_LENGTH_MAX} characters")
    wanted = ALL_SCOPES.keys() & set(DEFAULT_SCOPES if requested is None else requested.split())
    if client.by_operator and client.metadata.scope is not None:  # RFC 7591 §2: what the client may use
        wanted &= set(client.metadata.scope.split())
    left_out = set() if client.tax_approved else wanted & RESTRICTED
    if wanted == left_out:
        reason = "the client is not approved for them" if left_out else "none of them is known"
        raise OAuthFailure("invalid_scope", f"none of the scopes can be granted: {reason}")
    return ordered(wanted - left_out), ordered(left_out)


def _challenge(raw: Raw) -> str:
    """RFC 7636 §4.3; `plain`, which is also the default, is no protection from somebody who reads the request."""
    challenge = _hash_parameter(raw, "code_challenge")
    if challenge is None:
        raise _invalid("code_challenge is needed (PKCE)")
    if single_value(raw, "code_challenge_method") != "S256":
        raise _invalid("code_challenge_method must be S256")
    return challenge


def _hash_parameter(raw: Raw, name: str) -> str | None:
    value = single_value(raw, name)
    if value is not None and not _HASH.fullmatch(value):
        raise _invalid(f"{name} is a SHA-256 hash, 43 characters of base64url")
    return value


def _nonce(raw: Raw) -> str | None:
    nonce = single_value(raw, "nonce")
    if nonce is not None and len(nonce) > NONCE_LENGTH_MAX:
        raise _invalid(f"nonce has at most {NONCE_LENGTH_MAX} characters")
    return nonce


def _prompts(raw: Raw) -> list[str]:
    prompts = list(dict.fromkeys((single_value(raw, "prompt") or "").split()))
    if any(prompt not in _PROMPTS for prompt in prompts):
        raise _invalid(f"prompt holds some of: {' '.join(_PROMPTS)}")
    if "none" in prompts and len(prompts) > 1:  # OpenID Connect Core §3.1.2.1
        raise _invalid("prompt=none goes with no other value")
    return prompts


def _max_age(raw: Raw) -> int | None:
    value = single_value(raw, "max_age")
    if value is not None and not _SECONDS.fullmatch(value):
        raise _invalid("max_age is a number of seconds")
    return None if value is None else int(value)


def _unknown_client() -> DirectFailure:
    return DirectFailure("invalid_client", "there is no such client: it has to register anew")


def _invalid(description: str) -> OAuthFailure:
    return OAuthFailure("invalid_request", description)
