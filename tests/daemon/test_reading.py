"""The daemon reads the documents that were left to it, with the reader of its settings."""

import hashlib
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio

from gatewayd.areas.vault.documents import uploads
from gatewayd.areas.vault.documents.operations import confirm_upload, create_document_record
from gatewayd.areas.vault.documents.shapes import ConfirmUpload, CreateDocumentRecord
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.config import Config, load
from gatewayd.daemon.daemon import Daemon, Surroundings
from gatewayd.daemon.reading import OpenReader
from gatewayd.store import WriteTx
from gatewayd.store.files.blobs import Blobs
from tests.daemon.instance import SECONDS, Instance
from tests.support.document_reading import FakeReader
from tests.support.store import make_caller

_SELECT = "SELECT status, attempt FROM vault_parses"
CONTENT = b"Boiler service, paid in full."


def add(tx: WriteTx, *, org_id: str) -> None:
    """A document that is uploaded and confirmed."""
    caller, settings = make_caller(org_id), Settings("http://127.0.0.1:8080", 100)
    made = create_document_record(tx, caller, CreateDocumentRecord(name="bill.txt"), settings=settings)
    token = made.upload.url.rpartition("/")[2]
    uploads.receive(tx, token, len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    confirm_upload(tx, caller, ConfirmUpload(document_id=made.document.id))


async def test_documents_are_read_by_the_daemon_that_can(tmp_path: Path) -> None:
    instance, asked = Instance(tmp_path), list[str]()
    firm = await trio.to_thread.run_sync(instance.firm)
    await trio.to_thread.run_sync(partial(instance.write, partial(add, org_id=firm.org_id), firm.org_id))
    with Blobs(instance.directory / "data").draft(100) as draft:
        draft.write(CONTENT)
        draft.save()

    @asynccontextmanager
    async def open_reader(config: Config) -> AsyncIterator[FakeReader]:
        asked.append(config.vault.ocr)
        yield FakeReader()

    async def states_under(reader: OpenReader, wanted: str) -> tuple[str, int]:
        daemon = Daemon(load(instance.config, {}), Surroundings(log_stream=io.StringIO(), open_reader=reader))
        with trio.fail_after(SECONDS):
            async with trio.open_nursery() as nursery:
                running = await nursery.start(daemon.run)
                while (found := await running.store.read(lambda tx: tx.row(_SELECT)))[0] != wanted:
                    await running.store.write_behind(lambda tx: None)
                daemon.stop()
        return str(found[0]), int(found[1])

    assert await states_under(open_reader, "succeeded") == ("succeeded", 1)
    assert asked == ["auto"]
