"""The outbox: what happened, written with the change itself, and one delivery for each subscription that wants it.

An event, its deliveries and the change behind it are one transaction: no crash can leave one of them without the
others. What the specification promises is stored also where nobody subscribed to it, for a subscription may ask for it
later; what is told of resources is stored where anybody listens. Only this file inserts into `deliveries`; only
`webhooks/queue/delivery_queue.py` updates them.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from gatewayd.clock import Instant, to_wire
from gatewayd.contract.wire import Id, Timestamp, encode
from gatewayd.errors import invalid_field
from gatewayd.events.catalogue import EVENT_KINDS, kinds_of_words
from gatewayd.events.kinds import EventData
from gatewayd.store import WriteTx

TABLE: Final = "events"
TOPIC: Final = "deliveries"
"""Announced when there are new deliveries to send."""
RECORDED: Final = "events"
"""Announced when an event is recorded."""

D = TypeVar("D")


class EventBody(msgspec.Struct, Generic[D], frozen=True, kw_only=True, rename="camel"):
    """What a receiver gets: the bytes are the same in every attempt of one delivery, and of its replays (Spec §2).

    `id` is the first delivery's, so that a receiver recognises what it is sent again (Spec §6). `sentAt` is the instant
    of the event, also where it is sent again later: the signature says when an attempt is made. Arrival has no order,
    `sequence` has.
    """

    id: str
    event: str
    """The kind of the event."""
    data: D
    """What it says, of the shape that its kind has."""
    sent_at: Timestamp
    """When it happened, also where it is sent again later."""
    event_id: Id
    """The event, by its `id` in `events.list`; the same at every receiver."""
    sequence: str
    """Sorts, as text, as `events.list` does: in the order in which events were recorded. They may arrive in another,
    for several are on their way at a time, and what failed comes again later."""


class SentEvent(NamedTuple):
    """What of a recorded event its receivers are sent. `data` is JSON already; `sequence` is of `sequence_of`."""

    id: str
    kind: str
    data: bytes
    created_at: Instant
    sequence: str


class NewDelivery(NamedTuple):
    """A delivery to be inserted for a recorded event.

    `replayed_from`: the one it repeats, None: it is the first; `original_id`: the first of those that were repeated.
    """

    event_id: str
    kind: str
    due_at: Instant
    replayed_from: str | None = None
    original_id: str | None = None
    test: int = 0


_INSERT_EVENT = """
INSERT INTO events (id, org_id, kind, data, test, created_at, recorded_at)
VALUES (:id, :org_id, :kind, :data, :test, :now, :recorded_at)
"""
_SELECT_SUBSCRIBERS = """
SELECT id, events FROM webhook_subscriptions WHERE org_id = :org_id AND enabled = 1 ORDER BY id
"""
_INSERT_DELIVERY = """
INSERT INTO deliveries (id, org_id, subscription_id, event_id, event, status, attempts, in_flight, due_at,
    replayed_from, original_id, test, created_at)
VALUES (:id, :org_id, :subscription_id, :event_id, :kind, 'pending', 0, 0, :due_at, :replayed_from, :original_id,
    :test, :now)
"""


def append(tx: WriteTx, kind: str, data: Mapping[str, object]) -> str:
    """Record an event of the transaction's organization, with a delivery for each enabled subscription to its kind.

    Returns the event's id. Raises `Problem` `validation_failed` for a kind that is unknown or never fired, and for
    data that is not the kind's.
    """
    happened = (kind, _validate_data(kind, data))
    (event_id,) = record(tx, [happened])
    tx.changed(TABLE, event_id, None, happened)
    return event_id


def append_listened(tx: WriteTx, kind: str, data: Mapping[str, object]) -> None:
    """The same where anybody listens to the kind; else nothing is recorded."""
    if kind in tx.listened:
        append(tx, kind, data)


def record(tx: WriteTx, happened: Sequence[tuple[str, EventData]]) -> list[str]:
    """Record events, of which each has its kind and data of it, with their deliveries. Returns their ids."""
    if not happened:
        return []
    ids = _insert_events(tx, happened, test=0)
    for subscription_id, words in tx.rows(_SELECT_SUBSCRIBERS):
        kinds = kinds_of_words(words)
        wanted = [(event_id, kind) for event_id, (kind, _) in zip(ids, happened, strict=True) if kind in kinds]
        insert_deliveries(tx, subscription_id, [NewDelivery(event_id, kind, tx.now) for event_id, kind in wanted])
    return ids


def append_test(tx: WriteTx, kind: str, subscription_id: str) -> str:
    """Record a test event with the sample of its kind, for one subscription alone. Returns the delivery's id."""
    (event_id,) = _insert_events(tx, [(kind, EVENT_KINDS[kind].sample)], test=1)
    (delivery_id,) = insert_deliveries(tx, subscription_id, [NewDelivery(event_id, kind, tx.now, test=1)])
    return delivery_id


def insert_deliveries(tx: WriteTx, subscription_id: str, new_deliveries: Sequence[NewDelivery]) -> list[str]:
    """Insert deliveries of recorded events for one subscription. Returns their ids."""
    if not new_deliveries:
        return []
    ids = [tx.new_id("wdlv") for _ in new_deliveries]
    rows = zip(ids, new_deliveries, strict=True)
    tx.run_each(_INSERT_DELIVERY, [(id_, tx.org_id, subscription_id, *delivery, tx.now) for id_, delivery in rows])
    tx.announce(TOPIC)
    return ids


def _insert_events(tx: WriteTx, happened: Sequence[tuple[str, EventData]], *, test: int) -> list[str]:
    ids = [tx.new_id("evt") for _ in happened]
    rows = zip(ids, happened, strict=True)
    org_id, now, recorded_at = tx.org_id, tx.now, tx.updated_at
    tx.run_each(
        _INSERT_EVENT, [(id_, org_id, kind, encode(data), test, now, recorded_at) for id_, (kind, data) in rows]
    )
    tx.announce(RECORDED)
    return ids


def _validate_data(kind: str, data: Mapping[str, object]) -> EventData:
    known = EVENT_KINDS.get(kind)
    if known is None or not known.fired:
        fired = ", ".join(name for name, event_kind in EVENT_KINDS.items() if event_kind.fired)
        why = "is not known" if known is None else "is reserved and not sent yet"
        raise invalid_field("event", "unknown_event", f"{kind!r} {why}; use one of: {fired}.")
    try:
        return msgspec.convert(data, known.data)
    except msgspec.ValidationError as error:
        raise invalid_field("data", "invalid_format", f"{error}.") from None


def sequence_of(recorded_at: int, event_id: str) -> str:
    """The place of an event in the log, which goes by both: the sixteen digits of a microsecond are good until 2286."""
    return f"{recorded_at:016}-{event_id}"


def render_body(message_id: str, event: SentEvent) -> bytes:
    """The JSON of an `EventBody`; the same arguments give the same bytes."""
    # Ids, kinds and timestamps are ours and hold nothing that JSON escapes.
    head = f'{{"id":"{message_id}","event":"{event.kind}","data":'.encode()
    tail = f',"sentAt":"{to_wire(event.created_at)}","eventId":"{event.id}","sequence":"{event.sequence}"}}'.encode()
    return head + event.data + tail
