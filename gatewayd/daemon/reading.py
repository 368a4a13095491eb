"""What reads documents: the engine with its queue, and the reader of files behind it.

A program without a reader queues documents, and leaves them to one that has it.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from gatewayd.config import Config
from gatewayd.extraction.shapes import Extraction, ExtractionFailed, Picture
from gatewayd.http1.log import Log
from gatewayd.parsing.engine import Parsing, open_parsing
from gatewayd.parsing.parts import ParseParts, Reader
from gatewayd.store import Store
from gatewayd.store.blobs import Blobs

OpenReader = Callable[[str], AbstractAsyncContextManager[Reader]]
"""Opens a reader, with the setting `vault.ocr`."""


class _NoReader:
    """What answers for a reader in a program without one."""

    async def read(self, path: Path, name: str, mime_type: str) -> Extraction:
        raise _unsupported()

    async def draw(self, path: Path, mime_type: str, page: int, width: int) -> Picture:
        raise _unsupported()

    async def searchable_pdf(self, path: Path, mime_type: str, target: Path) -> None:
        raise _unsupported()


@asynccontextmanager
async def open_reading(
    config: Config, store: Store, open_reader: OpenReader | None, log: Log
) -> AsyncIterator[Parsing]:
    """The engine, reading for the length of the block. Raises `OSError`."""
    blobs = Blobs(store.directory)
    if open_reader is None:
        parts = ParseParts(store=store, blobs=blobs, reader=_NoReader(), log=log)
        async with open_parsing(parts, reads=False) as parsing:
            yield parsing
        return
    async with open_reader(config.vault.ocr) as reader:
        parts = ParseParts(store=store, blobs=blobs, reader=reader, log=log)
        async with open_parsing(parts) as parsing:
            yield parsing


def _unsupported() -> ExtractionFailed:
    return ExtractionFailed("unsupported", "This program has no reader of documents.")
