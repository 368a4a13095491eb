"""Requests as a server hands them to an application."""

from collections.abc import Iterable

from gatewayd.http1.asgi import HttpScope
from gatewayd.http1.request import Address, Request, RequestIds

PEER: Address = ("192.0.2.7", 40000)

_IDS = RequestIds()


def request_of(
    method: str,
    path: str,
    *,
    raw_path: bytes | None = None,
    query: bytes = b"",
    headers: Iterable[tuple[bytes, bytes]] = (),
    client: Address | None = PEER,
) -> Request:
    """A request that has its id. `raw_path` None: the path has nothing to be encoded."""
    raw_path = path.encode() if raw_path is None else raw_path
    target = b"%b?%b" % (raw_path, query) if query else raw_path
    request = Request(method, target.decode("latin-1"), list(headers))
    request.path = path
    request.id = _IDS.next()
    request.client = client
    return request


def scope_of(request: Request) -> HttpScope:
    """The ASGI scope of a request."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.raw_path,
        "query_string": request.query,
        "root_path": "",
        "headers": request.headers,
        "client": request.client,
        "server": None,
        "request": request,
    }
