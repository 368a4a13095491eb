"""Documents over a real store, and the engine that finds them, with meanings of the test's own."""

import hashlib
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
import trio

from gatewayd.areas.vault.documents import index_queue, uploads
from gatewayd.areas.vault.documents.operations import confirm_upload, create_document_record
from gatewayd.areas.vault.documents.shapes import ConfirmUpload, CreateDocumentRecord
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.areas.vault.parses import texts
from gatewayd.areas.vault.search import SearchDocuments, SearchedDocuments
from gatewayd.clock import SECOND, SettableClock
from gatewayd.extraction.shapes import Page
from gatewayd.following import reactions
from gatewayd.search import index
from gatewayd.search.embedding import EmbeddingUnavailable, unit_vector
from gatewayd.search.engine import Search, SearchParts, open_search
from gatewayd.store import ReadTx, Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.importing.conftest import ImportLog
from tests.support import given_fields
from tests.support.postgres import Server
from tests.support.store import ON_POSTGRESQL, START, make_caller

ORG, OTHER = "org_a", "org_b"
DEADLINE = 120.0
SUBJECTS = ("boiler heating radiator", "tax vat hmrc", "rent tenant landlord", "car vehicle diesel")
"""Words that mean the same, a direction each; others mean nothing."""
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
_SETTINGS = Settings("http://127.0.0.1:8080", 1 << 20)
Watch = Callable[[Store], Store]


def meaning(text: str) -> bytes:
    """The vector of a text: how many words it has of each subject."""
    words = re.findall(r"\w+", text.lower())
    counts = [float(sum(word in subject.split() for word in words)) for subject in SUBJECTS]
    return unit_vector([*counts, 0.001, 0.0, 0.0, 0.0])


@dataclass
class FakeEmbedder:
    """Gives `meaning`, unless it is down; `embedded` is what it was asked for."""

    model: str | None = "fake-1"
    is_down: bool = False
    embedded: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], seconds: float) -> list[bytes]:
        await trio.lowlevel.checkpoint()
        if self.is_down:
            raise EmbeddingUnavailable("it is down")
        self.embedded += texts
        return [meaning(text) for text in texts]


@dataclass
class Shelf:
    """The documents of two organizations, and what a test does with them."""

    store: Store
    engine: Search
    clock: SettableClock
    embedder: FakeEmbedder
    log: ImportLog

    async def add(self, text: str, name: str = "letter.txt", org: str = ORG, **values: Any) -> str:
        """A document that was read: its pages end with form feeds. A second later than the one before."""
        self.clock.advance(SECOND)
        request = msgspec.convert({"name": name, **values}, CreateDocumentRecord)
        document_id: str = await self.store.write(partial(_add, request=request, org=org, text=text), org)
        return document_id

    async def read_anew(self, document_id: str, text: str) -> None:
        await self.store.write(lambda tx: _read(tx, document_id, text), ORG)

    async def change(self, handler: Callable[..., Any], request: Any, org: str = ORG) -> Any:
        return await self.store.write(lambda tx: handler(tx, make_caller(org), request), org)

    async def indexed(self) -> None:
        """Nothing waits for the index any more, nor for a vector."""
        with trio.fail_after(DEADLINE):
            while await self.store.read(self._waits):
                await self.store.write_behind(lambda tx: None)
                await trio.lowlevel.checkpoint()

    def _waits(self, tx: ReadTx) -> bool:
        model = self.embedder.model
        lack = model is not None and not self.embedder.is_down and bool(index.unembedded(tx, model, 1))
        return bool(index_queue.length(tx)) or lack

    async def search(self, query: str, org: str = ORG, **values: Any) -> SearchedDocuments:
        request = msgspec.convert({"q": query, **values}, SearchDocuments)
        given_fields.note("vault.searchDocuments", request)
        return await self.engine.search(org, request)

    async def ids(self, query: str, org: str = ORG, **values: Any) -> list[str]:
        """What is found by words, unless the test says otherwise."""
        await self.indexed()
        found = await self.search(query, org, **{"mode": "text", **values})
        return [one.document.id for one in found.data]


def _add(tx: WriteTx, *, request: CreateDocumentRecord, org: str, text: str) -> str:
    made = create_document_record(tx, make_caller(org), request, settings=_SETTINGS)
    token = made.upload.url.rpartition("/")[2]
    uploads.receive(tx, token, len(text), hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())
    confirm_upload(tx, make_caller(org), ConfirmUpload(document_id=made.document.id))
    _read(tx, made.document.id, text)
    return made.document.id


def _read(tx: WriteTx, document_id: str, text: str) -> None:
    texts.replace(tx, document_id, [Page(number=n, text=part) for n, part in enumerate(text.split("\f"), 1)])
    index_queue.put(tx, document_id)


def add_organization(tx: WriteTx, *, org: str) -> None:
    tx.run(_ADD_ORG, id=org)


def counted(tx: ReadTx) -> tuple[list[Any], list[Any]]:
    """On PostgreSQL: terms, and parts with their length, as they are counted, and as they are."""
    terms = "SELECT term, parts, exact_parts FROM vault_terms WHERE org_id = :org_id ORDER BY term"
    there = """
    SELECT substr(l.lexeme, 7) AS term, count(*) FILTER (WHERE substr(l.lexeme, 6, 1) = '.'),
        count(*) FILTER (WHERE substr(l.lexeme, 6, 1) = '=')
    FROM vault_part_words w CROSS JOIN unnest(tsvector_to_array(w.words)) l (lexeme)
    WHERE w.org_id = :org_id GROUP BY 1 ORDER BY CAST(substr(l.lexeme, 7) AS text) COLLATE "C"
    """
    totals = "SELECT parts, length FROM vault_part_totals WHERE org_id = :org_id"
    parts = "SELECT count(*), sum(length) FROM vault_part_words WHERE org_id = :org_id"
    return [tx.rows(terms), tx.rows(totals)], [tx.rows(there), tx.rows(parts)]


class OpenShelf(Protocol):
    """`async with open_shelf() as shelf`; again in the same test: the same directory, as after a restart."""

    def __call__(self, embedder: FakeEmbedder = ..., watch: Watch = ...) -> AbstractAsyncContextManager[Shelf]: ...


@pytest.fixture
def store_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreSettings]:
    """A migrated database of this test alone."""
    if not ON_POSTGRESQL:
        (tmp_path / DATABASE_NAME).write_bytes(request.getfixturevalue("database_image"))
        yield StoreSettings(directory=tmp_path)
        return
    from tests.support.postgres_store import PostgresStore

    server: Server = request.getfixturevalue("postgresql")
    assert PostgresStore.databases is not None
    name = server.new_database(PostgresStore.databases.template)
    yield StoreSettings(directory=tmp_path, url=server.address(name))
    server.drop(name)


@asynccontextmanager
async def opened_shelf(settings: StoreSettings, embedder: FakeEmbedder, watch: Watch) -> AsyncIterator[Shelf]:
    """A daemon's part of a database that was migrated."""
    clock, log = SettableClock(START), ImportLog()
    async with open_store(settings, clock, reactions=reactions) as store:
        parts = SearchParts(store=watch(store), embedder=embedder, log=log)
        async with open_search(parts) as engine:
            yield Shelf(store, engine, clock, embedder, log)
    assert log.logged == []


async def add_organizations(store: Store) -> None:
    for org in (ORG, OTHER):
        await store.write(partial(add_organization, org=org))


@pytest.fixture
def open_shelf(store_settings: StoreSettings) -> OpenShelf:
    opened_before: list[bool] = []

    @asynccontextmanager
    async def opened(embedder: FakeEmbedder | None = None, watch: Watch = lambda store: store) -> AsyncIterator[Shelf]:
        async with opened_shelf(store_settings, embedder or FakeEmbedder(), watch) as shelf:
            if not opened_before:
                await add_organizations(shelf.store)
                opened_before.append(True)
            yield shelf

    return opened
