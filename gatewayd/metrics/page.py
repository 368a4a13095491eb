"""The page of numbers, at an address of its own.

A scrape copies the numbers on the event loop and writes the text on a thread. The library is loaded when the page is
made, so that a daemon without `metrics.bind` goes without it.
"""

from typing import Final

import trio

from gatewayd.http.documents import ALLOW_READING, READING, app_of, not_allowed, not_found
from gatewayd.http.router import Router
from gatewayd.http1.header_fields import Headers
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.metrics.exposition import text
from gatewayd.metrics.snapshot import Watched, snapshot
from gatewayd.webhooks.backlog import BacklogReader

PATH: Final = "/metrics"
_HEADERS: Final[Headers] = (
    (b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),
    (b"cache-control", b"no-store"),
)


def page(of: Watched) -> Router:
    """The application of the metrics' own server: the page, and 404 for any other path."""
    import prometheus_client  # noqa: F401 - now, and not when the first scrape waits for it

    one_at_a_time, thread = trio.CapacityLimiter(1), trio.CapacityLimiter(1)
    backlog = BacklogReader(of.store)

    async def respond(request: Request) -> Response:
        if request.method not in READING:
            return not_allowed(request, ALLOW_READING)
        async with one_at_a_time:
            await of.parsing.count_waiting()
            taken = snapshot(of, await backlog.latest())
            return Response(200, _HEADERS, await trio.to_thread.run_sync(text, taken, limiter=thread))

    return Router({PATH: app_of(respond)}, not_found())
