"""`/calendar/<token>.ics`: deadlines for calendar programs, which send no credential but the address itself.

An address that is unknown, revoked or no address at all is answered alike, and a look-up is by the hash of what was
sent, so that nothing is told of what is stored.
"""

import hashlib
from typing import Final

import trio

from gatewayd.areas.periods import feed_content, icalendar
from gatewayd.areas.periods.feeds import ENDING, PATH
from gatewayd.areas.periods.icalendar import Deadline
from gatewayd.errors import Problem
from gatewayd.http.documents import ALLOW_READING, READING, app_of, not_allowed
from gatewayd.http.render import problem
from gatewayd.http1.asgi import App
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity import calendar_feeds
from gatewayd.store import ReadTx, Store, StoreFailure

TOKEN_MAX: Final = 100  # characters; ours have half as many
LABEL: Final = "calendar"
"""What logs and metrics call it: its path holds a token."""
_CACHING: Final[tuple[Header, ...]] = (
    (b"cache-control", b"private, no-cache"),  # may be kept by the reader, and is asked about each time
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_TYPE: Final[Header] = (b"content-type", icalendar.MEDIA_TYPE.encode())


def calendar_app(store: Store, alarm_days: int) -> App:
    """An application for every path below `PATH`; `alarm_days` is how long before each day calendars remind of it."""
    thread = trio.CapacityLimiter(1)

    async def respond(request: Request) -> Response:
        request.read_fields()
        if request.method not in READING:
            return not_allowed(request, ALLOW_READING)
        token = _token_of(request.path)

        def look(tx: ReadTx) -> tuple[str, list[Deadline]] | None:
            feed = calendar_feeds.find(tx, token)
            return None if feed is None else (feed.name, feed_content.deadlines(tx, feed))

        try:
            found = await store.read(look)
        except StoreFailure:
            return problem(Problem("unavailable", "The store cannot be read now."), request.id)
        if found is None:
            return problem(Problem("not_found", "There is nothing at this path."), request.id)
        body = await trio.to_thread.run_sync(icalendar.render, *found, alarm_days, limiter=thread)
        return _answer(request, body)

    return app_of(respond)


def _token_of(path: str) -> str:
    """What stands between the beginning and the end of a path; empty where that could be no token."""
    inner = path.removeprefix(PATH)
    token = inner.removesuffix(ENDING)
    return token if inner.endswith(ENDING) and len(token) <= TOKEN_MAX else ""


def _answer(request: Request, body: bytes) -> Response:
    tag = b'"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
    fields = (_TYPE, *_CACHING, (b"etag", tag))
    asked = [each.strip().removeprefix(b"W/") for each in request.fields.get(b"if-none-match", b"").split(b",")]
    if tag in asked or asked == [b"*"]:  # RFC 9110 §13.1.2
        return Response(304, fields)
    return Response(200, fields, body)
