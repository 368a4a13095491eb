"""The token endpoint (RFC 6749 §3.2, §4.1.3 and §6): a code, or a refresh token, for tokens.

Reads and signatures happen on the loop, and then one write decides. Two requests with the same token may both have
signed; the write lets one of them through and gives the other the answer of the first, or refuses it.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec
import trio

from gatewayd.clock import Instant
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients import grants
from gatewayd.identity.clients.grants import Grant
from gatewayd.identity.clients.oauth_errors import OAuthFailure, invalid_grant
from gatewayd.identity.clients.oauth_parameters import Raw, check_resource, requested_resource, single_value
from gatewayd.identity.people import suspensions, users
from gatewayd.identity.random_tokens import hash_token
from gatewayd.identity.tokens import access_tokens, authorization_codes, id_tokens, refresh_tokens
from gatewayd.identity.tokens.authorization_codes import CodeState, TokenRequest
from gatewayd.identity.tokens.refresh_tokens import RefreshState, Successor
from gatewayd.oauth import dpop
from gatewayd.oauth.client_authentication import authenticate
from gatewayd.oauth.clients import check_known
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import read_form
from gatewayd.oauth.responses import json_response
from gatewayd.store import ReadTx, WriteTx

T = TypeVar("T")


class TokenResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RFC 6749 §5.1. `scope` is always there: it may be less than what was asked for."""

    access_token: str
    token_type: str
    expires_in: int
    scope: str
    refresh_token: str | None = None
    id_token: str | None = None


class _TokenParameters(msgspec.Struct, frozen=True):
    """What tokens are made with, beside the grant."""

    scopes: list[str]
    key_thumbprint: str | None
    refresh_token: str | None
    first: bool


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """200 with tokens. Raises `OAuthFailure` with the errors of RFC 6749 §5.2, RFC 8707 §2 and RFC 9449 §5."""
    form = await read_form(request, receive)
    client_id = await authenticate(parts, request, form)
    grant_type = single_value(form, "grant_type")
    if grant_type is None:
        raise OAuthFailure("invalid_request", "grant_type is needed.")
    if grant_type == "authorization_code":
        return await _redeem(parts, request, form, client_id)
    if grant_type == "refresh_token":
        return await _refresh(parts, request, form, client_id)
    raise OAuthFailure("unsupported_grant_type", "Use authorization_code or refresh_token.")


def _refuse_suspended(tx: ReadTx, grant: Grant | None) -> None:
    """Chosen: as of a service that is away, so that a client keeps what it has until the organization is back."""
    if grant is not None and suspensions.is_suspended(tx, grant.org_id):
        raise OAuthFailure("temporarily_unavailable", "the organization is suspended by whoever runs this server", 503)


async def _redeem(parts: OAuthParts, request: Request, form: Raw, client_id: str) -> Response:
    code = _require(form, "code")
    requested_resource(form, parts.audiences)

    def look(tx: ReadTx) -> CodeState | None:
        code_state = authorization_codes.read_code(tx, code)
        _check_client(tx, client_id, None if code_state is None else code_state.grant)
        _refuse_suspended(tx, None if code_state is None else code_state.grant)
        return code_state

    state = await parts.store.read(look)
    if state is None or state.grant.client_id != client_id:  # another's code is as good as none, and stays as it is
        raise invalid_grant("the code is unknown, or was issued to another client")
    proof = dpop.read_proof(parts, request)
    thumbprint = None if proof is None else proof.thumbprint
    body, refresh_hash = b"", None
    if state.used:
        authorization_codes.check_replay(state, single_value(form, "code_verifier"))
    else:
        body, refresh_hash = await _first_tokens(parts, form, state, thumbprint)
        await dpop.spend(parts, proof)
    failure = await _write(parts, lambda tx: authorization_codes.redeem_code(tx, state, refresh_hash, thumbprint))
    if failure is not None:
        raise failure
    return json_response(200, body)


