"""The log of events: read in the order in which they were recorded, with a cursor, and waited for. An extension.

Who reads a kind here listens to it: from the first time on it is recorded, and for 30 days after the last. Nothing is
lost between two calls, for the order is that of the commits, whichever process made them.
"""

import functools
from functools import partial
from typing import Annotated, Any, Final, NamedTuple, Protocol

import msgspec
import trio
from msgspec import Meta
from msgspec.structs import fields, replace

from gatewayd.clock import DAY, Instant, from_moment
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.sentences import Sentences, Sources
from gatewayd.contract.wire import Id, Request, Response, Since, Timestamp
from gatewayd.errors import Problem, invalid, not_found
from gatewayd.events import EVENT_KINDS, RECORDED, WILDCARDS, EventKind, expanded, sequence_of
from gatewayd.shares import Shares
from gatewayd.store import ReadTx, Row, Store, WriteTx
from gatewayd.webhooks.subscribers.validation import EventName, KindName, event_errors

FOLLOWED: Final = 30 * DAY  # Chosen: how long kinds are recorded after they were last read
RENEWED: Final = DAY  # Chosen: how often that is written down
FOLLOWERS_MAX: Final = 50  # Chosen: sets of kinds that an organization follows at a time
WAITING: Final = 256  # Chosen: who waits for events at a time
MAX_WAIT_SECONDS: Final = 25

_ALL: Final = ("*",)
_EXPIRED: Final = "What happened since then is not known any more: begin again without a cursor."

_SELECT_FOLLOWER = """
SELECT since, until FROM event_followers WHERE org_id = :org_id AND kinds = :kinds AND until > :fresh
"""
_COUNT_FOLLOWERS = "SELECT count(*) FROM event_followers WHERE org_id = :org_id"
_FOLLOW = """
INSERT INTO event_followers (org_id, kinds, since, until) VALUES (:org_id, :kinds, :since, :until)
ON CONFLICT (org_id, kinds) DO UPDATE SET since = :since, until = :until
"""
_FORGET = "DELETE FROM event_followers WHERE org_id = :org_id AND until <= :now"
_SELECT_BEHIND = """
SELECT recorded_at, id, kind, data, created_at FROM events
WHERE org_id = :org_id AND (recorded_at, id) > (:after_at, :after_id) AND test = 0
ORDER BY recorded_at, id LIMIT :count
"""
_SELECT_EVENT = """
SELECT recorded_at, id, kind, data, created_at FROM events WHERE org_id = :org_id AND id = :id AND test = 0
"""
_SELECT_LAST = "SELECT recorded_at, id FROM events WHERE org_id = :org_id ORDER BY recorded_at DESC, id DESC LIMIT 1"
LOOKED_AT: Final = 1_000  # Chosen: events of other kinds that one page passes over


class Event(Response, frozen=True, kw_only=True):
    """Something that happened."""

    id: Id
    event: KindName
    """Its kind."""
    data: dict[str, Any]
    """What it says, of the shape that `events.listKinds` gives of its kind."""
    created_at: Timestamp
    """When it happened: with the change that it tells of."""
    sequence: str
    """Sorts, as text, as this list does: in the order in which events were recorded. Deliveries bear it too."""


class EventPage(Response, frozen=True, kw_only=True):
    """Events in the order in which they were recorded."""

    data: list[Event]
    next_cursor: str | None
    """For the events that follow already; null: there are none yet."""
    resume_cursor: str
    """For what comes behind this page, whether it is there yet or not: ask again with it."""
    recorded_since: Timestamp
    """From then on all events of these kinds are here. Of before there are those of the specification, and those that a
    subscription or another reader had asked for."""


class EventKindShown(Response, frozen=True, kw_only=True):
    """A kind of events."""

    event: KindName
    """Its name, as subscriptions take it."""
    meaning: str
    """When it happens."""
    patterns: list[str]
    """The patterns that stand for it too."""
    sent: bool
    """Whether it happens at all; false: it is reserved."""
    data_schema: dict[str, Any]
    """The JSON Schema of its data."""
    sample: dict[str, Any]
    """Data as they may be, which test events have."""


class EventKindList(Response, frozen=True, kw_only=True):
    """Every kind there is."""

    data: list[EventKindShown]


