"""An upgrade of a database that an older program left with wrong lots: nobody is served them."""

from pathlib import Path

import apsw
import pytest

from gatewayd.store.sqlite import schema
from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Instance, serving

SALE = "2026-06-05"


@pytest.mark.sqlite_only("a database of before 0101, with which PostgreSQL began")
def test_holdings_are_computed_anew_before_anybody_is_let_in(tmp_path: Path) -> None:
    """Of a sale of 7 behind purchases of 5 for 100 and 5 for 300; by the lots left behind all of it cost 1."""
    instance = Instance(tmp_path, NO_LIMIT)
    firm = instance.firm()

    def do(operation: str, **values: object) -> str:
        return str(instance.do(firm.org_id, operation, **values)["id"])

    person = do("legalEntity.createLegalEntity", name="M Lee", type="individual")
    portfolio = do("assets.createPortfolio", name="Savings", legalEntityId=person)
    account = do("assets.createAccount", portfolioId=portfolio, name="First", type="brokerage", currency="GBP")
    of = {"accountId": account, "instrument": {"isin": "GB00BH4HKS39"}}
    for kind, day, quantity, gross in (("buy", 1, "5", "100"), ("buy", 3, "5", "300"), ("sell", 5, "7", "700")):
        date = f"2026-06-0{day}"
        do("assets.createTransaction", **of, type=kind, tradeDate=date, quantity=quantity, grossAmount=gross)
    connection = apsw.Connection(str(instance.database))
    wrong = 'UPDATE asset_days SET outcome = replace(outcome, \'"disposal_cost":"220"\', \'"disposal_cost":"1"\')'
    connection.execute(f"{wrong}, fifo_gain = 69900 WHERE scope_id = ? AND date = ?", (account, SALE))
    connection.execute("UPDATE asset_holdings SET fifo_cost = '399' WHERE scope_id = ?", (account,))
    found = instance.run("verify")
    assert found.returncode == 1
    assert f"what {account} holds of ins_" in found.stderr
    assert f"is not what its days come to from {SALE} on" in found.stderr

    (upgrade,) = [one.sql for one in schema.packaged() if one.name.endswith("_compute_lots_anew.sql")]
    connection.execute(f"DROP TABLE asset_holdings_to_compute; {upgrade}").fetchall()
    connection.close()
    with serving(instance) as running:
        path = f"/api/rpc/assets/listPositions?accountId={account}&method=fifo"
        (position,) = running.call(firm.key, "GET", path).json()["data"]
        assert (position["quantity"], position["costBasis"]) == ("3", "180.00")
        assert [line["holdings"] for line in running.lines() if line["event"] == "holdings_computed_anew"] == [1]
    assert instance.run("verify").returncode == 0


def test_verify_computes_anew_what_it_finds(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    person = instance.do(firm.org_id, "legalEntity.createLegalEntity", name="M Lee", type="individual")["id"]
    portfolio = instance.do(firm.org_id, "assets.createPortfolio", name="Savings", legalEntityId=person)["id"]
    of = {"portfolioId": portfolio, "type": "brokerage", "currency": "GBP"}
    account = instance.do(firm.org_id, "assets.createAccount", name="First", **of)["id"]
    bought = {"type": "buy", "tradeDate": "2026-06-01", "quantity": "5", "grossAmount": "100"}
    isin = {"isin": "GB00BH4HKS39"}
    instance.do(firm.org_id, "assets.createTransaction", accountId=account, instrument=isin, **bought)
    instance.write(lambda tx: tx.run("UPDATE asset_holdings SET cost = '99'"))
    found = instance.run("verify", "--repair")
    assert found.returncode == 1
    assert found.stderr.count("come to today, and was computed anew") == 2  # of the account and of the pool
    assert instance.run("verify").returncode == 0
