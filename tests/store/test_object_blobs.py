"""Blobs in a bucket: durable there before they are named, read by a path, and never deleted while they are stored."""

import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayd.clock import DAY, HOUR, SECOND, Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files import object_blobs
from gatewayd.store.files.blobs import BlobInfo, BlobTooLarge
from gatewayd.store.files.object_blobs import ObjectBlobs
from gatewayd.store.objects import bucket as bucket_module
from gatewayd.store.objects.bucket import Objects
from gatewayd.store.settings import Bucket
from tests.support import objects
from tests.support.objects import Front, ObjectServer

BYTES = b"receipt " * 1_000
DIGEST = hashlib.sha256(BYTES).hexdigest()
LATER = Instant(1 << 60)


@pytest.fixture
def front(object_server: ObjectServer) -> Iterator[Front]:
    with objects.front_of(object_server) as front:
        yield front


@pytest.fixture
def bucket(object_server: ObjectServer, front: Front, tmp_path: Path) -> Bucket:
    return object_server.bucket(tmp_path, endpoint=front.address)


@pytest.fixture
def blobs(bucket: Bucket, tmp_path: Path) -> ObjectBlobs:
    return ObjectBlobs(bucket, tmp_path / "one")


@pytest.fixture
def others(bucket: Bucket, tmp_path: Path) -> ObjectBlobs:
    """Of another daemon: it has nothing on its disk."""
    return ObjectBlobs(bucket, tmp_path / "two")


def keep(blobs: ObjectBlobs, content: bytes = BYTES) -> str:
    with blobs.draft(len(content)) as draft:
        draft.write(content)
        return draft.save().sha256


def on_disk(blobs: ObjectBlobs) -> list[Path]:
    return [path for path in blobs.folder.rglob("*") if path.is_file()]


def put(bucket: Bucket, content: bytes, sha256: str, suffix: str = "") -> None:
    """An object under a name."""
    Objects(bucket).put(f"blobs/{sha256[:2]}/{sha256}{suffix}", content)


def test_what_one_saves_another_reads(blobs: ObjectBlobs, others: ObjectBlobs, bucket: Bucket) -> None:
    with blobs.draft(len(BYTES)) as draft:
        draft.write(BYTES[:9])
        draft.sync()
        draft.write(BYTES[9:])
        assert draft.written().read_bytes() == BYTES
        assert objects.keys(bucket) == []
        assert draft.save() == BlobInfo(DIGEST, len(BYTES))
    (key,) = objects.keys(bucket)
    assert key.startswith(f"blobs/{DIGEST[:2]}/{DIGEST}.")
    assert on_disk(others) == []
    assert others.path(DIGEST).read_bytes() == BYTES
    assert b"".join(others.chunks(DIGEST)) == BYTES
    assert (others.size_of(DIGEST), others.size_of("0" * 64)) == (len(BYTES), None)
    assert list(others.found()) == [BlobInfo(DIGEST, len(BYTES))]
    for key in objects.keys(bucket):
        Objects(bucket).delete(key)
    assert (list(others.found()), others.digests()) == ([], {DIGEST}), "it is on the disk still, to be swept"


def test_what_is_at_hand_is_not_asked_for(blobs: ObjectBlobs, others: ObjectBlobs, front: Front) -> None:
    keep(blobs)
    front.seen.clear()
    assert blobs.at_hand(DIGEST) == blobs.path(DIGEST)
    assert front.seen == []
    assert others.at_hand(DIGEST) is None
    assert front.seen == []
    assert others.path(DIGEST) == others.at_hand(DIGEST)


