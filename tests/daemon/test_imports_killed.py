"""A kill in the midst of an import: nothing half is seen, and the next daemon goes on with it."""

import contextlib
import threading
from pathlib import Path

import httpx

from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Instance, Running, kill_when, serving, until
from tests.support.store import ON_POSTGRESQL

ROWS = 6_000 if ON_POSTGRESQL else 12_000  # so many are applied in some fifty transactions
FILE = "Number,Date,Account,Amount,Subcategory,Memo\n" + "".join(
    f",{1 + n % 28:02}/{1 + n % 12:02}/2026,20-45-00 31926819,-{n % 997}.01,PAYMENT,SHOP {n}\n" for n in range(ROWS)
)
_MOVED = "SELECT 1 FROM import_runs WHERE stage = 'applying' AND moved_to > 0"
_SEEN = """
SELECT count(id) FROM bank_transactions
WHERE import_id NOT IN (SELECT import_id FROM hidden_imports)
"""


def upload(running: Running, key: str, account_id: str) -> httpx.Response:
    path = f"/api/rpc/accounts/{account_id}/imports?fileName=year.csv"
    fields = {"Authorization": f"Bearer {key}", "Content-Type": "text/csv"}
    return running.client.post(path, headers=fields, content=FILE.encode())


def test_an_import_that_a_kill_cut_short_is_gone_on_with(tmp_path: Path) -> None:
    instance = Instance(tmp_path, NO_LIMIT)
    firm = instance.firm()
    account_id = instance.do(firm.org_id, "banking.createAccount", name="Current")["id"]
    key = instance.key(firm.org_id, firm.user_id, ["banking:read", "accounting:write"]).key
    with serving(instance) as running:

        def first() -> None:
            with contextlib.suppress(httpx.TransportError):  # on a slow machine it is answered as far as it has come
                answered.append(upload(running, key, account_id).json()["status"])

        answered: list[str] = []
        asking = threading.Thread(target=first)
        asking.start()
        kill_when(running, lambda: instance.seen(_MOVED))
        asking.join()
    assert "applied" not in answered
    assert instance.read(lambda tx: tx.value(_SEEN)) == 0
    with serving(instance) as running:

        def runs() -> list[dict[str, object]]:
            found: list[dict[str, object]] = running.call(key, "GET", "/api/rpc/imports").json()["data"]
            return found

        until(lambda: runs()[0]["status"] == "applied")
        assert [(run["rows"], run["added"]) for run in runs()] == [(ROWS, ROWS)]
        assert instance.read(lambda tx: tx.value(_SEEN)) == ROWS
        again = upload(running, key, account_id).json()
        assert (again["status"], again["id"]) == ("applied", runs()[0]["id"])
        assert running.end() == 0
    assert list((tmp_path / "data" / "incoming").iterdir()) == []
