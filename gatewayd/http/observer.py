"""What becomes of an answered request: it is counted, and a line of it stands in the access log.

What stands there of a request's path is a label from a closed set, never the path itself or its query: those of
sign-in and of links hold handles, codes and tokens.
"""

from collections.abc import Callable, Mapping
from typing import Final

import trio

from gatewayd.clock import Clock
from gatewayd.contract.caller import Caller
from gatewayd.http.api import ApiCall
from gatewayd.http.request_counters import NO_OPERATION, RequestCounters
from gatewayd.http1.asgi import App, HttpScope, Receive, ResponseMessage, Send
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.http1.state import AtOnce
from gatewayd.logs import Access, AccessLog

MISDIRECTED: Final = "misdirected"
"""The label of requests for another host."""

Label = Callable[[str], str]
"""The label of a path, one of a few that were fixed when the program was written."""


class Observer:
    """Notes what a daemon answers. Belongs to the event loop's thread; `access` None writes no lines."""

    def __init__(self, clock: Clock, requests: RequestCounters, access: AccessLog | None) -> None:
        self._clock = clock
        self._requests = requests
        self._access = access

    def note_call(self, call: ApiCall, response: Response) -> None:
        """Note what the API answers."""
        operation = call.route.operation.id if call.route else NO_OPERATION
        self._note(operation, response.status, call.request.id, call.started, call.caller)

    def note_misdirected(self, request: Request, response: Response) -> None:
        """Note what is answered to a request for another host, which no application sees."""
        self._note(MISDIRECTED, response.status, request.id, trio.current_time())

    def observe(self, app: App, label: Label) -> App:
        """`app`, each of whose responses is noted when it begins, as those of the API are."""

        async def observed(scope: HttpScope, receive: Receive, send: Send) -> None:
            started = trio.current_time()

            async def noting(message: ResponseMessage) -> None:
                if message["type"] == "http.response.start":
                    self._note(label(scope["path"]), message["status"], scope["request"].id, started)
                await send(message)

            await app(scope, receive, noting)

        return observed

    def observe_at_once(self, at_once: AtOnce, label: Label) -> AtOnce:
        """`at_once`, each of whose responses is noted; what it leaves to the application is not."""

        def observed(request: Request) -> Response | None:
            started = trio.current_time()
            response = at_once(request)
            if response is not None:
                self._note(label(request.path), response.status, request.id, started)
            return response

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
                    milliseconds=round(seconds * 1000, 3),
                    organization=caller.org_id if caller else None,
                    caller=caller.kind if caller else None,
                ),
            )


def label_by_path(labels: Mapping[str, str], otherwise: str) -> Label:
    """By the whole path, and what every other path is called."""
    return lambda path: labels.get(path, otherwise)


def label_all(label: str) -> Label:
    """One label for all."""
    return lambda path: label
