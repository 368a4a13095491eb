"""Uploads of which two daemons take the parts, into a folder that both share: no bytes mix, and what is told stays."""

import hashlib
import os
import random
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from gatewayd.areas import vault
from gatewayd.areas.vault.documents import upload_files
from gatewayd.clock import DAY
from gatewayd.http import tus
from gatewayd.http.vault_uploads import PART_BYTES, VaultUploads
from gatewayd.http1.cors import Cors
from gatewayd.store import Store, StoreFailure
from gatewayd.store.database import open_store
from gatewayd.store.files import partial_blobs
from gatewayd.store.files.at_place import blobs_at, partials_at
from gatewayd.store.files.blobs import BlobDraft
from gatewayd.store.files.partial_blobs import PartialBlob
from gatewayd.store.objects.bucket import Objects
from gatewayd.store.settings import Bucket, StoreSettings
from gatewayd.vault_files import receiving
from gatewayd.vault_files.receiving import Receiving
from tests.http.test_tus import confirmed, made, sha1_of
from tests.http.vault_door import MAX_BYTES, ORIGIN, Door, call, open_door
from tests.support import objects
from tests.support.api import ANSWER_SECONDS, Body, Reply
from tests.support.objects import ObjectServer

CONTENT = bytes(range(256)) * 3_000
OTHERS = bytes(len(CONTENT))
HALF = PART_BYTES
DEAD = "0123456789abcdef"


