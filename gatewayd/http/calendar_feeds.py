"""`/calendar/<token>.ics`: deadlines for calendar programs, which send no credential but the address itself.

An address that is unknown, revoked or no address at all is answered alike, and a look-up is by the hash of what was
sent, so that nothing is told of what is stored. An address that is known is held to the rate of a credential.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

import trio

from gatewayd.errors import Problem
from gatewayd.http.documents import ALLOW_READING, READING, app_of, not_allowed
from gatewayd.http.render import problem
from gatewayd.http.requests import has_already
from gatewayd.http1.asgi import App
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.keys import calendar_feeds
from gatewayd.identity.keys.calendar_feeds import OpenFeed
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import ReadTx, Store, StoreFailure

TOKEN_MAX: Final = 100  # characters; ours have half as many
COST: Final = 10  # Chosen: of the rate limit, as it takes more than a small read
KEPT_BYTES: Final = 1 << 20  # Chosen: calendars of some hundred feeds, until the next commit
_RETRY: Final = ((b"retry-after", b"1"),)
LABEL: Final = "calendar"
"""What logs and metrics call it: its path holds a token."""
_CACHING: Final[tuple[Header, ...]] = (
    (b"cache-control", b"private, no-cache"),  # may be kept by the reader, and is asked about each time
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


T = TypeVar("T")


@dataclass(frozen=True)
class FeedContent(Generic[T]):
    """What the door is told of those feeds.

    `path` is what their addresses begin with, and `ending` what stands behind the token. `read` looks up what a feed
    says, and `render(name, found, alarm_days)` writes it down as `media_type`; that is pure, and runs on a thread.
    """

    path: str
    ending: str
    media_type: str
    read: Callable[[ReadTx, OpenFeed], list[T]]
    render: Callable[[str, list[T], int], bytes]


class _Calendars:
    """The calendars of feeds as the newest state of the database has them: who asks again costs a look at the feed."""

    def __init__(self, store: Store, content: FeedContent[Any], alarm_days: int) -> None:
        self._store = store
        self._content = content
        self._alarm_days = alarm_days
        self._thread = trio.CapacityLimiter(1)
        self._state: tuple[int, str] | None = None
        self._bytes = 0
        self._kept: dict[OpenFeed, bytes] = {}

    async def find(self, token: str) -> tuple[OpenFeed, tuple[int, str] | None] | None:
        """The feed that a token opens, with the state of the store and the day it was looked up in; None: not known.

        Raises `StoreFailure`.
        """

        def look(tx: ReadTx) -> tuple[OpenFeed, tuple[int, str] | None] | None:
            feed = calendar_feeds.find(tx, token)
            if feed is None:
                return None
            return feed, None if tx.version is None else (tx.version, tx.today)

        return await self._store.read(look)

    async def calendar(self, feed: OpenFeed, state: tuple[int, str] | None) -> bytes:
        """What a feed says in a state or a later one. Raises `StoreFailure`."""
        if state is not None and state == self._state and feed in self._kept:
            return self._kept[feed]
        content = await self._store.read(lambda tx: self._content.read(tx, feed), feed.org_id)
        render = partial(self._content.render, feed.name, content, self._alarm_days)
        body = await trio.to_thread.run_sync(render, limiter=self._thread)
        if state is not None and len(body) <= KEPT_BYTES:
            if state != self._state or self._bytes + len(body) > KEPT_BYTES:
                self._state, self._bytes, self._kept = state, 0, {}
            self._kept[feed] = body
            self._bytes += len(body)
        return body


def calendar_app(store: Store, limits: RateLimits, content: FeedContent[Any], alarm_days: int) -> App:
    """An application for the paths of feeds; `alarm_days` is how long before each day calendars remind of it."""
    calendars = _Calendars(store, content, alarm_days)
    media_type: Header = (b"content-type", content.media_type.encode())

    async def answer(request: Request) -> Response:
        opened = await calendars.find(_token_of(request.path, content))
        if opened is None:
            raise Problem("not_found", "There is nothing at this path.")
        feed, state = opened
        with limits.charged(feed.id, COST, trio.current_time()):
            return _answer(request, await calendars.calendar(feed, state), media_type)

    async def respond(request: Request) -> Response:
        request.read_fields()
        if request.method not in READING:
            return not_allowed(request, ALLOW_READING)
        try:
            return await answer(request)
        except Problem as error:
            return problem(error, request.id)
        except StoreFailure:
            return problem(Problem("unavailable", "The store cannot be read now.", headers=_RETRY), request.id)

    return app_of(respond)


def _token_of(path: str, content: FeedContent[Any]) -> str:
    """What stands between the beginning and the end of a path; empty where that could be no token."""
    inner = path.removeprefix(content.path)
    token = inner.removesuffix(content.ending)
    return token if inner.endswith(content.ending) and len(token) <= TOKEN_MAX else ""


def _answer(request: Request, body: bytes, media_type: Header) -> Response:
    tag = b'"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
    fields = (media_type, *_CACHING, (b"etag", tag))
    if has_already(request, tag):
        return Response(304, fields)
    return Response(200, fields, body)
