"""Uploads under way in a bucket: what is told is there for every daemon, and nothing of one name mixes."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayd.clock import HOUR, Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files import object_partials
from gatewayd.store.files.object_blobs import ObjectBlobs
from gatewayd.store.files.object_partials import ObjectPartials
from gatewayd.store.objects.bucket import Objects
from gatewayd.store.settings import Bucket
from tests.support import objects
from tests.support.objects import Front, ObjectServer

NAME = "doc_1"
COPY = "doc_1.0123456789abcdef"


@pytest.fixture
def front(object_server: ObjectServer) -> Iterator[Front]:
    with objects.front_of(object_server) as front:
        yield front


@pytest.fixture
def bucket(object_server: ObjectServer, front: Front, tmp_path: Path) -> Bucket:
    return object_server.bucket(tmp_path, endpoint=front.address)


@pytest.fixture
def partials(bucket: Bucket, tmp_path: Path) -> ObjectPartials:
    return ObjectPartials(bucket, tmp_path / "one")


@pytest.fixture
def others(bucket: Bucket, tmp_path: Path) -> ObjectPartials:
    return ObjectPartials(bucket, tmp_path / "two")


def append(partials: ObjectPartials, content: bytes, name: str = NAME) -> int:
    with partials.open(name) as partial:
        partial.write(content)
        partial.sync()
        return partial.size


def content_of(partials: ObjectPartials, name: str = NAME) -> bytes:
    return b"".join(partials.chunks(name))


def test_what_one_appends_the_other_goes_on_with(
    partials: ObjectPartials, others: ObjectPartials, bucket: Bucket, tmp_path: Path
) -> None:
    assert partials.size(NAME) == 0
    assert append(partials, b"1234") == 4
    assert others.size(NAME) == 4
    assert append(others, b"56") == 6
    assert append(partials, b"78") == 8
    assert objects.keys(bucket) == [f"uploads/{NAME}/{offset:020d}" for offset in (0, 4, 6)]
    assert content_of(others) == b"12345678"
    assert (others.list_names(), others.is_name("notes")) == ([NAME], False)
    blobs = ObjectBlobs(bucket, tmp_path / "two")
    info = others.adopt(NAME, blobs)
    assert info == (hashlib.sha256(b"12345678").hexdigest(), 8)
    assert blobs.path(info.sha256).read_bytes() == b"12345678"
    partials.discard(NAME)
    partials.discard(NAME)
    assert others.list_names() == []
    assert others.adopt("doc_2", blobs).size_bytes == 0, "of an empty document nothing came"


def test_what_waits_is_sent_in_pieces_and_in_the_end(
    partials: ObjectPartials, others: ObjectPartials, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_partials, "PIECE_BYTES", 3)
    partial = partials.open(NAME)
    partial.write(b"12345678")
    assert (partial.size, others.size(NAME)) == (8, 0)
    partial.sync()
    assert (partial.size, others.size(NAME)) == (8, 8)
    partial.write(b"9")
    partial.close()
    partial.close()
    assert content_of(others) == b"123456789", "also what came of a part that was cut short"
    assert [int(key[-20:]) for key in objects.keys(bucket)] == [0, 3, 6, 8]


def test_a_part_in_doubt_counts_once_it_is_trusted(partials: ObjectPartials, others: ObjectPartials) -> None:
    append(partials, b"1234")
    with partials.open(NAME) as partial:
        partial.doubt()
        partial.write(b"zz")
        partial.sync()
        assert (partial.size, others.size(NAME)) == (6, 4)
        partial.distrust()
        partial.distrust()
        assert partial.size == 4
    with partials.open(NAME) as partial:
        partial.doubt()
        partial.write(b"zz")  # and is left so
    assert others.size(NAME) == 4
    with partials.open(NAME) as partial:
        partial.write(b"5")
        partial.doubt()
        partial.write(b"678")
        partial.trust()
    assert content_of(others) == b"12345678"


def test_only_what_follows_without_a_gap_counts(partials: ObjectPartials, bucket: Bucket) -> None:
    append(partials, b"1234")
    Objects(bucket).put(f"uploads/{NAME}/{6:020d}", b"late")
    Objects(bucket).put(f"uploads/{NAME}/notes", b"")
    assert (partials.size(NAME), content_of(partials)) == (4, b"1234")
    Objects(bucket).put(f"uploads/{COPY}/{6:020d}", b"late")
    assert (partials.size(COPY), content_of(partials, COPY)) == (0, b"")


def test_a_copy_has_what_counts_and_is_another(partials: ObjectPartials, others: ObjectPartials) -> None:
    append(partials, b"1234")
    append(partials, b"56")
    sleeping = partials.open(NAME)
    sleeping.write(b"zz")
    others.copy(NAME, COPY)
    sleeping.sync()
    sleeping.close()
    append(others, b"78", COPY)
    others.discard(NAME)
    assert content_of(partials, COPY) == b"12345678"
    others.copy("doc_2", "doc_2.0123456789abcdef")
    assert others.list_names() == [COPY], "of nothing there is no copy"


def test_what_is_copied_while_another_deletes_it(partials: ObjectPartials, front: Front) -> None:
    append(partials, b"1234")

    def deleted(handler: objects._Handler, passing: objects.Passing) -> bool:
        partials.discard(NAME)
        return True

    with (
        front.failing(objects.of("PUT", deleted)),
        pytest.raises(StoreFailure, match="was changed while it was copied"),
    ):
        partials.copy(NAME, COPY)


def test_it_is_not_certain_what_became_of_a_request_without_answer(
    partials: ObjectPartials, others: ObjectPartials, front: Front
) -> None:
    """It may still be done: whoever comes next goes on under another name."""
    with front.failing(objects.unheard), pytest.raises(StoreFailure), partials.open(COPY) as partial:
        partial.write(b"1")
    assert partials.is_certain(COPY), "it was not even asked how far the upload is"
    with partials.open(NAME) as partial:
        partial.write(b"1234")
        with front.failing(objects.of("PUT", objects.busy)), pytest.raises(StoreFailure):
            partial.sync()
        seen = len(front.seen)
    assert len(front.seen) == seen, "it is not tried once more at the end"
    assert (partials.is_certain(NAME), partials.is_certain(NAME), others.is_certain(NAME)) == (False, True, True)
    append(partials, b"1234")
    with front.failing(objects.of("DELETE", objects.busy)), pytest.raises(StoreFailure):
        partials.discard(NAME)
    assert not partials.is_certain(NAME)
    partials.begin_anew(NAME)
    assert (partials.size(NAME), partials.is_certain(NAME)) == (0, False)


def test_a_kill_while_it_is_deleted_leaves_its_beginning(partials: ObjectPartials, front: Front) -> None:
    for piece in (b"12", b"34", b"56"):
        append(partials, piece)
    refuse = objects.of("DELETE", objects.refused(403, "AccessDenied"), f"{2:020d}")
    with front.failing(refuse), pytest.raises(StoreFailure):
        partials.discard(NAME)
    assert content_of(partials) == b"1234"


def test_what_is_old_is_told_by_the_clock_of_the_store(
    partials: ObjectPartials, bucket: Bucket, tmp_path: Path
) -> None:
    append(partials, b"1234")
    now = ObjectBlobs(bucket, tmp_path / "one").as_the_disk_tells(Instant(0))
    assert not partials.is_older(NAME, Instant(now - HOUR))
    assert partials.is_older(NAME, Instant(now + HOUR))


@pytest.mark.parametrize("name", ["", "..", "doc_1/../doc_2", "Doc_1", "doc_1.copy"])
def test_what_is_no_name_is_nothing(partials: ObjectPartials, front: Front, name: str) -> None:
    for use in (partials.size, partials.open, partials.discard):
        with pytest.raises(ValueError, match="named by an id"):
            use(name)
    assert front.seen == []


def test_nothing_stays_on_the_disk(partials: ObjectPartials) -> None:
    partial = partials.open(NAME)
    partial.write(b"1234")
    assert list(partials.folder.iterdir()) == [], "what waits has no name: a kill leaves nothing"
    partial.close()
