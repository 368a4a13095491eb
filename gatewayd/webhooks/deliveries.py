"""Deliveries: one event on its way to one subscription, as callers see it (Spec §3, domain model B10).

pending -> succeeded | retrying | exhausted | cancelled        retrying -> the same
"""

import functools
from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.clock import Instant, to_wire
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, PageRequest, cursor_key, next_cursor
from gatewayd.contract.wire import Id, Response, Timestamp, encode
from gatewayd.errors import invalid_field, not_found
from gatewayd.events import EVENT_KINDS
from gatewayd.store import ReadTx, Row

Status = Literal["pending", "retrying", "succeeded", "exhausted", "cancelled"]

# -- the record


class Delivery(Response, frozen=True, kw_only=True):
    """One event on its way to one subscription. `nextAttemptAt` is null while an attempt is under way."""

    id: Id
    subscription_id: Id
    event: str
    status: Status
    attempts: int
    max_attempts: int
    response_code: int | None
    last_error: str | None
    last_attempt_at: Timestamp | None
    next_attempt_at: Timestamp | None
    created_at: Timestamp
    completed_at: Timestamp | None
    duration_ms: int | None
    replayed_from: str | None


class ListDeliveries(PageRequest, frozen=True, kw_only=True):
    """Whose deliveries, and filters of the list."""

    id: Id
    status: list[Status] | None = None
    event: Annotated[str, Meta(extra_json_schema={"enum": list(EVENT_KINDS)})] | None = None


_SELECT_SUBSCRIPTION = "SELECT id FROM webhook_subscriptions WHERE org_id = :org_id AND id = :id"
_SELECT_PAGE = """
SELECT id, subscription_id, event, status, attempts, in_flight, due_at, response_code, last_error, last_attempt_at,
    duration_ms, completed_at, replayed_from, created_at
FROM deliveries WHERE org_id = :org_id AND subscription_id = :id AND id < :before
"""
_NEWEST_FIRST = " ORDER BY id DESC LIMIT :count"


def list_deliveries(tx: ReadTx, caller: Caller, request: ListDeliveries, *, max_attempts: int) -> Listing:
    """List the deliveries of a subscription, newest first."""
    if tx.row(_SELECT_SUBSCRIPTION, id=request.id) is None:
        raise not_found("subscription")
    if request.event is not None and request.event not in EVENT_KINDS:
        raise invalid_field("event", "unknown_event", f"Use one of: {', '.join(EVENT_KINDS)}.")
    key = cursor_key(request, str)
    select = _SELECT_PAGE
    values: dict[str, object] = {"id": request.id, "before": MAX_KEY if key is None else key[0]}
    if request.event is not None:
        select += " AND event = :event"
        values["event"] = request.event
    if request.status:
        wanted = {f"status_{i}": status for i, status in enumerate(sorted(set(request.status)))}
        select += f" AND status IN ({', '.join(f':{name}' for name in wanted)})"
        values |= wanted
    rows = tx.rows(select + _NEWEST_FIRST, count=request.limit + 1, **values)
    cursor = next_cursor(request, (rows[request.limit - 1][0],)) if len(rows) > request.limit else None
    return Listing.of((encode(_delivery(row, max_attempts)) for row in rows[: request.limit]), cursor)


def _delivery(row: Row, max_attempts: int) -> Delivery:
    delivery_id, subscription_id, event, status, attempts, in_flight, due_at, response_code, last_error, *rest = row
    last_attempt_at, duration_ms, completed_at, replayed_from, created_at = rest
    return Delivery(
        id=delivery_id,
        subscription_id=subscription_id,
        event=event,
        status=status,
        attempts=attempts,
        max_attempts=max_attempts,
        response_code=response_code,
        last_error=last_error,
        last_attempt_at=_wire(last_attempt_at),
        next_attempt_at=None if in_flight else _wire(due_at),
        created_at=to_wire(created_at),
        completed_at=_wire(completed_at),
        duration_ms=duration_ms,
        replayed_from=replayed_from,
    )


def _wire(instant: Instant | None) -> str | None:
    return None if instant is None else to_wire(instant)


def operations(max_attempts: int) -> tuple[Operation, ...]:
    """The row; `max_attempts` is what records show."""
    return (
        Operation(
            id="webhooks.listDeliveries",
            kind="read",
            method="GET",
            path="/webhooks/subscriptions/:id/deliveries",
            scopes=("webhooks:read",),
            request=ListDeliveries,
            response=Page[Delivery],
            handler=functools.partial(list_deliveries, max_attempts=max_attempts),
            example={"id": "wsub_01k0000000000000000000000a", "status": ["exhausted"], "limit": 20},
        ),
    )
