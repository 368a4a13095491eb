"""Blobs: whole under their digest, or not there."""

import hashlib
import os
import stat
from pathlib import Path

import pytest

from gatewayd.clock import DAY, HOUR, SECOND, Instant, SystemClock
from gatewayd.store import StoreFailure
from gatewayd.store.files.at_place import blobs_at
from gatewayd.store.files.blobs import CHUNK_BYTES, Blobs, BlobTooLarge
from gatewayd.store.files.place import new_mark, write_mark
from gatewayd.store.settings import Place
from tests.store.opening import child

_BYTES = b"statement" * 300_000
_DIGEST = hashlib.sha256(_BYTES).hexdigest()


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path)


def _files(tmp_path: Path) -> list[Path]:
    return [path for path in tmp_path.rglob("*") if path.is_file()]


def _keep(blobs: Blobs, content: bytes = _BYTES) -> str:
    with blobs.draft(len(content)) as draft:
        for start in range(0, len(content), 100_000):
            draft.write(content[start : start + 100_000])
        info = draft.save()
    assert info.size_bytes == len(content)
    return info.sha256


def test_what_is_kept_is_read_back_in_chunks(blobs: Blobs) -> None:
    assert _keep(blobs) == _DIGEST
    chunks = list(blobs.chunks(_DIGEST))
    assert b"".join(chunks) == _BYTES
    assert [len(chunk) for chunk in chunks] == [CHUNK_BYTES, CHUNK_BYTES, len(_BYTES) - 2 * CHUNK_BYTES]


def test_nothing_at_all_can_be_kept(blobs: Blobs) -> None:
    assert list(blobs.chunks(_keep(blobs, b""))) == []


def test_the_same_bytes_are_one_file_for_its_owner_alone(blobs: Blobs, tmp_path: Path) -> None:
    assert _keep(blobs) == _keep(blobs) == _DIGEST
    assert _files(tmp_path) == [blobs.path(_DIGEST)]
    assert stat.S_IMODE(blobs.path(_DIGEST).stat().st_mode) == 0o600


def test_two_drafts_of_the_same_bytes_at_once(blobs: Blobs, tmp_path: Path) -> None:
    with blobs.draft(10) as one, blobs.draft(10) as two:
        one.write(b"same")
        two.write(b"same")
        assert one.save() == two.save()
    assert len(_files(tmp_path)) == 1


def test_too_many_bytes_leave_nothing(blobs: Blobs, tmp_path: Path) -> None:
    with blobs.draft(10) as draft:
        draft.write(b"x" * 10)
        with pytest.raises(BlobTooLarge):
            draft.write(b"x")
    assert _files(tmp_path) == []


def test_a_draft_that_is_dropped_or_left_leaves_nothing(blobs: Blobs, tmp_path: Path) -> None:
    blobs.draft(10).discard()
    with blobs.draft(10) as draft:
        draft.write(b"half")
    assert _files(tmp_path) == []


def test_a_draft_has_no_name_anyone_can_read(blobs: Blobs) -> None:
    with blobs.draft(len(_BYTES)) as draft:
        draft.write(_BYTES)
        with pytest.raises(FileNotFoundError):
            blobs.path(_DIGEST)


def test_what_a_kill_left_is_swept_once_it_is_old(blobs: Blobs, tmp_path: Path) -> None:
    """A draft, and a file that nothing names; that which is named stays however old it is."""
    named, unnamed = _keep(blobs), _keep(blobs, b"unnamed")
    left = blobs.draft(10)
    left.write(b"half")
    for path in _files(tmp_path):
        os.utime(path, (1_000, 1_000))
    assert Blobs(tmp_path).sweep(named.__eq__, Instant(1_000 * SECOND)) == 0
    young = _keep(blobs, b"young")
    assert Blobs(tmp_path).sweep(named.__eq__, Instant(1_001 * SECOND)) == 2
    assert sorted(_files(tmp_path)) == sorted([blobs.path(named), blobs.path(young)])
    left.discard()
    with pytest.raises(FileNotFoundError):
        blobs.path(unnamed)


def test_a_file_that_somebody_else_deletes_is_not_swept(blobs: Blobs) -> None:
    digest = _keep(blobs)

    def gone(name: str) -> bool:
        blobs.remove(name)
        return False

    assert blobs.sweep(gone, Instant(1 << 60)) == 0
    with pytest.raises(FileNotFoundError):
        blobs.path(digest)