class Other:
    """A daemon of another machine: a store of its own over the same rows and the same folder."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.blobs = blobs_at(store.place)
        self.partials = partials_at(store.place)
        limits = vault.Settings(ORIGIN, MAX_BYTES, 0)
        self.receiving = Receiving(store, self.blobs, self.partials, limits)
        cors = Cors([], tus.FROM_PAGES, tus.TO_PAGES)
        self._uploads = VaultUploads(self.receiving, cors, "/vault/uploads/")

    async def tus(self, method: str, url: str, body: Body | bytes = b"", **fields: object) -> Reply:
        """As `Door.tus`."""
        given = {"tus_resumable": "1.0.0", "content_type": "application/offset+octet-stream", **fields}
        headers = [(name.replace("_", "-").encode(), str(value).encode()) for name, value in given.items()]
        return await call(self._uploads, method, url, body if isinstance(body, Body) else Body(body), headers)


@asynccontextmanager
async def open_two(
    tmp_path: Path, image: bytes, files: Path | Bucket | None = None
) -> AsyncIterator[tuple[Door, Other]]:
    """`files`: what they share; None: a folder."""
    data, share = tmp_path / "data", tmp_path / "share"
    data.mkdir()
    share.mkdir()
    async with (
        open_door(data, image, files=files or share) as door,
        open_store(StoreSettings(directory=data, files=files or share), door.api.clock) as store,
    ):
        yield door, Other(store)


@pytest.fixture(params=["folder", "bucket"])
def files(request: pytest.FixtureRequest) -> Bucket | None:
    """All of it holds in a bucket too."""
    return None if request.param == "folder" else request.getfixturevalue("bucket")


async def file_of(door: Door, document_id: str) -> upload_files.UploadFile:
    return await door.api.store.read(lambda tx: upload_files.find(tx, document_id), "org_a")


class Hanging(Body):
    """A body of which a part comes, and the rest when it is told to go on."""

    def __init__(self, first: bytes, rest: bytes) -> None:
        super().__init__(first, rest)
        self.waits, self.goes_on = trio.Event(), trio.Event()

    async def receive(self) -> dict[str, Any]:
        if self.read:
            self.waits.set()
            await self.goes_on.wait()
        return await super().receive()


async def test_either_daemon_takes_the_next_part(tmp_path: Path, database_image: bytes, files: Bucket | None) -> None:
    async with open_two(tmp_path, database_image, files) as (door, other):
        document_id, url = await made(door, sizeBytes=len(CONTENT))
        assert (await door.tus("PATCH", url, CONTENT[:HALF], upload_offset=0)).status == 204
        assert (await other.tus("HEAD", url))["upload-offset"] == str(HALF)
        more = await other.tus("PATCH", url, CONTENT[HALF : HALF + 9], upload_offset=HALF)
        assert (more.status, more["upload-offset"]) == (204, str(HALF + 9))
        assert other.partials.list_names() == [document_id], "who lets it go leaves nothing to be copied"
        assert (await door.tus("PATCH", url, CONTENT[HALF + 9 :], upload_offset=HALF + 9)).status == 204
        assert (await other.tus("HEAD", url))["upload-offset"] == str(len(CONTENT))
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(CONTENT).hexdigest()
        assert other.blobs.path(hashlib.sha256(CONTENT).hexdigest()).read_bytes() == CONTENT
        assert other.partials.list_names() == []
        assert await file_of(door, document_id) == (document_id, None)


async def test_who_came_last_goes_on_and_the_other_is_told(tmp_path: Path, database_image: bytes) -> None:
    """A request that hangs at one daemon, and whose client went to the other, mixes nothing in when it goes on."""
    async with open_two(tmp_path, database_image) as (door, other):
        document_id, url = await made(door, sizeBytes=len(CONTENT))
        hanging, late = Hanging(CONTENT[:HALF], OTHERS[HALF:]), list[Reply]()

        async def hang() -> None:
            late.append(await door.tus("PATCH", url, hanging, upload_offset=0))

        with trio.fail_after(ANSWER_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hang)
                await hanging.waits.wait()
                while (await other.tus("HEAD", url))["upload-offset"] != str(HALF):
                    pass
                hanging.goes_on.set()
                assert (await other.tus("PATCH", url, CONTENT[HALF:], upload_offset=HALF)).status == 204
        assert [(reply.status, reply.code) for reply in late] == [(409, "upload_offset_mismatch")]
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(CONTENT).hexdigest()
        assert other.blobs.path(hashlib.sha256(CONTENT).hexdigest()).read_bytes() == CONTENT


async def left_by_a_kill(door: Door, document_id: str, content: bytes, *, doubtful: bytes = b"") -> None:
    """What a daemon leaves that was killed while it appended."""
    await door.api.store.write(lambda tx: upload_files.claim(tx, document_id, DEAD), "org_a")
    with door.partials.open(document_id) as left:
        left.write(content)
        if doubtful:
            left.doubt()
            left.write(doubtful)


async def test_what_a_killed_daemon_left_is_gone_on_with(
    tmp_path: Path, database_image: bytes, files: Bucket | None
) -> None:
    async with open_two(tmp_path, database_image, files) as (door, other):
        document_id, url = await made(door, sizeBytes=8)
        await left_by_a_kill(door, document_id, b"1234", doubtful=b"99")
        assert (await other.tus("HEAD", url))["upload-offset"] == "4", "nobody knows whether the rest was right"
        names = other.partials.list_names()
        assert (len(names), names != [document_id]) == (1, True), "a copy goes on, and the file of the dead is gone"
        with door.partials.open(document_id) as dead:  # it was not dead, and wakes
            dead.write(b"zzzzzzzz")
        right = await other.tus("PATCH", url, b"5678", upload_offset=4, upload_checksum=sha1_of(b"5678"))
        assert right.status == 204
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(b"12345678").hexdigest()


async def test_a_part_in_doubt_is_its_own_daemons(tmp_path: Path, database_image: bytes) -> None:
    """What one that wakes says of its part, which was taken over, is nothing of the part that another began."""
    async with open_two(tmp_path, database_image) as (door, other):
        document_id, url = await made(door, sizeBytes=8)
        await left_by_a_kill(door, document_id, b"1234")
        sleeping = door.partials.open(document_id)
        sleeping.doubt()
        sleeping.write(b"zz")
        assert (await other.tus("HEAD", url))["upload-offset"] == "4"
        name = (await file_of(door, document_id)).name
        with other.partials.open(name) as begun:
            begun.doubt()
            begun.write(b"55")
        with pytest.raises(StoreFailure):  # its note went with its file
            sleeping.trust()
        sleeping.close()
        assert other.partials.size(name) == 4, "a kill takes back what is in doubt"
        await other.tus("PATCH", url, b"5678", upload_offset=4)
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(b"12345678").hexdigest()


async def test_a_daemon_that_slept_at_the_end_does_not_end_it(
    tmp_path: Path, database_image: bytes, files: Bucket | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All had come, the bytes had their name, and the row was not written: the other has the upload by then."""
    async with open_two(tmp_path, database_image, files) as (door, other):
        document_id, url = await made(door)
        adopt = door.receiving._adopt

        async def taken() -> None:
            await other.store.write(lambda tx: upload_files.claim(tx, document_id, DEAD), "org_a")

        def adopt_and_sleep(name: str) -> object:
            info = adopt(name)
            trio.from_thread.run(taken)
            return info

        monkeypatch.setattr(door.receiving, "_adopt", adopt_and_sleep)
        late = await door.tus("PATCH", url, b"1234", upload_offset=0, upload_length=4)
        assert (late.status, late.code) == (409, "upload_offset_mismatch")
        missing = await door.api("POST", f"/vault/documents/{document_id}/confirm-upload")
        assert missing.code == "upload_missing"
        assert (await other.tus("HEAD", url))["upload-offset"] == "4", "what was synced is there, told or not"
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(b"1234").hexdigest()


