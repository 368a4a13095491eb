"""Events: what kinds there are, and how one is recorded with the change that it tells of (Spec §6)."""

from gatewayd.events.catalogue import EVENT_KINDS, WILDCARDS, expanded
from gatewayd.events.kinds import EventData, EventKind, ResourceEvent
from gatewayd.events.outbox import (
    RECORDED,
    TOPIC,
    EventBody,
    NewDelivery,
    SentEvent,
    append,
    append_listened,
    append_test,
    insert_deliveries,
    render_body,
    sequence_of,
)

__all__ = [
    "EVENT_KINDS",
    "RECORDED",
    "TOPIC",
    "WILDCARDS",
    "EventBody",
    "EventData",
    "EventKind",
    "NewDelivery",
    "ResourceEvent",
    "SentEvent",
    "append",
    "append_listened",
    "append_test",
    "expanded",
    "insert_deliveries",
    "render_body",
    "sequence_of",
]
