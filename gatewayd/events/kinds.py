"""What an event kind is, and the data that each event carries."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec


class EventData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Root of the events' data. snake_case on the wire, as Spec §2 writes `lead_id`."""


class ResourceEvent(EventData, frozen=True, kw_only=True):
    """Root of what is told of a resource: its id and a few of its members, of which the rest is read by its id."""

    version: int
    """Its version after the change; of one that was deleted, the last it had."""
    changed: list[str]
    """Which of its members the change touched, as answers name them; empty where it is new or was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind:
    """One row of the table of events.

    `fired` is False for a kind that is only reserved; `extension` kinds are not in the specification.
    """

    name: str
    meaning: str
    data: type[EventData]
    sample: EventData
    fired: bool = True
    extension: bool = False


class Move(NamedTuple):
    """A move of a resource's state that has an event of its own: `invoice.paid` where `state` comes to hold.

    `at_creation`: also where it holds of a new one.
    """

    name: str
    meaning: str
    state: Callable[[Any], bool]
    at_creation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceEvents:
    """One row of the table of resources whose changes are told.

    `table` holds them; `area` is that of their operations; `name` begins the names of their kinds, and their id is
    `<name>_id` in `sample`. `told` are those of created, updated and removed that can happen and are no kind already.
    """

    name: str
    area: str
    table: str
    sample: ResourceEvent
    told: tuple[str, ...] = ("created", "updated")
    moves: tuple[Move, ...] = ()
