"""UserInfo (OpenID Connect Core §5.3): who an access token was given by."""

from gatewayd.contract.caller import Caller
from gatewayd.http1 import bodies
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.clients.oauth_parameters import single_value
from gatewayd.identity.people import users
from gatewayd.identity.tokens.id_tokens import person_claims
from gatewayd.oauth.credentials import Challenged, caller_of, insufficient_scope, invalid_token
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import FORM, read_form, read_query, refuse_credentials
from gatewayd.oauth.responses import json_response


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """200 with the claims that the scopes open. The token comes in the header, or in a form (RFC 6750 §2.2).

    Raises `Challenged`, or `OAuthFailure` `invalid_request` for a token in the address or in two places.
    """
    in_form = await _token_of_form(request, receive)
    caller = await caller_of(parts, request, in_form)
    user_id = _require_user(parts, caller)
    user = await parts.store.read(lambda tx: users.get(tx, user_id))
    return json_response(200, {"sub": user.id, **person_claims(user, caller.scopes)})


async def _token_of_form(request: Request, receive: Receive) -> str | None:
    """The token in a form; None: there is no form, or it has none."""
    if request.method != "POST" or bodies.media_type(request) != FORM:
        refuse_credentials(read_query(request))
        return None
    token = single_value(await read_form(request, receive), "access_token")
    if token is not None and request.text(b"authorization") is not None:
        raise OAuthFailure("invalid_request", "Send the token in one place.")  # RFC 6750 §2
    return token


def _require_user(parts: OAuthParts, caller: Caller) -> str:
    if caller.kind != "access_token" or caller.user_id is None:
        raise Challenged(invalid_token(parts, "UserInfo takes an access token."))
    if "openid" not in caller.scopes:
        raise Challenged(insufficient_scope(parts, "openid"))
    return caller.user_id
