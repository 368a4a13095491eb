"""A firm whose tax year is over, on a real store: what was sold, paid and bought in it, and the seals of its books."""

import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest

from gatewayd.bundles.engine import Bundles
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.ledger import csv_text
from tests.contract.rows import OPERATIONS
from tests.ledger import bank_books
from tests.support.api import Reply, TestedApi, Tuning, open_api
from tests.support.engines import Engines

Json = dict[str, Any]
FORMULA = '=HYPERLINK("http://x")'


@dataclass
class SealedFirm:
    """A sole trader on cash basis with one trade and one bank account; the tax year is 2025-26."""

    api: TestedApi
    folder: Path
    ids: dict[str, str] = field(default_factory=dict)

    async def call(self, operation: str, **values: object) -> Json:
        """A write that is done."""
        reply = await self.ask(operation, **values)
        assert reply.status == 200, reply.body
        answer: Json = reply.json()
        return answer

    async def ask(self, operation: str, token: str = "good", **values: object) -> Reply:
        row = next(row for row in OPERATIONS if row.id == operation)
        if row.method == "GET":
            return await self.api("GET", row.alias, query=values, token=token)
        return await self.api("POST", row.alias, json=values, token=token)

    async def line(self, date: str, amount: int, **fields: object) -> str:
        """A bank line of so many pence."""
        account = self.ids["bac"]
        return await self.api.store.write(
            lambda tx: bank_books.insert_line(tx, account, amount, date=date, **fields), "org_a"
        )

    async def spend(self, line_id: str, *parts: Json) -> None:
        await self.call("banking.allocate", bankTransactionId=line_id, parts=list(parts))

    async def close(self) -> None:
        await self.call("periods.close", id=self.ids["per"], force=True, reason="For the test")

    async def reopen(self) -> None:
        await self.call("periods.reopen", id=self.ids["per"], reason="Something was forgotten")

    async def seal(self) -> Json:
        return await self.call("periods.seal", id=self.ids["per"])

    async def bundle(self, seal: Json) -> bytes:
        reply = await self.ask("periods.getBundle", id=seal["id"])
        assert reply.status == 200, reply.body
        return reply.body

    async def table(self, seal: Json, path: str) -> list[Json]:
        return table(await self.bundle(seal), path)


def table(bundle: bytes, path: str) -> list[Json]:
    """A CSV of a bundle, by its columns."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        heading, *rows = csv_text.rows(io.StringIO(archive.read(path).decode(), newline=""))
    return [dict(zip(heading, row, strict=True)) for row in rows]


class OpenFirm(Protocol):
    """`async with open_firm() as firm`."""

    def __call__(self) -> AbstractAsyncContextManager[SealedFirm]: ...


@pytest.fixture
def open_firm(database_image: bytes, tmp_path: Path) -> OpenFirm:
    """A firm whose books of 2025-26 are open still."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[SealedFirm]:
        engines = Engines()
        async with open_api(tmp_path, database_image, OPERATIONS, Tuning(deps=engines)) as api:
            engines.bundles = Bundles(api.store)
            api.token("org_a", "good", ALL_SCOPES)
            await api.org("org_b", "other", ALL_SCOPES)
            firm = SealedFirm(api, tmp_path)
            await _keep_books(firm)
            yield firm

    return opened


async def _keep_books(firm: SealedFirm) -> None:
    ids = firm.ids
    ids["ent"] = (await firm.call("legalEntity.createLegalEntity", name="Ash", type="sole_trader"))["id"]
    trade = {"legalEntityId": ids["ent"], "type": "self_employment", "name": "Joinery"}
    ids["biz"] = (await firm.call("businesses.create", **trade, commencementDate="2024-05-01"))["id"]
    ids["bac"] = await firm.api.store.write(lambda tx: bank_books.insert_account(tx, ids["ent"]), "org_a")
    ids["cli"] = (await firm.call("accounting.createClient", name="Birch & Co"))["id"]
    years = await firm.call("periods.list", type="tax_year", taxYear="2025-26")
    ids["per"] = years["data"][0]["id"]
    await _sell(firm)
    part = {"businessId": ids["biz"], "category": "costOfGoods"}
    ids["timber"] = await firm.line("2025-09-01", -120_00, description=FORMULA)
    await firm.spend(ids["timber"], {**part, "amount": "100.00"}, {**part, "category": "adminCosts", "amount": "20.00"})
    ids["left"] = await firm.line("2026-04-05", -9_99, description="Not allocated yet")
    await firm.line("2026-04-06", -1_00, description="Of the next year")


async def _sell(firm: SealedFirm) -> None:
    """An invoice of 300.00, half of which is paid in the year, by a bank line."""
    ids = firm.ids
    made = await firm.call(
        "accounting.createInvoice",
        clientId=ids["cli"],
        legalEntityId=ids["ent"],
        businessId=ids["biz"],
        issueDate="2025-07-01",
        status="issued",
        lines=[{"description": 'A "table"\nof oak', "unitPrice": "300.00", "vatCode": "outside_scope"}],
    )
    ids["inv"] = made["id"]
    ids["paid"] = await firm.line("2025-08-01", 150_00, description="Birch")
    payment = {"invoiceId": ids["inv"], "amount": "150.00", "date": "2025-08-01", "bankTransactionId": ids["paid"]}
    await firm.call("accounting.recordPayment", **payment)
