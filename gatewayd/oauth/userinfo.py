"""UserInfo (OpenID Connect Core §5.3): who an access token was given by."""

from gatewayd.contract.caller import Caller
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity import users
from gatewayd.identity.users import User
from gatewayd.oauth.credentials import Challenged, caller_of, insufficient_scope, invalid_token
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import read_query, refuse_credentials
from gatewayd.oauth.responses import json_response
from gatewayd.store import ReadTx


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """200 with claims. Raises `Challenged`; the token is taken from the `Authorization` header alone."""
    refuse_credentials(read_query(request))
    caller, user = parts.store.read_now(lambda tx: _caller_and_user(parts, request, tx), None)
    return json_response(200, {"sub": caller.user_id, "name": user.name, "email": user.email})


def _caller_and_user(parts: OAuthParts, request: Request, tx: ReadTx) -> tuple[Caller, User]:
    caller = caller_of(parts, request, tx)
    if caller.kind != "access_token" or caller.user_id is None:
        raise Challenged(invalid_token(parts, "UserInfo takes an access token."))
    if "openid" not in caller.scopes:
        raise Challenged(insufficient_scope(parts, "openid"))
    return caller, users.get(tx, caller.user_id)
