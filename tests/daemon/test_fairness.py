"""One organization with 64 slow bodies at every door that takes files, and a neighbour who works on beside it.

Nothing fails by the clock: the neighbour is served, and the slow bodies are there still when it is. How much longer it
takes beside them is printed; docs/benchmarks.md has the figure.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gatewayd.http import uploads
from gatewayd.vault_files import receiving
from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Firm, Instance, Running, serving, until
from tests.daemon.test_metrics import METRICS, place, scrape
from tests.support.slow_bodies import SlowBodies

pytestmark = pytest.mark.either_engine("its subject is the door")

SLOW = 64  # at each door, as many as one key may have under way
ROUNDS = 5
TUS = ("Tus-Resumable: 1.0.0", "Upload-Offset: 0", "Content-Type: application/offset+octet-stream")
HELD, WAITING, REFUSED = (f"gatewayd_places_{name}" for name in ("held", "waiting", "refused_total"))


class Office:
    """A firm with what it takes to import, upload, search, and ask for its profit."""

    def __init__(self, instance: Instance, name: str) -> None:
        self.instance, self.firm = instance, instance.firm(name)
        self.account_id = self._made("banking.createAccount", name="Current")
        entity_id = self._made("legalEntity.createLegalEntity", name="M Lee", type="individual")
        trade = {"legalEntityId": entity_id, "type": "self_employment", "name": "Joinery"}
        self.business_id = self._made("businesses.create", **trade, commencementDate="2024-05-01")
        portfolio_id = self._made("assets.createPortfolio", name="Savings", legalEntityId=entity_id)
        of = {"portfolioId": portfolio_id, "name": "General", "type": "brokerage", "currency": "GBP"}
        self.broker_id = self._made("assets.createAccount", **of)

    def _made(self, operation_id: str, **values: object) -> str:
        return str(self.instance.do(self.firm.org_id, operation_id, **values)["id"])

    def key(self) -> str:
        return self.instance.key(self.firm.org_id, self.firm.user_id).key


def upload_path(running: Running, firm: Firm) -> tuple[str, str]:
    """The id of a new document, and where its bytes go."""
    made = answered(running.call(firm.key, "POST", "/api/rpc/vault/documents", {"name": "note.txt"}))
    return made["document"]["id"], urlsplit(made["upload"]["url"]).path


def answered(response: Any) -> Any:
    assert response.status_code in (200, 204), (response.status_code, response.text)
    return response.json() if response.content else None


def import_statement(running: Running, office: Office, number: int) -> None:
    path = f"/api/rpc/accounts/{office.account_id}/imports?fileName=day{number}.csv"
    fields = {"Authorization": f"Bearer {office.firm.key}", "Content-Type": "text/csv"}
    rows = "".join(f",{day:02}/03/2026,20-45-00 31926819,-{number + 1}.{day:02},PAYMENT,SHOP\n" for day in range(1, 29))
    content = f"Number,Date,Account,Amount,Subcategory,Memo\n{rows}"
    run = answered(running.client.post(path, headers=fields, content=content.encode()))
    assert (run["status"], run["rows"]) == ("applied", 28)


def work(running: Running, office: Office, number: int) -> None:
    """An import, an upload, a search, and a profit and loss account: each is served."""
    import_statement(running, office, number)
    document_id, path = upload_path(running, office.firm)
    answered(running.client.put(path, content=b"Oak Street, number %d" % number))
    answered(running.call(office.firm.key, "POST", f"/api/rpc/vault/documents/{document_id}/confirm-upload", {}))
    answered(running.call(office.firm.key, "POST", "/api/rpc/vault/search", {"q": "oak", "mode": "text"}))
    path = f"/api/rpc/businesses/businessPnl?id={office.business_id}&taxYear=2025-26"
    answered(running.call(office.firm.key, "GET", path))


def crowd_doors(slow: SlowBodies, running: Running, office: Office) -> None:
    """64 slow bodies at each door; with a key for each, so that no credential is held back before its organization."""
    for path in (
        f"/api/rpc/accounts/{office.account_id}/imports?fileName=a.csv",
        f"/api/rpc/assets/accounts/{office.broker_id}/imports?fileName=a.csv",
        "/api/rpc/assets/importPrices?fileName=a.csv",
    ):
        slow.add(SLOW, "POST", path, (f"Authorization: Bearer {office.key()}", "Content-Type: text/csv"))
    for _ in range(SLOW):
        slow.add(1, "PUT", upload_path(running, office.firm)[1])
        slow.add(1, "PATCH", upload_path(running, office.firm)[1], TUS)


def seconds(do: Callable[[int], None], first: int) -> float:
    """The median of some rounds."""
    taken = []
    for number in range(first, first + ROUNDS):
        began = time.monotonic()
        do(number)
        taken.append(time.monotonic() - began)
    return statistics.median(taken)


def test_slow_bodies_of_one_organization_close_no_door_for_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instance = Instance(tmp_path, NO_LIMIT + METRICS)
    greedy, neighbour = Office(instance, "Oak & Son"), Office(instance, "Elm & Co")
    shares = {"imported files": uploads.MAX_AT_ONCE // 2, "uploads": receiving.ORGANIZATION_AT_ONCE}
    with serving(instance) as running, SlowBodies(running.port) as slow:
        metrics = place(running)
        work(running, neighbour, 0)  # what is loaded at first use is loaded
        quiet = seconds(lambda number: work(running, neighbour, number), 1)

        def held() -> dict[str, float]:
            found = scrape(metrics).get(HELD, {})
            return {thing: n for (org_id, thing), n in found.items() if org_id == greedy.firm.org_id}

        crowd_doors(slow, running, greedy)
        until(lambda: held() == shares)
        crowded = seconds(lambda number: work(running, neighbour, number), 1 + ROUNDS)
        assert held() == shares  # the same bodies still come
        until(lambda: len(slow.answers()) == 5 * SLOW - sum(shares.values()))
        assert set(slow.answers()) == {"429 retry-after: 5"}
        assert {thing: n for (thing,), n in scrape(metrics)[WAITING].items() if n} == {}
        assert {thing: n for (thing,), n in scrape(metrics)[REFUSED].items() if n} == {
            "imported files": 3 * SLOW - shares["imported files"],
            "uploads": 2 * SLOW - shares["uploads"],
        }
        work(running, neighbour, 2 * ROUNDS + 1)
    with capsys.disabled():
        print(f"\nbeside {5 * SLOW} slow bodies / alone: {crowded / quiet:.2f} ({quiet * 1000:.0f} ms alone)")
