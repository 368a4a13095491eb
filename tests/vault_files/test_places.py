"""The folder of documents that daemons share: whose it is, that it is there, and that one that hangs is told of."""

import io
import json
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from gatewayd.clock import SettableClock
from gatewayd.logs import make_logger
from gatewayd.store import Store, StoreFailure
from gatewayd.store.database import open_store
from gatewayd.store.files.at_place import blobs_at, require_marked
from gatewayd.store.files.place import new_mark, write_mark
from gatewayd.store.objects import exchanges
from gatewayd.store.objects.bucket import Objects
from gatewayd.store.rows import files_place
from gatewayd.store.settings import DATABASE_NAME, PLACE_MARK, Bucket, StoreSettings
from gatewayd.vault_files import places
from gatewayd.vault_files.places import PlaceWatch
from tests.support import objects
from tests.support.objects import ObjectServer
from tests.support.store import START


@asynccontextmanager
async def opened(data: Path, image: bytes, files: Path | Bucket | None) -> AsyncIterator[Store]:
    """A store of which a daemon on another machine may have begun already."""
    data.mkdir(exist_ok=True)
    if not (data / DATABASE_NAME).exists():
        (data / DATABASE_NAME).write_bytes(image)
    async with open_store(StoreSettings(directory=data, files=files), SettableClock(START)) as store:
        yield store


@pytest.fixture
def share(tmp_path: Path) -> Path:
    (tmp_path / "share").mkdir()
    return tmp_path / "share"


async def refused(store: Store) -> str:
    with pytest.raises(StoreFailure) as failure:
        await places.claim(store)
    return str(failure.value)


async def test_the_first_start_marks_the_folder_and_every_further_one_asks_for_it(
    tmp_path: Path, database_image: bytes, share: Path
) -> None:
    async with opened(tmp_path / "data", database_image, share) as store:
        with pytest.raises(StoreFailure, match="is not there: the share is not mounted"):
            blobs_at(store.place)
        await places.claim(store)
        mark = (share / PLACE_MARK).read_text().strip()
        named = await store.read(files_place.find)
        assert named == (mark, START)
        assert (share / PLACE_MARK).stat().st_mode & 0o777 == 0o600
        await places.claim(store)
        assert await store.read(files_place.find) == named
        assert blobs_at(store.place).folder == share / "blobs"
        (share / PLACE_MARK).unlink()  # as an empty mountpoint
        told = await refused(store)
        assert told.startswith(f"{share / PLACE_MARK} is not there: the share is not mounted")
        assert mark in told
        assert not (share / PLACE_MARK).exists(), "nothing is made on the disk below"


async def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path / "data", database_image, tmp_path / "absent") as store:
        assert await refused(store) == f"{tmp_path / 'absent'}, where documents lie, is not there: mount it, or make it"
        assert not (tmp_path / "absent").exists()
        assert await store.read(files_place.find) is None


async def test_the_folder_of_another_installation_is_refused(
    tmp_path: Path, database_image: bytes, share: Path
) -> None:
    """Each would delete what the other's rows name."""
    async with (
        opened(tmp_path / "one", database_image, share) as one,
        opened(tmp_path / "two", database_image, share) as two,
    ):
        await places.claim(one)
        assert "holds the documents of another installation" in await refused(two)
        (share / PLACE_MARK).rename(tmp_path / "kept")
        await places.claim(two)
        assert "and the documents lie where it says" in await refused(one)
        (share / PLACE_MARK).write_text("not ours\n")
        assert "is damaged" in await refused(one)


async def test_a_first_start_that_is_killed_is_gone_on_with(tmp_path: Path, database_image: bytes, share: Path) -> None:
    async with opened(tmp_path / "data", database_image, share) as store:
        named = await store.write(lambda tx: files_place.name(tx, "0123456789abcdef"))
        assert named.marked_at is None
        await places.claim(store)  # killed before the file
        assert (share / PLACE_MARK).read_text() == "0123456789abcdef\n"
        await store.write(lambda tx: tx.run("UPDATE files_place SET marked_at = NULL"))
        await places.claim(store)  # killed behind it
        assert await store.read(files_place.find) == ("0123456789abcdef", START)
        (share / PLACE_MARK).unlink()
        assert "is not there" in await refused(store)