def test_what_several_ask_for_is_fetched_once(blobs: ObjectBlobs, others: ObjectBlobs, front: Front) -> None:
    keep(blobs)
    front.seen.clear()
    threads = [threading.Thread(target=others.path, args=(DIGEST,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(DIGEST in each.target and "list-type" not in each.target for each in front.seen) == 1


def test_a_draft_that_is_refused_has_no_name(blobs: ObjectBlobs, front: Front, bucket: Bucket) -> None:
    """Torn, or not taken: nothing can be seen of it, here or there."""
    with (
        front.failing(objects.of("PUT", objects.refused(403, "AccessDenied"))),
        pytest.raises(StoreFailure, match="may not do this"),
    ):
        keep(blobs)
    assert (objects.keys(bucket), on_disk(blobs)) == ([], [])
    with blobs.draft(10) as draft:
        draft.write(b"x" * 10)
        with pytest.raises(BlobTooLarge):
            draft.write(b"x")
    blobs.draft(10).discard()
    assert (objects.keys(bucket), on_disk(blobs)) == ([], [])
    with pytest.raises(FileNotFoundError):
        blobs.path(DIGEST)
    assert blobs.size_of(DIGEST) is None


def test_a_file_is_adopted_and_stays(blobs: ObjectBlobs, others: ObjectBlobs, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(BYTES)
    assert blobs.adopt(tmp_path / "a") == BlobInfo(DIGEST, len(BYTES))
    assert (tmp_path / "a").read_bytes() == others.path(DIGEST).read_bytes()


def test_a_large_one_goes_in_parts(
    blobs: ObjectBlobs, others: ObjectBlobs, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bucket_module, "PART_BYTES", 5 << 20)
    content = os.urandom(11 << 20)
    sha256 = keep(blobs, content)
    assert sum("partNumber" in each.target for each in front.seen) == 3
    assert others.path(sha256).read_bytes() == content


@pytest.mark.parametrize("name", ["", "../../etc/passwd", DIGEST.upper(), DIGEST + "\n", DIGEST[:-1]])
def test_what_is_no_digest_names_nothing(blobs: ObjectBlobs, front: Front, name: str) -> None:
    for use in (blobs.path, blobs.remove, blobs.size_of, blobs.at_hand):
        with pytest.raises(ValueError, match="64 lower-case"):
            use(name)
    assert front.seen == []


def test_a_bucket_that_does_not_answer_has_lost_nothing(blobs: ObjectBlobs, others: ObjectBlobs, front: Front) -> None:
    keep(blobs)
    with front.failing(objects.busy):
        for ask in (others.path, others.size_of, others.remove):
            with pytest.raises(StoreFailure):
                ask(DIGEST)
        with pytest.raises(StoreFailure):
            others.as_the_disk_tells(Instant(0))
        with pytest.raises(StoreFailure):
            others.fault_of(DIGEST, len(BYTES))
        assert blobs.path(DIGEST).read_bytes() == BYTES, "what is at hand needs no bucket"
    assert others.path(DIGEST).read_bytes() == BYTES


# -- what is damaged


def test_what_is_not_what_was_stored_is_not_given(blobs: ObjectBlobs, bucket: Bucket) -> None:
    put(bucket, b"other bytes", DIGEST)
    with pytest.raises(StoreFailure, match="are not those that were stored"):
        blobs.path(DIGEST)
    assert on_disk(blobs) == []
    assert blobs.fault_of(DIGEST, 11) == "damaged"
    keep(blobs)
    assert blobs.fault_of(DIGEST, len(BYTES)) is None, "it was stored anew"
    assert ObjectBlobs(bucket, blobs.folder.parent.parent / "three").path(DIGEST).read_bytes() == BYTES


def test_faults_are_those_of_the_bucket(blobs: ObjectBlobs, bucket: Bucket, tmp_path: Path) -> None:
    keep(blobs)
    assert blobs.fault_of(DIGEST, len(BYTES)) is None
    assert blobs.fault_of(DIGEST, 1) == "damaged"
    blobs.path(DIGEST).write_bytes(b"rotten")
    assert blobs.fault_of(DIGEST, len(BYTES)) is None
    assert blobs.path(DIGEST).read_bytes() == BYTES, "what was damaged on the disk was fetched anew"
    for key in objects.keys(bucket):
        Objects(bucket).delete(key)
    assert blobs.fault_of(DIGEST, len(BYTES)) == "lost", "though the disk has it"
    put(bucket, b"rotten", DIGEST, ".0123456789abcdef")
    assert blobs.set_aside(tmp_path, DIGEST) == f"{bucket.url}/damaged/{DIGEST}"
    (key,) = objects.keys(bucket)
    assert (key.startswith(f"damaged/{DIGEST}."), Objects(bucket).get(key)) == (True, b"rotten")


def test_what_is_copied_out(blobs: ObjectBlobs, bucket: Bucket, tmp_path: Path) -> None:
    with (tmp_path / "a").open("w+b") as file:
        with pytest.raises(FileNotFoundError):
            blobs.copy_out(DIGEST, file)
        put(bucket, b"rotten", DIGEST, ".ffffffffffffffff")
        blobs.copy_out(DIGEST, file)
    assert (tmp_path / "a").read_bytes() == b"rotten", "as it is"
    put(bucket, BYTES, DIGEST)
    with (tmp_path / "a").open("w+b") as file:
        blobs.copy_out(DIGEST, file)
    assert (tmp_path / "a").read_bytes() == BYTES, "the good one of both"
    assert on_disk(blobs) == []


# -- what is deleted


def test_remove_can_be_repeated(blobs: ObjectBlobs, others: ObjectBlobs, bucket: Bucket) -> None:
    keep(blobs)
    keep(others)
    blobs.remove(DIGEST)
    blobs.remove(DIGEST)
    assert (objects.keys(bucket), on_disk(blobs)) == ([], [])


def test_what_nothing_names_is_swept_once_it_is_old(blobs: ObjectBlobs, others: ObjectBlobs, bucket: Bucket) -> None:
    """Of what was stored twice the last copy stays; and what is not ours."""
    named, unnamed = keep(blobs), keep(blobs, b"unnamed")
    keep(others)
    put(bucket, b"x", DIGEST, ".notours")
    Objects(bucket).put("blobs/probe.0123456789abcdef", b"")
    assert blobs.sweep(named.__eq__, Instant(blobs.as_the_disk_tells(Instant(0)) - HOUR)) == 0
    assert len(objects.keys(bucket)) == 5
    last = max(
        (each.modified_at, each.key)
        for each in Objects(bucket).list(f"blobs/{DIGEST[:2]}/{DIGEST}.")
        if "notours" not in each.key
    )[1]
    swept = others.sweep(named.__eq__, LATER)
    assert swept == 3
    assert objects.keys(bucket) == sorted([last, f"blobs/{DIGEST[:2]}/{DIGEST}.notours"])
    assert blobs.path(named).read_bytes() == BYTES
    with pytest.raises(FileNotFoundError):
        others.path(unnamed)


def test_what_is_on_the_disk_of_each_daemon_is_swept_too(blobs: ObjectBlobs) -> None:
    """Its rows are gone: nobody may find its bytes there."""
    keep(blobs)
    left = blobs.draft(9)
    left.write(b"half")
    for path in on_disk(blobs):
        os.utime(path, (1_000, 1_000))
    assert blobs.sweep(lambda _: False, Instant(1_001 * SECOND)) == 2
    assert on_disk(blobs) == []
    left.discard()


def test_two_that_store_the_same_bytes_and_sweep(
    blobs: ObjectBlobs, others: ObjectBlobs, bucket: Bucket, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one deletes as old, the other stores anew in that moment: it stays."""
    keep(blobs)

    def stored_anew(handler: objects._Handler, passing: objects.Passing) -> bool:
        keep(others)
        return True

    with front.failing(objects.of("DELETE", objects.times(1, stored_anew))):
        assert blobs.sweep(lambda _: False, LATER) >= 1
    assert len(objects.keys(bucket)) == 1
    assert ObjectBlobs(bucket, blobs.folder.parent.parent / "three").path(DIGEST).read_bytes() == BYTES


def test_what_may_be_under_way_is_not_removed(blobs: ObjectBlobs, bucket: Bucket) -> None:
    """What goes in parts seems as old as when it began, and is named when it has come."""
    keep(blobs)
    now = blobs.as_the_disk_tells(Instant(0))
    assert not blobs.remove_old(DIGEST, Instant(now + SECOND))
    assert len(objects.keys(bucket)) == 1
    assert blobs.at_hand(DIGEST) is None, "here it is gone"
    assert blobs.remove_old(DIGEST, Instant(now + DAY))
    assert objects.keys(bucket) == []
    assert not blobs.remove_old(DIGEST, Instant(now + DAY))


# -- what is kept on the disk


def test_what_was_read_least_lately_goes(
    object_server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = object_server.bucket(tmp_path, cache_bytes=40_000)
    blobs = ObjectBlobs(bucket, tmp_path / "one")
    digests = [keep(blobs, bytes([number]) * 10_000) for number in range(3)]
    for age, digest in enumerate(digests):
        os.utime(blobs.folder / digest[:2] / digest, (10_000 - age * 1_000,) * 2)
    assert blobs.at_hand(digests[2]) is not None, "and now it was read last"
    keep(blobs, b"z" * 10_000)
    assert [blobs.at_hand(digest) is not None for digest in digests] == [True, False, True]
    assert blobs.path(digests[1]).read_bytes() == bytes([1]) * 10_000, "it is fetched again"


def test_what_was_read_just_now_stays_beyond_the_bound(object_server: ObjectServer, tmp_path: Path) -> None:
    """Somebody was given its path, and opens it."""
    blobs = ObjectBlobs(object_server.bucket(tmp_path, cache_bytes=0), tmp_path / "one")
    one, two = keep(blobs, b"1"), keep(blobs, b"2")
    assert (blobs.at_hand(one), blobs.at_hand(two)) != (None, None)
    os.utime(blobs.folder / one[:2] / one, (1, 1))
    keep(blobs, b"3")
    assert (blobs.at_hand(one), blobs.at_hand(two) is None) == (None, False)


def test_a_disk_without_room_fetches_nothing(
    blobs: ObjectBlobs, others: ObjectBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(blobs)
    monkeypatch.setattr(object_blobs, "free_bytes", lambda folder: object_blobs.RESERVE_BYTES)
    with pytest.raises(StoreFailure, match="no room"):
        others.path(DIGEST)
    monkeypatch.undo()
    assert others.path(DIGEST).read_bytes() == BYTES
