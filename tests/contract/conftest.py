"""The whole catalogue over a real store, with one of everything in it."""

import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest
import trio

from gatewayd.areas.vault.documents import index_queue
from gatewayd.areas.vault.parses import rows
from gatewayd.bundles.engine import Bundles
from gatewayd.clock import DAY
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.importing.engine import open_importing
from gatewayd.importing.parts import SIZES, ImportParts, ReadApart, Sizes
from gatewayd.importing.prices import PriceImporting
from gatewayd.leases.holder import Holder
from gatewayd.papers.engine import Papers
from gatewayd.papers.setter import open_setter
from gatewayd.parsing.engine import open_parsing
from gatewayd.parsing.parts import ParseParts, Reader
from gatewayd.search.embedding import NoEmbedder
from gatewayd.search.engine import Search, SearchParts
from gatewayd.store import ReadTx
from gatewayd.store.files.blobs import Blobs
from gatewayd.tax import engine
from gatewayd.tax.settings import TaxSettings
from gatewayd.vault_files.engine import VaultFiles
from gatewayd.webhooks.feeds.event_log import EventLog
from tests.contract.rows import OPERATIONS, seed
from tests.importing.conftest import ImportLog
from tests.support.api import TestedApi, Tuning, open_api, reopen_api
from tests.support.document_reading import FakeReader
from tests.support.engines import Engines, TaxLog
from tests.support.inline_reading import read_inline
from tests.support.statement_files import read_parts

SEED_SECONDS = 60.0
LOOK_SECONDS = 0.01

_RUNNING = "SELECT 1 FROM vault_parses WHERE org_id = :org_id AND status = 'running' LIMIT 1"


class OpenCatalogue(Protocol):
    """`async with open_catalogue() as (api, ids)`: `ids` are those of the seeded resources by prefix."""

    def __call__(self) -> AbstractAsyncContextManager[tuple[TestedApi, dict[str, str]]]: ...


class RealReading(NamedTuple):
    """What reads documents, and statements of banks and brokers, as they are."""

    reader: Reader
    read_statement: ReadApart


class Seeded(NamedTuple):
    """A directory with the files of a store that has one of everything, and the ids by prefix. Only ever copied."""

    directory: Path
    ids: dict[str, str]


@asynccontextmanager
async def engines_of(
    api: TestedApi, directory: Path, engines: Engines, sizes: Sizes = SIZES, real: RealReading | None = None
) -> AsyncIterator[None]:
    """What rows of kind `call` are given. `sizes` are those of imports; `real` reads files instead of our stand-ins."""
    settings = TaxSettings(mode="sandbox", fraud_headers="off")
    engines.prices, engines.bundles = PriceImporting(api.store, read_inline, 1 << 20), Bundles(api.store)
    engines.event_log = EventLog(api.store, 90 * DAY)
    blobs = Blobs(directory)
    holder = Holder(api.store)
    reader: Reader = FakeReader() if real is None else real.reader
    reading = ParseParts(store=api.store, holder=holder, blobs=blobs, reader=reader, log=ImportLog())
    engines.search = Search(SearchParts(store=api.store, embedder=NoEmbedder("there is none"), log=ImportLog()))
    parts = ImportParts(
        store=api.store,
        holder=holder,
        directory=directory,
        read_apart=read_parts if real is None else real.read_statement,
        log=TaxLog(),
        max_bytes=1 << 20,
        sizes=sizes,
    )
    async with (
        engine.open_tax(holder, settings, api.clock, TaxLog(), "gatewayd/test") as engines.tax,
        open_importing(parts) as engines.importing,
        open_parsing(reading, reads=False) as engines.parsing,
        open_setter() as setter,
    ):
        engines.papers = Papers(api.store, setter, 0)
        made_files = engines.parsing.made_files
        engines.vault_files = VaultFiles(api.store, blobs, "http://127.0.0.1:8080", made_files, gives_links=True)
        yield


async def read_documents(api: TestedApi, engines: Engines, org_id: str = "org_a") -> None:
    """Let the documents be read and indexed; in tests nothing goes on by itself."""
    engine, search = engines.parsing, engines.search
    assert engine is not None
    assert search is not None
    with trio.fail_after(SEED_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(engine.run)
            nursery.start_soon(search.keep_index)
            while await api.store.read(_unread, org_id) or engine.under_way:
                await trio.sleep(LOOK_SECONDS)
            while await api.store.read(index_queue.length):
                await trio.sleep(LOOK_SECONDS)
            nursery.cancel_scope.cancel()


def _unread(tx: ReadTx) -> bool:
    """Whether a document is due, or is being read."""
    return bool(rows.due(tx, 1)) or tx.value(_RUNNING) is not None


async def make_seeded(directory: Path, image: bytes) -> Seeded:
    """One of everything in a directory, made through the API."""
    engines = Engines()
    async with (
        open_api(directory, image, OPERATIONS, Tuning(deps=engines)) as api,
        engines_of(api, directory, engines),
    ):
        api.token("org_a", "good", ALL_SCOPES)
        await api.org("org_b", "other", ALL_SCOPES)
        ids = await seed(api, Blobs(directory))
        await read_documents(api, engines)
        return Seeded(directory, ids)


@asynccontextmanager
async def opened_copy(seeded: Seeded, directory: Path) -> AsyncIterator[tuple[TestedApi, dict[str, str]]]:
    """The API over a copy of it in another directory."""
    shutil.copytree(seeded.directory, directory, dirs_exist_ok=True)
    engines = Engines()
    async with (
        reopen_api(directory, OPERATIONS, Tuning(deps=engines)) as api,
        engines_of(api, directory, engines),
    ):
        api.token("org_a", "good", ALL_SCOPES)
        api.token("org_b", "other", ALL_SCOPES)
        yield api, dict(seeded.ids)


@pytest.fixture(scope="session")
def seeded(database_image: bytes, tmp_path_factory: pytest.TempPathFactory) -> Seeded:
    """Made once."""
    return trio.run(make_seeded, tmp_path_factory.mktemp("seeded"), database_image)


@pytest.fixture
def open_catalogue(seeded: Seeded, tmp_path: Path) -> OpenCatalogue:
    """Organization `org_a` (token `good`) has one of everything; `org_b` (token `other`) has nothing."""
    return lambda: opened_copy(seeded, tmp_path)
