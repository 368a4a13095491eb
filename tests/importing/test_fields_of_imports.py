"""What is said with a file through the API decides how it is read, and what lists of imports leave out."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gatewayd.areas import assets, banking
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import DAY
from gatewayd.importing.engine import open_importing
from gatewayd.importing.parts import ImportParts
from gatewayd.importing.prices import PriceImporting
from gatewayd.leases.holder import Holder
from gatewayd.store import WriteTx
from tests.importing.conftest import ImportLog
from tests.support.api import Reply, TestedApi, Tuning, open_api
from tests.support.engines import Engines
from tests.support.inline_reading import read_inline
from tests.support.rows import served
from tests.support.store import make_caller

ROWS = served(banking.AREA, assets.AREA)
BANK = b"Date,Description,Amount\n01/02/2026,TEA,-1.00\n02/03/2026,CAKE,-2.00\n"
NEW_WORDS = b"Tag,Wofuer,Wieviel\n01/02/2026,TEA,-1.00\n02/03/2026,CAKE,-2.00\n"
QIF = (
    b"!Account\nNCurrent\nTBank\n^\n!Type:Bank\nD13/02/2026\nT-1.00\nPTEA\n^\n"
    b"!Account\nNSavings\nTBank\n^\n!Type:Bank\nD14/02/2026\nT7.00\nPINTEREST\n^\n"
)
MAPPING = {"date": "Tag", "description": ["Wofuer"], "amount": "Wieviel", "dateFormat": "dd/mm/yyyy"}
SINCE = {"updatedSince": "2026-11-21T00:00:00Z"}
Open = Callable[[], AbstractAsyncContextManager[TestedApi]]


@pytest.fixture
def opened(tmp_path: Path, database_image: bytes) -> Open:
    """The API with the engines of imports, which read in this process."""

    @asynccontextmanager
    async def door() -> AsyncIterator[TestedApi]:
        engines = Engines()
        async with open_api(tmp_path, database_image, ROWS, Tuning(deps=engines)) as api:
            engines.prices = PriceImporting(api.store, read_inline, 1 << 20)
            parts = ImportParts(
                store=api.store,
                holder=Holder(api.store),
                directory=tmp_path,
                read_apart=read_inline,
                log=ImportLog(),
                max_bytes=1 << 20,
            )
            async with open_importing(parts) as engines.importing:
                yield api

    return door


async def account(api: TestedApi, name: str = "Current account") -> str:
    return str((await api("POST", "/accounts", json={"name": name})).json()["id"])


async def send(api: TestedApi, account_id: str, content: bytes = BANK, **query: object) -> Reply:
    return await api("POST", f"/accounts/{account_id}/imports", query=query, body=content)


async def lines(api: TestedApi, account_id: str) -> list[tuple[str, str]]:
    """Day and amount of its transactions, earliest first."""
    query = {"accountId": account_id, "status": "all"}
    found = (await api("GET", "/banking/getTransactions", query=query)).json()["data"]
    return sorted((one["date"], one["amount"]) for one in found)


@pytest.mark.parametrize(
    ("order", "days"),
    [
        ("dmy", ["2026-02-01", "2026-03-02"]),
        ("mdy", ["2026-01-02", "2026-02-03"]),
    ],
)
async def test_the_order_of_day_and_month_is_as_it_is_said(opened: Open, order: str, days: list[str]) -> None:
    async with opened() as api:
        one = await account(api)
        run = (await send(api, one, dateOrder=order)).json()
        assert "dateFormat" not in [each["field"] for each in run["supposed"]]
        assert [day for day, _ in await lines(api, one)] == days


@pytest.mark.parametrize(("spent", "sign"), [("positive", "-"), ("negative", "")])
async def test_the_sign_of_what_was_spent_is_as_it_is_said(opened: Open, spent: str, sign: str) -> None:
    async with opened() as api:
        one = await account(api)
        await send(api, one, BANK.replace(b"-", b""), spent=spent, dateOrder="dmy")
        assert [amount for _, amount in await lines(api, one)] == [f"{sign}1.00", f"{sign}2.00"]


async def test_a_file_is_read_as_the_format_it_is_said_to_be(opened: Open) -> None:
    async with opened() as api:
        one = await account(api)
        refused = await send(api, one, format="ofx")
        assert [(each["path"], each["code"]) for each in refused.json()["errors"]] == [("file", "unreadable_file")]
        taken = (await send(api, one, format="csv")).json()
        assert (taken["format"], taken["added"]) == ("csv", 2)


async def test_columns_that_nobody_knows_are_read_by_the_mapping(opened: Open) -> None:
    async with opened() as api:
        one = await account(api)
        asked = (await send(api, one, NEW_WORDS)).json()
        assert (asked["status"], asked["proposal"] is not None) == ("uploaded", True)
        run = (await send(api, one, NEW_WORDS, mapping=json.dumps(MAPPING))).json()
        assert (run["status"], run["added"], run["mapping"]["amount"]) == ("applied", 2, "Wieviel")
        assert await lines(api, one) == [("2026-02-01", "-1.00"), ("2026-03-02", "-2.00")]


async def test_of_a_file_of_several_accounts_the_one_that_is_said_comes_in(opened: Open) -> None:
    async with opened() as api:
        one = await account(api)
        run = (await send(api, one, QIF, ofAccount="Savings", dateOrder="dmy")).json()
        assert [other["name"] for other in run["otherAccounts"]] == ["Current"]
        assert await lines(api, one) == [("2026-02-14", "7.00")]


async def test_the_days_that_a_file_is_of_are_covered(opened: Open) -> None:
    async with opened() as api:
        one, other = await account(api), await account(api, "Other")
        await send(api, one, dateOrder="dmy", fromDate="2026-01-15", toDate="2026-03-31")
        await send(api, other, dateOrder="dmy")
        covered = [(await api("GET", f"/accounts/{each}")).json()["coverage"] for each in (one, other)]
        assert [(each["fromDate"], each["toDate"]) for each in covered] == [
            ("2026-01-15", "2026-03-31"),
            ("2026-02-01", "2026-03-02"),
        ]


async def test_an_undoing_is_shown_first_and_takes_allocations_with_it(opened: Open) -> None:
    async with opened() as api:
        one = await account(api)
        run = (await send(api, one, dateOrder="dmy")).json()
        query = {"accountId": one, "status": "all"}
        (line, *_) = (await api("GET", "/banking/getTransactions", query=query)).json()["data"]
        part = {"category": "not_pnl", "purpose": "drawings"}
        made = await api("POST", "/allocations", json={"bankTransactionId": line["id"], "parts": [part]})
        assert made.status == 200, made.body
        path = f"/imports/{run['id']}/undo"
        assert (await api("POST", path, json={})).status == 409
        shown = (await api("POST", path, json={"preview": True})).json()
        assert (shown["status"], shown["undoing"]["transactions"], shown["undoing"]["allocations"]) == ("applied", 2, 1)
        assert len(await lines(api, one)) == 2
        assert (await api("POST", path, json={"removeAllocations": True})).json()["status"] == "reverted"
        assert await lines(api, one) == []


async def test_rows_are_listed_by_what_became_of_them_and_page_by_page(opened: Open) -> None:
    async with opened() as api:
        one = await account(api)
        await send(api, one, dateOrder="dmy")
        more = BANK + b"13/04/2026,BUN,-3.00\n"
        run = (await send(api, one, more, dateOrder="dmy", preview="true")).json()
        path = f"/imports/{run['id']}/rows"

        async def rows(**query: object) -> dict[str, Any]:
            found: dict[str, Any] = (await api("GET", path, query=query)).json()
            return found

        assert [row["action"] for row in (await rows(action="duplicate"))["data"]] == ["duplicate", "duplicate"]
        assert [row["action"] for row in (await rows(action="add"))["data"]] == ["add"]
        first = await rows(limit=2)
        rest = await rows(limit=2, cursor=first["nextCursor"])
        assert [*first["data"], *rest["data"]] == (await rows())["data"]
        assert (len(first["data"]), len(rest["data"]), rest["nextCursor"]) == (2, 1, None)


async def expect_lists(api: TestedApi, path: str, made: list[tuple[str, str]], touch: str) -> None:
    """Two runs of two accounts, the second a preview, are listed by account and status, page by page, and by change."""

    async def ids(**query: object) -> list[str]:
        return [one["id"] for one in (await api("GET", path, query=query)).json()["data"]]

    (first, account_id), (second, _) = made
    assert await ids(accountId=account_id) == [first]
    assert (await ids(status="applied"), await ids(status="previewed")) == ([first], [second])
    page = (await api("GET", path, query={"limit": 1})).json()
    assert [one["id"] for one in page["data"]] == [second]
    assert await ids(limit=1, cursor=page["nextCursor"]) == [first]
    assert await ids(**SINCE) == []
    api.clock.advance(DAY)
    assert (await api("POST", f"{path}/{second}/{touch}", json={})).status == 200
    assert await ids(**SINCE) == [second]


async def test_imports_of_a_bank_are_listed_by_each_filter(opened: Open) -> None:
    async with opened() as api:
        one, other = await account(api), await account(api, "Other")
        first = (await send(api, one, dateOrder="dmy")).json()["id"]
        second = (await send(api, other, dateOrder="dmy", preview="true", fileName="tea.csv")).json()
        assert second["fileName"] == "tea.csv"
        await expect_lists(api, "/imports", [(first, one), (second["id"], other)], "apply")


# -- brokers' files and files of prices

TRADES = b"""Day,What,Paper,How many,Cash
01/09/2026,Purchase,GB00BH4HKS39,50,-50.00
02/09/2026,Purchase,GB00BH4HKS39,10,-10.00
"""
OF_TRADES = {
    "date": "Day",
    "type": "What",
    "isin": "Paper",
    "quantity": "How many",
    "amount": "Cash",
    "dateFormat": "dd/mm/yyyy",
    "words": {"Purchase": "buy"},
}


async def broker_accounts(api: TestedApi) -> tuple[str, str]:
    """Two accounts of a portfolio of a person."""
    person = await api.store.write(_add_person, "org_a")
    portfolio = (await api("POST", "/assets/createPortfolio", json={"name": "Own", "legalEntityId": person})).json()
    values = {"portfolioId": portfolio["id"], "name": "Own", "type": "brokerage", "currency": "GBP"}
    made = [(await api("POST", "/assets/createAccount", json=values)).json()["id"] for _ in range(2)]
    return made[0], made[1]


def _add_person(tx: WriteTx) -> str:
    return create_legal_entity(tx, make_caller("org_a"), CreateLegalEntity(name="Ann", type="individual")).id


async def trade(api: TestedApi, account_id: str, content: bytes = TRADES, **query: object) -> Reply:
    query = {"mapping": json.dumps(OF_TRADES), **query}
    return await api("POST", f"/assets/accounts/{account_id}/imports", query=query, body=content)


async def test_a_brokers_file_is_read_by_its_mapping_and_as_its_format(opened: Open) -> None:
    async with opened() as api:
        one, _ = await broker_accounts(api)
        refused = await trade(api, one, format="ibkr_flex")
        assert [(each["path"], each["code"]) for each in refused.json()["errors"]] == [("file", "unreadable_file")]
        run = (await trade(api, one, format="csv", fileName="elm.csv", preview="true")).json()
        assert (run["format"], run["fileName"], run["status"], run["added"]) == ("csv", "elm.csv", "previewed", 2)
        assert (await api("GET", f"/assets/imports/{run['id']}")).json() == run
        path = f"/assets/imports/{run['id']}/rows"
        rows = (await api("GET", path)).json()["data"]
        assert [(row["action"], row["quantity"]) for row in rows] == [("add", "50"), ("add", "10")]
        first = (await api("GET", path, query={"limit": 1})).json()
        rest = (await api("GET", path, query={"limit": 1, "cursor": first["nextCursor"]})).json()
        assert [*first["data"], *rest["data"]] == rows
        assert (await api("GET", path, query={"action": "duplicate"})).json()["data"] == []
        assert (await api("GET", path, query={"action": "add"})).json()["data"] == rows


async def test_imports_of_a_broker_are_listed_by_each_filter(opened: Open) -> None:
    async with opened() as api:
        one, other = await broker_accounts(api)
        first = (await trade(api, one)).json()["id"]
        second = (await trade(api, other, preview="true")).json()["id"]
        await expect_lists(api, "/assets/imports", [(first, one), (second, other)], "apply")
        undone = (await api("POST", f"/assets/imports/{first}/undo", json={})).json()
        assert (undone["id"], undone["status"]) == (first, "reverted")


async def test_an_import_of_prices_answers_with_the_name_of_its_file(opened: Open) -> None:
    async with opened() as api:
        content = b"date,identifier,price,currency\n2026-10-01,USD/GBP,0.76,\n"
        found = (await api("POST", "/assets/importPrices", query={"fileName": "rates.csv"}, body=content)).json()
        assert (found["fileName"], found["added"]) == ("rates.csv", 1)
