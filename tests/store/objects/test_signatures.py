"""Every kind of request is signed as a store that looks takes it, and no other signature is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayd.clock import Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.objects import bucket as bucket_module
from gatewayd.store.objects.bucket import Objects
from tests.support import objects
from tests.support.objects import ObjectServer


@pytest.fixture(scope="module")
def guarded() -> Iterator[ObjectServer]:
    with objects.running("guarded") as server:
        yield server


def test_all_that_is_asked(guarded: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_module, "PART_BYTES", 5 << 20)
    there, content = Objects(guarded.bucket(tmp_path)), os.urandom(6 << 20)
    (tmp_path / "large").write_bytes(content)
    there.put("blobs/ab/a.1", b"1234")
    there.put_file("blobs/ab/b.2", tmp_path / "large", len(content), "")
    there.copy("blobs/ab/a.1", "damaged/a.1")
    assert there.get("damaged/a.1") == b"1234"
    assert b"".join(there.stream("blobs/ab/b.2")) == content
    assert [each.key for each in there.list("blobs/")] == ["blobs/ab/a.1", "blobs/ab/b.2"]
    assert list(there.list_folders("blobs/")) == ["ab"]
    there.give_up_unfinished("blobs/", Instant(1 << 60))
    there.delete("blobs/ab/a.1")
    there.instant("probe")


def test_keys_that_are_wrong(guarded: ObjectServer, tmp_path: Path) -> None:
    bucket = guarded.bucket(tmp_path)
    with pytest.raises(StoreFailure, match=r"store.files_key_id is not known there \(403 InvalidAccessKeyId\)$"):
        Objects(bucket._replace(key_id="AKIAIOSFODNN7EXAMPLE")).get("a")
    (tmp_path / "other").write_text("not it\n")
    with pytest.raises(StoreFailure, match=r"the secret in store.files_secret_file is not that of store.files_key_id"):
        Objects(bucket._replace(secret_file=tmp_path / "other")).get("a")
