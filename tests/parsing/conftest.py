"""Documents over a real store, and the engine that reads them with a reader of the test."""

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest
import trio

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents import uploads
from gatewayd.areas.vault.documents.operations import confirm_upload, create_document_record
from gatewayd.areas.vault.documents.reading import ReparseDocument, reparse_document
from gatewayd.areas.vault.documents.shapes import ConfirmUpload, CreateDocumentRecord, Document
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.areas.vault.parses import rows, texts
from gatewayd.clock import SettableClock
from gatewayd.following import reactions
from gatewayd.leases.holder import Holder
from gatewayd.parsing.engine import ParseCounts, Parsing, open_parsing
from gatewayd.parsing.parts import ParseParts
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.files.blobs import Blobs
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.importing.conftest import ImportLog
from tests.support.document_reading import FakeReader
from tests.support.store import START, make_caller

ORG, OTHER = "org_a", "org_b"
DEADLINE = 120.0
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
_SETTINGS = Settings("http://127.0.0.1:8080", 1 << 20)
Watch = Callable[[Store], Store]


@dataclass
class Archive:
    """The documents of two organizations, and what a test does with them."""

    store: Store
    blobs: Blobs
    engine: Parsing
    clock: SettableClock
    reader: FakeReader
    log: ImportLog = field(default_factory=ImportLog)

    async def add(self, text: str, name: str = "a.txt", org: str = ORG) -> str:
        """A document that is uploaded and confirmed."""
        with self.blobs.draft(1 << 20) as draft:
            draft.write(text.encode())
            draft.save()
        return await self.store.write(partial(_add, name=name, content=text.encode(), org=org), org)

    async def document(self, document_id: str, org: str = ORG) -> Document:
        return await self.store.read(lambda tx: documents.shown(tx, documents.get(tx, document_id)), org)

    async def ended(self, document_id: str, org: str = ORG, attempt: int = 1) -> Document:
        """The document once that attempt has ended."""
        with trio.fail_after(DEADLINE):
            while True:
                shown = await self.document(document_id, org)
                if shown.parse.attempt >= attempt and shown.parse.status not in ("queued", "running"):
                    return shown
                await self.settle()

    async def settle(self) -> None:
        """Let the engine go on."""
        await self.store.write_behind(lambda tx: None)
        await trio.lowlevel.checkpoint()

    async def counts(self) -> ParseCounts:
        """What was counted, once no attempt is under way: an end is stored before it is counted."""
        with trio.fail_after(DEADLINE):
            while self.engine.under_way:
                await self.settle()
        return self.engine.counts

    async def reparse(self, document_id: str) -> None:
        request = ReparseDocument(document_id=document_id)
        await self.store.write(lambda tx: reparse_document(tx, make_caller(ORG), request), ORG)

    async def text(self, document_id: str) -> str:
        return await self.store.read(lambda tx: "".join(texts.text_of(tx, document_id)), ORG)

    async def attempts(self, document_id: str) -> list[tuple[int, str, str | None]]:
        """Number, end and code of each, the first one first."""
        found = await self.store.read(lambda tx: list(rows.attempts(tx, document_id, 100, 100)), ORG)
        return [(row[0], row[1], row[5]) for row in reversed(found)]


def _add(tx: WriteTx, *, name: str, content: bytes, org: str) -> str:
    caller = make_caller(org)
    made = create_document_record(tx, caller, CreateDocumentRecord(name=name), settings=_SETTINGS)
    token = made.upload.url.rpartition("/")[2]
    uploads.receive(tx, token, len(content), hashlib.sha256(content).hexdigest())
    return confirm_upload(tx, caller, ConfirmUpload(document_id=made.document.id)).id


class OpenArchive(Protocol):
    """`async with open_archive() as archive`; again in the same test: the same directory, as after a restart.

    Under another name it is a daemon of another host, which does not know that those before it are dead.
    """

    def __call__(
        self, reader: FakeReader = ..., watch: Watch = ..., name: str = ...
    ) -> AbstractAsyncContextManager[Archive]: ...


@pytest.fixture
def open_archive(database_image: bytes, tmp_path: Path) -> OpenArchive:
    @asynccontextmanager
    async def opened(
        reader: FakeReader | None = None, watch: Watch = lambda store: store, name: str = "daemon"
    ) -> AsyncIterator[Archive]:
        fresh = not (tmp_path / DATABASE_NAME).exists()
        if fresh:
            (tmp_path / DATABASE_NAME).write_bytes(database_image)
        clock, log, blobs = SettableClock(START), ImportLog(), Blobs(tmp_path)
        reader = reader or FakeReader()
        async with open_store(StoreSettings(directory=tmp_path), clock, reactions=reactions) as store:
            if fresh:
                for org in (ORG, OTHER):
                    await store.write(partial(_add_org, org=org))
            holder = Holder(store, name)
            await holder.drop_former()
            parts = ParseParts(store=watch(store), holder=holder, blobs=blobs, reader=reader, log=log)
            async with open_parsing(parts) as engine:
                yield Archive(store, blobs, engine, clock, reader, log)
        assert log.logged == []

    return opened


def _add_org(tx: WriteTx, *, org: str) -> None:
    tx.run(_ADD_ORG, id=org)