def test_a_folder_that_cannot_be_swept_is_told(blobs: Blobs) -> None:
    _keep(blobs)

    def unreadable(name: str) -> bool:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(StoreFailure, match="Permission denied"):
        blobs.sweep(unreadable, Instant(0))


def test_remove_can_be_repeated(blobs: Blobs, tmp_path: Path) -> None:
    blobs.remove(_keep(blobs))
    blobs.remove(_DIGEST)
    assert _files(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        list(blobs.chunks(_DIGEST))


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "drafts", _DIGEST.upper(), _DIGEST + "\n", _DIGEST[:-1], "/" + _DIGEST[1:]]
)
def test_what_is_no_digest_names_nothing(blobs: Blobs, name: str) -> None:
    for use in (blobs.path, blobs.remove):
        with pytest.raises(ValueError, match="64 lower-case"):
            use(name)


@pytest.mark.parametrize("size", [20_000, 2_000_000])
def test_a_disk_that_refuses_leaves_nothing(blobs: Blobs, tmp_path: Path, size: int) -> None:
    """The smaller one fits the buffer of the file and fails when it is flushed."""
    limit = 10_000
    with child("tests.store.uploading_child", str(tmp_path), str(limit), str(size)) as process:
        assert process.wait(30) == 0
        assert process.stdout is not None
        assert process.stdout.read().startswith("the upload cannot be stored: ")
    assert _files(tmp_path) == []
    assert _keep(blobs) == _DIGEST


def test_a_draft_that_cannot_be_begun_is_a_failure(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "blobs" / "drafts").rmdir()
    with pytest.raises(StoreFailure, match="cannot be stored"):
        blobs.draft(10)


# -- of several daemons


def shared(tmp_path: Path) -> Blobs:
    place = Place(tmp_path, is_shared=True)
    write_mark(place, new_mark())
    return blobs_at(place)


def test_what_is_young_is_told_by_the_clock_of_the_share(tmp_path: Path) -> None:
    """Two machines differ, and a file bears the time of the share alone."""
    blobs = shared(tmp_path)
    ahead = Instant(SystemClock().now() + DAY)
    with blobs.draft(9) as draft:
        draft.write(b"1234")
        sha256 = draft.save().sha256
    assert blobs.sweep(lambda _: False, Instant(blobs.as_the_disk_tells(ahead) - HOUR)) == 0
    os.utime(blobs.path(sha256), (1, 1))
    assert blobs.sweep(lambda _: False, Instant(blobs.as_the_disk_tells(Instant(0)) - HOUR)) == 1
    assert [path for path in blobs.folder.rglob("*") if path.is_file()] == []
    assert Blobs(tmp_path).as_the_disk_tells(ahead) == ahead


def test_a_share_that_is_not_mounted_has_lost_nothing(tmp_path: Path) -> None:
    (tmp_path / "share").mkdir()
    blobs = shared(tmp_path / "share")
    with blobs.draft(9) as draft:
        draft.write(b"1234")
        sha256 = draft.save().sha256
    (tmp_path / "share").rename(tmp_path / "away")
    with pytest.raises(StoreFailure):
        blobs.path(sha256)
    with pytest.raises(StoreFailure):
        blobs.draft(9)
    with pytest.raises(StoreFailure):
        blobs.as_the_disk_tells(Instant(0))
    (tmp_path / "away").rename(tmp_path / "share")
    assert blobs.path(sha256).read_bytes() == b"1234"


def test_two_that_store_the_same_bytes_and_sweep(tmp_path: Path) -> None:
    """What one sweeps as old, the other stores anew in that moment: it stays."""
    one, two = shared(tmp_path), blobs_at(Place(tmp_path, is_shared=True))
    with one.draft(9) as draft:
        draft.write(b"1234")
        sha256 = draft.save().sha256
    os.utime(one.path(sha256), (1, 1))
    before = two.as_the_disk_tells(Instant(0))
    with two.draft(9) as draft:
        draft.write(b"1234")
        draft.save()
    assert not one.remove_old(sha256, before)
    assert two.path(sha256).read_bytes() == b"1234"
