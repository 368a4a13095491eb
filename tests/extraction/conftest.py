"""A reader of documents, and a place for them."""

import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import trio

from gatewayd.clock import SystemClock
from gatewayd.extraction import ENTRY
from gatewayd.extraction.reader import DocumentReader, ReaderSettings
from gatewayd.extraction.shapes import Extraction, ExtractionFailed
from gatewayd.isolation.forking import Forking

CHANCES = int(os.environ.get("GATEWAYD_MUTATIONS", "40"))
"""How many documents of each kind chance changes; `make soak` takes many."""

Read = Callable[..., Awaitable[Extraction]]
Fail = Callable[..., Awaitable[str]]


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    """One template for the readers of a module: to load its parsers takes longer than to read most documents."""
    made = Forking(ENTRY, ())
    yield made
    trio.run(made.aclose)


@pytest.fixture
def reader(forking: Forking) -> DocumentReader:
    return DocumentReader(ReaderSettings(cpu_seconds=20, memory_bytes=700 << 20), forking, SystemClock())


@pytest.fixture
def read(reader: DocumentReader, tmp_path: Path) -> Read:
    """Read bytes as a file of a name and a type that it says it has."""

    async def read_bytes(content: bytes, name: str = "document", mime_type: str = "") -> Extraction:
        path = tmp_path / "document"
        path.write_bytes(content)
        return await reader.read(path, name, mime_type)

    return read_bytes


@pytest.fixture
def failure(read: Read) -> Fail:
    """The code with which bytes can't be read."""

    async def code_of(content: bytes, name: str = "document", mime_type: str = "") -> str:
        with pytest.raises(ExtractionFailed) as caught:
            await read(content, name, mime_type)
        return caught.value.code

    return code_of