async def test_two_that_begin_at_once(tmp_path: Path, database_image: bytes, share: Path) -> None:
    async with opened(tmp_path / "data", database_image, share) as one, opened(tmp_path / "data", b"", share) as two:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(places.claim, one)
            nursery.start_soon(places.claim, two)
        named = await two.read(files_place.find)
        assert named is not None
        assert (share / PLACE_MARK).read_text().strip() == named.mark
        assert [path.name for path in share.iterdir()] == [PLACE_MARK]


@pytest.mark.parametrize("left", ["blobs/ab/" + "ab" * 32, "uploads/doc_1"])
async def test_documents_in_the_data_directory_have_to_be_moved_first(
    tmp_path: Path, database_image: bytes, share: Path, left: str
) -> None:
    data = tmp_path / "data"
    async with opened(data, database_image, share) as store:
        (data / left).parent.mkdir(parents=True)
        (data / left).write_bytes(b"1234")
        told = await refused(store)
        assert told.startswith(f"documents lie in {data} still")
        (share / left).parent.mkdir(parents=True)
        (data / left).rename(share / left)
        await places.claim(store)
        (data / left).write_bytes(b"1234")  # a backup was restored beside
        assert (await refused(store)).startswith(f"documents lie in {data} still")


async def test_who_goes_back_to_the_data_directory_takes_the_mark_along(
    tmp_path: Path, database_image: bytes, share: Path
) -> None:
    data = tmp_path / "data"
    async with opened(data, database_image, share) as store:
        await places.claim(store)
    async with opened(data, database_image, None) as store:
        assert "is not there" in await refused(store)
        (share / PLACE_MARK).rename(data / PLACE_MARK)
        await places.claim(store)


async def test_without_the_setting_nothing_is_marked(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path / "data", database_image, None) as store:
        await places.claim(store)
        assert await store.read(files_place.find) is None
        assert not (tmp_path / "data" / PLACE_MARK).exists()


async def test_a_share_that_takes_no_files(
    tmp_path: Path, database_image: bytes, share: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / "data", database_image, share) as store:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("gatewayd.store.files.place.create_file", full)
        told = f"{share}, where documents lie, cannot be written to: No space left on device"
        assert await refused(store) == told
        monkeypatch.undo()
        await places.claim(store)


# -- while it runs


def hang(share: Path) -> int:
    """Let whoever reads the mark wait, as a share does whose server went away; answers what ends it."""
    (share / PLACE_MARK).unlink()
    os.mkfifo(share / PLACE_MARK)
    return os.open(share / PLACE_MARK, os.O_RDWR)


async def test_a_share_that_hangs_or_goes_away_is_told_once_and_again_when_it_is_back(
    tmp_path: Path, database_image: bytes, share: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "ANSWER_SECONDS", 0.05)
    stream = io.StringIO()
    async with opened(tmp_path / "data", database_image, share) as store:
        watch = PlaceWatch(store, make_logger("json", "info", stream))
        await places.claim(store)
        await watch.look()
        assert watch.state == "ok"
        mark = (share / PLACE_MARK).read_text()
        writing = hang(share)
        for _ in range(3):
            await watch.look()
            assert watch.state == f"{share}, where documents lie, does not answer"
        os.write(writing, mark.encode())
        os.close(writing)
        (share / PLACE_MARK).unlink()
        monkeypatch.undo()
        await watch.look()
        assert "is not there: the share is not mounted" in watch.state
        write_mark(store.place, mark.strip())
        await watch.look()
        assert watch.state == "ok"
    told = [(line["level"], line["event"]) for line in map(json.loads, stream.getvalue().splitlines())]
    assert told == [("error", "files_are_unwell")] * 2 + [("info", "files_are_well_again")]


async def test_a_start_does_not_wait_for_a_share_that_hangs(
    tmp_path: Path, database_image: bytes, share: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "START_SECONDS", 0.05)
    (share / PLACE_MARK).touch()
    writing = hang(share)
    async with opened(tmp_path / "data", database_image, share) as store:
        assert await refused(store) == f"{share}, where documents lie, does not answer"
    os.write(writing, new_mark().encode())
    os.close(writing)


# -- in a bucket


