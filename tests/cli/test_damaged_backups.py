"""A copy of a damaged store is no backup: it is told which, and it pushes no good copy out."""

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import apsw
import pytest

from gatewayd.clock import Instant
from gatewayd.ledger.named_files import NAMING
from gatewayd.store.backups import backup, dated_backups, restoring
from gatewayd.store.backups.backup import Looking
from gatewayd.store.backups.restoring import verify_backup
from gatewayd.store.files.manifests import Manifest
from gatewayd.store.sqlite.connections import PAGE_BYTES
from tests.cli.conftest import DIGEST, SCAN, Run

Damage = Callable[[Path], object]


def scramble(data: Path) -> None:
    """A page of a table becomes random bytes."""
    connection = apsw.Connection(str(data / "gatewayd.db"))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'asset_transactions'"
    page = connection.execute(sql).get
    connection.close()
    with (data / "gatewayd.db").open("r+b") as file:
        file.seek((page - 1) * PAGE_BYTES)
        file.write(hashlib.shake_256(b"random").digest(PAGE_BYTES))


def break_header(data: Path) -> None:
    with (data / "gatewayd.db").open("r+b") as file:
        file.write(b"no database at all")


def alter(data: Path) -> None:
    (data / "blobs" / DIGEST[:2] / DIGEST).write_bytes(b"%PDF-2")


def lose(data: Path) -> None:
    (data / "blobs" / DIGEST[:2] / DIGEST).unlink()


DAMAGES = [
    (scramble, "the database is damaged: "),
    (alter, "are not those that were stored"),
    (lose, "are lost"),
]


def backups(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES)
def test_a_copy_of_a_damaged_store_is_no_backup(
    run: Run, stored: Path, tmp_path: Path, damage: Damage, sentence: str
) -> None:
    damage(tmp_path / "data")
    ran = run("backup", str(tmp_path / "copy"), "--json")
    assert (ran.code, ran.out) == (1, "")
    assert sentence in ran.err
    assert damage is scramble or "doc_" in ran.err, "it says which"
    assert not (tmp_path / "copy" / "manifest.json").exists()
    assert sentence in (tmp_path / "copy" / "damaged.json").read_text()
    looked = run("verify", str(tmp_path / "copy"))
    assert (looked.code, sentence in looked.err) == (1, True)


@pytest.mark.parametrize("damage", [scramble, break_header, alter, lose])
def test_the_nightly_job_keeps_the_good_ones(run: Run, stored: Path, tmp_path: Path, damage: Damage) -> None:
    folder = tmp_path / "nightly"
    for _ in range(3):
        assert run("backup", "--into", str(folder), "--keep", "2").code == 0
    good = backups(folder)
    assert len(good) == 2
    damage(tmp_path / "data")
    for _ in range(3):
        assert run("backup", "--into", str(folder), "--keep", "2").code == 1
    assert [name for name in backups(folder) if not name.endswith(".damaged")] == good
    copied = 0 if damage is break_header else 1  # of those that are not good the newest alone
    assert len(backups(folder)) == 2 + copied
    for name in good:
        assert run("verify", str(folder / name)).code == 0
    shutil.rmtree(tmp_path / "data")
    assert run("restore", str(folder / good[-1])).code == 0
    assert run("verify").code == 0
    assert stored.read_bytes() == SCAN


def test_the_oldest_good_ones_make_room(run: Run, org_id: str, tmp_path: Path) -> None:
    folder = tmp_path / "nightly"
    first = run("backup", "--into", str(folder), "--keep", "2", "--json").document
    assert (Path(first["directory"]).parent, first["removed"]) == (folder, [])
    (folder / "gatewayd-2020-01-01T000000.000Z").mkdir()  # not finished, and so not counted
    (folder / "of somebody else").write_text("mine")
    second = run("backup", "--into", str(folder), "--keep", "2", "--json").document
    third = run("backup", "--into", str(folder), "--keep", "2", "--json").document
    assert (second["removed"], third["removed"]) == ([], [Path(first["directory"]).name])
    assert {"of somebody else", "gatewayd-2020-01-01T000000.000Z"} <= set(backups(folder))