async def test_a_whole_document_at_one_daemon_ends_the_parts_at_the_other(
    tmp_path: Path, database_image: bytes, files: Bucket | None
) -> None:
    async with open_two(tmp_path, database_image, files) as (door, other):
        document_id, url = await made(door, sizeBytes=len(CONTENT))
        hanging, late = Hanging(OTHERS[:HALF], OTHERS[HALF:]), list[Reply]()

        async def hang() -> None:
            late.append(await door.tus("PATCH", url, hanging, upload_offset=0))

        with trio.fail_after(ANSWER_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hang)
                await hanging.waits.wait()
                assert (await other.tus("PUT", url, CONTENT)).status == 200
                hanging.goes_on.set()
        assert [(reply.status, reply.code) for reply in late] == [(409, "upload_offset_mismatch")]
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(CONTENT).hexdigest()


async def test_an_upload_that_is_given_up_at_one_daemon_is_over_at_the_other(
    tmp_path: Path, database_image: bytes, files: Bucket | None
) -> None:
    async with open_two(tmp_path, database_image, files) as (door, other):
        document_id, url = await made(door, sizeBytes=len(CONTENT))
        hanging, late = Hanging(CONTENT[:HALF], CONTENT[HALF:]), list[Reply]()

        async def hang() -> None:
            late.append(await door.tus("PATCH", url, hanging, upload_offset=0))

        with trio.fail_after(ANSWER_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hang)
                await hanging.waits.wait()
                assert (await other.tus("DELETE", url)).status == 204
                hanging.goes_on.set()
        assert [reply.status for reply in late] == [409]
        assert (await door.tus("HEAD", url)).status == 404
        assert (await file_of(door, document_id)).writer is None
        missing = await door.api("POST", f"/vault/documents/{document_id}/confirm-upload")
        assert missing.status >= 400


