"""What the engine that reads documents works with."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import trio

from gatewayd.extraction.shapes import Extraction, Picture
from gatewayd.http1.log import Log, Outage
from gatewayd.leases.holder import Holder
from gatewayd.store import Store
from gatewayd.store.files.blobs import Blobs

THREADS: Final = 4  # Chosen


class Reader(Protocol):
    """What reads a file of a stranger, each in a process of its own. All raise `ExtractionFailed`."""

    async def read(self, path: Path, name: str, mime_type: str) -> Extraction:
        """What stands in it."""
        ...

    async def draw(self, path: Path, mime_type: str, page: int, width: int) -> Picture:
        """One page of it as a picture; `unsupported`: there is no picture of this kind of file."""
        ...

    async def searchable_pdf(self, path: Path, mime_type: str, target: Path) -> None:
        """Write a PDF of pictures to `target`, with their text behind them; `unsupported`: its text is there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseParts:
    """What the engine works with. `blobs` are the bytes of the store's documents, `threads` for what touches them.

    `holder` is who reads a document alone; `storing` tells where what is read cannot be stored.
    """

    store: Store
    holder: Holder
    blobs: Blobs
    reader: Reader
    log: Log
    threads: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(THREADS))
    storing: Outage = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "storing", Outage(self.log, "parse_not_stored", "parse_stored_again"))
