"""RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0 §2): the person confirms it on a page of the console."""

from urllib.parse import quote, urlencode

from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients import sign_outs
from gatewayd.identity.clients.oauth_parameters import Raw, single_value
from gatewayd.identity.signing.signed_tokens import UntrustedToken
from gatewayd.identity.tokens import id_tokens
from gatewayd.oauth.addresses import SIGN_OUT_PAGE
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import read_form, read_query
from gatewayd.oauth.responses import redirect


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """303 to the page that asks. Raises `DirectFailure`, or `OAuthFailure` for a malformed request."""
    raw = await read_form(request, receive) if request.method == "POST" else read_query(request)
    hinted = _hinted_client(parts, raw)
    sign_out = await parts.store.read(lambda tx: sign_outs.check(tx, raw, hinted))
    query = urlencode(sign_out.parameters, quote_via=quote)
    return redirect(f"{SIGN_OUT_PAGE}?{query}" if query else SIGN_OUT_PAGE)


def _hinted_client(parts: OAuthParts, raw: Raw) -> str | None:
    """Chosen: a hint that cannot be verified is none; its key may be gone, and the person is asked in any case."""
    hint = single_value(raw, "id_token_hint")
    if hint is None:
        return None
    try:
        return id_tokens.read_hint(parts.keys, hint, parts.issuer).aud
    except UntrustedToken:
        return None
