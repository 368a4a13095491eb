"""Every event kind there is (Spec §6), and the patterns that stand for several."""

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from gatewayd.events.kinds import EventKind
from gatewayd.events.own_kinds import OWN_KINDS
from gatewayd.events.resources import RESOURCES, kinds_of

_OF_RESOURCES: Final = {resource.name: tuple(kinds_of(resource)) for resource in RESOURCES}
EVENT_KINDS: Final[Mapping[str, EventKind]] = {
    kind.name: kind for kind in (*OWN_KINDS, *(kind for kinds in _OF_RESOURCES.values() for kind in kinds))
}
"""The closed set of event kinds: those of the specification in its order, and behind them this service's own."""


def _patterns() -> dict[str, tuple[str, ...]]:
    patterns: dict[str, list[str]] = {"*": list(EVENT_KINDS)}
    for name in EVENT_KINDS:
        patterns.setdefault(f"{name.partition('.')[0]}.*", []).append(name)
    for resource in RESOURCES:
        of_area = patterns.setdefault(f"{resource.area}.*", [])
        of_area += [kind.name for kind in _OF_RESOURCES[resource.name] if kind.name not in of_area]
    return {pattern: tuple(names) for pattern, names in patterns.items()}


WILDCARDS: Final[Mapping[str, tuple[str, ...]]] = _patterns()
"""The kinds that each pattern stands for: `*` all, `invoice.*` those of a resource, `accounting.*` those of an area."""


def expanded(names: Iterable[str]) -> list[str]:
    """The kinds that are named, by themselves or by a pattern, in this order. What is no kind any more is left out."""
    kinds = (kind for name in names for kind in WILDCARDS.get(name, (name,)))
    return [kind for kind in dict.fromkeys(kinds) if kind in EVENT_KINDS]


@functools.lru_cache(1_024)
def kinds_of_words(words: str) -> frozenset[str]:
    """The kinds of names that are parted by spaces, as subscriptions keep them."""
    return frozenset(expanded(words.split(" ")))