class ListEvents(PageRequest, frozen=True, kw_only=True, omit_defaults=True):
    """Which events, and how long to wait for one.

    `cursor` is `nextCursor` or `resumeCursor` of the page before, of the same kinds. Without it and without `since` the
    page is empty, and its `resumeCursor` stands behind all there are.
    """

    event: Annotated[list[EventName], Meta(min_length=1, max_length=100)] | None = None
    """Only these kinds, by name or by pattern; may be given again. All there are by default."""
    since: Since | None = None
    """Begin with what was recorded from then on; a cursor goes before it."""
    wait_seconds: Annotated[int, Meta(ge=0, le=MAX_WAIT_SECONDS)] = 0
    """Where there is nothing yet, wait so long for the first; 0: answer at once."""


class GetEvent(Request, frozen=True, kw_only=True):
    """Which event."""

    event_id: Id
    """The `id` of the event, not of its delivery."""


class ListEventKinds(Request, frozen=True, kw_only=True):
    """Nothing is asked: there is one answer."""


class Place(NamedTuple):
    """Behind which event to read: when it was recorded, and its id."""

    at: int
    id: str


class _Look(NamedTuple):
    """What one look found. `place` is behind the last event that it went past; `more`: others follow."""

    events: list[Event]
    place: Place
    more: bool


class EventLog:
    """Reads events and waits for them. `retention` is how long events are kept, microseconds."""

    def __init__(self, store: Store, retention: int) -> None:
        self._store = store
        self._retention = retention
        self.shares = Shares("waits for events", WAITING)

    async def page(self, org_id: str, request: ListEvents) -> EventPage:
        """A page, perhaps after a wait. Raises `Problem`: `invalid_cursor`, `cursor_expired`, `validation_failed`,
        `limit_reached`, `rate_limited`.
        """
        names = request.event or list(_ALL)
        if errors := event_errors(names, path="event"):
            raise invalid(*errors)
        words = " ".join(sorted(set(names)))
        since = await self._store.read(lambda tx: _followed(tx, words), org_id)
        if since is None:
            since = await self._store.write(lambda tx: follow(tx, words), org_id)
        bound = replace(request, since=None, wait_seconds=0)  # what a cursor belongs to
        key = cursor_key(bound, int, str, int)
        place = await self._store.read(lambda tx: self._begin(tx, request, key, since), org_id)
        look = await self._wait(org_id, request, place)
        end = look.place if look.more else max(look.place, Place(since, ""))  # all that there is was looked at
        cursor = next_cursor(bound, (*end, since))
        return EventPage(
            data=look.events,
            next_cursor=cursor if look.more else None,
            resume_cursor=cursor,
            recorded_since=since,
        )

    async def _wait(self, org_id: str, request: ListEvents, place: Place) -> _Look:
        """What is behind a place, once there is anything or the caller's time is over."""
        kinds = frozenset(expanded(request.event or _ALL))
        recorded = self._store.topic(RECORDED)  # before the look, so that none is missed between
        work = partial(_behind, kinds=kinds, place=place, limit=request.limit)
        look = await self._store.read(work, org_id)
        if look.events or look.more or not request.wait_seconds:
            return look
        async with self.shares.place(org_id):
            with trio.move_on_after(request.wait_seconds):
                while not (look.events or look.more):
                    await recorded.wait()
                    recorded = self._store.topic(RECORDED)
                    work = partial(_behind, kinds=kinds, place=look.place, limit=request.limit)
                    look = await self._store.read(work, org_id)
        return look

    def _begin(self, tx: ReadTx, request: ListEvents, key: tuple[Any, ...] | None, since: Instant) -> Place:
        if key is not None:
            at, event_id, followed_since = key
            if at < tx.now - self._retention or followed_since != since:
                raise Problem("cursor_expired", _EXPIRED)
            return Place(at, event_id)
        if request.since is not None:
            return Place(from_moment(request.since), "")
        return max(Place(since, ""), Place(*(tx.row(_SELECT_LAST) or (0, ""))))


def _followed(tx: ReadTx, words: str) -> Instant | None:
    """Since when kinds are recorded for who reads them; None: that is to be written down."""
    row = tx.row(_SELECT_FOLLOWER, kinds=words, fresh=tx.now + FOLLOWED - RENEWED)
    return None if row is None else Instant(row[0])


