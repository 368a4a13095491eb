"""Runs an async command, and raises one cause out of a group of exceptions."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

T = TypeVar("T")


def run(work: Callable[[T], Awaitable[None]], argument: T) -> None:
    """`trio.run`, raising the one exception behind a group: an interruption if there is one, else the first."""
    try:
        trio.run(work, argument)
    except BaseExceptionGroup as group:
        raise cause_of(group) from group


def cause_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The exception that a group is to be reported as: an interruption if there is one, else the first."""
    causes = list(_leaves(group))
    interruptions = [cause for cause in causes if isinstance(cause, KeyboardInterrupt)]
    return (interruptions or causes)[0]


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    leaves: list[BaseException] = []
    for each in group.exceptions:
        leaves += _leaves(each) if isinstance(each, BaseExceptionGroup) else [each]
    return leaves
