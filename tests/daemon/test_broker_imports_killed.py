"""A kill in the midst of a broker's import: the next daemon goes on with it, and nothing comes in twice."""

import contextlib
import threading
from pathlib import Path

import httpx

from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Instance, Running, kill_when, serving, until
from tests.support.store import ON_POSTGRESQL

ROWS = 600 if ON_POSTGRESQL else 1_500  # so many come in with some thirty transactions
FILE = "Trade Date,Action,Ticker,Quantity,Price,Fees\n" + "".join(
    f"{1 + n % 28:02}/{1 + n % 12:02}/2025,{'Sell' if n % 5 == 4 else 'Buy'},T{n % 3},10,{1 + n % 90}.00,1.00\n"
    for n in range(ROWS)
)
_MOVED = "SELECT 1 FROM import_runs WHERE stage = 'applying' AND moved_to > 0"
_COUNTED = "SELECT count(id) FROM asset_transactions WHERE source = 'import'"
_HELD = "SELECT instrument_id, quantity FROM asset_holdings WHERE scope_id = :account_id ORDER BY instrument_id"


def upload(running: Running, key: str, account_id: str) -> httpx.Response:
    path = f"/api/rpc/assets/accounts/{account_id}/imports?fileName=year.csv"
    fields = {"Authorization": f"Bearer {key}", "Content-Type": "text/csv"}
    return running.client.post(path, headers=fields, content=FILE.encode())


def test_an_import_that_a_kill_cut_short_is_gone_on_with(tmp_path: Path) -> None:
    instance = Instance(tmp_path, NO_LIMIT)
    firm = instance.firm()
    person = instance.do(firm.org_id, "legalEntity.createLegalEntity", name="M Lee", type="individual")["id"]
    portfolio = instance.do(firm.org_id, "assets.createPortfolio", name="Savings", legalEntityId=person)["id"]
    of = {"portfolioId": portfolio, "name": "General", "type": "brokerage", "currency": "GBP"}
    account_id = instance.do(firm.org_id, "assets.createAccount", **of)["id"]
    key = instance.key(firm.org_id, firm.user_id, ["accounting:read", "accounting:write"]).key
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
    assert 0 < instance.read(lambda tx: tx.value(_COUNTED)) < ROWS
    with serving(instance) as running:

        def runs() -> list[dict[str, object]]:
            found: list[dict[str, object]] = running.call(key, "GET", "/api/rpc/assets/imports").json()["data"]
            return found

        until(lambda: runs()[0]["status"] == "applied")
        assert [(run["rows"], run["added"]) for run in runs()] == [(ROWS, ROWS)]
        assert instance.read(lambda tx: tx.value(_COUNTED)) == ROWS
        held = instance.read(lambda tx: tx.rows(_HELD, account_id=account_id), firm.org_id)
        assert [quantity for _, quantity in held] == [f"{2 * ROWS}"] * 3
        again = upload(running, key, account_id).json()
        assert (again["status"], again["id"]) == ("applied", runs()[0]["id"])
        assert running.end() == 0
