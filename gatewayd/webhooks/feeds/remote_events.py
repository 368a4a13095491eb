"""Events of another machine's daemon: read over its API by events.list, with a key, as they happen."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import msgspec
import trio

from gatewayd.clock import Instant, from_wire, to_wire
from gatewayd.webhooks.feeds.event_log import MAX_WAIT_SECONDS
from gatewayd.webhooks.feeds.relay import PAGE, RecordedEvent

PATH: Final = "/api/rpc/events"
FIRST_WAIT: Final = 1.0  # Chosen: seconds after the first failure, then twice as long each time
LONGEST_WAIT: Final = 30.0
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which the same may be asked again."""


class FeedRefused(Exception):
    """The daemon will not answer this, for the reason it gives."""


@asynccontextmanager
async def connected(url: str, key: str, user_agent: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the daemon at an address, which shows a key. Raises `FeedRefused` for what is no address."""
    headers = {"authorization": f"Bearer {key}", "user-agent": user_agent}
    try:
        client = httpx.AsyncClient(base_url=url, headers=headers)
    except (httpx.InvalidURL, UnicodeEncodeError) as error:
        raise FeedRefused(f"this is no address or no key: {error}") from None
    async with client:
        yield client


class RemoteFeed:
    """The events of one organization, each of them once, in the order in which they were recorded.

    A daemon that cannot be reached, or is busy, is asked again for as long as it takes, and `tell` is told why, once
    for each time that it begins.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        names: Sequence[str],
        since: Instant | None,
        tell: Callable[[str], Awaitable[None]],
    ) -> None:
        """`client` has the address and the key. `since` None: from now on."""
        self._client = client
        self._tell = tell
        self._asked: dict[str, Any] = {"event": list(names), "limit": PAGE}
        self._since = since
        self._cursor: str | None = None
        self._wait = 0.0

    async def begin(self) -> None:
        """Find out where to begin, and have the kinds recorded. Raises `FeedRefused`."""
        if self._since is None:
            self._cursor = (await self._page(0))["resumeCursor"]

    async def page(self) -> list[RecordedEvent]:
        """What was recorded next; waits until there is something. Raises `FeedRefused`."""
        while True:
            page = await self._page(MAX_WAIT_SECONDS)
            self._cursor = page["resumeCursor"]
            if page["data"]:
                return [_recorded(event) for event in page["data"]]

    async def _page(self, wait_seconds: int) -> dict[str, Any]:
        asked = {**self._asked, "waitSeconds": wait_seconds}
        if self._cursor is not None:
            asked["cursor"] = self._cursor
        elif self._since is not None:
            asked["since"] = to_wire(self._since)
        while True:
            try:
                response = await self._client.get(PATH, params=asked, timeout=MAX_WAIT_SECONDS + 15)
            except httpx.UnsupportedProtocol as error:
                raise FeedRefused(str(error)) from None
            except httpx.TransportError as error:
                await self._rest(f"{self._client.base_url} cannot be reached: {error}")
                continue
            if response.status_code == 200:
                self._wait = 0.0
                page: dict[str, Any] = msgspec.json.decode(response.content)
                return page
            if response.status_code not in _PASSING:
                raise FeedRefused(_reason(response))
            await self._rest(_reason(response), response.headers.get("retry-after", ""))

    async def _rest(self, trouble: str, retry_after: str = "") -> None:
        if not self._wait:
            await self._tell(trouble)
        self._wait = min(self._wait * 2 or FIRST_WAIT, LONGEST_WAIT)
        await trio.sleep(max(self._wait, float(retry_after)) if retry_after.isdigit() else self._wait)


def _reason(response: httpx.Response) -> str:
    """What the daemon says, or its status where it says nothing."""
    try:
        return str(msgspec.json.decode(response.content)["message"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return f"{response.request.url.copy_with(query=None)} answers {response.status_code}"


def _recorded(event: dict[str, Any]) -> RecordedEvent:
    data = msgspec.json.encode(event["data"])
    return RecordedEvent(event["id"], event["event"], data, from_wire(event["createdAt"]), 0, event["sequence"])