async def _first_tokens(
    parts: OAuthParts, form: Raw, state: CodeState, thumbprint: str | None
) -> tuple[bytes, bytes | None]:
    """The answer to a code that has not been used, and the hash of the refresh token in it."""
    now = Instant(parts.store.now())
    presented = TokenRequest(
        client_id=state.grant.client_id,
        redirect_uri=single_value(form, "redirect_uri"),
        code_verifier=single_value(form, "code_verifier"),
        key_thumbprint=thumbprint,
    )
    authorization_codes.check_code(state, presented, now)
    check_resource(form, state.grant.resource, parts.audiences)
    scopes = grants.narrow(state.grant, None)  # a code has no `scope` beside it (RFC 6749 §4.1.3)
    refresh = refresh_tokens.make_token() if "offline_access" in state.grant.scopes else None
    body = await _token_response(parts, state.grant, _TokenParameters(scopes, thumbprint, refresh, first=True), now)
    return body, None if refresh is None else hash_token(refresh)


async def _refresh(parts: OAuthParts, request: Request, form: Raw, client_id: str) -> Response:
    token = _require(form, "refresh_token")
    requested_resource(form, parts.audiences)
    grace = parts.refresh_grace_seconds

    def look(tx: ReadTx) -> tuple[RefreshState | None, str | None]:
        refresh_state = refresh_tokens.read_refresh(tx, token)
        _check_client(tx, client_id, None if refresh_state is None else refresh_state.grant)
        _refuse_suspended(tx, None if refresh_state is None else refresh_state.grant)
        return refresh_state, None if refresh_state is None else refresh_tokens.stored_response(
            tx, refresh_state, grace
        )

    state, given_before = await parts.store.read(look)
    if state is None:
        raise invalid_grant("the refresh token is unknown")
    proof = dpop.read_proof(parts, request)
    thumbprint = None if proof is None else proof.thumbprint
    refresh_tokens.check_refresh(state, client_id, thumbprint, Instant(parts.store.now()))
    check_resource(form, state.grant.resource, parts.audiences)
    scopes = grants.narrow(state.grant, single_value(form, "scope"))
    await dpop.spend(parts, proof)
    if given_before is not None:
        return json_response(200, given_before.encode())
    successor = await _successor(parts, state, scopes, thumbprint) if state.superseded_at is None else None
    decided = await _write(parts, lambda tx: refresh_tokens.rotate(tx, state, successor, grace))
    if isinstance(decided, OAuthFailure):
        raise decided
    return json_response(200, decided.encode())


async def _successor(parts: OAuthParts, state: RefreshState, scopes: list[str], thumbprint: str | None) -> Successor:
    token = refresh_tokens.make_token()
    parameters = _TokenParameters(scopes, thumbprint, token, first=False)
    body = await _token_response(parts, state.grant, parameters, Instant(parts.store.now()))
    return Successor(hash_token(token), body.decode())


async def _token_response(parts: OAuthParts, grant: Grant, parameters: _TokenParameters, now: Instant) -> bytes:
    access = access_tokens.mint(
        parts.keys,
        grant,
        access_tokens.AccessTokenParameters(parts.issuer, parameters.scopes, parameters.key_thumbprint, now),
    )
    id_token = None
    if "openid" in parameters.scopes:
        user = await parts.store.read(lambda tx: users.get(tx, grant.user_id))
        person = id_tokens.person_claims(user, parameters.scopes)
        id_token = id_tokens.mint(
            parts.keys, grant, id_tokens.IdTokenParameters(parts.issuer, access, parameters.first, person, now)
        )
    body = TokenResponse(
        access_token=access,
        token_type="Bearer" if parameters.key_thumbprint is None else "DPoP",
        expires_in=access_tokens.EXPIRES_IN_SECONDS,
        scope=" ".join(parameters.scopes),
        refresh_token=parameters.refresh_token,
        id_token=id_token,
    )
    return msgspec.json.encode(body)


def _check_client(tx: ReadTx, client_id: str, grant: Grant | None) -> None:
    """Raises `OAuthFailure` `invalid_client`. A grant of the client's that has not ended says that it is known."""
    if grant is None or grant.ended or grant.client_id != client_id:
        check_known(tx, client_id)


async def _write(parts: OAuthParts, work: Callable[[WriteTx], T]) -> T:
    """Write it, once all who came at the same time have signed: then one commit takes them all."""
    await trio.lowlevel.checkpoint()
    return await parts.store.write(work)


def _require(form: Raw, name: str) -> str:
    value = single_value(form, name)
    if value is None:
        raise OAuthFailure("invalid_request", f"{name} is needed.")
    return value
