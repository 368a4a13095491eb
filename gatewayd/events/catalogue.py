"""Every event kind there is (Spec §6), and the patterns that stand for several."""

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from gatewayd.events.kinds import EventKind
from gatewayd.events.own_kinds import OWN_KINDS
from gatewayd.events.resources import RESOURCES, kinds_of

EVENT_KINDS: Final[Mapping[str, EventKind]] = {
    kind.name: kind for kind in (*OWN_KINDS, *(kind for resource in RESOURCES for kind in kinds_of(resource)))
}
"""The closed set of event kinds: those of the specification in its order, and behind them this service's own."""


_AREAS: Final = {
    **{resource.name: resource.area for resource in RESOURCES},
    "lead": "crm",
    "rent": "landlord",
    "credits": "billing",
}
"""The area of what a kind's name begins with. Forms have none yet."""


def _patterns() -> dict[str, tuple[str, ...]]:
    patterns: dict[str, dict[str, None]] = {"*": dict.fromkeys(EVENT_KINDS)}
    for name in EVENT_KINDS:
        patterns.setdefault(f"{name.partition('.')[0]}.*", {})[name] = None
    for name in EVENT_KINDS:
        if (area := _AREAS.get(name.partition(".")[0])) is not None:
            patterns.setdefault(f"{area}.*", {})[name] = None
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
