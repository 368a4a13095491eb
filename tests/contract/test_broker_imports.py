"""Brokers' files through the API: a file is sent, previewed, applied and undone, and what is refused on the way."""

from gatewayd.ledger.calendar import period_locks
from tests.contract.conftest import OpenCatalogue
from tests.support.api import Reply, TestedApi
from tests.support.statement_files import file_of, opened, trade

FILE = file_of([opened(), trade(2, "buy", "2026-09-01", 5_000, "ELM"), trade(3, "sell", "2026-09-02", 9_900, "ELM")])


async def send(api: TestedApi, account_id: str, content: bytes = FILE, **query: object) -> Reply:
    return await api("POST", f"/assets/accounts/{account_id}/imports", query=query, body=content)


async def test_a_file_is_previewed_applied_and_undone(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        preview = (await send(api, ids["acc"], preview="true", fileName="elm.csv")).json()
        assert (preview["kind"], preview["status"], preview["added"]) == ("broker", "previewed", 1)
        assert preview["refused"] == [{"line": 3, "reason": "It sells 99, and 50 are held."}]
        path = f"/assets/imports/{preview['id']}"
        rows = (await api("GET", f"{path}/rows")).json()["data"]
        assert [(row["action"], row["symbol"], row["quantity"], row["grossAmount"]) for row in rows] == [
            ("add", "ELM", "50", "50.00"),
            ("refuse", "ELM", "99", "99.00"),
        ]
        applied = (await api("POST", f"{path}/apply", json={})).json()
        assert (applied["status"], applied["added"], applied["refusedRows"]) == ("applied", 1, 1)
        again = await api("POST", f"{path}/apply", json={})
        assert (again.status, again.code) == (409, "invalid_state")
        undone = (await api("POST", f"{path}/undo", json={})).json()
        assert undone["status"] == "reverted"
        again = await api("POST", f"{path}/undo", json={})
        assert (again.status, again.code) == (409, "invalid_state")


async def test_lists_have_the_imports_of_their_kind(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        for path, kind, other in (("/imports", "bank", "imp_c"), ("/assets/imports", "broker", "imp")):
            assert {one["kind"] for one in (await api("GET", path)).json()["data"]} == {kind}
            for rest in ("", "/rows"):
                assert (await api("GET", f"{path}/{ids[other]}{rest}")).status == 404
            for act in ("apply", "undo"):
                assert (await api("POST", f"{path}/{ids[other]}/{act}", json={})).status == 404


async def test_a_file_that_is_none_is_refused_with_its_run(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        reply = await send(api, ids["acc"], b"%PDF-1.7")
        assert (reply.status, reply.code) == (422, "validation_failed")
        assert [(one["path"], one["code"]) for one in reply.json()["errors"]] == [("file", "unreadable_file")]
        run = (await api("GET", f"/assets/imports/{reply.json()['importId']}")).json()
        assert (run["status"], run["error"]) == ("failed", "line 1: This is no statement.")


async def test_an_account_that_is_closed_takes_no_file(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        values = {"portfolioId": ids["prt"], "name": "Old", "type": "brokerage", "currency": "GBP"}
        account = (await api("POST", "/assets/createAccount", json=values)).json()["id"]
        await api("POST", "/assets/updateAccount", json={"id": account, "status": "closed"})
        reply = await send(api, account)
        assert (reply.status, reply.code) == (409, "invalid_state")


async def test_what_is_needed_or_closed_stays(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        run = (await send(api, ids["acc"])).json()
        sale = {"instrument": {"symbol": "ELM"}, "quantity": "50", "unitPrice": "1"}
        values = {"accountId": ids["acc"], "type": "sell", "tradeDate": "2026-09-03", **sale}
        assert (await api("POST", "/assets/createTransaction", json=values)).status == 200
        reply = await api("POST", f"/assets/imports/{run['id']}/undo", json={})
        assert (reply.status, reply.code) == (422, "insufficient_quantity")
        await api.store.write(lambda tx: period_locks.close(tx, ids["ent"], "2026-09-01", "2026-09-30"), "org_a")
        reply = await api("POST", f"/assets/imports/{run['id']}/undo", json={})
        assert (reply.status, reply.code, reply.json()["date"]) == (409, "period_closed", "2026-09-01")
