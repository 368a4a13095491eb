"""Introspection (RFC 7662): for resource servers of the instance's own, each of one organization, and for clients.

Chosen: a resource server authenticates with an API key of an owner or administrator that has the scope `access:read`,
and sees the tokens of that key's organization alone; of any other it learns no more than of a token that is none (RFC
7662 §2.2). What a token stands for, and whose it is, is nothing that a key for leads or invoices is given for (RFC 7662
§2.1, §4). A client that the operator registered with a secret or keys authenticates with them, and sees the tokens that
it was given itself.
"""

from typing import Final

from gatewayd.clock import SECOND
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients import grants
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.clients.oauth_parameters import single_value
from gatewayd.identity.signing.signed_tokens import UntrustedToken
from gatewayd.identity.tokens import access_tokens, refresh_tokens
from gatewayd.oauth.client_authentication import authenticate_confidential, shows_client
from gatewayd.oauth.credentials import Challenged, caller_of, insufficient_scope, invalid_token
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import read_form
from gatewayd.oauth.responses import json_response
from gatewayd.store import ReadTx

SCOPE: Final = "access:read"
Introspection = dict[str, object]
_INACTIVE: Introspection = {"active": False}


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """200 with what a token stands for now.

    Raises `Challenged`, or `OAuthFailure`: `invalid_request`, `invalid_client` (401).
    """
    by_token = (request.text(b"authorization") or "").partition(" ")[0].lower() in ("bearer", "dpop")
    seen: tuple[str, str] | None = ("org", await _organization(parts, request)) if by_token else None
    form = await read_form(request, receive)
    if seen is None and shows_client(request, form):
        seen = ("client_id", await authenticate_confidential(parts, request, form))
    if seen is None:
        seen = ("org", await _organization(parts, request))
    token = single_value(form, "token")
    if token is None:
        raise OAuthFailure("invalid_request", "token is needed.")
    introspection = await parts.store.read(lambda tx: _of_refresh(parts, tx, token) or _of_access(parts, tx, token))
    member, own = seen
    return json_response(200, introspection if introspection.get(member) == own else _INACTIVE)


async def _organization(parts: OAuthParts, request: Request) -> str:
    """Whose tokens the key of a resource server shows. Raises `Challenged`."""
    caller = await caller_of(parts, request)
    if caller.kind != "api_key" or not caller.is_admin:
        raise Challenged(invalid_token(parts, "Introspection takes an API key of an owner or administrator."))
    if caller.held is not None:  # tokens are of the whole organization
        raise Challenged(invalid_token(parts, "Introspection takes an API key that is not held."))
    if SCOPE not in caller.scopes:
        raise Challenged(insufficient_scope(parts, SCOPE))
    return caller.org_id


def _of_refresh(parts: OAuthParts, tx: ReadTx, token: str) -> Introspection | None:
    state = refresh_tokens.read_refresh(tx, token)
    if state is None:
        return None
    grant = state.grant
    if state.superseded_at is not None or grant.ended or grant.expires_at <= tx.now:
        return _INACTIVE
    return {
        "active": True,
        "scope": " ".join(sorted(grant.scopes)),
        "client_id": grant.client_id,
        "exp": grant.expires_at // SECOND,
        "sub": grant.user_id,
        "iss": parts.issuer,
        "org": grant.org_id,
    }


def _of_access(parts: OAuthParts, tx: ReadTx, token: str) -> Introspection:
    try:
        claims = access_tokens.read(parts.keys, token, parts.audiences)
    except UntrustedToken:
        return _INACTIVE
    if claims.exp * SECOND <= tx.now or grants.find_live(tx, claims.gid) is None:
        return _INACTIVE
    bound = {} if claims.cnf is None else {"cnf": {"jkt": claims.cnf.jkt}}
    return {
        "active": True,
        "scope": claims.scope,
        "client_id": claims.client_id,
        "token_type": "Bearer" if claims.cnf is None else "DPoP",
        "exp": claims.exp,
        "iat": claims.iat,
        "sub": claims.sub,
        "aud": claims.aud,
        "iss": claims.iss,
        "jti": claims.jti,
        "org": claims.org,
        **bound,
    }
