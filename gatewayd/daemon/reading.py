"""What reads documents and finds them: the engines with their queues, and the processes behind them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

from gatewayd.config import Config
from gatewayd.daemon.embedding import OpenEmbedder
from gatewayd.extraction import reader
from gatewayd.extraction.reader import ReaderSettings
from gatewayd.http1.log import Log
from gatewayd.isolation.starting import unpacked_of
from gatewayd.leases.holder import Holder
from gatewayd.parsing.engine import Parsing, open_parsing
from gatewayd.parsing.parts import ParseParts, Reader
from gatewayd.search.engine import Search, SearchParts, open_search
from gatewayd.store.files.at_place import blobs_at

OpenReader = Callable[[Config], AbstractAsyncContextManager[Reader]]
"""Opens a reader, with the settings of text in pictures."""


class Reading(NamedTuple):
    """The engines of what is in documents."""

    parsing: Parsing
    search: Search


@asynccontextmanager
async def open_reading(
    config: Config, holder: Holder, ways: tuple[OpenReader, OpenEmbedder], log: Log
) -> AsyncIterator[Reading]:
    """The engines, at work for the length of the block, in the holder's store. Raises `OSError`."""
    (open_reader, open_embedder), store = ways, holder.store
    async with open_reader(config) as opened, open_embedder(config) as embedder:
        parts = ParseParts(store=store, holder=holder, blobs=blobs_at(store.place), reader=opened, log=log)
        search_parts = SearchParts(store=store, embedder=embedder, log=log)
        async with open_parsing(parts) as parsing, open_search(search_parts) as search:
            yield Reading(parsing, search)


def reader_of(environ: Mapping[str, str]) -> OpenReader:
    """The reader that starts a process for each document, of a program with this environment."""
    unpacked = unpacked_of(environ)

    def open_reader(config: Config) -> AbstractAsyncContextManager[Reader]:
        settings = ReaderSettings(ocr=config.vault.ocr, ocr_languages=config.vault.ocr_languages)
        return reader.open_reader(settings, unpacked=unpacked)

    return open_reader
