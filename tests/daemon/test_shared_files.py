"""A daemon whose documents lie in a folder that others share: served from there, backed up, and told when it goes."""

import hashlib
import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gatewayd.store.settings import PLACE_MARK
from tests.daemon.instance import Firm, Instance, Running, serving, until
from tests.daemon.test_vault_uploads import DOCUMENTS, confirm, created

CONTENT = b"receipt of a shared place"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def shared(tmp_path: Path, *, makes: bool = True) -> Instance:
    share = tmp_path / "share"
    if makes:
        share.mkdir()
    return Instance(tmp_path, files=str(share))


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return shared(tmp_path)


def kept(running: Running, firm: Firm) -> str:
    """The path that gives a document that was uploaded now."""
    document_id, path = created(running, firm, sizeBytes=len(CONTENT))
    fields = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    assert running.client.patch(path, content=CONTENT, headers=fields).status_code == 204
    assert confirm(running, firm, document_id).json()["sha256"] == SHA256
    url = running.call(firm.key, "GET", f"{DOCUMENTS}/{document_id}/download").json()["url"]
    return urlsplit(str(url)).path


def checks(running: Running) -> tuple[int, str]:
    answer = running.client.get("/readyz")
    return answer.status_code, answer.json()["checks"]["files"]


def findings(instance: Instance) -> dict[str, tuple[bool, str]]:
    told = json.loads(instance.run("doctor", "--json").stdout)
    return {each["about"]: (each["well"], each["sentence"]) for each in told}


def test_documents_lie_in_the_folder_and_are_backed_up_from_there(instance: Instance) -> None:
    firm, share, data = instance.firm(), instance.directory / "share", instance.data
    backup, about = instance.directory / "backup", "shared documents"
    assert findings(instance)[about] == (True, f"{share} is there, is of this installation, and takes files.")
    with serving(instance) as running:
        assert checks(running) == (200, "ok")
        path = kept(running, firm)
        assert (share / "blobs" / SHA256[:2] / SHA256).read_bytes() == CONTENT
        assert list((share / "uploads").iterdir()) == []
        assert not (data / "blobs").exists()
        assert not (data / "uploads").exists()
        assert running.client.get(path).content == CONTENT
        assert instance.run("verify").returncode == 0
        assert instance.run("backup", str(backup)).returncode == 0
        (instance.directory / "more.txt").write_bytes(b"filed by a command")
        filed = instance.run("document", "import", str(instance.directory / "more.txt"), "--org", firm.org_id)
        assert filed.returncode == 0, filed.stderr
        assert running.end() == 0
    named = {file["path"] for file in json.loads((backup / "manifest.json").read_text())["files"]}
    assert {PLACE_MARK, f"blobs/{SHA256[:2]}/{SHA256}"} <= named
    assert len([path for path in (share / "blobs").rglob("*") if path.is_file()]) >= 2
    assert findings(instance)[about][0]


def test_an_organization_that_ends_takes_its_documents_from_the_folder(instance: Instance) -> None:
    firm, other, share = instance.firm(), instance.firm("Birch"), instance.directory / "share"
    with serving(instance) as running:
        kept(running, firm)
        until(lambda: not instance.seen("SELECT 1 FROM vault_parses WHERE status IN ('queued', 'running')"))
        assert running.end() == 0
    assert instance.run("org", "delete", firm.org_id, "--yes").returncode == 0
    assert [path for path in (share / "blobs").rglob("*") if path.is_file()] == []
    with serving(instance) as running:
        assert running.client.get(kept(running, other)).content == CONTENT
        assert running.end() == 0


def test_a_backup_is_restored_with_or_without_the_folder(instance: Instance) -> None:
    firm, share, data = instance.firm(), instance.directory / "share", instance.data
    backup, alone = instance.directory / "backup", Instance(instance.directory)
    with serving(shared(instance.directory, makes=False)) as running:
        kept(running, firm)
        assert running.end() == 0
    instance = shared(instance.directory, makes=False)
    assert instance.run("backup", str(backup), "--with-key").returncode == 0
    data.rename(instance.directory / "lost")
    share.rename(instance.directory / "lost-share")
    ran = instance.run("restore", str(backup), "--keep-access")
    assert ran.returncode == 0, ran.stderr
    assert f"move blobs and {PLACE_MARK} from {data} to {share}" in ran.stderr
    share.mkdir()
    ran = instance.run("serve")
    assert (ran.returncode, f"documents lie in {data} still" in ran.stderr) == (1, True)
    for name in ("blobs", PLACE_MARK):
        (data / name).rename(share / name)
    with serving(instance) as running:
        assert running.end() == 0
    assert instance.run("verify").returncode == 0
    for name in ("blobs", PLACE_MARK):
        (share / name).rename(data / name)
    alone = Instance(instance.directory)
    with serving(alone) as running:
        assert running.end() == 0
    assert alone.run("verify").returncode == 0


def test_a_folder_that_is_not_mounted_is_refused_at_the_start_and_told_while_it_runs(instance: Instance) -> None:
    firm, share = instance.firm(), instance.directory / "share"
    away = instance.directory / "away"
    with serving(instance) as running:
        running.claimed = {"files_are_unwell", "parse_not_stored"}
        path = kept(running, firm)
        share.rename(away)
        share.mkdir()
        until(lambda: checks(running)[0] == 503)
        assert checks(running)[1].startswith(f"{share / PLACE_MARK} is not there: the share is not mounted")
        assert running.client.get(path).status_code == 503
        _, upload = created(running, firm, sizeBytes=4)
        assert running.client.put(upload, content=b"1234").status_code == 503
        assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200, "what needs no document goes on"
        well, sentence = findings(instance)["shared documents"]
        assert (well, sentence.startswith(f"{share / PLACE_MARK} is not there")) == (False, True)
        assert running.end() == 0
    ran = instance.run("serve")
    assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1)
    assert f"{share / PLACE_MARK} is not there: the share is not mounted" in ran.stderr
    for command in (("backup", str(instance.directory / "b")), ("verify",)):
        ran = instance.run(*command)
        assert (ran.returncode, "is not mounted" in ran.stderr) == (1, True), ran.stderr
    assert list(share.iterdir()) == [], "nothing was made on the disk below"
    share.rmdir()
    away.rename(share)
    with serving(instance) as running:
        running.claimed = {"files_are_unwell", "parse_not_stored"}  # what the log has of before
        assert running.client.get(path).content == CONTENT
        until(lambda: checks(running) == (200, "ok"))
        assert running.end() == 0