def test_one_that_lost_a_file_does_not_count(run: Run, stored: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nightly"
    made = [run("backup", "--into", str(folder), "--keep", "2", "--json").document["directory"] for _ in range(2)]
    (Path(made[1]) / "blobs" / DIGEST[:2] / DIGEST).unlink()
    assert run("backup", "--into", str(folder), "--keep", "2", "--json").document["removed"] == []


def test_a_clock_that_went_back_removes_no_newer_copy(tmp_path: Path, run: Run, org_id: str) -> None:
    folder = tmp_path / "nightly"
    ahead = Path(run("backup", "--into", str(folder), "--json").document["directory"])
    ahead.rename(folder / "gatewayd-2099-01-01T000000.000Z")
    made = run("backup", "--into", str(folder), "--keep", "1", "--json").document
    assert made["removed"] == ["gatewayd-2099-01-01T000000.000Z"]
    assert Path(made["directory"]).exists(), "what was just made is the newest"


def test_a_kill_leaves_nothing_that_counts(run: Run, org_id: str, config_file: Path, tmp_path: Path) -> None:
    """Killed when the copy is there and not named yet; the next run takes away what it left."""
    folder = tmp_path / "nightly"
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from gatewayd.cli import main\n"
        "from gatewayd.store.backups import dated_backups\n"
        "dated_backups._name = lambda now, manifest: os.kill(os.getpid(), signal.SIGKILL)\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", code, "backup", "--into", str(folder), "--config", str(config_file)]
    assert subprocess.run(command, timeout=120, check=False, cwd=tmp_path).returncode == -signal.SIGKILL
    (left,) = backups(folder)
    assert left.startswith(".gatewayd-backup-")
    made = run("backup", "--into", str(folder), "--json").document
    assert backups(folder) == [Path(made["directory"]).name]


