"""`Period-Override: closing`: what is written in a period that is being closed (domain model B9), by each operation."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest

from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.importing.engine import open_importing
from gatewayd.importing.parts import ImportParts
from gatewayd.leases.holder import Holder
from tests.contract.rows import OPERATIONS
from tests.ledger import bank_books
from tests.support.api import Fields, Reply, TestedApi, Tuning, open_api
from tests.support.engines import Engines, TaxLog
from tests.support.statement_files import line, read_parts, statement

OVERRIDE = ((b"period-override", b"closing"),)
DAY = "2025-05-01"  # of the VAT quarter that is being closed


@dataclass
class ClosingFirm:
    """A company that begins to close its first VAT quarter, with an invoice, a bank line and a payment inside."""

    api: TestedApi
    ids: dict[str, str] = field(default_factory=dict)

    async def post(self, path: str, headers: Fields = (), **values: object) -> Reply:
        return await self.api("POST", path, json=values, headers=[(b"content-type", b"application/json"), *headers])

    async def made(self, path: str, headers: Fields = (), **values: object) -> Any:
        reply = await self.post(path, headers, **values)
        assert reply.status == 200, reply.body
        return reply.json()

    def invoice(self, **values: object) -> dict[str, object]:
        given = {"clientId": self.ids["cli"], "legalEntityId": self.ids["ent"], "issueDate": DAY, "status": "issued"}
        return {
            **given,
            "lines": [{"description": "Work", "unitPrice": "100.00", "vatCode": "outside_scope"}],
            **values,
        }

    def part(self) -> dict[str, object]:
        return {"bankTransactionId": self.ids["btx"], "parts": [{"category": "not_pnl", "purpose": "other"}]}


class OpenClosing(Protocol):
    def __call__(self) -> AbstractAsyncContextManager[ClosingFirm]: ...


@pytest.fixture
def open_closing(database_image: bytes, tmp_path: Path) -> OpenClosing:
    @asynccontextmanager
    async def opened() -> AsyncIterator[ClosingFirm]:
        engines = Engines()
        async with (
            open_api(tmp_path, database_image, OPERATIONS, Tuning(deps=engines)) as api,
            open_importing(
                ImportParts(
                    store=api.store,
                    holder=Holder(api.store),
                    directory=tmp_path,
                    read_apart=read_parts,
                    log=TaxLog(),
                    max_bytes=1 << 20,
                )
            ) as engines.importing,
        ):
            api.token("org_a", "good", ALL_SCOPES)
            firm = ClosingFirm(api)
            await _begin(firm)
            yield firm

    return opened


async def _begin(firm: ClosingFirm) -> None:
    ids = firm.ids
    vat = {"status": "registered", "effectiveDate": "2024-05-01", "scheme": "standard", "staggerGroup": 1}
    company = {"name": "Elm Ltd", "type": "limited_company", "companyNumber": "12345678", "vatNumber": "GB980780684"}
    ids["ent"] = (await firm.made("/legalEntity/createLegalEntity", **company, vat=vat))["id"]
    ids["cli"] = (await firm.made("/accounting/createClient", name="Birch"))["id"]
    ids["inv"] = (await firm.made("/invoices", **firm.invoice()))["id"]
    ids["bac"] = await firm.api.store.write(lambda tx: bank_books.insert_account(tx, ids["ent"]), "org_a")
    ids["btx"] = await firm.api.store.write(lambda tx: bank_books.insert_line(tx, ids["bac"], -500, date=DAY), "org_a")
    await firm.made(f"/invoices/{ids['inv']}/payments", amount="10.00", date=DAY)
    found = await firm.api("GET", "/periods/list", query={"type": "vat_period"})
    ids["per"] = next(one["id"] for one in found.json()["data"] if one["startDate"] <= DAY <= one["endDate"])
    begun = await firm.made("/periods/close", id=ids["per"], begin=True)
    assert begun["status"] == "closing"


def is_closing(reply: Reply) -> bool:
    assert (reply.status, reply.code) == (409, "period_closed"), reply.body
    assert "Period-Override: closing" in reply.json()["message"]
    return (reply.json()["state"], reply.json()["date"]) == ("closing", DAY)


async def test_an_invoice_is_issued_paid_and_voided_by_override_alone(open_closing: OpenClosing) -> None:
    async with open_closing() as firm:
        inv = firm.ids["inv"]
        assert is_closing(await firm.post("/invoices", **firm.invoice()))
        other = (await firm.made("/invoices", OVERRIDE, **firm.invoice()))["id"]
        assert is_closing(await firm.post(f"/invoices/{inv}/payments", amount="5.00", date=DAY))
        await firm.made(f"/invoices/{inv}/payments", OVERRIDE, amount="5.00", date=DAY)
        taken = await firm.api("DELETE", f"/invoices/{inv}/payments/1")
        assert is_closing(taken)
        taken = await firm.api("DELETE", f"/invoices/{inv}/payments/1", headers=OVERRIDE)
        assert taken.status == 200, taken.body
        assert is_closing(await firm.post(f"/invoices/{other}/void", reason="A mistake"))
        await firm.made(f"/invoices/{other}/void", OVERRIDE, reason="A mistake")


async def test_a_bank_line_is_allocated_by_override_alone(open_closing: OpenClosing) -> None:
    async with open_closing() as firm:
        assert is_closing(await firm.post("/allocations", **firm.part()))
        made = await firm.made("/allocations", OVERRIDE, **firm.part())
        path = f"/allocations/{made['allocations'][0]['id']}"
        assert is_closing(await firm.api("DELETE", path))
        assert (await firm.api("DELETE", path, headers=OVERRIDE)).status == 200


async def test_rules_allocate_by_override_alone(open_closing: OpenClosing) -> None:
    async with open_closing() as firm:
        conditions, outcome = {"text": "tesco"}, {"category": "not_pnl", "purpose": "other"}
        await firm.made("/allocations/rules", name="Food", conditions=conditions, outcome=outcome, mode="apply")
        (refused,) = (await firm.made("/allocations/rules/apply", accountId=firm.ids["bac"]))["data"]
        assert (refused["allocation"], "is being closed" in refused["refusal"]) == (None, True)
        (applied,) = (await firm.made("/allocations/rules/apply", OVERRIDE, accountId=firm.ids["bac"]))["data"]
        assert (applied["allocation"]["category"], applied["refusal"]) == ("not_pnl", None)


async def test_a_statement_comes_in_and_goes_out_by_override_alone(open_closing: OpenClosing) -> None:
    async with open_closing() as firm:
        path = f"/accounts/{firm.ids['bac']}/imports"
        file = statement([line(2, DAY, -700, "COFFEE"), line(3, "2025-07-01", -800, "TEA")])
        seen = (await firm.api("POST", path, query={"fileName": "a.csv", "preview": "true"}, body=file)).json()
        assert (seen["added"], seen["refusedRows"]) == (1, 1)
        run = await firm.made(f"/imports/{seen['id']}/apply", OVERRIDE)
        assert (run["added"], run["refusedRows"]) == (2, 0)
        assert is_closing(await firm.post(f"/imports/{run['id']}/undo"))
        assert (await firm.made(f"/imports/{run['id']}/undo", OVERRIDE))["status"] == "reverted"
        reply = await firm.api("POST", path, query={"fileName": "a.csv"}, body=file, headers=OVERRIDE)
        assert reply.json()["added"] == 2


async def test_what_is_closed_takes_no_override(open_closing: OpenClosing) -> None:
    async with open_closing() as firm:
        await firm.made("/periods/close", id=firm.ids["per"], force=True, reason="For the test")
        reply = await firm.post("/invoices", OVERRIDE, **firm.invoice())
        assert (reply.status, reply.code, reply.json()["state"]) == (409, "period_closed", "closed")
        await firm.made("/periods/reopen", id=firm.ids["per"], reason="Forgotten")
        await firm.made("/invoices", **firm.invoice())


async def test_leaving_off_closing_opens_the_days_again(open_closing: OpenClosing) -> None:
    async with open_closing() as firm:
        await firm.made("/periods/reopen", id=firm.ids["per"], reason="Not yet")
        await firm.made("/invoices", **firm.invoice())


async def test_the_same_key_with_and_without_override_is_two_requests(open_closing: OpenClosing) -> None:
    async with open_closing() as firm:
        key = ((b"idempotency-key", b"k1"),)
        made = await firm.made("/invoices", (*OVERRIDE, *key), **firm.invoice())
        assert (await firm.made("/invoices", (*OVERRIDE, *key), **firm.invoice()))["id"] == made["id"]
        reply = await firm.post("/invoices", key, **firm.invoice())
        assert (reply.status, reply.code) == (409, "idempotency_conflict")


@pytest.mark.parametrize("value", [b"", b"true", b"closed", b"closing, closing"])
async def test_another_value_is_malformed(open_closing: OpenClosing, value: bytes) -> None:
    async with open_closing() as firm:
        reply = await firm.post("/invoices", ((b"period-override", value),), **firm.invoice())
        assert (reply.status, reply.code) == (400, "invalid_request")


async def test_the_description_tells_of_the_header_where_it_is_of_use() -> None:
    asked = {row.id for row in OPERATIONS if row.overrides_closing}
    assert asked >= {"accounting.createInvoice", "accounting.recordPayment", "banking.allocate", "banking.undoImport"}
    assert asked >= {"banking.importStatement", "banking.applyImport", "banking.applyRules"}
    assert asked >= {row.id for row in OPERATIONS if "period_closed" in row.errors}
    assert not any(row.kind == "read" for row in OPERATIONS if row.id in asked)
