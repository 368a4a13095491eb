"""Two processes that append to one upload in a folder or bucket that both share: one is stopped, or killed."""

import hashlib
import os
import signal
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import trio

from gatewayd.areas.vault.documents import uploads
from gatewayd.areas.vault.documents.operations import create_document_record
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import CreateDocumentRecord, DocumentRow
from gatewayd.clock import SystemClock
from gatewayd.store import Store
from gatewayd.store.database import open_store
from gatewayd.store.files.at_place import blobs_at
from gatewayd.store.objects.bucket import Objects
from gatewayd.store.settings import DATABASE_NAME, Bucket, StoreSettings
from gatewayd.vault_files import places
from tests.store.opening import child
from tests.support import loaded, objects
from tests.support.store import make_caller

ORG = "org_a"
SETTINGS = uploads.Settings("http://127.0.0.1:8080", 1 << 20)
FIRST, REST, OTHERS = b"1234", b"5678", b"zzzz"
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"


class Scene:
    """A store, a shared folder or bucket, and an upload of eight bytes."""

    def __init__(self, directory: Path, image: bytes, files: Path | Bucket | None = None) -> None:
        self.data, self.share = directory / "data", directory / "share"
        self.files = files or self.share
        self.data.mkdir()
        self.share.mkdir()
        (self.data / DATABASE_NAME).write_bytes(image)
        self.document_id, self.token = trio.run(self._begin)

    async def _begin(self) -> tuple[str, str]:
        async with self.opened() as store:
            await places.claim(store)
            blobs_at(store.place)
            (self.share / "uploads").mkdir()
            await store.write(lambda tx: tx.run(_ADD_ORG, id=ORG))
            record = CreateDocumentRecord(name="a.txt", size_bytes=8)
            made = await store.write(
                lambda tx: create_document_record(tx, make_caller(ORG), record, settings=SETTINGS), ORG
            )
            return made.document.id, made.upload.url.rpartition("/")[2]

    def opened(self) -> AbstractAsyncContextManager[Store]:
        return open_store(StoreSettings(directory=self.data, files=self.files), SystemClock())

    def appending(self, offset: int) -> loaded.Program:
        """A process that appends, and waits for what."""
        files = objects.told(self.files)
        return child("tests.vault_files.receiving_child", str(self.data), files, self.token, str(offset))

    def document(self) -> DocumentRow:
        async def read() -> DocumentRow:
            async with self.opened() as store:
                return await store.read(lambda tx: DOCUMENTS.get(tx, self.document_id), ORG)

        return trio.run(read)

    def require_whole(self) -> None:
        """The bytes are those of who came last, and nothing else is left."""
        sha256 = hashlib.sha256(FIRST + REST).hexdigest()
        assert self.document().sha256 == sha256
        assert (self.share / "blobs" / sha256[:2] / sha256).read_bytes() == FIRST + REST
        assert list((self.share / "uploads").iterdir()) == []

    def require_whole_in(self, bucket: Bucket, *left: int) -> None:
        """As `require_whole`; what one that woke sent is left, from there on, under a name that nobody reads."""
        sha256 = hashlib.sha256(FIRST + REST).hexdigest()
        assert self.document().sha256 == sha256
        there = Objects(bucket)
        assert {there.get(key) for key in objects.keys(bucket, f"blobs/{sha256[:2]}/{sha256}")} == {FIRST + REST}
        assert objects.keys(bucket, "uploads/") == [f"uploads/{self.document_id}/{offset:020d}" for offset in left]


def give(program: loaded.Program, piece: bytes) -> str:
    """One piece, and what it says then."""
    assert program.stdin is not None
    program.stdin.write(f"{piece.hex()}\n")
    program.stdin.flush()
    return told(program)


def told(program: loaded.Program) -> str:
    assert program.stdout is not None
    return program.stdout.readline().strip()


def ended(program: loaded.Program) -> str:
    """The part is over: what it answers."""
    assert program.stdin is not None
    program.stdin.close()
    return told(program)


