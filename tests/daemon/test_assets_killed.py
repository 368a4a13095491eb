"""A person's shares over the wire: trades at two brokers, a broker's file, a gain, and a kill in between."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Instance, Running, serving, until

_FILE = b"""Trade Date,Action,ISIN,Quantity,Price,Fees,Reference
2017-09-01,Buy,GB00BH4HKS39,500,4.10,80.00,R1
2018-05-01,Sell,GB00BH4HKS39,700,4.80,100.00,R2
"""
ISIN = {"isin": "GB00BH4HKS39"}


class Investor:
    """Calls of the API with one key, of which each succeeds."""

    def __init__(self, running: Running, key: str) -> None:
        self._running, self._key = running, key

    def post(self, path: str, **body: object) -> dict[str, Any]:
        answer = self._running.call(self._key, "POST", f"/api/rpc/assets/{path}", body)
        assert answer.status_code in (200, 201), answer.text
        found: dict[str, Any] = answer.json()
        return found

    def get(self, path: str, **query: str) -> dict[str, Any]:
        answer = self._running.call(self._key, "GET", f"/api/rpc/assets/{path}?{urlencode(query)}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def bring(self, account_id: str, content: bytes) -> dict[str, Any]:
        fields = {"Authorization": f"Bearer {self._key}", "Content-Type": "text/csv"}
        path = f"/api/rpc/assets/accounts/{account_id}/imports?fileName=trades.csv"
        answer = self._running.client.post(path, headers=fields, content=content)
        assert answer.status_code in (200, 201, 202), answer.text
        run_id = str(answer.json()["id"])
        until(lambda: self.get(f"imports/{run_id}")["status"] == "applied")
        return self.get(f"imports/{run_id}")

    def gains(self, entity_id: str) -> list[tuple[str, str]]:
        found = self.get("listDisposals", legalEntityId=entity_id)["data"]
        return [(one["date"], one["gain"]) for one in found]


def test_gains_are_the_same_after_a_kill_and_to_the_penny(tmp_path: Path) -> None:
    """HS284 example 3, of which a second broker has a part: what was acknowledged is there, and nothing comes twice."""
    instance = Instance(tmp_path, NO_LIMIT)
    firm = instance.firm()
    person = instance.do(firm.org_id, "legalEntity.createLegalEntity", name="M Lee", type="individual")["id"]
    key = instance.key(firm.org_id, firm.user_id, ["accounting:read", "accounting:write"]).key
    with serving(instance) as running:
        investor = Investor(running, key)
        portfolio = investor.post("createPortfolio", name="Savings", legalEntityId=person)["id"]
        of = {"portfolioId": portfolio, "type": "brokerage", "currency": "GBP"}
        first, second = (investor.post("createAccount", name=name, **of)["id"] for name in ("First", "Second"))
        trade = {"accountId": second, "instrument": ISIN}
        investor.post(
            "createTransaction", **trade, type="buy", tradeDate="2014-04-01", quantity="1000", unitPrice="4", fees="150"
        )
        moved = {"quantity": "700", "counterAccountId": first}
        investor.post("createTransaction", **trade, type="transfer_out", tradeDate="2017-01-05", **moved)
        imported = investor.bring(first, _FILE)
        assert (imported["status"], imported["added"]) == ("applied", 2)
        assert investor.gains(person) == [("2018-05-01", "329.33")]
        sold = {"quantity": "300", "unitPrice": "5.20", "fees": "105"}
        investor.post("createTransaction", **trade, type="sell", tradeDate="2019-02-01", **sold)
        seen = investor.gains(person)
        held = investor.get("listPositions", legalEntityId=person)["data"]
        running.process.kill()
    with serving(instance) as running:
        investor = Investor(running, key)
        assert investor.gains(person) == seen
        assert investor.get("listPositions", legalEntityId=person)["data"] == held
        again = investor.bring(first, _FILE)
        assert (again["id"], again["status"]) == (imported["id"], "applied")
        more = {"quantity": "100", "unitPrice": "5.20"}
        investor.post(
            "createTransaction", accountId=first, instrument=ISIN, type="sell", tradeDate="2019-02-01", **more
        )
        assert investor.gains(person) == [("2018-05-01", "329.33"), ("2019-02-01", "300.33")]
        (left,) = investor.get("listPositions", legalEntityId=person)["data"]
        assert (left["quantity"], left["costBasis"]) == ("400", "1674.67")
        assert running.end() == 0
