"""The floor: the daemon's own HTTP driver in front of an application that does nothing."""

import sys
from typing import Any

import trio

from gatewayd.clock import SystemClock
from gatewayd.http.render import refusal
from gatewayd.http1.asgi import App
from gatewayd.http1.server import Server
from gatewayd.http1.settings import ServerSettings


class _Silent:
    def error(self, event: str, **fields: object) -> None:
        print(event, fields, file=sys.stderr)

    debug = error


async def _empty(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


async def serve(app: App) -> None:
    """Serve an application on a free port of loopback, announced on stdout, until the process ends."""
    settings = ServerSettings(bind=("127.0.0.1:0",))
    server = Server(app, settings, refuse=refusal, log=_Silent(), clock=SystemClock())
    async with trio.open_nursery() as nursery:
        addresses = await nursery.start(server.serve)
        print(f"serving {addresses[0]}", flush=True)


if __name__ == "__main__":
    trio.run(serve, _empty)
