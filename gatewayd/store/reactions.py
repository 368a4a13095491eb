"""What follows from a change of a row, by the name of its table: derived state, and those who are told.

The store knows that something follows, and nothing of what; `gatewayd/following.py` says it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

FollowUp = Callable[[Any, Any, Any], None]
"""Brings what is derived from a row up to date: given the `WriteTx`, what the row was and what it is; None: it is new,
it is removed."""


class Change(NamedTuple):
    """What an operation made of a row. `before` None: it is new; `after` None: it is removed."""

    table: str
    before: Any
    after: Any


def _nothing(tx: Any) -> frozenset[str]:
    return frozenset()


def _untold(tx: Any, changes: Sequence[Change]) -> None:
    return None


class Reactions(NamedTuple):
    """`follow_ups` are done with the change, in their order, and `tell` once at the end of the operation.

    `told` are the tables whose changes may be told; `listened` says to which kinds of events anybody of the
    organization listens: without any nothing is told.
    """

    follow_ups: Mapping[str, Sequence[FollowUp]]
    told: frozenset[str] = frozenset()
    listened: Callable[[Any], frozenset[str]] = _nothing
    tell: Callable[[Any, Sequence[Change]], None] = _untold


def no_reactions() -> Reactions:
    """Nothing follows."""
    return Reactions({})


class Reacting:
    """The reactions of one writer. `listened` is what it knows of who listens, by organization."""

    def __init__(self, reactions: Reactions) -> None:
        self.reactions = reactions
        self.listened: dict[str, frozenset[str]] = {}
