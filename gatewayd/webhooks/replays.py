"""Transport again: one delivery, or everything that did not arrive since an instant.

What is sent again is a new delivery of the recorded event: an id and attempts of its own, and the body of the first
delivery, by whose id a receiver recognises it. A recovery looks at events and makes their deliveries in one
transaction, so that two at once make none twice.
"""

from typing import Annotated, Final

from msgspec import Meta

from gatewayd.clock import SECOND, Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.wire import Id, Request, Response, Since, Timestamp
from gatewayd.errors import Problem, either, invalid, invalid_state
from gatewayd.events import NewDelivery, expanded, insert_deliveries
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks import deliveries
from gatewayd.webhooks.deliveries import FINISHED, Delivery
from gatewayd.webhooks.subscribers import missed_events, subscriptions
from gatewayd.webhooks.subscribers.missed_events import OUTCOMES, MissedSearch, Outcome
from gatewayd.webhooks.subscribers.time_range import requested_range
from gatewayd.webhooks.subscribers.validation import EventName, SubscriptionRequest, event_errors, names_within

RECOVER_AT_ONCE: Final = 1000  # Chosen: deliveries that one transaction makes
PER_SECOND: Final = 10  # Chosen: a receiver that has just come back should not be run over
PER_SECOND_MAX: Final = 1000  # Chosen


Kinds = Annotated[list[EventName], Meta(min_length=1, max_length=100, description="Only these. All by default.")]
Outcomes = Annotated[
    list[Outcome],
    Meta(
        min_length=1,
        max_length=10,
        description="How the last delivery of an event ended; `missed`: there never was one. All by default.",
    ),
]


class ResendDelivery(Request, frozen=True, kw_only=True):
    """Which delivery."""

    id: Id


class Recover(SubscriptionRequest, frozen=True, kw_only=True):
    """What to recover."""

    since: Since
    """Events recorded from this instant on; at most as far back as finished deliveries are kept."""
    until: Since | None = None
    """Events recorded before this instant; by default up to now."""
    events: Kinds | None = None
    """Only events of these kinds; by default all that the subscription has."""
    statuses: Outcomes | None = None
    dry_run: Annotated[bool, Meta(description="Count, and send nothing.")] = False
    per_second: Annotated[
        int, Meta(ge=1, le=PER_SECOND_MAX, description="How many of the new deliveries become due in a second.")
    ] = PER_SECOND
    after: Annotated[Id, Meta(description="`goOnAfter` of the call before.")] | None = None


class Recovered(Response, frozen=True, kw_only=True):
    """What one call did."""

    matched: int
    """How many events of the next 10,000 did not arrive."""
    recovered: int
    """How many of them are sent again: at most 1,000 in one call, none in a dry run."""
    remaining: int
    """How many of `matched` are left for further calls."""
    dry_run: bool
    """True: nothing is sent."""
    first_due_at: Timestamp | None
    """When the first new delivery becomes due; in a dry run would. Null: there is none."""
    last_due_at: Timestamp | None
    """When the last new delivery becomes due; in a dry run would. Null: there is none."""
    go_on_after: str | None
    """Call again with it as `after`: there is more to look at. Null: there is not."""


_SELECT_LAST_DUE = """
SELECT MAX(due_at) FROM deliveries
WHERE org_id = :org_id AND subscription_id = :id AND due_at IS NOT NULL AND status = 'pending' AND in_flight = 0
"""