def test_one_that_is_stopped_and_woken_mixes_nothing_in(tmp_path: Path, database_image: bytes) -> None:
    scene = Scene(tmp_path, database_image)
    with scene.appending(0) as sleeping:
        assert give(sleeping, FIRST) == "written"
        os.kill(sleeping.pid, signal.SIGSTOP)
        with scene.appending(len(FIRST)) as other:
            assert give(other, REST) == "written"
            assert ended(other) == "8"
        os.kill(sleeping.pid, signal.SIGCONT)
        assert give(sleeping, OTHERS) == "written"
        assert ended(sleeping) == "upload_offset_mismatch"
    scene.require_whole()


def test_one_that_wakes_while_the_other_appends(tmp_path: Path, database_image: bytes) -> None:
    scene = Scene(tmp_path, database_image)
    with scene.appending(0) as sleeping:
        assert give(sleeping, FIRST) == "written"
        os.kill(sleeping.pid, signal.SIGSTOP)
        with scene.appending(len(FIRST)) as other:
            assert give(other, REST[:2]) == "written"
            os.kill(sleeping.pid, signal.SIGCONT)
            assert give(sleeping, OTHERS) == "written"
            assert ended(sleeping) == "upload_offset_mismatch"
            assert give(other, REST[2:]) == "written"
            assert ended(other) == "8"
    scene.require_whole()


def test_one_that_is_killed_leaves_what_came(tmp_path: Path, database_image: bytes) -> None:
    scene = Scene(tmp_path, database_image)
    with scene.appending(0) as killed:
        assert give(killed, FIRST) == "written"
        killed.kill()
    with scene.appending(len(FIRST)) as other:
        assert give(other, REST) == "written"
        assert ended(other) == "8"
    scene.require_whole()


# -- in a bucket: what was sent there counts, and the rest of a part that was not told as received does not


def test_one_that_sleeps_while_another_appends_to_a_bucket(
    tmp_path: Path, database_image: bytes, bucket: Bucket
) -> None:
    scene = Scene(tmp_path, database_image, bucket)
    with scene.appending(0) as first:
        assert give(first, FIRST) == "written"
        assert ended(first) == "4"
    with scene.appending(len(FIRST)) as sleeping:
        assert give(sleeping, OTHERS) == "written"
        os.kill(sleeping.pid, signal.SIGSTOP)
        with scene.appending(len(FIRST)) as other:
            assert give(other, REST[:2]) == "written"
            os.kill(sleeping.pid, signal.SIGCONT)
            assert ended(sleeping) == "upload_offset_mismatch"
            assert give(other, REST[2:]) == "written"
            assert ended(other) == "8"
    scene.require_whole_in(bucket, len(FIRST))


def test_one_that_slept_until_all_had_come_to_a_bucket(tmp_path: Path, database_image: bytes, bucket: Bucket) -> None:
    scene = Scene(tmp_path, database_image, bucket)
    with scene.appending(0) as sleeping:
        assert give(sleeping, OTHERS) == "written"
        os.kill(sleeping.pid, signal.SIGSTOP)
        with scene.appending(0) as other:
            assert give(other, FIRST + REST) == "written"
            assert ended(other) == "8"
        os.kill(sleeping.pid, signal.SIGCONT)
        assert ended(sleeping) == "upload_offset_mismatch"
    scene.require_whole_in(bucket, 0)


def test_one_that_is_killed_leaves_in_a_bucket_what_was_told(
    tmp_path: Path, database_image: bytes, bucket: Bucket
) -> None:
    scene = Scene(tmp_path, database_image, bucket)
    with scene.appending(0) as first:
        assert give(first, FIRST) == "written"
        assert ended(first) == "4"
    with scene.appending(len(FIRST)) as killed:
        assert give(killed, OTHERS) == "written"
        killed.kill()
    with scene.appending(len(FIRST)) as other:
        assert give(other, REST) == "written"
        assert ended(other) == "8"
    scene.require_whole_in(bucket)
