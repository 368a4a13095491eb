"""Revocation (RFC 7009): a client gives back what it holds, and the whole grant ends with it."""

from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients import grants
from gatewayd.identity.clients.grants import Grant
from gatewayd.identity.clients.oauth_errors import OAuthFailure, invalid_grant
from gatewayd.identity.clients.oauth_parameters import single_value
from gatewayd.identity.signing.signed_tokens import UntrustedToken
from gatewayd.identity.tokens import access_tokens, refresh_tokens
from gatewayd.oauth.client_authentication import authenticate
from gatewayd.oauth.clients import check_known
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import read_form
from gatewayd.oauth.responses import json_response
from gatewayd.store import ReadTx


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """200 with an empty object, also for a token that is none (RFC 7009 §2.2).

    Chosen: an object where the specification has no body, for clients that read JSON whatever they asked for.

    Raises `OAuthFailure`: `invalid_client`, `invalid_request`, `invalid_grant` for the token of another client.
    """
    form = await read_form(request, receive)
    client_id = await authenticate(parts, request, form)
    token = single_value(form, "token")

    def look(tx: ReadTx) -> Grant | None:
        check_known(tx, client_id)
        if token is None:
            raise OAuthFailure("invalid_request", "token is needed.")
        return grant_of(parts, tx, token)

    grant = await parts.store.read(look)
    if grant is None:
        return json_response(200, {})
    if grant.client_id != client_id:
        raise invalid_grant("The token is another client's.")
    grant_id = grant.id
    await parts.store.write(lambda tx: grants.revoke(tx, grant_id, "client", client_id), grant.org_id)
    return json_response(200, {})


def grant_of(parts: OAuthParts, tx: ReadTx, token: str) -> Grant | None:
    """The grant that a token of either kind hangs on; the hint of its kind is not needed. Expired ones count too."""
    state = refresh_tokens.read_refresh(tx, token)
    if state is not None:
        return state.grant
    try:
        claims = access_tokens.read(parts.keys, token, parts.audiences)
    except UntrustedToken:
        return None
    return grants.find(tx, claims.gid)
