"""Deliveries: one event on its way to one subscription, as callers see it (Spec §3, domain model B10).

pending -> succeeded | retrying | exhausted | cancelled        retrying -> the same
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import UNSET, Meta, Raw, UnsetType

from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import Id, Rendered, Request, Response, Since, Timestamp, encode, open_wire
from gatewayd.errors import invalid_field, not_found
from gatewayd.events import EVENT_KINDS, EventBody, SentEvent, render_body, sequence_of
from gatewayd.store import ReadTx
from gatewayd.webhooks.queue import attempts
from gatewayd.webhooks.queue.attempts import Attempt
from gatewayd.webhooks.subscribers.time_range import requested_range
from gatewayd.webhooks.subscribers.validation import KindName, unknown_event

KIND: Final = "delivery"
Status = Literal["pending", "retrying", "succeeded", "exhausted", "cancelled"]
FINISHED: Final = ("succeeded", "exhausted", "cancelled")
SHORT_QUEUE: Final = 1000  # Chosen: a queue up to here is looked through to find its oldest delivery
DETAILED_PAGE: Final = 20  # Chosen: records with attempts on a page, each of which may have 8 of 24 KiB
MAX_REPLAYS: Final = 100  # Chosen: of one delivery, as they are shown

Include = Annotated[
    list[Literal["attempts"]],
    Meta(
        max_length=10, description="`attempts` adds `attemptLog`, each attempt by itself; a page then has at most 20."
    ),
]

AnyData = Annotated[Raw, Meta(extra_json_schema={"type": "object"}, description="The event's own fields.")]

# -- the record


class Delivery(Response, frozen=True, kw_only=True):
    """One event on its way to one subscription."""

    id: Id
    subscription_id: Id
    """The subscription that it goes to."""
    event: str
    """The kind of event."""
    status: Status
    """`pending`: not tried yet; `retrying`: it failed and is tried again; `exhausted`: no attempt is left, or the
    receiver answered 410; `cancelled`: the subscription was deleted."""
    attempts: int
    """How many attempts were begun, interrupted ones among them."""
    max_attempts: int
    """After how many attempts it is given up; as many interruptions as that do not count."""
    interruptions: int
    """How many of the attempts ended on our side, by a stop or a crash, before there was an answer."""
    response_code: int | None
    """The HTTP status of the last answer. Null: the last attempt had none, or there was no attempt."""
    last_error: str | None
    """Why the last attempt failed, as `error` of an attempt. Null: it succeeded, or there was no attempt."""
    last_attempt_at: Timestamp | None
    """When the last attempt began. Null: there was none."""
    next_attempt_at: Timestamp | None
    """When the next attempt may begin. Null: one is under way, or none follows."""
    created_at: Timestamp
    completed_at: Timestamp | None
    """When it was over: succeeded, exhausted or cancelled. Null: it is not over."""
    duration_ms: int | None
    """How long the last attempt took, in milliseconds. Null: there was none, or it was not made to its end."""
    replayed_from: str | None
    """The delivery that this one repeats. Null: it repeats none."""
    original_id: str | None
    """The first delivery of the event, under whose id the receiver knows it, where this one repeats it. Null: it
    repeats none."""
    test: bool
    """True: the event was asked for to try the receiver."""
    attempt_log: list[Attempt] | UnsetType = UNSET
    """The attempts that are on record, first to last. Absent unless `include` asks for them."""


class DeliveryDetail(Delivery, frozen=True, kw_only=True):
    """A delivery with its body and the deliveries that repeat it."""

    payload: EventBody[AnyData]
    """Its body, as every attempt sends it."""
    replays: list[Id]
    """The deliveries that repeat it, oldest first, at most 100."""


class ListDeliveries(PageRequest, frozen=True, kw_only=True):
    """Whose deliveries, and filters of the list."""

    id: Id
    status: Annotated[list[Status], Meta(max_length=20)] | None = None
    event: KindName | None = None
    since: Since | None = None
    """From this instant on, of `createdAt`."""
    until: Since | None = None
    """Up to this instant, not included, of `createdAt`."""
    include: Include | None = None


class GetDelivery(Request, frozen=True, kw_only=True):
    """Which delivery."""

    delivery_id: Id
    include: Include | None = None


class DeliveryRow(NamedTuple):
    """A row, as `_COLUMNS` has it."""

    id: str
    subscription_id: str
    event_id: str
    event: str
    status: Status
    attempts: int
    interruptions: int
    in_flight: int
    due_at: Instant | None
    response_code: int | None
    last_error: str | None
    last_attempt_at: Instant | None
    duration_ms: int | None
    completed_at: Instant | None
    replayed_from: str | None
    original_id: str | None
    test: int
    created_at: Instant

    @property
    def message_id(self) -> str:
        """What its receiver knows it by."""
        return self.original_id or self.id


_COLUMNS = ", ".join(DeliveryRow._fields)
_SELECT_SUBSCRIPTION = "SELECT id FROM webhook_subscriptions WHERE org_id = :org_id AND id = :id"
_SELECT_ONE = f"SELECT {_COLUMNS} FROM deliveries WHERE org_id = :org_id AND id = :id"
_SELECT_PAGE = f"""
SELECT {_COLUMNS} FROM deliveries
WHERE org_id = :org_id AND subscription_id = :id AND id >= :from_id AND id < :to_id
    AND created_at >= :since AND created_at < :until