def follow(tx: WriteTx, words: str) -> Instant:
    """Have kinds recorded for another 30 days; answers since when they are without a gap."""
    tx.run(_FORGET, now=tx.now)
    row = tx.row(_SELECT_FOLLOWER, kinds=words, fresh=tx.now)
    if row is None and tx.value(_COUNT_FOLLOWERS) >= FOLLOWERS_MAX:
        message = f"An organization reads at most {FOLLOWERS_MAX} different sets of kinds: ask with one of them."
        raise Problem("limit_reached", message, extra={"limit": FOLLOWERS_MAX})
    since = Instant(tx.updated_at if row is None else row[0])
    tx.run(_FOLLOW, kinds=words, since=since, until=tx.now + FOLLOWED)
    tx.forget_listened()
    return since


def _behind(tx: ReadTx, kinds: frozenset[str], place: Place, limit: int) -> _Look:
    """The events of some kinds behind a place, of the next `LOOKED_AT` of any kind at most."""
    rows = tx.rows(_SELECT_BEHIND, after_at=place.at, after_id=place.id, count=LOOKED_AT)
    of_kinds = [row for row in rows if row[2] in kinds]
    taken, more = fill(of_kinds, limit, lambda row: len(row[3]))
    if more:
        return _Look([_event(row) for row in taken], Place(*taken[-1][:2]), True)
    end = Place(*rows[-1][:2]) if rows else place
    return _Look([_event(row) for row in taken], end, len(rows) == LOOKED_AT)


def _event(row: Row) -> Event:
    recorded_at, event_id, kind, data, created_at = row
    return Event(
        id=event_id,
        event=kind,
        data=msgspec.json.decode(data),
        created_at=Instant(created_at),
        sequence=sequence_of(recorded_at, event_id),
    )


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def event_log(self) -> EventLog: ...


async def list_events(deps: Deps, caller: Caller, request: ListEvents) -> EventPage:
    """Read what happened, in the order in which it was recorded, and wait for more.

    Ask with `waitSeconds` and the `resumeCursor` of the answer before, for as long as you like: nothing is missed
    between two calls. Reading kinds here turns their recording on, for 30 days after the last call; a cursor that is
    older is `cursor_expired`, and so is one of events that are no longer kept.
    """
    return await deps.event_log.page(caller.org_id, request)


def get_event(tx: ReadTx, caller: Caller, request: GetEvent) -> Event:
    """Get one event."""
    row = tx.row(_SELECT_EVENT, id=request.event_id)
    if row is None:
        raise not_found("event")
    return _event(row)


def list_event_kinds(tx: ReadTx, caller: Caller, request: ListEventKinds) -> EventKindList:
    """List the kinds of events, with what each means and the schema of its data."""
    return _shown_kinds()


@functools.cache
def _shown_kinds() -> EventKindList:
    """Every kind: the same until the program ends, and the sources of the sentences are read once."""
    sentences = Sentences(Sources(), {})
    return EventKindList(data=[_shown(kind, sentences) for kind in EVENT_KINDS.values()])


def _shown(kind: EventKind, sentences: Sentences) -> EventKindShown:
    schema = msgspec.json.schema(kind.data)["$defs"][kind.data.__name__]
    for field in fields(kind.data):
        schema["properties"][field.encode_name]["description"] = sentences.of(kind.data, field)
    return EventKindShown(
        event=kind.name,
        meaning=kind.meaning,
        patterns=[pattern for pattern, names in WILDCARDS.items() if kind.name in names],
        sent=kind.fired,
        data_schema=schema,
        sample=msgspec.to_builtins(kind.sample),
    )


OPERATIONS = (
    Operation(
        id="events.list",
        kind="call",
        method="GET",
        path="/events",
        scopes=("webhooks:read",),
        request=ListEvents,
        response=EventPage,
        handler=list_events,
        errors=("cursor_expired", "limit_reached", "unknown_event"),
        extension=True,
        example={"event": ["invoice.*", "lead.*"], "since": "2026-11-03T00:00:00Z", "waitSeconds": 0},
    ),
    Operation(
        id="events.get",
        kind="read",
        method="GET",
        path="/events/:eventId",
        scopes=("webhooks:read",),
        request=GetEvent,
        response=Event,
        handler=get_event,
        extension=True,
        example={"eventId": "evt_01k0000000000000000000000a"},
    ),
    Operation(
        id="events.listKinds",
        kind="read",
        method="GET",
        path="/events/kinds",
        scopes=("webhooks:read",),
        request=ListEventKinds,
        response=EventKindList,
        handler=list_event_kinds,
        extension=True,
    ),
)
