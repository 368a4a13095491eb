"""The OAuth door: from a path to its endpoint, and from whatever goes wrong to a response."""

from collections.abc import Callable, Mapping

from gatewayd.clock import Instant
from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.cors import preflight_headers
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.oauth import addresses as at
from gatewayd.oauth import authorize, introspect, logout, metadata, par, register, revoke, token, userinfo
from gatewayd.oauth.credentials import Challenged
from gatewayd.oauth.metadata import KeySet
from gatewayd.oauth.parts import Endpoint, OAuthParts
from gatewayd.oauth.rate_limit import NetworkRateLimit
from gatewayd.oauth.requests import read_fields
from gatewayd.oauth.responses import CORS, empty, error_page, error_response
from gatewayd.oauth.storage_budget import StorageBudget
from gatewayd.store import OverBudget, StoreFailure

ENDPOINTS: Mapping[str, Endpoint] = {
    at.AUTHORIZE: Endpoint(("GET", "POST"), authorize.respond, for_browsers=True, rate_limited=True),
    at.LOGOUT: Endpoint(("GET", "POST"), logout.respond, for_browsers=True),
    at.TOKEN: Endpoint(("POST",), token.respond),
    at.REGISTER: Endpoint(("POST",), register.respond, rate_limited=True),
    at.REVOKE: Endpoint(("POST",), revoke.respond),
    at.INTROSPECT: Endpoint(("POST",), introspect.respond),
    at.PAR: Endpoint(("POST",), par.respond, rate_limited=True),
    at.USERINFO: Endpoint(("GET", "POST"), userinfo.respond),
}
_READING = ("GET", "HEAD")
_ALLOWED_HEADERS = (b"authorization", b"content-type", b"dpop", b"mcp-protocol-version")
_RETRY_AFTER: Header = (b"retry-after", b"1")


class OAuthApp:
    """The ASGI callable of `PREFIX` and of `paths`."""

    def __init__(self, parts: OAuthParts) -> None:
        self._parts = parts
        self._documents: dict[str, Callable[[], Response]] = {
            path: _always(response) for path, response in metadata.documents(parts.audiences).items()
        }
        self._documents[at.JWKS] = KeySet(parts.keys)
        self._rate_limit = NetworkRateLimit()

    @property
    def paths(self) -> frozenset[str]:
        """The paths of documents, some of which do not begin with `PREFIX`."""
        return frozenset(self._documents)

    @property
    def storage(self) -> StorageBudget:
        """What was stored for who shows no credential."""
        return self._parts.storage

    def divide(self, daemons: int) -> None:
        """So many serve from now on: each has its share of what may be left behind without a credential."""
        self._rate_limit.divide(daemons)
        self._parts.storage.divide(daemons)

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        request = scope["request"]
        await send_response(request, await self._respond(request, receive), send)

    def at_once(self, request: Request) -> Response | None:
        """What needs no waiting; None for all else. Never raises."""
        find = self._documents.get(request.path)
        return None if find is None or request.method not in _READING else find()

    async def _respond(self, request: Request, receive: Receive) -> Response:
        find = self._documents.get(request.path)
        if find is not None:
            return _of_document(find(), request.method)
        endpoint = ENDPOINTS.get(request.path)
        if endpoint is None:
            return error_response(OAuthFailure("invalid_request", "there is nothing at this path", 404))
        response = await self._of_endpoint(endpoint, request, receive)
        return response if endpoint.for_browsers else response.plus(CORS)

    async def _of_endpoint(self, endpoint: Endpoint, request: Request, receive: Receive) -> Response:
        if request.method == "OPTIONS" and not endpoint.for_browsers:
            return _preflight(endpoint.methods)
        if request.method not in endpoint.methods:
            return _not_allowed(endpoint.methods)
        try:
            read_fields(request)
            if endpoint.rate_limited:
                self._rate_limit.take(request.peer, Instant(self._parts.store.now()))
            return await endpoint.respond(self._parts, request, receive)
        except Challenged as challenged:
            return challenged.response
        except (OAuthFailure, DirectFailure) as failure:
            return _refuse(endpoint, request, failure)
        except (StoreFailure, OverBudget) as error:
            self._parts.log.error("store_failed", path=request.path, exc_info=error)
            return _refuse(endpoint, request, _unavailable(), _RETRY_AFTER)
        except Exception as error:  # the request border: one request fails, the daemon goes on
            self._parts.log.error("request_failed", path=request.path, exc_info=error)
            return _refuse(endpoint, request, OAuthFailure("server_error", "the error was recorded", 500))


def _always(response: Response) -> Callable[[], Response]:
    return lambda: response


def _unavailable() -> OAuthFailure:
    return OAuthFailure("temporarily_unavailable", "the database cannot do it now: try again", 503)


def _refuse(endpoint: Endpoint, request: Request, failure: OAuthFailure | DirectFailure, *headers: Header) -> Response:
    """A page for a person, JSON for a program."""
    if failure.status == 429 and isinstance(failure, OAuthFailure):
        headers = (*headers, (b"retry-after", b"%d" % failure.retry_seconds))
    if endpoint.for_browsers and b"text/html" in request.fields.get(b"accept", b""):
        return error_page(failure, *headers)
    if failure.status == 401 and b"authorization" in request.fields:  # RFC 6749 §5.2
        headers = (*headers, (b"www-authenticate", b'Basic realm="OAuth clients"'))
    return error_response(failure, *headers)


def _of_document(response: Response, method: str) -> Response:
    if method in _READING:
        return response
    return (_preflight(("GET",)) if method == "OPTIONS" else _not_allowed(("GET",))).plus(CORS)


def _preflight(methods: tuple[str, ...]) -> Response:
    allow = (b"allow", ", ".join((*methods, "OPTIONS")).encode())
    return empty(204, allow, *preflight_headers(methods, _ALLOWED_HEADERS))


def _not_allowed(methods: tuple[str, ...]) -> Response:
    failure = OAuthFailure("invalid_request", f"use {' or '.join(methods)} here", 405)
    return error_response(failure, (b"allow", ", ".join(methods).encode()))