async def test_a_bucket_is_marked_and_asked_for_as_a_folder_is(
    tmp_path: Path, database_image: bytes, bucket: Bucket
) -> None:
    there, mark_name = Objects(bucket), f"{bucket.url}/{PLACE_MARK}"
    async with opened(tmp_path / "data", database_image, bucket) as store:
        await places.claim(store)
        mark = there.get(PLACE_MARK).decode().strip()
        assert await store.read(files_place.find) == (mark, START)
        await places.claim(store)
        assert blobs_at(store.place).folder == tmp_path / "data" / "fetched" / "blobs"
        require_marked(store.place)
        there.delete(PLACE_MARK)
        assert (await refused(store)).startswith(f"{mark_name} is not there: store.files names another place")
        with pytest.raises(StoreFailure, match="is not there"):
            require_marked(store.place)
        assert objects.keys(bucket) == [], "nothing was made there"
        there.put(PLACE_MARK, b"0123456789abcdef\n")
        assert f"{mark_name} says 0123456789abcdef, and the documents lie where it says {mark}" in await refused(store)
        there.put(PLACE_MARK, b"not ours")
        assert "is damaged" in await refused(store)


async def test_the_bucket_of_another_installation_is_refused(
    tmp_path: Path, database_image: bytes, bucket: Bucket
) -> None:
    async with (
        opened(tmp_path / "one", database_image, bucket) as one,
        opened(tmp_path / "two", database_image, bucket) as two,
        opened(tmp_path / "three", database_image, bucket._replace(prefix="another/")) as three,
    ):
        await places.claim(one)
        assert f"{bucket.url} holds the documents of another installation" in await refused(two)
        await places.claim(three)


@pytest.mark.parametrize("left", ["blobs/ab/" + "ab" * 32, "uploads/doc_1"])
async def test_documents_in_the_data_directory_have_to_be_sent_first(
    tmp_path: Path, database_image: bytes, bucket: Bucket, left: str
) -> None:
    data = tmp_path / "data"
    async with opened(data, database_image, bucket) as store:
        (data / left).parent.mkdir(parents=True)
        (data / left).write_bytes(b"1234")
        assert f"send them to {bucket.url} with gatewayd files send {data}" in await refused(store)


async def test_what_is_fetched_is_no_document_that_was_left(
    tmp_path: Path, database_image: bytes, bucket: Bucket
) -> None:
    async with opened(tmp_path / "data", database_image, bucket) as store:
        with blobs_at(store.place).draft(4) as draft:
            draft.write(b"1234")
            draft.save()
        await places.claim(store)


async def test_a_bucket_that_hangs_or_goes_away_is_told_once_and_again_when_it_is_back(
    tmp_path: Path, database_image: bytes, object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(exchanges, "SILENT_SECONDS", 0.2)
    stream, until = io.StringIO(), threading.Event()
    with objects.front_of(object_server) as front:
        bucket = object_server.bucket(tmp_path, endpoint=front.address)
        async with opened(tmp_path / "data", database_image, bucket) as store:
            await places.claim(store)
            watch = PlaceWatch(store, make_logger("json", "info", stream))
            with front.failing(objects.hanging(until)):
                for _ in range(3):
                    await watch.look()
                    assert watch.state == f"{bucket.url}, where documents lie, does not answer"
                until.set()
            monkeypatch.undo()
            with front.failing(objects.refused(403, "InvalidAccessKeyId")):
                await watch.look()
                assert "store.files_key_id is not known there" in watch.state
            await watch.look()
            assert watch.state == "ok"
    told = [(line["level"], line["event"]) for line in map(json.loads, stream.getvalue().splitlines())]
    assert told == [("error", "files_are_unwell")] * 2 + [("info", "files_are_well_again")]


async def test_a_start_does_not_wait_for_a_bucket_that_hangs(
    tmp_path: Path, database_image: bytes, object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "START_SECONDS", 0.05)
    until = threading.Event()
    with objects.front_of(object_server) as front:
        bucket = object_server.bucket(tmp_path, endpoint=front.address)
        async with opened(tmp_path / "data", database_image, bucket) as store:
            with front.failing(objects.hanging(until)):
                assert await refused(store) == f"{bucket.url}, where documents lie, does not answer"
                until.set()