def test_two_at_once_make_one(run: Run, org_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "nightly"
    seen = list[str]()
    name = dated_backups._name

    def in_between(now: Instant, manifest: Manifest) -> str:
        monkeypatch.setattr(dated_backups, "_name", name)
        seen.append(run("backup", "--into", str(folder)).err)
        return name(now, manifest)

    monkeypatch.setattr(dated_backups, "_name", in_between)
    assert run("backup", "--into", str(folder)).code == 0
    assert (len(seen), "another backup is being made" in seen[0], len(backups(folder))) == (1, True, 1)


def test_what_is_deleted_while_it_is_copied_is_not_named_by_it(
    run: Run, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the daemon deletes documents whose time in the trash is over: the database is copied once more."""
    copy_file = backup.copy_file

    def delete_first(source: Path, destination: Path) -> None:
        if source == stored and stored.exists():
            stored.unlink()
            connection = apsw.Connection(str(tmp_path / "data" / "gatewayd.db"))
            connection.execute("PRAGMA foreign_keys = 0")
            for table in ("vault_documents", "vault_variants", "vault_parses"):
                connection.execute(f"DELETE FROM {table}")
            connection.close()
        copy_file(source, destination)

    monkeypatch.setattr(backup, "copy_file", delete_first)
    made = run("backup", str(tmp_path / "copy"), "--json")
    assert (made.document["files"], (tmp_path / "copy" / "manifest.json").exists()) == (1, True)


def test_a_disk_that_cannot_read_a_document(
    run: Run, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_file = backup.copy_file

    def fail(source: Path, destination: Path) -> None:
        if source == stored:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        copy_file(source, destination)

    monkeypatch.setattr(backup, "copy_file", fail)
    ran = run("backup", str(tmp_path / "copy"))
    assert (ran.code, "are not those that were stored" in ran.err, "doc_" in ran.err) == (1, True, True)


def test_a_full_disk_is_told_and_leaves_nothing_that_counts(
    run: Run, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(origin: BinaryIO, destination: BinaryIO, length: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfileobj", fill)
    ran = run("backup", "--into", str(tmp_path / "nightly"))
    assert (ran.code, "No space left on device" in ran.err, backups(tmp_path / "nightly")) == (1, True, [])


# -- a backup that was made of a damaged store by an older program, or has rotted since


def rewritten(copy: Path) -> None:
    """What the program before this one wrote: the list has the digests of whatever was there."""
    manifest = json.loads((copy / "manifest.json").read_text())
    for file in manifest["files"]:
        content = (copy / file["path"]).read_bytes()
        file["sha256"], file["bytes"] = hashlib.sha256(content).hexdigest(), len(content)
    (copy / "manifest.json").write_text(json.dumps(manifest))


def unlisted(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"] = [file for file in manifest["files"] if not file["path"].startswith("blobs")]
    (copy / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES)
def test_an_old_backup_of_a_damaged_store_is_refused_or_told(
    run: Run, stored: Path, tmp_path: Path, damage: Damage, sentence: str
) -> None:
    copy = tmp_path / "copy"
    assert run("backup", str(copy), "--with-key").code == 0
    damage(copy)
    (unlisted if damage is lose else rewritten)(copy)
    looked = run("verify", str(copy))
    assert (looked.code, sentence in looked.err) == (1, True)
    (tmp_path / "data").rename(tmp_path / "lost")
    refused = run("restore", str(copy))
    assert (refused.code, sentence in refused.err, "--damaged" in refused.err) == (1, True, True)
    assert not (tmp_path / "data").exists()
    taken = run("restore", str(copy), "--damaged", "--keep-access", "--json")
    assert (taken.code, sentence in taken.err) == (0, True)
    assert any(sentence in fault for fault in taken.document["faults"])
    assert (tmp_path / "data" / "gatewayd.db").exists()


def test_what_a_disk_cannot_read_is_told_and_the_rest_restored(
    run: Run, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("backup", str(tmp_path / "copy")).code == 0
    (tmp_path / "data").rename(tmp_path / "lost")
    copy_file = backup.copy_file

    def fail(source: Path, destination: Path) -> None:
        if source.name == DIGEST:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        copy_file(source, destination)

    monkeypatch.setattr(restoring, "copy_file", fail)
    assert "are lost" in run("restore", str(tmp_path / "copy")).err
    taken = run("restore", str(tmp_path / "copy"), "--damaged")
    assert (taken.code, "are lost" in taken.err) == (0, True)


def test_a_list_that_leads_elsewhere_brings_nothing_from_there(run: Run, stored: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert run("backup", str(copy)).code == 0
    (tmp_path / "secret").write_text("of somebody else")
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"].append({"path": "../secret", "sha256": "0" * 64, "bytes": 1})
    (copy / "manifest.json").write_text(json.dumps(manifest))
    (copy / "blobs" / DIGEST[:2] / DIGEST).unlink()
    (copy / "blobs" / DIGEST[:2] / DIGEST).symlink_to(tmp_path / "secret")
    (tmp_path / "data").rename(tmp_path / "lost")
    assert run("restore", str(copy)).code == 1
    assert run("restore", str(copy), "--damaged").code == 0
    assert not (tmp_path / "data" / "blobs" / DIGEST[:2] / DIGEST).exists()
    assert "of somebody else" not in "".join(
        path.read_text(errors="replace") for path in (tmp_path / "data").rglob("*") if path.is_file()
    )


def test_verify_looks_at_a_backup_where_nothing_can_be_written(run: Run, stored: Path, tmp_path: Path) -> None:
    """And needs neither settings nor a store."""
    copy = tmp_path / "copy"
    assert run("backup", str(copy)).code == 0
    before = sorted(copy.rglob("*"))
    (tmp_path / "gatewayd.toml").write_text("")
    assert run("verify", str(copy), "--json").document["faults"] == []
    assert sorted(copy.rglob("*")) == before
    assert run("verify", str(copy), "--repair").code == 2
    assert "is no finished backup" in run("verify", str(tmp_path)).err


def test_a_backup_of_an_older_form_can_be_looked_at(run: Run, stored: Path, tmp_path: Path) -> None:
    """It has not all the tables that name files today."""
    copy = tmp_path / "copy"
    assert run("backup", str(copy)).code == 0
    connection = apsw.Connection(str(copy / "gatewayd.db"))
    connection.execute("DROP TABLE period_seals")
    connection.close()
    rewritten(copy)
    assert verify_backup(copy, Looking(NAMING))[1] == []
    (copy / "blobs" / DIGEST[:2] / DIGEST).write_bytes(b"")
    assert len(verify_backup(copy, Looking(NAMING))[1]) == 2


def test_what_a_killed_restore_left_goes_with_the_next(run: Run, org_id: str, tmp_path: Path) -> None:
    assert run("backup", str(tmp_path / "copy")).code == 0
    (tmp_path / "data").rename(tmp_path / "lost")
    (tmp_path / ".data.restoring-0123456789abcdef").mkdir()
    (tmp_path / ".data.restoring-0123456789abcdef" / "gatewayd.db").write_bytes(b"half")
    assert run("restore", str(tmp_path / "copy")).code == 0
    assert list(tmp_path.glob(".data.*")) == []


def test_usage(run: Run, org_id: str, tmp_path: Path) -> None:
    assert run("backup").code == 2
    assert run("backup", str(tmp_path / "copy"), "--into", str(tmp_path / "nightly")).code == 2
    assert run("backup", str(tmp_path / "copy"), "--keep", "2").code == 2
    assert run("backup", "--into", str(tmp_path / "nightly"), "--keep", "0").code == 2
