"""A daemon whose documents lie in a bucket: served from there, backed up, moved there and back, and told of."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayd.store.objects.bucket import Objects
from gatewayd.store.settings import PLACE_MARK, Bucket
from tests.daemon.instance import Firm, Instance, Running, serving, until
from tests.daemon.test_shared_files import CONTENT, SHA256, checks, findings, kept
from tests.daemon.test_vault_uploads import created
from tests.support import objects
from tests.support.objects import Front, ObjectServer

ABOUT = "shared documents"
FIELDS = {"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream"}


@pytest.fixture
def front(object_server: ObjectServer) -> Iterator[Front]:
    with objects.front_of(object_server) as front:
        yield front


@pytest.fixture
def bucket(object_server: ObjectServer, front: Front, tmp_path: Path) -> Bucket:
    return object_server.bucket(tmp_path, endpoint=front.address)


def in_bucket(directory: Path, bucket: Bucket) -> Instance:
    return Instance(directory, files=bucket.url, store_keys=objects.settings_of(bucket))


@pytest.fixture
def instance(tmp_path: Path, bucket: Bucket) -> Instance:
    return in_bucket(tmp_path, bucket)


def begun(running: Running, firm: Firm) -> str:
    """The path of an upload of eight bytes, of which four came."""
    _, path = created(running, firm, sizeBytes=8)
    assert running.client.patch(path, content=b"1234", headers={**FIELDS, "Upload-Offset": "0"}).status_code == 204
    return path


def stands(running: Running, path: str) -> str:
    return str(running.client.head(path, headers=FIELDS).headers["upload-offset"])


def forget_fetched(instance: Instance) -> None:
    """As on the disk of another daemon."""
    for path in (instance.data / "fetched").rglob("*"):
        if path.is_file():
            path.unlink()


def test_documents_lie_in_the_bucket_and_are_backed_up_from_there(instance: Instance, bucket: Bucket) -> None:
    firm, data = instance.firm(), instance.database.parent
    backup = instance.directory / "backup"
    assert findings(instance)[ABOUT] == (True, f"{bucket.url} is there, is of this installation, and takes files.")
    with serving(instance) as running:
        assert checks(running) == (200, "ok")
        path = kept(running, firm)
        (key,) = objects.keys(bucket, f"blobs/{SHA256[:2]}/{SHA256}")
        assert Objects(bucket).get(key) == CONTENT
        assert objects.keys(bucket, "uploads/") == []
        assert not (data / "blobs").exists()
        assert running.client.get(path).content == CONTENT
        forget_fetched(instance)
        assert running.client.get(path).content == CONTENT
        assert running.client.get(path, headers={"Range": "bytes=0-6"}).content == CONTENT[:7]
        assert instance.run("verify").returncode == 0
        ran = instance.run("backup", str(backup), "--with-key")
        assert ran.returncode == 0, ran.stderr
        (instance.directory / "more.txt").write_bytes(b"filed by a command")
        filed = instance.run("document", "import", str(instance.directory / "more.txt"), "--org", firm.org_id)
        assert filed.returncode == 0, filed.stderr
        assert running.end() == 0
    named = {file["path"] for file in json.loads((backup / "manifest.json").read_text())["files"]}
    assert {PLACE_MARK, f"blobs/{SHA256[:2]}/{SHA256}"} <= named
    assert (backup / PLACE_MARK).read_bytes() == Objects(bucket).get(PLACE_MARK)
    filed_sha256 = hashlib.sha256(b"filed by a command").hexdigest()
    assert len(objects.keys(bucket, f"blobs/{filed_sha256[:2]}/{filed_sha256}")) == 1
    assert instance.run("verify", str(backup)).returncode == 0


def test_a_backup_is_restored_to_an_empty_bucket(
    instance: Instance, object_server: ObjectServer, bucket: Bucket, front: Front
) -> None:
    firm, data = instance.firm(), instance.database.parent
    backup = instance.directory / "backup"
    with serving(instance) as running:
        kept(running, firm)
        assert running.end() == 0
    assert instance.run("backup", str(backup), "--with-key").returncode == 0
    data.rename(instance.directory / "lost")
    new = object_server.bucket(instance.directory, endpoint=front.address)
    instance = in_bucket(instance.directory, new)
    ran = instance.run("restore", str(backup), "--keep-access")
    assert ran.returncode == 0, ran.stderr
    assert f"send its documents to {new.url} before the daemon starts: gatewayd files send {data}" in ran.stderr
    ran = instance.run("serve")
    assert (ran.returncode, f"{new.url}/{PLACE_MARK} is not there" in ran.stderr or "still" in ran.stderr) == (1, True)
    ran = instance.run("files", "send", str(data))
    assert ran.returncode == 0, ran.stderr
    assert Objects(new).get(PLACE_MARK) == Objects(bucket).get(PLACE_MARK)
    assert (data / "blobs.sent").is_dir()
    with serving(instance) as running:
        assert running.end() == 0
    assert instance.run("verify").returncode == 0


def test_documents_go_to_a_bucket_and_back(tmp_path: Path, bucket: Bucket) -> None:
    """Unfinished uploads too; killed or refused in the middle, it is done again."""
    alone, data = Instance(tmp_path), tmp_path / "data"
    firm = alone.firm()
    with serving(alone) as running:
        path, upload = kept(running, firm), begun(running, firm)
        assert running.end() == 0
    ran = alone.run("files", "send", str(data))
    assert (ran.returncode, "store.files names no bucket" in ran.stderr) == (1, True)
    instance = in_bucket(tmp_path, bucket)
    ran = instance.run("serve")
    assert (ran.returncode, f"gatewayd files send {data}" in ran.stderr) == (1, True)
    ran = instance.run("files", "send", str(tmp_path / "elsewhere"))
    assert (ran.returncode, "no documents lie in" in ran.stderr) == (1, True)
    for _ in range(2):
        sent = instance.run("files", "send", str(data), "--json")
        assert sent.returncode == 0, sent.stderr
        assert json.loads(sent.stdout)["uploads"] == 1
        for name in ("blobs", "uploads"):  # as if it had been killed before
            (data / f"{name}.sent").rename(data / name)
    assert len(objects.keys(bucket, f"blobs/{SHA256[:2]}/{SHA256}")) == 1, "what is there is not sent again"
    for name in ("blobs", "uploads"):
        (data / name).rename(data / f"{name}.sent")
    with serving(instance) as running:
        assert running.client.get(path).content == CONTENT
        assert stands(running, upload) == "4"
        ran = instance.run("files", "fetch", str(tmp_path / "fetched"))
        assert (ran.returncode, "works with" in ran.stderr) == (1, True)
        assert running.end() == 0
    fetched = instance.run("files", "fetch", str(tmp_path / "share"), "--json")
    assert fetched.returncode == 0, fetched.stderr
    assert instance.run("files", "fetch", str(tmp_path / "share")).returncode == 0
    back = Instance(tmp_path, files=str(tmp_path / "share"))
    with serving(back) as running:
        assert running.client.get(path).content == CONTENT
        assert stands(running, upload) == "4"
        rest = running.client.patch(upload, content=b"5678", headers={**FIELDS, "Upload-Offset": "4"})
        assert rest.status_code == 204
        assert running.end() == 0
    assert back.run("verify").returncode == 0


def test_what_is_damaged_is_neither_sent_nor_fetched(tmp_path: Path, bucket: Bucket) -> None:
    alone, data = Instance(tmp_path), tmp_path / "data"
    firm = alone.firm()
    with serving(alone) as running:
        kept(running, firm)
        assert running.end() == 0
    stored = data / "blobs" / SHA256[:2] / SHA256
    stored.write_bytes(b"rotten")
    instance = in_bucket(tmp_path, bucket)
    ran = instance.run("files", "send", str(data))
    assert (ran.returncode, f"the bytes of {stored} are not those that were stored" in ran.stderr) == (1, True)
    assert objects.keys(bucket, f"blobs/{SHA256[:2]}/{SHA256}") == []
    stored.write_bytes(CONTENT)
    assert instance.run("files", "send", str(data)).returncode == 0
    (key,) = objects.keys(bucket, f"blobs/{SHA256[:2]}/{SHA256}")
    Objects(bucket).put(key, b"rotten")
    ran = instance.run("files", "fetch", str(tmp_path / "share"))
    assert (ran.returncode, f"the bytes of {SHA256} in {bucket.url} are not those" in ran.stderr) == (1, True)
    ran = instance.run("verify")
    assert (ran.returncode, "are not those that were stored" in ran.stderr) == (1, True)
    ran = instance.run("verify", "--repair")
    assert (ran.returncode, f"and lie in {bucket.url}/damaged/{SHA256} now" in ran.stderr) == (1, True)
    ran = instance.run("verify")
    assert (ran.returncode, "are lost: import or upload them again" in ran.stderr) == (1, True)


def test_the_bucket_of_another_installation_takes_nothing(tmp_path: Path, bucket: Bucket) -> None:
    (tmp_path / "other").mkdir()
    other = in_bucket(tmp_path / "other", bucket)
    other.firm()
    with serving(other) as running:
        assert running.end() == 0
    alone, data = Instance(tmp_path), tmp_path / "data"
    firm = alone.firm()
    with serving(alone) as running:
        kept(running, firm)
        assert running.end() == 0
    instance = in_bucket(tmp_path, bucket)
    for command in (("files", "send", str(data)), ("files", "fetch", str(tmp_path / "share"))):
        ran = instance.run(*command)
        assert (ran.returncode, "holds the documents of another installation" in ran.stderr) == (1, True), ran.stderr
    assert not (tmp_path / "share").exists()


def test_a_bucket_that_goes_away_is_refused_at_the_start_and_told_while_it_runs(
    instance: Instance, bucket: Bucket, front: Front
) -> None:
    firm = instance.firm()
    told = "the secret in store.files_secret_file is not that of store.files_key_id (403 SignatureDoesNotMatch)"
    with serving(instance) as running:
        running.claimed = {"files_are_unwell", "parse_not_stored"}
        path = kept(running, firm)
        until(lambda: not instance.seen("SELECT 1 FROM vault_parses WHERE status IN ('queued', 'running')"))
        with front.failing(objects.refused(403, "SignatureDoesNotMatch")):
            until(lambda: checks(running)[0] == 503)
            assert told in checks(running)[1]
            assert running.client.get(path).content == CONTENT, "what is on the disk is given"
            forget_fetched(instance)
            assert running.client.get(path).status_code == 503
            _, upload = created(running, firm, sizeBytes=4)
            assert running.client.put(upload, content=b"1234").status_code == 503
            assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200, "what needs none goes on"
            assert findings(instance)[ABOUT] == (False, f"{bucket.url}, where documents lie: {told}.")
            for command in (("backup", str(instance.directory / "b")), ("verify",), ("serve",)):
                if command != ("serve",):
                    ran = instance.run(*command)
                    assert (ran.returncode, told in ran.stderr) == (1, True), ran.stderr
        until(lambda: checks(running) == (200, "ok"))
        assert running.client.get(path).content == CONTENT
        assert running.end() == 0
    with front.failing(objects.refused(403, "SignatureDoesNotMatch")):
        ran = instance.run("serve")
        assert (ran.returncode, told in ran.stderr, len(ran.stderr.splitlines())) == (1, True, 1)


def test_an_organization_that_ends_takes_its_documents_from_the_bucket(instance: Instance, bucket: Bucket) -> None:
    """What was stored in the last minutes stays for the sweep of the day: it may be another's by now."""
    firm, other = instance.firm(), instance.firm("Birch")
    with serving(instance) as running:
        kept(running, firm)
        until(lambda: not instance.seen("SELECT 1 FROM vault_parses WHERE status IN ('queued', 'running')"))
        assert running.end() == 0
    assert instance.run("org", "delete", firm.org_id, "--yes").returncode == 0
    assert len(objects.keys(bucket, f"blobs/{SHA256[:2]}/{SHA256}")) == 1
    assert not (instance.data / "fetched" / "blobs" / SHA256[:2] / SHA256).exists(), "nobody reads it here"
    with serving(instance) as running:
        assert running.client.get(kept(running, other)).content == CONTENT
        assert running.end() == 0
