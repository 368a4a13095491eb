"""Tells what became of a row: the events that its change is, for those of its kinds that anybody listens to."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gatewayd.events.catalogue import kinds_of_words
from gatewayd.events.kinds import EventData, ResourceEvents
from gatewayd.events.outbox import record
from gatewayd.events.resources import RESOURCES
from gatewayd.store import WriteTx
from gatewayd.store.reactions import Change

BY_TABLE: Final[Mapping[str, ResourceEvents]] = {resource.table: resource for resource in RESOURCES}
_UNTOLD: Final = frozenset({"updated_at", "version"})
"""Members that move with each change."""

_SELECT_LISTENED = """
SELECT events FROM webhook_subscriptions WHERE org_id = :org_id AND enabled = 1
UNION ALL SELECT kinds FROM event_followers WHERE org_id = :org_id AND until > :now
"""


def listened(tx: WriteTx) -> frozenset[str]:
    """The kinds that anybody of the organization listens to: by a subscription, or by reading them with events.list."""
    kinds: frozenset[str] = frozenset()
    return kinds.union(*(kinds_of_words(words) for (words,) in tx.rows(_SELECT_LISTENED, now=tx.now)))


def tell(tx: WriteTx, changes: Iterable[Change], answers: Mapping[str, type[Any]]) -> None:
    """Record the events of changes that anybody listens to. `answers` is what the rows of tables are answered as.

    What is neither answered nor a new version is no change: a balance that moved, or that something was told.
    """
    record(tx, [event for change in changes for event in _events(tx, change, answers[change.table])])


def _events(tx: WriteTx, change: Change, answer: type[Any]) -> Iterator[tuple[str, EventData]]:
    resource = BY_TABLE[change.table]
    changed = _changed(change, answer)
    if not changed and getattr(change.before, "version", None) == getattr(change.after, "version", 0):
        return
    row = change.before if change.after is None else change.after
    for verb in _verbs(resource, change):
        kind = f"{resource.name}.{verb}"
        if kind in tx.listened:
            yield kind, _data(resource, row, changed if verb == "updated" else [])


def _verbs(resource: ResourceEvents, change: Change) -> list[str]:
    """What the change is called, in order: created, updated or removed, then the moves of the state."""
    if change.after is None:
        return ["removed"] if change.before is not None and "removed" in resource.told else []
    verb = "created" if change.before is None else "updated"
    verbs = [verb] if verb in resource.told else []
    for move in resource.moves:
        was = not move.at_creation if change.before is None else move.state(change.before)
        if move.state(change.after) and not was:
            verbs.append(move.name)
    return verbs


def _changed(change: Change, answer: type[Any]) -> list[str]:
    """The members that differ, as answers name them."""
    if change.before is None or change.after is None:
        return []
    names = zip(answer.__struct_fields__, answer.__struct_encode_fields__, strict=True)
    stored = frozenset(type(change.after).__struct_fields__) - _UNTOLD
    differing = {name for name in stored if getattr(change.before, name) != getattr(change.after, name)}
    return [told for name, told in names if name in differing]


def _data(resource: ResourceEvents, row: Any, changed: list[str]) -> Any:
    kind = type(resource.sample)
    own = {f"{resource.name}_id": row.id, "changed": changed}
    more = {name: getattr(row, name) for name in kind.__struct_fields__ if name not in own}
    return kind(**own, **more)
