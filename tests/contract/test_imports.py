"""Imports through the API: a file is sent, previewed, applied and undone, and what is refused on the way."""

from gatewayd.ledger.calendar import period_locks
from tests.contract.conftest import OpenCatalogue
from tests.support.api import Reply, TestedApi
from tests.support.statement_files import line, statement

LINES = [line(2, "2026-09-01", -100, "TEA"), line(3, "2026-09-02", -200, "CAKE")]
FILE = statement(LINES, opening=1000, closing=700)


async def send(api: TestedApi, account_id: str, content: bytes = FILE, **query: object) -> Reply:
    return await api("POST", f"/accounts/{account_id}/imports", query=query, body=content)


async def test_a_statement_is_previewed_applied_and_undone(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        preview = (await send(api, ids["bac"], preview="true", fileName="tea.csv")).json()
        assert (preview["status"], preview["added"], preview["fileName"]) == ("previewed", 2, "tea.csv")
        rows = (await api("GET", f"/imports/{preview['id']}/rows")).json()["data"]
        assert [(row["action"], row["amount"], row["description"]) for row in rows] == [
            ("add", "-1.00", "TEA"),
            ("add", "-2.00", "CAKE"),
        ]
        applied = (await api("POST", f"/imports/{preview['id']}/apply", json={})).json()
        assert (applied["status"], applied["balanced"], applied["closingBalance"]) == ("applied", True, "7.00")
        assert (await send(api, ids["bac"])).json()["id"] == preview["id"]
        again = await api("POST", f"/imports/{preview['id']}/apply", json={})
        assert (again.status, again.code) == (409, "invalid_state")
        undone = (await api("POST", f"/imports/{preview['id']}/undo", json={})).json()
        assert undone["status"] == "reverted"
        again = await api("POST", f"/imports/{preview['id']}/undo", json={})
        assert (again.status, again.code) == (409, "invalid_state")


async def test_a_file_that_is_no_statement_is_refused_with_its_run(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        reply = await send(api, ids["bac"], b"%PDF-1.7")
        assert (reply.status, reply.code) == (422, "validation_failed")
        problem = reply.json()
        assert [(one["path"], one["code"]) for one in problem["errors"]] == [("file", "unreadable_file")]
        run = (await api("GET", f"/imports/{problem['importId']}")).json()
        assert (run["status"], run["error"]) == ("failed", "line 1: This is no statement.")


async def test_a_closed_account_takes_no_statement(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        await api("PATCH", f"/accounts/{ids['bac']}", json={"status": "closed"})
        reply = await send(api, ids["bac"])
        assert (reply.status, reply.code) == (409, "invalid_state")


async def test_a_mapping_that_is_none_is_refused(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        for mapping in ("{", '{"date":1.5}', '{"colour":"red"}'):
            reply = await send(api, ids["bac"], mapping=mapping)
            assert [(one["path"], one["code"]) for one in reply.json()["errors"]] == [("mapping", "invalid_format")]


async def test_what_lies_in_a_closed_period_stays(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, ids):
        account = (await api("POST", "/accounts", json={"name": "Farm", "legalEntityId": ids["ent"]})).json()
        run = (await send(api, account["id"])).json()
        await api.store.write(lambda tx: period_locks.close(tx, ids["ent"], "2026-09-01", "2026-09-30"), "org_a")
        reply = await api("POST", f"/imports/{run['id']}/undo", json={})
        assert (reply.status, reply.code, reply.json()["date"]) == (409, "period_closed", "2026-09-01")


async def test_a_file_that_holds_no_prices_is_refused(open_catalogue: OpenCatalogue) -> None:
    async with open_catalogue() as (api, _):
        reply = await api("POST", "/assets/importPrices", body=b"%PDF-1.7")
        assert (reply.status, reply.code) == (422, "validation_failed")
        assert [(one["path"], one["code"]) for one in reply.json()["errors"]] == [("file", "unreadable_file")]
