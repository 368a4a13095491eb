"""The door: from a path to its endpoint, and from whatever goes wrong to an answer."""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from gatewayd.clock import Instant
from gatewayd.identity.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.oauth import addresses as at
from gatewayd.oauth import authorize, introspect, logout, metadata, par, register, revoke, token, userinfo
from gatewayd.oauth.answers import (
    ALLOWED_HEADERS,
    CORS,
    PREFLIGHT_SECONDS,
    Answer,
    Headers,
    nothing,
    page,
    refusal,
)
from gatewayd.oauth.credentials import Challenged
from gatewayd.oauth.documents import Document, document
from gatewayd.oauth.jwks import KeySet
from gatewayd.oauth.pace import Pace
from gatewayd.oauth.parts import Endpoint, OAuthParts
from gatewayd.oauth.requests import Receive, Scope, Send, incoming
from gatewayd.store import OverBudget, StoreFailure

ENDPOINTS: Mapping[str, Endpoint] = {
    at.AUTHORIZE: Endpoint(("GET", "POST"), authorize.respond, for_browsers=True, paced=True),
    at.LOGOUT: Endpoint(("GET", "POST"), logout.respond, for_browsers=True),
    at.TOKEN: Endpoint(("POST",), token.respond),
    at.REGISTER: Endpoint(("POST",), register.respond, paced=True),
    at.REVOKE: Endpoint(("POST",), revoke.respond),
    at.INTROSPECT: Endpoint(("POST",), introspect.respond),
    at.PAR: Endpoint(("POST",), par.respond, paced=True),
    at.USERINFO: Endpoint(("GET", "POST"), userinfo.respond),
}
_READING = ("GET", "HEAD")
_RETRY_AFTER = (b"retry-after", b"1")
_NEXT_MINUTE = (b"retry-after", b"60")


class OAuthApp:
    """The ASGI callable of `PREFIX` and of `paths`."""

    def __init__(self, parts: OAuthParts) -> None:
        self._parts = parts
        served = {
            path: document(body, metadata.FRESH_SECONDS) for path, body in metadata.documents(parts.issuer).items()
        }
        self._documents: dict[str, Callable[[], Document]] = {path: _always(shown) for path, shown in served.items()}
        self._documents[at.JWKS] = KeySet(parts.keys)
        self._pace = Pace()
        self._boot = secrets.token_hex(4)
        self._count = 0

    @property
    def paths(self) -> frozenset[str]:
        """The paths of documents, some of which do not begin with `PREFIX`."""
        return frozenset(self._documents)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._answer(scope, receive)
        headers = [*answer.headers, (b"x-request-id", self._request_id())]
        if answer.status != 204:  # RFC 9110 §8.6
            headers.append((b"content-length", b"%d" % len(answer.body)))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer.body})

    def at_once(self, scope: Mapping[str, Any]) -> tuple[int, bytes, bytes] | None:
        """Status, rendered header lines and body of what needs no waiting; None for all else. Never raises."""
        find = self._documents.get(scope["path"])
        if find is None or scope["method"] not in _READING:
            return None
        shown = find()
        return 200, b"%bx-request-id: %b\r\n" % (shown.lines, self._request_id()), shown.body

    def _request_id(self) -> bytes:
        self._count += 1
        return f"req_{self._boot}{self._count:08x}".encode()

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        path, method = scope["path"], scope["method"]
        find = self._documents.get(path)
        if find is not None:
            return _of_document(find(), method)
        endpoint = ENDPOINTS.get(path)
        if endpoint is None:
            return refusal(OAuthFailure("invalid_request", "there is nothing at this path", 404))
        answer = await self._respond(endpoint, scope, receive)
        return answer if endpoint.for_browsers else answer._replace(headers=(*answer.headers, *CORS))

    async def _respond(self, endpoint: Endpoint, scope: Scope, receive: Receive) -> Answer:
        method = scope["method"]
        if method == "OPTIONS" and not endpoint.for_browsers:
            return _preflight(endpoint.methods)
        if method not in endpoint.methods:
            return _not_allowed(endpoint.methods)
        try:
            request = incoming(scope, receive)
            if endpoint.paced:
                self._pace.take(request.peer, Instant(self._parts.store.now()))
            return await endpoint.respond(self._parts, request)
        except Challenged as challenged:
            return challenged.answer
        except (OAuthFailure, DirectFailure) as failure:
            return _told(endpoint, scope, failure)
        except (StoreFailure, OverBudget) as error:
            self._parts.log.error("store_failed", path=scope["path"], exc_info=error)
            return _told(endpoint, scope, _unavailable(), _RETRY_AFTER)
        except Exception as error:  # the request border: one request fails, the daemon goes on
            self._parts.log.error("request_failed", path=scope["path"], exc_info=error)
            return _told(endpoint, scope, OAuthFailure("server_error", "the error was recorded", 500))


def _always(shown: Document) -> Callable[[], Document]:
    return lambda: shown


def _unavailable() -> OAuthFailure:
    return OAuthFailure("temporarily_unavailable", "the database cannot do it now: try again", 503)


def _told(
    endpoint: Endpoint, scope: Scope, failure: OAuthFailure | DirectFailure, *headers: tuple[bytes, bytes]
) -> Answer:
    """A page for a person, JSON for a program."""
    fields = dict(scope["headers"])
    if failure.status == 429:
        headers = (*headers, _NEXT_MINUTE)
    if endpoint.for_browsers and b"text/html" in fields.get(b"accept", b""):
        answer = page(failure)
        return answer._replace(headers=(*answer.headers, *headers))
    if failure.status == 401 and b"authorization" in fields:  # RFC 6749 §5.2
        headers = (*headers, (b"www-authenticate", b'Basic realm="OAuth clients"'))
    return refusal(failure, *headers)


def _of_document(shown: Document, method: str) -> Answer:
    if method in _READING:
        return Answer(200, shown.headers, shown.body)
    if method == "OPTIONS":
        return _with_cors(_preflight(("GET",)))
    return _with_cors(_not_allowed(("GET",)))


def _with_cors(answer: Answer) -> Answer:
    return answer._replace(headers=(*answer.headers, *CORS))


def _preflight(methods: tuple[str, ...]) -> Answer:
    listed = ", ".join((*methods, "OPTIONS")).encode()
    headers: Headers = (
        (b"allow", listed),
        (b"access-control-allow-methods", ", ".join(methods).encode()),
        (b"access-control-allow-headers", ALLOWED_HEADERS),
        (b"access-control-max-age", PREFLIGHT_SECONDS),
    )
    return nothing(204, *headers)


def _not_allowed(methods: tuple[str, ...]) -> Answer:
    failure = OAuthFailure("invalid_request", f"use {' or '.join(methods)} here", 405)
    return refusal(failure, (b"allow", ", ".join(methods).encode()))