"""
_OF_EVENT = " AND event = :event"
_TROUBLED = " AND status IN ('retrying', 'exhausted', 'cancelled') AND "  # as the index on these says it
_OF_STATUS: Final[Mapping[Status, str]] = {
    "pending": " AND status = 'pending'",
    "retrying": _TROUBLED + "status = 'retrying'",
    "succeeded": " AND status = 'succeeded'",
    "exhausted": _TROUBLED + "status = 'exhausted'",
    "cancelled": _TROUBLED + "status = 'cancelled'",
}
_NEWEST_FIRST = " ORDER BY id DESC LIMIT :count"
_OLDEST_WAITING = """
SELECT MIN(id), COUNT(*) FROM (
    SELECT id FROM deliveries WHERE org_id = :org_id AND subscription_id = :id AND due_at IS NOT NULL LIMIT :most
) AS waiting
"""
_SELECT_EVENT = "SELECT data, created_at, recorded_at FROM events WHERE org_id = :org_id AND id = :event_id"
_SELECT_REPLAYS = "SELECT id FROM deliveries WHERE org_id = :org_id AND replayed_from = :id ORDER BY id LIMIT :count"
_SELECT_ORGANIZATION_ANY_ORG = "SELECT org_id FROM deliveries WHERE id = :id"


def list_deliveries(tx: ReadTx, caller: Caller, request: ListDeliveries, *, max_attempts: int) -> Listing[Delivery]:
    """List the deliveries of a subscription, newest first."""
    if tx.row(_SELECT_SUBSCRIPTION, id=request.id) is None:
        raise not_found("subscription")
    if request.event is not None and request.event not in EVENT_KINDS:
        raise invalid_field("event", "unknown_event", unknown_event(request.event, EVENT_KINDS))
    limit = min(request.limit, DETAILED_PAGE) if request.include else request.limit
    items: list[bytes] = []

    def size(one: DeliveryRow) -> int:
        shown = to_delivery(one, max_attempts)
        items.append(_with_log(shown, attempts.of_delivery(tx, one.id)) if request.include else encode(shown))
        return len(items[-1])

    page, more = fill(_newest(tx, request, limit + 1), limit, size)
    return Listing.of(items[: len(page)], next_cursor(request, (page[-1].id,)) if more else None)


def get_delivery(tx: ReadTx, caller: Caller, request: GetDelivery, *, max_attempts: int) -> Rendered[DeliveryDetail]:
    """Get a delivery, with its body as it is sent.

    `payload` has the bytes that are signed. Its `sentAt` is the instant of the event, also where the event is sent
    again later, and its `id` is then that of the first delivery.
    """
    stored = find(tx, request.delivery_id)
    data, event_at, recorded_at = tx.rows(_SELECT_EVENT, event_id=stored.event_id)[0]  # outlives its deliveries
    sequence = sequence_of(recorded_at, stored.event_id)
    payload = render_body(stored.message_id, SentEvent(stored.event_id, stored.event, data, event_at, sequence))
    replays = encode([row[0] for row in tx.rows(_SELECT_REPLAYS, id=stored.id, count=MAX_REPLAYS)])
    shown = to_delivery(stored, max_attempts)
    log = attempts.of_delivery(tx, stored.id) if request.include else None
    wire = open_wire(shown) + b"}" if log is None else _with_log(shown, log)
    return Rendered(b'%b,"payload":%b,"replays":%b}' % (wire[:-1], payload, replays))


def find(tx: ReadTx, delivery_id: str) -> DeliveryRow:
    """A delivery of the organization. Raises `Problem` `not_found`."""
    row = tx.row(_SELECT_ONE, id=delivery_id)
    if row is None:
        raise not_found(KIND)
    return DeliveryRow(*row)


def org_of(tx: ReadTx, delivery_id: str) -> str:
    """The organization of a delivery, for the operator. Raises `Problem` `not_found`."""
    org_id = tx.value(_SELECT_ORGANIZATION_ANY_ORG, id=delivery_id)
    if org_id is None:
        raise not_found(KIND)
    return str(org_id)


def to_delivery(stored: DeliveryRow, max_attempts: int) -> Delivery:
    """A row as callers see it."""
    return Delivery(
        id=stored.id,
        subscription_id=stored.subscription_id,
        event=stored.event,
        status=stored.status,
        attempts=stored.attempts,
        max_attempts=max_attempts,
        interruptions=stored.interruptions,
        response_code=stored.response_code,
        last_error=stored.last_error,
        last_attempt_at=_instant(stored.last_attempt_at),
        next_attempt_at=None if stored.in_flight else _instant(stored.due_at),
        created_at=Instant(stored.created_at),
        completed_at=_instant(stored.completed_at),
        duration_ms=stored.duration_ms,
        replayed_from=stored.replayed_from,
        original_id=stored.original_id,
        test=bool(stored.test),
    )


def _newest(tx: ReadTx, request: ListDeliveries, count: int) -> list[DeliveryRow]:
    """The first `count` rows of the page: of each status by itself, so that a rare one is found by its index."""
    key = cursor_key(request, str)
    values = {"id": request.id, "count": count, **requested_range(request.since, request.until).bounds("wdlv")}
    if key is not None:
        values["to_id"] = min(str(key[0]), str(values["to_id"]))
    select = _SELECT_PAGE
    if request.event is not None:
        select += _OF_EVENT
        values["event"] = request.event
    if not request.status:
        return [DeliveryRow(*row) for row in tx.rows(select + _NEWEST_FIRST, **values)]
    found: list[DeliveryRow] = []
    for status in sorted(set(request.status)):
        oldest = _oldest_waiting(tx, request.id) if status == "pending" else ""
        bounds = {**values, "from_id": max(oldest, str(values["from_id"]))}
        found += [DeliveryRow(*row) for row in tx.rows(select + _OF_STATUS[status] + _NEWEST_FIRST, **bounds)]
    return sorted(found, key=lambda one: one.id, reverse=True)[:count]


def _oldest_waiting(tx: ReadTx, subscription_id: str) -> str:
    """An id that sorts before none that waits: what is pending need not be looked for among older ones."""
    oldest, count = tx.rows(_OLDEST_WAITING, id=subscription_id, most=SHORT_QUEUE + 1)[0]
    if count > SHORT_QUEUE:
        return ""
    return MAX_KEY if oldest is None else str(oldest)


def _with_log(shown: Delivery, log: list[bytes]) -> bytes:
    return b'%b,"attemptLog":[%b]}' % (open_wire(shown), b",".join(log))


def _instant(instant: Instant | None) -> Instant | None:
    return None if instant is None else Instant(instant)


OPERATIONS = (
    Operation(
        id="webhooks.listDeliveries",
        kind="read",
        method="GET",
        path="/webhooks/subscriptions/:id/deliveries",
        scopes=("webhooks:read",),
        request=ListDeliveries,
        response=Page[Delivery],
        handler=AT_CATALOGUE,
        example={"id": "wsub_01k0000000000000000000000a", "status": ["exhausted", "succeeded"], "limit": 20},
    ),
    Operation(
        id="webhooks.getDelivery",
        kind="read",
        method="GET",
        path="/webhooks/deliveries/:deliveryId",
        scopes=("webhooks:read",),
        request=GetDelivery,
        response=DeliveryDetail,
        handler=AT_CATALOGUE,
        extension=True,
        example={"deliveryId": "wdlv_01k0000000000000000000000a", "include": ["attempts"]},
    ),
)