async def test_a_disk_without_room_for_the_copy_loses_nothing(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_two(tmp_path, database_image) as (door, other):
        document_id, url = await made(door, sizeBytes=8)
        await left_by_a_kill(door, document_id, b"1234")
        monkeypatch.setattr(partial_blobs, "free_bytes", lambda folder: partial_blobs.RESERVE_BYTES)
        refused = await other.tus("HEAD", url)
        assert (refused.status, refused["retry-after"]) == (503, "5")
        monkeypatch.undo()
        assert (await other.tus("HEAD", url))["upload-offset"] == "4"
        await other.tus("PATCH", url, b"5678", upload_offset=4)
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(b"12345678").hexdigest()


async def test_a_kill_before_the_copy_has_its_name(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_two(tmp_path, database_image) as (door, other):
        document_id, url = await made(door, sizeBytes=8)
        await left_by_a_kill(door, document_id, b"1234")
        other.partials.copy(document_id, f"{document_id}.{DEAD}")
        assert (await other.tus("HEAD", url))["upload-offset"] == "4"
        current = (await file_of(door, document_id)).name
        assert other.partials.list_names() == sorted([f"{document_id}.{DEAD}", current])
        await other.receiving.keep_house()
        assert len(other.partials.list_names()) == 2, "it is young: somebody may be at it"
        age(door, f"{document_id}.{DEAD}", current)
        await other.receiving.keep_house()
        assert other.partials.list_names() == [current], "and this one is awaited, however old"


def age(door: Door, *names: str) -> None:
    """Let files be as old as the clock of the share can tell."""
    for name in names:
        os.utime(door.partials.folder / name, (1, 1))


async def test_what_another_daemon_writes_now_is_not_swept(tmp_path: Path, database_image: bytes) -> None:
    """An upload whose time is over while its last part comes: the other daemon does not know who is at it."""
    async with open_two(tmp_path, database_image) as (door, other):
        document_id, url = await made(door, sizeBytes=8)
        await door.tus("PATCH", url, b"1234", upload_offset=0)
        door.api.clock.advance(DAY)
        await other.receiving.keep_house()
        assert other.partials.list_names() == [document_id]
        age(door, document_id)
        await other.receiving.keep_house()
        assert other.partials.list_names() == []
        assert (await file_of(door, document_id)) == (document_id, None)


async def test_a_share_that_went_away_has_lost_nothing(tmp_path: Path, database_image: bytes) -> None:
    """The mountpoint is there, and empty: no upload stands at 0, and no document is gone."""
    async with open_two(tmp_path, database_image) as (door, other):
        kept = await door.document(b"kept")
        url_of_kept = await door.url(kept)
        _, url = await made(door, sizeBytes=8)
        await door.tus("PATCH", url, b"1234", upload_offset=0)
        killed, of_killed = await made(door, sizeBytes=8)
        await left_by_a_kill(door, killed, b"1234")
        share = door.api.store.place.folder
        share.rename(tmp_path / "unmounted")
        share.mkdir()
        for each in (url, of_killed):
            assert [(await daemon.tus("HEAD", each)).status for daemon in (door, other)] == [503, 503]
        assert (await door.tus("PATCH", url, b"5678", upload_offset=4)).status == 503
        assert (await door.get(url_of_kept)).status == 503
        assert (await other.tus("PUT", url, b"12345678")).status == 503
        assert list(share.iterdir()) == [], "nothing is made on the disk below"
        share.rmdir()
        (tmp_path / "unmounted").rename(share)
        for each in (url, of_killed):
            assert (await other.tus("HEAD", each))["upload-offset"] == "4"
        assert (await door.get(url_of_kept)).body == b"kept"


async def test_a_share_that_hangs_holds_up_what_needs_it_and_nothing_else(
    tmp_path: Path, database_image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a client breaks off, and its draft is to be deleted."""
    async with open_two(tmp_path, database_image) as (door, other):
        (document_id, url), answers, back = await made(door, sizeBytes=8), threading.Event(), trio.Event()
        discard, close = BlobDraft.discard, PartialBlob.close

        def hang(end: Callable[[Any], None], file: Any) -> None:
            trio.from_thread.run_sync(back.set)
            assert answers.wait(ANSWER_SECONDS)
            end(file)

        monkeypatch.setattr(BlobDraft, "discard", lambda draft: hang(discard, draft))
        monkeypatch.setattr(PartialBlob, "close", lambda file: hang(close, file))
        with trio.fail_after(ANSWER_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(door.tus, "PUT", url, Body(b"12", broken_off=True))
                nursery.start_soon(partial(other.tus, "PATCH", url, b"1234", upload_offset=0))
                await back.wait()
                assert (await door.api("GET", f"/vault/documents/{document_id}")).status == 200
                answers.set()
        monkeypatch.undo()
        assert (await other.tus("HEAD", url))["upload-offset"] == "4"


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_becomes_of_requests_the_bytes_are_those_that_were_sent(
    tmp_path: Path, database_image: bytes, seed: int
) -> None:
    """A client that is sent to either daemon at random, whose connections break and hang, and daemons that die.

    What hangs is let go on later, with other bytes than were meant: they never count.
    """
    chance = random.Random(seed)
    content = chance.randbytes(900_000)
    async with open_two(tmp_path, database_image) as (door, other):
        document_id, url = await made(door, sizeBytes=len(content))
        left, overtaken = list[Hanging](), list[Hanging]()
        with trio.fail_after(ANSWER_SECONDS):
            async with trio.open_nursery() as nursery:
                told = 0
                while told < len(content):
                    daemon: Any = chance.choice((door, other))
                    head = await daemon.tus("HEAD", url)
                    assert head.status == 200, head.body
                    offset = int(head["upload-offset"])
                    assert offset >= told, "what was told stays"
                    told = offset
                    if told == len(content):
                        break
                    overtaken, left = [*overtaken, *left], []
                    part = content[offset : offset + chance.randint(1, 200_000)]
                    what = chance.choice(("whole", "cut", "hang", "die", "doubt"))
                    if what == "whole":
                        sent = await daemon.tus("PATCH", url, part, upload_offset=offset)
                        assert int(sent["upload-offset"]) == offset + len(part)
                        told = offset + len(part)
                    elif what == "cut":
                        await daemon.tus("PATCH", url, Body(part, broken_off=True), upload_offset=offset)
                    elif what == "doubt":
                        wrong = await daemon.tus(
                            "PATCH", url, part, upload_offset=offset, upload_checksum=sha1_of(b"another")
                        )
                        assert wrong.status == 460
                    elif what == "hang":
                        left.append(Hanging(part, bytes(len(content) - offset - len(part))))
                        nursery.start_soon(_patch, daemon, url, left[-1], offset)
                        await left[-1].waits.wait()
                    else:
                        name = (await file_of(door, document_id)).name
                        await door.api.store.write(lambda tx: upload_files.claim(tx, document_id, DEAD), "org_a")
                        with door.partials.open(name) as killed:
                            killed.write(part)
                    if overtaken and chance.random() < 0.5:
                        overtaken.pop(0).goes_on.set()
                assert (await door.tus("HEAD", url))["upload-offset"] == str(len(content))
                for each in (*overtaken, *left):
                    each.goes_on.set()
        assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(content).hexdigest()
        assert door.blobs.path(hashlib.sha256(content).hexdigest()).read_bytes() == content


async def _patch(daemon: Any, url: str, body: Hanging, offset: int) -> None:
    reply = await daemon.tus("PATCH", url, body, upload_offset=offset)
    assert reply.status == 409, reply.body


# -- in a bucket


async def test_a_part_whose_fate_is_unknown_is_gone_on_with_under_another_name(
    tmp_path: Path, database_image: bytes, object_server: ObjectServer
) -> None:
    """A request that the store heard, and did so late that its daemon had given up: its bytes are nobody's."""
    with objects.front_of(object_server) as front:
        bucket = object_server.bucket(tmp_path, endpoint=front.address)
        async with open_two(tmp_path, database_image, bucket) as (door, other):
            document_id, url = await made(door, sizeBytes=8)
            assert (await door.tus("PATCH", url, b"1234", upload_offset=0)).status == 204
            with front.failing(objects.of("PUT", objects.busy)):
                assert (await door.tus("PATCH", url, b"zz", upload_offset=4)).status == 503
            assert (await file_of(door, document_id)).writer is not None, "nobody may go on with that name"
            assert (await other.tus("HEAD", url))["upload-offset"] == "4"
            current = (await file_of(door, document_id)).name
            assert (current != document_id, other.partials.list_names()) == (True, [current])
            Objects(bucket).put(f"uploads/{document_id}/{4:020d}", b"zz")  # now it is done
            assert (await door.tus("PATCH", url, b"56", upload_offset=4)).status == 204
            assert (await other.tus("PATCH", url, b"78", upload_offset=6)).status == 204
            assert (await confirmed(door, document_id))["sha256"] == hashlib.sha256(b"12345678").hexdigest()


async def test_what_came_late_to_a_bucket_is_swept(
    tmp_path: Path, database_image: bytes, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_two(tmp_path, database_image, bucket) as (door, other):
        document_id, url = await made(door, sizeBytes=8)
        await door.tus("PATCH", url, b"1234", upload_offset=0)
        Objects(bucket).put(f"uploads/{document_id}.{DEAD}/{0:020d}", b"zz")
        await other.receiving.keep_house()
        assert len(other.partials.list_names()) == 2, "it is young: somebody may be at it"
        monkeypatch.setattr(receiving, "QUIET_FOR", -DAY)
        await other.receiving.keep_house()
        assert other.partials.list_names() == [document_id], "and this one is awaited, however old"


async def test_other_bytes_than_were_meant_begin_anew_under_another_name(
    tmp_path: Path, database_image: bytes, bucket: Bucket
) -> None:
    """What was sent of them before may still arrive in a bucket."""
    async with open_two(tmp_path, database_image, bucket) as (door, other):
        meant = hashlib.sha256(b"12345678").hexdigest()
        document_id, url = await made(door, sizeBytes=8, sha256=meant)
        wrong = await door.tus("PATCH", url, b"zzzzzzzz", upload_offset=0)
        assert wrong.code == "checksum_mismatch"
        Objects(bucket).put(f"uploads/{document_id}/{0:020d}", b"zzzz")
        assert (await other.tus("HEAD", url))["upload-offset"] == "4", "it arrived before anybody asked"
        assert (await file_of(door, document_id)).name != document_id
        await other.tus("PATCH", url, b"5678", upload_offset=4)
        assert (await other.tus("PATCH", url, b"12345678", upload_offset=0)).status == 204
        assert (await confirmed(door, document_id))["sha256"] == meant


async def test_a_bucket_that_does_not_answer_has_lost_nothing(
    tmp_path: Path, database_image: bytes, object_server: ObjectServer
) -> None:
    with objects.front_of(object_server) as front:
        bucket = object_server.bucket(tmp_path, endpoint=front.address)
        async with open_two(tmp_path, database_image, bucket) as (door, other):
            kept = await door.document(b"kept")
            url_of_kept = await door.url(kept)
            _, url = await made(door, sizeBytes=8)
            await door.tus("PATCH", url, b"1234", upload_offset=0)
            with front.failing(objects.refused(403, "AccessDenied")):
                assert [(await daemon.tus("HEAD", url)).status for daemon in (door, other)] == [503, 503]
                assert (await door.tus("PATCH", url, b"5678", upload_offset=4)).status == 503
                assert (await other.tus("PUT", url, b"12345678")).status == 503
                assert (await door.get(url_of_kept)).body == b"kept", "it is on the disk of who took it"
                for path in door.blobs.folder.rglob("*"):
                    if path.is_file():
                        path.unlink()
                assert (await door.get(url_of_kept)).status == 503
            assert (await other.tus("HEAD", url))["upload-offset"] == "4"
            assert (await door.get(url_of_kept)).body == b"kept"
