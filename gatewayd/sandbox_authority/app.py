"""The sandbox authority over HTTP, as an ASGI application."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from gatewayd.messages import Request
from gatewayd.sandbox_authority.authority import SandboxAuthority

BODY_BYTES_MAX: Final = 64 * 1024  # Chosen: nothing but forms is taken

Receive = Callable[[], Awaitable[Any]]
App = Callable[[Any, Any, Any], Awaitable[None]]


def asgi(authority: SandboxAuthority) -> App:
    """The application that answers as the authority does."""

    async def app(scope: Any, receive: Receive, send: Callable[[Any], Awaitable[None]]) -> None:
        query = scope["query_string"]
        target = scope["raw_path"] + (b"?" + query if query else b"")
        request = Request(scope["method"], target.decode("latin-1"), scope["headers"], await _body(receive))
        response = authority.answer(request)
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        await send({"type": "http.response.body", "body": response.body})

    return app


async def _body(receive: Receive) -> bytes:
    """The body; of a longer one the beginning, which no endpoint can make anything of."""
    body = b""
    while len(body) <= BODY_BYTES_MAX:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body
