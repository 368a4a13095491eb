"""Sealed secrets open with the key and context they were sealed with, and with nothing else."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.store import StoreFailure
from gatewayd.store.sealer import KEY_BYTES, Sealer, load_key, read_key

_SEALER = Sealer(bytes(range(KEY_BYTES)))


@given(st.binary(max_size=50), st.text(max_size=20))
def test_a_signature_is_of_one_text_one_context_and_one_key(message: bytes, context: str) -> None:
    signed = _SEALER.sign(message, context)
    assert signed == _SEALER.sign(message, context)
    others = (
        _SEALER.sign(message + b"x", context),
        _SEALER.sign(message, context + "x"),
        Sealer(bytes(KEY_BYTES)).sign(message, context),
    )
    assert (len(signed), signed in others) == (32, False)


@given(st.binary(max_size=200), st.text(max_size=50))
def test_what_is_sealed_opens(secret: bytes, context: str) -> None:
    assert _SEALER.unseal(_SEALER.seal(secret, context), context) == secret


def test_the_same_secret_is_sealed_differently_each_time() -> None:
    assert _SEALER.seal(b"secret", "c") != _SEALER.seal(b"secret", "c")
    assert b"secret" not in _SEALER.seal(b"secret", "c")
    assert len(_SEALER.seal(b"secret", "c")) == 1 + 12 + len(b"secret") + 16  # format, nonce, tag


def test_every_changed_or_missing_byte_is_noticed() -> None:
    sealed = _SEALER.seal(b"secret", "c")
    for index in range(len(sealed)):
        changed = bytes([*sealed[:index], sealed[index] ^ 1, *sealed[index + 1 :]])
        for broken in (changed, sealed[:index], sealed[index + 1 :]):
            with pytest.raises(StoreFailure, match="does not open"):
                _SEALER.unseal(broken, "c")


def test_another_key_or_context_does_not_open_it() -> None:
    sealed = _SEALER.seal(b"secret", "c")
    with pytest.raises(StoreFailure, match=r"\(d\)"):
        _SEALER.unseal(sealed, "d")
    with pytest.raises(StoreFailure):
        Sealer(bytes(KEY_BYTES)).unseal(sealed, "c")


def test_a_sealer_shows_no_key() -> None:
    assert repr(_SEALER) == "Sealer(...)"


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_a_key_has_its_size(tmp_path: Path, size: int) -> None:
    with pytest.raises(ValueError, match=f"{size} bytes"):
        Sealer(bytes(size))
    (tmp_path / "key").write_bytes(bytes(size))
    with pytest.raises(StoreFailure, match=f"{size} bytes"):
        load_key(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == bytes(size)  # never replaced


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    key = load_key(tmp_path / "key")
    assert len(key) == KEY_BYTES
    assert load_key(tmp_path / "key") == key
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_no_file_stays_open(tmp_path: Path) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    load_key(tmp_path / "key")
    assert descriptors() == before


def test_two_keys_differ(tmp_path: Path) -> None:
    assert load_key(tmp_path / "one") != load_key(tmp_path / "two")


def test_all_who_make_it_at_once_get_the_same_key(tmp_path: Path) -> None:
    ready, keys = threading.Barrier(8), set()

    def load() -> None:
        ready.wait(timeout=10)
        keys.add(load_key(tmp_path / "key"))

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize("name", ["missing/key", "directory"])
def test_a_key_that_cannot_be_read_or_made_is_a_failure(tmp_path: Path, name: str) -> None:
    (tmp_path / "directory").mkdir()
    with pytest.raises(StoreFailure, match="cannot be read"):
        load_key(tmp_path / name)


def test_a_key_that_is_to_be_there_is_missing_or_unreadable(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_key(tmp_path / "key")
    assert not (tmp_path / "key").exists()
    with pytest.raises(StoreFailure, match="cannot be read: Is a directory"):
        read_key(tmp_path)


def test_a_full_disk_leaves_no_key_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFailure, match="cannot be read or made: No space left on device"):
        load_key(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []
