"""The authorization endpoint (RFC 6749 §3.1 and §4.1.1, OpenID Connect Core §3.1.2, RFC 9126 §4).

It checks a request, keeps it, and sends the browser to the console's pages, where a person signs in, chooses an account
and consents. What is wrong is sent back to the client only once the address is known to be the client's.
"""

from http.cookies import CookieError, SimpleCookie

import msgspec

from gatewayd.clock import Instant
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients import grants, oauth_clients
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.identity.clients.oauth_parameters import single_value
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.tokens import authorizations
from gatewayd.identity.tokens.authorizations import AuthorizationParameters, Target
from gatewayd.oauth.addresses import CHOOSE_PAGE, REQUEST_URI_PREFIX
from gatewayd.oauth.clients import load_client
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import read_form, read_query
from gatewayd.oauth.responses import authorization_error, leaving_page, redirect
from gatewayd.store import ReadTx, WriteTx


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """303: to the page that goes on, or back to the client with an error.

    Raises `DirectFailure` or `OAuthFailure` for what must be shown here (RFC 6749 §4.1.2.1).
    """
    raw = await read_form(request, receive) if request.method == "POST" else read_query(request)
    client_id, request_uri = single_value(raw, "client_id"), single_value(raw, "request_uri")
    if request_uri is not None and request_uri.startswith(REQUEST_URI_PREFIX):
        return await _take_pushed(parts, request, client_id, request_uri.removeprefix(REQUEST_URI_PREFIX))
    client = await load_client(parts, client_id, request.peer)
    to = authorizations.target(client, raw)
    try:
        parameters = authorizations.check(client, raw, parts.audiences)
    except OAuthFailure as failure:
        return await _refuse(parts, request, to, failure, client_id)
    if (refusal := await _refuse_silence(parts, request, parameters)) is not None:
        return authorization_error(to, refusal, parts.issuer)
    parts.storage.charge(request.peer, len(msgspec.json.encode(parameters)), Instant(parts.store.now()))
    return _send_to_console(await parts.store.write(lambda tx: _save(tx, parameters)))


async def _take_pushed(parts: OAuthParts, request: Request, client_id: str | None, handle: str) -> Response:
    """A request that was pushed serves once: what goes on has a handle of its own (RFC 9126 §4).

    Its row stands in the place of the other, which was charged for.
    """
    pending = await parts.store.read(lambda tx: authorizations.load(tx, handle))
    if pending is None or not pending.pushed or pending.parameters.client_id != client_id:
        raise _gone_failure()
    parameters = pending.parameters

    def take(tx: WriteTx) -> str | None:
        return _save(tx, parameters) if authorizations.drop(tx, handle) else None

    if (refusal := await _refuse_silence(parts, request, parameters)) is not None:
        return authorization_error(Target(parameters.redirect_uri, parameters.state), refusal, parts.issuer)
    kept = await parts.store.write(take)
    if kept is None:
        raise _gone_failure()
    return _send_to_console(kept)


def _save(tx: WriteTx, parameters: AuthorizationParameters) -> str:
    client = oauth_clients.find(tx, parameters.client_id)
    if client is None or client.revoked:  # it was swept or revoked since it was read
        raise DirectFailure("invalid_client", "there is no such client: it has to register anew")
    return authorizations.save(tx, parameters, pushed=False)


async def _refuse(
    parts: OAuthParts, request: Request, to: Target, failure: OAuthFailure, client_id: str | None
) -> Response:
    """The error to the client: at once, or by a page where that would send a person to a stranger's site.

    Anybody may register an address, and then have browsers sent there from ours (RFC 9700 §4.11.2). Chosen: a page for
    a browser that is led to a site, unless whoever is signed in with it has let the client in. Only `prompt=none` is
    answered at once: a client waits for it in a frame that nobody sees (the exception of RFC 9700 §4.11.2).
    """
    is_browser = b"text/html" in request.fields.get(b"accept", b"")
    leads_to_site = to.redirect_uri.startswith("https:")
    if is_browser and leads_to_site and not await parts.store.read(lambda tx: _trusts(parts, request, tx, client_id)):
        return leaving_page(to, failure, parts.issuer)
    return authorization_error(to, failure, parts.issuer)


def _trusts(parts: OAuthParts, request: Request, tx: ReadTx, client_id: str | None) -> bool:
    user_id = _signed_in_user(parts, request, tx)
    return user_id is not None and client_id is not None and grants.has_granted(tx, user_id, client_id)


def _send_to_console(handle: str) -> Response:
    return redirect(f"{CHOOSE_PAGE}?request={handle}")


def _gone_failure() -> DirectFailure:
    return DirectFailure("invalid_request", "request_uri is unknown, has expired, or was used already")


async def _refuse_silence(
    parts: OAuthParts, request: Request, parameters: AuthorizationParameters
) -> OAuthFailure | None:
    """Why `prompt=none` is refused: the account chooser always appears (Spec §5). None: it was not asked for."""
    if "none" not in parameters.prompt:
        return None
    if await parts.store.read(lambda tx: _signed_in_user(parts, request, tx)) is not None:
        return OAuthFailure("account_selection_required", "the person always chooses the account here")
    return OAuthFailure("login_required", "nobody is signed in")


def _signed_in_user(parts: OAuthParts, request: Request, tx: ReadTx) -> str | None:
    """The user who is signed in with this browser; None: nobody is."""
    try:
        cookies = SimpleCookie(request.text(b"cookie") or "")
    except CookieError:
        return None
    tokens = [cookies[name].value for name in parts.session_cookies if name in cookies]
    open_sessions = (sessions.find(tx, token) for token in tokens)
    return next((session.user_id for session in open_sessions if session is not None), None)