def resend_delivery(tx: WriteTx, caller: Caller, request: ResendDelivery, *, max_attempts: int) -> Delivery:
    """Send a finished delivery again, also one that succeeded.

    The answer is the new delivery: due at once, with all its attempts before it. What the receiver gets has the body
    and the `webhook-id` of the first delivery, which `X-Service-Replayed-From` names; `X-Service-Delivery` is the new
    one's id. Where the subscription has another URL by now, it goes there.
    """
    stored = deliveries.find(tx, request.id)
    if stored.status not in FINISHED:
        message = (
            f"The delivery is {stored.status}: it is still being sent."
            f" Only one that is {either(FINISHED)} can be sent again."
        )
        raise invalid_state(message, stored.status, FINISHED)
    try:
        subscription = subscriptions.SUBSCRIPTIONS.get(tx, stored.subscription_id)
    except Problem:
        message = "The subscription of this delivery was deleted: there is nowhere to send it."
        raise Problem("not_found", message) from None
    subscriptions.check_enabled(subscription)
    replay = NewDelivery(stored.event_id, stored.event, tx.now, stored.id, stored.message_id, stored.test)
    (delivery_id,) = insert_deliveries(tx, subscription.id, [replay])
    return deliveries.to_delivery(deliveries.find(tx, delivery_id), max_attempts)


def recover(tx: WriteTx, caller: Caller, request: Recover, *, retention_days: int) -> Recovered:
    """Send again what did not arrive since an instant, oldest first and at a pace.

    That is every event whose last delivery ended without success, and every event that never had one because the
    subscription was disabled or not there yet; test events are left out. It reaches as far back as finished deliveries
    are kept. One call makes at most 1,000 deliveries, behind those that are queued.
    """
    subscription = subscriptions.SUBSCRIPTIONS.get(tx, request.id)
    query = MissedSearch(
        subscription_id=subscription.id,
        time_range=requested_range(request.since, request.until).within_retention(tx.now, retention_days),
        kinds=_kinds(request.events, subscription.events),
        outcomes=request.statuses or OUTCOMES,
        after=request.after or "",
    )
    if not request.dry_run:
        subscriptions.check_enabled(subscription)
    found, end = missed_events.search(tx, query)
    chosen = [] if request.dry_run else found[:RECOVER_AT_ONCE]
    due = _due_times(tx, subscription.id, len(chosen or found), request.per_second)
    replays = [
        NewDelivery(one.event_id, one.kind, at, one.last_delivery_id, one.original_id)
        for one, at in zip(chosen, due, strict=False)
    ]
    insert_deliveries(tx, subscription.id, replays)
    cut_short = 0 < len(chosen) < len(found)
    return Recovered(
        matched=len(found),
        recovered=len(chosen),
        remaining=len(found) - len(chosen),
        dry_run=request.dry_run,
        first_due_at=Instant(due[0]) if due else None,
        last_due_at=Instant(due[-1]) if due else None,
        go_on_after=chosen[-1].event_id if cut_short else end,
    )


def _kinds(wanted: list[str] | None, subscribed: list[str]) -> list[str]:
    """The kinds to recover, and patterns. Raises `Problem` `validation_failed` for what the subscription does not have
    all of."""
    if wanted is None:
        return subscribed
    errors = event_errors(wanted, names_within(expanded(subscribed)))
    if errors:
        raise invalid(*errors)
    return list(dict.fromkeys(wanted))


def _due_times(tx: ReadTx, subscription_id: str, count: int, per_second: int) -> list[Instant]:
    """When that many deliveries become due, behind those of the subscription that have not been tried yet."""
    interval = SECOND // per_second
    queued: Instant | None = tx.value(_SELECT_LAST_DUE, id=subscription_id)
    begin = tx.now if queued is None else max(tx.now, queued + interval)
    return [Instant(begin + place * interval) for place in range(count)]


OPERATIONS = (
    Operation(
        id="webhooks.resendDelivery",
        kind="write",
        method="POST",
        path="/webhooks/deliveries/resend",
        scopes=("webhooks:write",),
        request=ResendDelivery,
        response=Delivery,
        handler=AT_CATALOGUE,
        errors=("invalid_state",),
        extension=True,
        example={"id": "wdlv_01k0000000000000000000000a"},
    ),
    Operation(
        id="webhooks.recover",
        kind="write",
        method="POST",
        path="/webhooks/subscriptions/recover",
        scopes=("webhooks:write",),
        request=Recover,
        response=Recovered,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "unknown_event", "date_order"),
        extension=True,
        example={"id": "wsub_01k0000000000000000000000a", "since": "2026-11-05T00:00:00Z", "dryRun": True},
    ),
)
