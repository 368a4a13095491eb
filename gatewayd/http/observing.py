"""What becomes of an answered request: it is counted, and a line of it stands in the access log.

What stands there of a request's path is a label from a closed set, never the path itself or its query: those of
sign-in and of links hold handles, codes and tokens.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import trio

from gatewayd.clock import Clock
from gatewayd.contract.caller import Caller
from gatewayd.http.dispatch import Exchange, Receive, Scope, Send
from gatewayd.http.front import App
from gatewayd.http.metrics import NO_OPERATION, RequestTallies
from gatewayd.http.render import Answer
from gatewayd.http1.asgi import HttpScope
from gatewayd.http1.state import AtOnce, Reply
from gatewayd.logs import Access, AccessLog

Label = Callable[[str], str]
"""The label of a path, one of a few that were fixed when the program was written."""
_REQUEST_ID = b"x-request-id"
_REQUEST_ID_LINE = b"x-request-id: "


class Observer:
    """Notes what a daemon answers. Belongs to the event loop's thread; `access` None writes no lines."""

    def __init__(self, clock: Clock, requests: RequestTallies, access: AccessLog | None) -> None:
        self._clock = clock
        self._requests = requests
        self._access = access

    def answered(self, exchange: Exchange, answer: Answer) -> None:
        """The API answers."""
        operation = exchange.route.operation.id if exchange.route else NO_OPERATION
        self._note(operation, answer.status, exchange.request_id, exchange.started, exchange.caller)

    def watched(self, app: App, label: Label) -> App:
        """`app`, each of whose answers is noted when it begins, as those of the API are."""

        async def observed(scope: Scope, receive: Receive, send: Send) -> None:
            started = trio.current_time()

            async def noting(message: dict[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    headers = list(message["headers"])
                    message = {**message, "headers": headers}
                    self._note(label(scope["path"]), message["status"], _request_id(headers), started)
                await send(message)

            await app(scope, receive, noting)

        return observed

    def watched_at_once(self, at_once: AtOnce, label: Label) -> AtOnce:
        """`at_once`, each of whose answers is noted; what it leaves to the application is not."""

        def observed(scope: HttpScope) -> Reply | None:
            started = trio.current_time()
            reply = at_once(scope)
            if reply is not None:
                _, _, rest = reply.fields.partition(_REQUEST_ID_LINE)
                request_id = rest.partition(b"\r\n")[0].decode("ascii")
                self._note(label(scope["path"]), reply.status, request_id, started)
            return reply

        return observed

    def _note(self, operation: str, status: int, request_id: str, started: float, caller: Caller | None = None) -> None:
        seconds = trio.current_time() - started
        self._requests.note(operation, status, seconds)
        if self._access is not None:
            self._access.add(
                self._clock.now(),
                Access(
                    request_id=request_id,
                    operation=operation,
                    status=status,
                    milliseconds=seconds * 1000,
                    organization=caller.org_id if caller else None,
                    caller=caller.kind if caller else None,
                ),
            )


def labelled(labels: Mapping[str, str], otherwise: str) -> Label:
    """By the whole path, and what every other path is called."""
    return lambda path: labels.get(path, otherwise)


def always(label: str) -> Label:
    """One label for all."""
    return lambda path: label


def _request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    return next((value for name, value in headers if name.lower() == _REQUEST_ID), b"").decode("ascii")
