"""An organization is suspended, resumed and deleted beside a daemon: each door knows at once."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gatewayd.identity import audit
from gatewayd.identity.people import suspensions
from gatewayd.store.files.directory import locked
from tests.daemon.instance import SECONDS, Firm, Instance, Running, environment, serving, until

DOCUMENTS = "/api/rpc/vault/documents"
INVOICES = "/api/rpc/invoices"
LINE = {"description": "Door", "unitPrice": "10.00"}
UNPAID = "The invoice of March is not paid."


def store_document(running: Running, firm: Firm) -> str:
    """The id of a document that is stored."""
    made = running.call(firm.key, "POST", DOCUMENTS, {"name": "a.txt"}).json()
    id_, path = str(made["document"]["id"]), urlsplit(made["upload"]["url"]).path
    assert running.client.put(path, content=f"Oak doors of {firm.org_id}").status_code == 200
    assert running.call(firm.key, "POST", f"{DOCUMENTS}/{id_}/confirm-upload", {}).status_code == 200
    return id_


def given_out(instance: Instance, running: Running, firm: Firm) -> dict[str, str]:
    """The path of each thing that an organization has given to the outside."""
    id_ = store_document(running, firm)
    link = running.call(firm.key, "POST", f"{DOCUMENTS}/{id_}/temporal-link", {"expiresInSeconds": 600}).json()
    download = running.call(firm.key, "GET", f"{DOCUMENTS}/{id_}/download").json()
    feed = json.loads(instance.run("calendar", "create", "--org", firm.org_id, "--json").stdout)
    found = {"link": link["url"], "download": download["url"], "feed": feed["url"]}
    return {name: urlsplit(url).path for name, url in found.items()}


def test_who_is_suspended_is_told_so_and_goes_on_as_before(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm, other = instance.firm(), instance.firm("Birch")
    with serving(instance) as running:
        outside = given_out(instance, running, firm)
        awaited = running.call(firm.key, "POST", DOCUMENTS, {"name": "b.txt"}).json()["upload"]["url"]
        upload = urlsplit(awaited).path
        for path in outside.values():
            assert running.client.get(path).status_code == 200
        assert instance.run("org", "suspend", firm.org_id, "--reason", UNPAID).returncode == 0
        refused = running.call(firm.key, "GET", INVOICES)
        assert (refused.status_code, refused.json()["code"]) == (403, "organization_suspended")
        assert UNPAID in refused.text
        assert running.call(other.key, "GET", INVOICES).status_code == 200
        for name, path in outside.items():
            assert running.client.get(path).status_code == 404, name
        assert running.client.put(upload, content=b"bytes").status_code == 404
        made = instance.run("key", "create", "--org", firm.org_id, "--user", firm.email, "--name", "New")
        assert made.returncode == 1, "nothing new begins"
        assert instance.run("org", "resume", firm.org_id).returncode == 0
        assert running.call(firm.key, "GET", INVOICES).status_code == 200
        for name, path in outside.items():
            assert running.client.get(path).status_code == 200, name
        assert running.client.put(upload, content=b"bytes").status_code == 200
        assert running.end() == 0


_OF_ORGANIZATIONS = """
SELECT t.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name = 'org_id'
"""
_THE_SAME_ON_POSTGRESQL = """
SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.table_schema = 'public' AND c.column_name = 'org_id' AND t.table_type = 'BASE TABLE'
"""


def rows_of(instance: Instance, org_id: str) -> dict[str, int]:
    """How many rows each table has of an organization, where it has any."""
    tables = instance.seen(_THE_SAME_ON_POSTGRESQL if instance.url else _OF_ORGANIZATIONS)
    count = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name} WHERE org_id = '{org_id}'" for (name,) in tables)
    return {name: found for name, found in instance.seen(count) if found}


def blobs(instance: Instance) -> set[str]:
    return {path.name for path in (instance.directory / "data" / "blobs").glob("??/*")}


def test_all_that_an_organization_has_goes_and_nothing_of_another(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm, other = instance.firm(), instance.firm("Birch")
    with serving(instance) as running:
        for each in (firm, other):
            store_document(running, each)
            issued = {"clientId": each.client_id, "status": "issued", "lines": [LINE]}
            invoice = running.call(each.key, "POST", INVOICES, issued).json()
            credit = {**issued, "creditsInvoiceId": invoice["id"], "kind": "credit_note"}
            assert running.call(each.key, "POST", INVOICES, credit).status_code == 200, "a row that names its own table"
        shared = running.call(firm.key, "POST", DOCUMENTS, {"name": "c.txt"}).json()["upload"]["url"]
        running.client.put(urlsplit(shared).path, content=f"Oak doors of {other.org_id}")
        until(lambda: not {"leases", "vault_index_queue"} & rows_of(instance, other.org_id).keys())  # all is read
        before = rows_of(instance, other.org_id)
        ran = instance.run("org", "delete", firm.org_id, "--yes", "--json")
        assert ran.returncode == 0, ran.stderr
        erased = json.loads(ran.stdout)
        assert (erased["rows"] > 10, erased["files"]) == (True, 1)
        assert running.call(firm.key, "GET", INVOICES).status_code == 401
        assert running.call(other.key, "GET", INVOICES).status_code == 200
        assert running.end() == 0
    assert rows_of(instance, firm.org_id) == {}
    assert rows_of(instance, other.org_id).items() >= before.items()
    assert len(blobs(instance)) == 1, "what another names too stays"
    assert instance.run("verify").returncode == 0
    assert [one["id"] for one in json.loads(instance.run("org", "list", "--json").stdout)] == [other.org_id]


def test_a_deletion_asks_and_a_kill_leaves_it_to_be_done_again(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    asked = instance.run("org", "delete", firm.org_id)
    assert (asked.returncode, "--yes" in asked.stderr) == (2, True)
    assert rows_of(instance, firm.org_id)
    code = (
        "import os, signal, sys\n"
        "from gatewayd.cli import main\n"
        "from gatewayd.daemon import organization_end\n"
        "organization_end.PIECE = 1\n"
        "erase_rows, gone = organization_end.erase_rows, []\n"
        "def kill(tx, table, keys):\n"
        "    gone.append(erase_rows(tx, table, keys))\n"
        "    return os.kill(os.getpid(), signal.SIGKILL) if len(gone) > 3 else None\n"
        "organization_end.erase_rows = kill\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", code, "org", "delete", firm.org_id, "--yes", "--config", str(instance.config)]
    killed = subprocess.run(command, timeout=SECONDS, check=False, env=environment(), cwd=Path(__file__).parents[2])
    assert killed.returncode == -signal.SIGKILL
    assert rows_of(instance, firm.org_id)
    resumed = instance.run("org", "resume", firm.org_id)
    assert (resumed.returncode, "is being deleted" in resumed.stderr) == (1, True)
    assert instance.run("org", "delete", firm.org_id, "--yes").returncode == 0
    assert rows_of(instance, firm.org_id) == {}


@pytest.mark.sqlite_only("its file is written anew; a server's tables are its own affair (VACUUM)")
def test_the_file_shrinks(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    instance.write(
        lambda tx: tx.run_each(
            "INSERT INTO audit_log (id, org_id, at, actor, action, subject, detail)"
            " VALUES (?, ?, 0, 'operator', '', '', ?)",
            [(f"aud_{number}", firm.org_id, "x" * 1_000) for number in range(4_000)],
        )
    )
    assert instance.run("org", "delete", firm.org_id, "--yes").returncode == 0
    with locked(instance.directory / "data", "gatewayd/test"):
        beside = instance.run("compact")
        assert (beside.returncode, "works with" in beside.stderr) == (1, True)
    ran = json.loads(instance.run("compact", "--json").stdout)
    assert ran["bytesBefore"] - ran["bytesAfter"] > 4_000_000
    assert instance.database.stat().st_size == ran["bytesAfter"]
    assert instance.run("verify").returncode == 0


@pytest.mark.sqlite_only("its file is written anew")
def test_there_must_be_room_to_shrink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gatewayd.store import StoreFailure
    from gatewayd.store.sqlite import compacting

    instance = Instance(tmp_path)
    instance.firm()
    monkeypatch.setattr(compacting, "free_bytes", lambda directory: 1_000_000)
    with pytest.raises(StoreFailure, match="there is too little room"):
        compacting.compact(instance.database)


def test_a_deletion_that_was_marked_is_done_by_the_daemon(tmp_path: Path) -> None:
    """As the API marks it, or a command that was killed."""
    instance = Instance(tmp_path)
    firm, other = instance.firm(), instance.firm("Birch")
    instance.write(lambda tx: suspensions.begin_deletion(tx, firm.org_id, audit.OPERATOR))
    with serving(instance) as running:
        until(lambda: any(line["event"] == "organization_deleted" for line in running.lines()))
        assert running.call(other.key, "GET", INVOICES).status_code == 200
        assert running.end() == 0
    assert rows_of(instance, firm.org_id) == {}
    assert rows_of(instance, other.org_id)
