"""What the engine of imports works with."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from gatewayd.http1.log import Log
from gatewayd.importing.fencing import Database
from gatewayd.leases.holder import Holder
from gatewayd.ledger.imports.import_shapes import RunSource
from gatewayd.statements.shapes import Hints, Part

FOLDER_NAME: Final = "imports"
"""Of files that are kept in the data directory until they have been read."""
ANSWER_SECONDS: Final = 20.0  # Chosen: a request is answered by then; clients often give up after 30

Progress = Callable[[int], None]
"""Told how many rows have been read."""


class ReadApart(Protocol):
    """What reads a file in a process of its own, and answers its parts in batches. Raises `Unreadable`."""

    def __call__(self, path: Path, hints: Hints, /) -> AsyncIterator[list[Part]]: ...


class Sizes(NamedTuple):
    """How many rows one transaction moves: `at_once` if there are no more, else `chunk` in each of many.

    Rows of brokers' files take longer, and half as many are moved at a time.
    """

    at_once: int = 2_000  # Chosen: a tenth of a second
    chunk: int = 250


SIZES: Final = Sizes()


def _silent(rows_read: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportParts:
    """What the engine works with.

    `patience` is how many seconds a request waits for its run; infinite: until it has ended, and then its file may be
    read where it lies. `max_bytes` is the largest file, `holder` who works on accounts alone.
    """

    store: Database
    holder: Holder
    directory: Path
    read_apart: ReadApart
    log: Log
    max_bytes: int
    patience: float = ANSWER_SECONDS
    source: RunSource = "api"
    progress: Progress = _silent
    sizes: Sizes = SIZES
