"""The types of ASGI 3, as the server speaks it and every application of ours answers it."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final, Literal, TypedDict

from gatewayd.http1.header_fields import Header, Headers

if TYPE_CHECKING:
    from gatewayd.http1.request import Address, Request


class AsgiVersions(TypedDict):
    """The ASGI versions the driver speaks."""

    version: str
    spec_version: str


_ASGI: Final[AsgiVersions] = {"version": "3.0", "spec_version": "2.4"}


class HttpScope(TypedDict):
    """An ASGI 3 `http` scope, and the same as a `Request`, which has its id."""

    type: Literal["http"]
    asgi: AsgiVersions
    http_version: str
    method: str
    scheme: str
    path: str
    raw_path: bytes
    query_string: bytes
    root_path: str
    headers: Headers
    client: "Address | None"
    server: tuple[str, int | None] | None
    request: "Request"


class RequestMessage(TypedDict):
    """`http.request` carries body bytes; `http.disconnect` carries none and has only `type`."""

    type: Literal["http.request", "http.disconnect"]
    body: bytes
    more_body: bool


class DisconnectMessage(TypedDict):
    """The peer is gone, or the response is complete."""

    type: Literal["http.disconnect"]


class _ResponseMessageType(TypedDict):
    type: Literal["http.response.start", "http.response.body"]


class ResponseMessage(_ResponseMessageType, total=False):
    """Either half of a response: `status` and `headers` with the start, `body` and `more_body` with the body."""

    status: int
    headers: Iterable[Header]
    body: bytes
    more_body: bool


ReceiveMessage = RequestMessage | DisconnectMessage
Receive = Callable[[], Awaitable[ReceiveMessage]]
Send = Callable[[ResponseMessage], Awaitable[None]]
App = Callable[[HttpScope, Receive, Send], Awaitable[None]]


def http_scope(request: "Request", version: str, server: tuple[str, int | None]) -> HttpScope:
    """The scope of a request over HTTP of a `version`, that came to the address `server`."""
    return {
        "type": "http",
        "asgi": _ASGI,
        "http_version": version,
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.raw_path,
        "query_string": request.query,
        "root_path": "",
        "headers": request.headers,
        "client": request.client,
        "server": server,
        "request": request,
    }
