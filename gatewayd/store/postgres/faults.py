"""What is wrong with a server, as the store's sessions met it: for readiness, the log and the numbers."""

from typing import Final

import psycopg

from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.failures import DEADLINE, is_of_the_engine, reason

_PASSING_CLASSES: Final = frozenset({"40", "55"})
"""Of SQLSTATE: a transaction that was given up for another's, and a lock that was not had in time."""
_UNREACHABLE: Final = "the server cannot be reached"
"""Not where it is: readiness tells it to anybody."""


class ServerFaults:
    """Any thread may tell of one; each call only sets a name."""

    def __init__(self) -> None:
        self._refusal: str | None = None

    @property
    def sentence(self) -> str | None:
        """What is wrong, to be read after "the store". None: nothing that is known."""
        return None if self._refusal is None else f"takes no writes: {self._refusal}"

    @property
    def refuses(self) -> bool:
        """Whether the last write failed, and the next may."""
        return self._refusal is not None

    def refused(self, error: BaseException) -> None:
        """A write failed with `error`."""
        cause = error if not isinstance(error, StoreFailure) or error.__cause__ is None else error.__cause__
        if isinstance(cause, StoreFailure):
            self._refusal = str(cause)
        elif isinstance(cause, psycopg.Error) and is_of_the_engine(cause) and not _passes(cause):
            self._refusal = _UNREACHABLE if cause.sqlstate is None else reason(cause)

    def written(self) -> None:
        """A write is durable."""
        self._refusal = None


def _passes(error: psycopg.Error) -> bool:
    """Whether the next write may find nothing in its way, though nothing was mended."""
    state = error.sqlstate
    return state is not None and (state[:2] in _PASSING_CLASSES or state == DEADLINE)
