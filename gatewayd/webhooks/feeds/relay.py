"""The local relay: events of one organization as real deliveries to a receiver under development. Only reads.

The database is the queue: what is recorded while an event is on its way is found by the next read, and nothing waits in
memory but one page. No delivery is recorded, so nothing is tried again.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol, TypeVar

import trio

from gatewayd.clock import SECOND, Clock, Instant
from gatewayd.events import SentEvent, render_body, sequence_of
from gatewayd.outbound.addresses import IPAddress, IPNetwork, parse_networks
from gatewayd.outbound.errors import AddressBlockedError
from gatewayd.outbound.resolver import Resolver
from gatewayd.outbound.transport import GuardedTransport, Policy
from gatewayd.store import ReadTx, Row
from gatewayd.webhooks.sender import AttemptResult, Sender
from gatewayd.webhooks.signature import signed_headers

T = TypeVar("T")

WAKE_TOPIC: Final = "events"  # never announced in this process: every commit of another one wakes it
PAGE: Final = 50  # Chosen: events in memory at once
REMEMBERED: Final = (
    256  # Chosen: how many ids behind the newest one that was committed late may stand and is still found
)
POOL_KEY: Final = "relay"  # the one receiver of the sender's pool
AFTER_ALL: Final = Instant((1 << 63) - 1)  # later than every event: the greatest INTEGER of the database
LOCAL_NETWORKS: Final = parse_networks(
    (
        "127.0.0.0/8",  # RFC 1122 §3.2.1.3
        "::1/128",  # RFC 4291 §2.5.3
        "10.0.0.0/8",  # RFC 1918, as the next two
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",  # RFC 4193
    )
)

_LATEST = """
SELECT id FROM events WHERE org_id = :org_id AND created_at < :before ORDER BY id DESC LIMIT :count
"""
_NEXT_IDS = "SELECT id FROM events WHERE org_id = :org_id AND id > :floor ORDER BY id LIMIT :count"
_SELECT_EVENT = "SELECT id, kind, data, created_at, test, recorded_at FROM events WHERE org_id = :org_id AND id = :id"


class RecordedEvent(NamedTuple):
    """One event of the outbox. `data` is JSON; `test` is 1 for a test event of one subscription."""

    id: str
    kind: str
    data: bytes
    created_at: Instant
    test: int
    sequence: str


class EventStore(Protocol):
    """What the feed needs of the store: reads that hold no snapshot between them, and wake-ups."""

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None) -> T: ...

    def topic(self, name: str) -> trio.Event: ...


class EventFeed:
    """The events of one organization, each of them once, in the order of their ids.

    Ids sort by time, but those of two processes may be committed the other way round within a millisecond, or when the
    clock was set back. So each read begins `REMEMBERED` events behind the newest, and leaves out what was seen.
    """

    def __init__(self, store: EventStore, org_id: str) -> None:
        self._store = store
        self._org_id = org_id
        self._floor = ""  # nothing at or below it is looked at again
        self._seen: deque[str] = deque()

    async def begin(self, since: Instant | None) -> None:
        """Take what was recorded before `since` as seen, None: all that is there. Raises `StoreFailure`."""
        before = AFTER_ALL if since is None else since
        rows = await self._read_events(lambda tx: tx.rows(_LATEST, before=before, count=REMEMBERED + 1))
        for (event_id,) in reversed(rows):
            self._remember(event_id)

    async def page(self) -> list[RecordedEvent]:
        """What was recorded next, at most `PAGE` events; waits until there is something. Raises `StoreFailure`."""
        while True:
            announced = self._store.topic(WAKE_TOPIC)  # before the read, so that none is missed between
            page = await self._read_events(self._unseen)
            for event in page:
                self._remember(event.id)
            if page:
                return page
            await announced.wait()  # may last: until something is committed

    async def _read_events(self, work: Callable[[ReadTx], T]) -> T:
        return await self._store.read_later(work, self._org_id)

    def _unseen(self, tx: ReadTx) -> list[RecordedEvent]:
        seen = frozenset(self._seen)
        rows = tx.rows(_NEXT_IDS, floor=self._floor, count=len(seen) + PAGE)
        ids = [event_id for (event_id,) in rows if event_id not in seen][:PAGE]
        return [_recorded(row) for event_id in ids if (row := tx.row(_SELECT_EVENT, id=event_id)) is not None]

    def _remember(self, event_id: str) -> None:
        self._seen.append(event_id)
        if len(self._seen) > REMEMBERED:
            self._floor = max(self._floor, self._seen.popleft())


def _recorded(row: Row) -> RecordedEvent:
    event_id, kind, data, created_at, test, recorded_at = row
    return RecordedEvent(event_id, kind, data, created_at, test, sequence_of(recorded_at, event_id))


class LocalTransport(GuardedTransport):
    """Connects to this machine and to private networks, over http too, and to no public address."""

    # Chosen: a receiver that anybody can reach is subscribed, and gets its deliveries with retries and a record.
    def __init__(
        self, more: Sequence[IPNetwork] = (), ca_file: str | None = None, resolve: Resolver | None = None
    ) -> None:
        """`more` are networks allowed besides. Raises OSError or ssl.SSLError when `ca_file` cannot be read."""
        self._networks = (*LOCAL_NETWORKS, *more)
        super().__init__(Policy(allow_networks=self._networks, allow_http=True, ca_file=ca_file), resolve)

    async def vetted(self, host: str, port: int) -> tuple[IPAddress, ...]:
        """The addresses a connection may go to; at each connection anew, so a name that moves away is refused."""
        addresses = await super().vetted(host, port)
        for address in addresses:
            if not any(address in network for network in self._networks):
                raise AddressBlockedError(f"{host} is {address}: neither this machine nor a private network")
        return addresses


class ForwardResult(NamedTuple):
    """What became of one event."""

    delivery_id: str
    body: bytes
    result: AttemptResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarder:
    """Makes a delivery of an event, as the dispatcher does, and attempts it once."""

    sender: Sender
    clock: Clock
    url: str
    secret: str = field(repr=False)

    async def forward(self, event: RecordedEvent) -> ForwardResult:
        """One POST within the sender's deadline, whatever the receiver does.

        Chosen: an event has the same id each time that it is forwarded, as what is sent again has, so that a receiver
        recognises it.
        """
        delivery_id = f"wdlv_{event.id.removeprefix('evt_')}"
        sent = SentEvent(event.id, event.kind, event.data, event.created_at, event.sequence)
        body = render_body(delivery_id, sent)
        headers = (
            ("X-Service-Event", event.kind),
            ("X-Service-Delivery", delivery_id),
            *signed_headers((self.secret,), delivery_id, self.clock.now() // SECOND, body),
        )
        return ForwardResult(delivery_id, body, await self.sender.post(self.url, headers, body, pool_key=POOL_KEY))
