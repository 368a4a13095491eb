"""`gatewayd backup`, `restore` and `verify`."""

import json
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.cli.conftest import SCAN, Run
from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Instance, serving, until

LINE = {"description": "Door", "unitPrice": "10.00"}


def rows(database: Path, sql: str) -> list[object]:
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(sql).fetchall())
    finally:
        connection.close()


def test_there_and_back(run: Run, org_id: str, stored: Path, tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copies" / "monday"
    (data / "blobs" / "drafts" / "half").touch()
    (stored.parent / ("ab" + "0" * 62)).write_bytes(b"nothing names it any more")
    made = run("backup", str(copy), "--json")
    assert made.document["files"] == 2
    assert "the instance key is not in it" in made.err
    manifest = json.loads((copy / "manifest.json").read_text())
    blob = stored.relative_to(data)
    assert [file["path"] for file in manifest["files"]] == [str(blob), "gatewayd.db"]
    assert {path.stat().st_mode & 0o077 for path in (copy, copy / "gatewayd.db", copy / "manifest.json")} == {0}
    key = (data / "instance.key").read_bytes()
    data.rename(tmp_path / "lost")
    assert "put the instance key" in run("restore", str(copy)).err
    (data / "instance.key").write_bytes(key)
    assert [org["id"] for org in run("org", "list", "--json").document] == [org_id]
    assert (data / blob).read_bytes() == SCAN
    assert run("verify").code == 0


def test_with_the_key(run: Run, org_id: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert run("backup", str(copy), "--with-key").err == ""
    key = (tmp_path / "data" / "instance.key").read_bytes()
    (tmp_path / "data").rename(tmp_path / "lost")
    assert run("restore", str(copy), "--keep-access").err == ""
    assert (tmp_path / "data" / "instance.key").read_bytes() == key
    assert (tmp_path / "data" / "instance.key").stat().st_mode & 0o777 == 0o600


def known(data: Path) -> dict[str, Any]:
    """What the data directory knows of its backups."""
    return dict(json.loads((data / "backups.json").read_bytes()))


def test_the_last_backup_is_noted_and_that_it_was_verified(run: Run, org_id: str, tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    made = run("backup", str(copy), "--with-key", "--json").document
    last = known(data)["last"]
    assert (last["madeAt"], last["directory"], last["files"]) == (made["madeAt"], str(copy), made["files"])
    assert (last["sizeBytes"], last["withKey"], last["verifiedAt"]) == (made["bytes"], True, None)
    assert (data / "backups.json").stat().st_mode & 0o777 == 0o600
    into = run("backup", "--into", str(tmp_path / "nights"), "--json").document
    assert known(data)["last"]["directory"] == into["directory"]
    assert run("verify", str(copy)).code == 0  # not the last one
    assert known(data)["last"]["verifiedAt"] is None
    assert run("verify", into["directory"]).code == 0
    assert known(data)["last"]["verifiedAt"] is not None
    Path(into["directory"], "gatewayd.db").write_bytes(b"")
    assert run("verify", into["directory"]).code == 1
    assert known(data)["last"]["isWhole"] is False


def test_a_copy_of_a_damaged_store_is_no_last_backup(run: Run, stored: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert run("backup", str(tmp_path / "good")).code == 0
    stored.write_bytes(b"x")
    assert run("backup", str(tmp_path / "bad")).code == 1
    told = known(data)
    assert (told["last"]["directory"], told["damagedAt"] >= told["last"]["madeAt"]) == (str(tmp_path / "good"), True)


def test_a_backup_that_cannot_be_noted_is_one(run: Run, org_id: str, tmp_path: Path) -> None:
    (tmp_path / "data" / "backups.json").mkdir()
    made = run("backup", str(tmp_path / "copy"))
    assert (made.code, "the page of backups will not tell of this" in made.err) == (0, True)
    assert run("verify", str(tmp_path / "copy")).code == 0


def test_nothing_is_written_over(run: Run, org_id: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert run("backup", str(copy)).code == 0
    again = run("backup", str(copy))
    assert (again.code, "is not empty" in again.err) == (1, True)
    restored = run("restore", str(copy))
    assert (restored.code, "is not empty" in restored.err) == (1, True)
    assert run("org", "list").code == 0


def cut(copy: Path) -> None:
    with (copy / "gatewayd.db").open("r+b") as file:
        file.truncate(8192)


def unlist(copy: Path) -> None:
    (copy / "manifest.json").unlink()


def add(copy: Path) -> None:
    (copy / "more").touch()


def link(copy: Path) -> None:
    (copy / "gatewayd.db").rename(copy.parent / "elsewhere.db")
    (copy / "gatewayd.db").symlink_to(copy.parent / "elsewhere.db")


def garble(copy: Path) -> None:
    (copy / "manifest.json").write_text("{}")


@pytest.mark.parametrize("damage", [cut, unlist, add, link, garble])
def test_a_damaged_backup_is_not_restored(run: Run, org_id: str, tmp_path: Path, damage: object) -> None:
    copy = tmp_path / "copy"
    assert run("backup", str(copy)).code == 0
    (tmp_path / "data").rename(tmp_path / "lost")
    assert callable(damage)
    damage(copy)
    ran = run("restore", str(copy))
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
    assert not (tmp_path / "data").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_there_is_nothing_to_copy(run: Run, tmp_path: Path) -> None:
    for command in (["backup", str(tmp_path / "copy")], ["verify"]):
        ran = run(*command)
        assert (ran.code, "there is no database" in ran.err) == (1, True)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("table", ["invoices", "clients", "legal_entities", "businesses"])
def test_verify_finds_a_wire_form_that_is_not_what_the_columns_say(tmp_path: Path, table: str) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    instance.do(firm.org_id, "accounting.createInvoice", clientId=firm.client_id, lines=[LINE])
    entity_id = instance.read(lambda tx: tx.value("SELECT id FROM legal_entities"))
    instance.do(firm.org_id, "businesses.create", legalEntityId=entity_id, type="company_trade", name="GB Joinery")
    assert instance.run("verify").returncode == 0
    connection = apsw.Connection(str(instance.database))
    connection.execute(f"UPDATE {table} SET wire = CAST(replace(CAST(wire AS TEXT), 'GB', 'FR') AS BLOB)")
    connection.close()
    ran = instance.run("verify")
    assert ran.returncode == 1
    assert "is served otherwise than its columns say" in ran.stderr


def test_verify_finds_rows_that_refer_to_nothing(run: Run, org_id: str, email: str, tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "data" / "gatewayd.db"))
    connection.execute("PRAGMA foreign_keys = 0")
    connection.execute("DELETE FROM organizations")
    connection.close()
    ran = run("verify")
    assert ran.code == 1
    assert "refers to a row of organizations that is not there" in ran.err


def test_a_backup_beside_a_daemon_that_writes(tmp_path: Path) -> None:
    """The copy is whole, of one instant, and the daemon goes on."""
    instance = Instance(tmp_path, NO_LIMIT)
    firm = instance.firm()
    done = threading.Event()
    statuses: list[int] = []

    with serving(instance) as running:

        def write() -> None:
            while not done.is_set():
                body = {"clientId": firm.client_id, "status": "issued", "lines": [LINE]}
                statuses.append(running.call(firm.key, "POST", "/api/rpc/invoices", body).status_code)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            until(lambda: statuses)
            ran = instance.run("backup", str(tmp_path / "copy"))
        finally:
            done.set()
            thread.join(30)
        assert ran.returncode == 0, ran.stderr
        assert running.end() == 0
    assert set(statuses) == {200}
    copy = tmp_path / "copy" / "gatewayd.db"
    assert rows(copy, "PRAGMA integrity_check") == [("ok",)]
    assert rows(copy, "PRAGMA foreign_key_check") == []
    numbers = rows(copy, "SELECT number FROM invoices ORDER BY number")
    assert numbers == [(f"INV-{count:06}",) for count in range(1, len(numbers) + 1)]
    assert 0 < len(numbers) <= len(statuses)
