"""What the engine of imports is made of."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gatewayd.areas.banking.imports.shapes import RunSource
from gatewayd.http1.log import Log
from gatewayd.importing.moves import SIZES, Sizes
from gatewayd.importing.reading import Progress, ReadApart
from gatewayd.store import Store

ANSWER_SECONDS: Final = 20.0  # Chosen: a request is answered by then; clients often give up after 30


def _silent(rows_read: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportParts:
    """What the engine works with.

    `patience` is how many seconds a request waits for its run; infinite: until it has ended, and then its file may be
    read where it lies. `max_bytes` is the largest file.
    """

    store: Store
    directory: Path
    read_apart: ReadApart
    log: Log
    max_bytes: int
    patience: float = ANSWER_SECONDS
    source: RunSource = "api"
    progress: Progress = _silent
    sizes: Sizes = SIZES
