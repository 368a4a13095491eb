"""A tax authority that knows the businesses of one person, and an organization that compares its own with them."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from gatewayd.areas.businesses import rows, tax_sync
from gatewayd.areas.businesses.rows import NEVER_SYNCED
from gatewayd.areas.businesses.shapes import BusinessRow
from gatewayd.store import WriteTx
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from tests.support.api import Reply
from tests.tax.conftest import HEADERS, OpenTax, TaxApi
from tests.tax.recording import Recorded, Stream, Upstream, answer, upstream

SYNC = "/api/rpc/businesses/syncTaxBusiness"
SCOPES = ("entities:read", "entities:write", "tax:read")
NINO = "AA123456A"
TRADE, LETS, ABROAD = "XAIS00000000001", "XPIS00000000002", "XFIS00000000003"
PATH = f"/individuals/business/details/{NINO}"
GONE = b'{"code":"MATCHING_RESOURCE_NOT_FOUND","message":"Matching resource not found"}'
Json = dict[str, Any]
Meanwhile = Callable[[], Awaitable[object]]


def trade(**more: Any) -> Json:
    """A self-employment with everything the authority may say of it."""
    return {
        "businessId": TRADE,
        "typeOfBusiness": "self-employment",
        "tradingType": "Plastering",
        "tradingName": "Oak Plastering",
        "yearOfMigration": "2022",
        "latencyDetails": {
            "latencyEndDate": "2027-04-05",
            "taxYear1": "2025-26",
            "latencyIndicator1": "A",
            "taxYear2": "2026-27",
            "latencyIndicator2": "Q",
        },
        "accountingPeriods": [{"start": "2026-04-06", "end": "2027-04-05"}],
        "quarterlyTypeChoice": {"quarterlyPeriodType": "calendar", "taxYearOfChoice": "2026-27"},
        "accountingType": "ACCRUALS",
        "commencementDate": "2025-05-01",
        "businessAddressLineOne": "1 Acme Rd.",
        "businessAddressLineTwo": "Leeds",
        "businessAddressPostcode": "LS1 4DY",
        "businessAddressCountryCode": "GB",
        **more,
    }


def lets(**more: Any) -> Json:
    return {"businessId": LETS, "typeOfBusiness": "uk-property", "commencementDate": "2020-04-06", **more}


@dataclass
class Registry:
    """The authority. `meanwhile` happens before each answer; `failing` answers at paths that end so."""

    server: Upstream
    sources: list[Json] = field(default_factory=list)
    failing: dict[str, bytes] = field(default_factory=dict)
    meanwhile: Meanwhile | None = None

    async def script(self, stream: Stream, request: Recorded) -> None:
        if self.meanwhile is not None:
            await self.meanwhile()
        await stream.send_all(self._answer(request.target))

    def _answer(self, target: str) -> bytes:
        for end, failure in self.failing.items():
            if target.endswith(end):
                return failure
        names = ("typeOfBusiness", "businessId", "tradingName")
        if target == f"{PATH}/list":
            if not self.sources:
                return answer(GONE, "404 Not Found")
            listed = [{name: one[name] for name in names if name in one} for one in self.sources]
            return answer(json.dumps({"listOfBusinesses": listed}).encode())
        found = next((one for one in self.sources if target == f"{PATH}/{one['businessId']}"), None)
        return answer(GONE, "404 Not Found") if found is None else answer(json.dumps(found).encode())

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for, from the person on."""
        return [request.target.removeprefix(f"{PATH}/") for request in self.server.requests]


@dataclass
class House:
    """An organization with one person, connected to the authority."""

    tax: TaxApi
    registry: Registry
    person: str

    async def sync(self, token: str = "sync", **request: object) -> Reply:
        return await self.tax.api("POST", SYNC, json=request, headers=HEADERS, token=token)

    async def person_synced(self, **request: object) -> Json:
        """The answer for every source of the person."""
        reply = await self.sync(legalEntityId=self.person, **request)
        assert reply.status == 200, reply.body
        document: Json = reply.json()
        assert "business" not in document
        return document

    async def business_synced(self, business_id: str, **request: object) -> Json:
        """The answer for one business."""
        reply = await self.sync(id=business_id, **request)
        assert reply.status == 200, reply.body
        document: Json = reply.json()
        assert "businesses" not in document
        return document

    async def business(self, **values: object) -> str:
        """One more business of the person."""
        request = {"legalEntityId": self.person, "type": "self_employment", "name": "Oak", **values}
        return str((await self.make("businesses/create", **request))["id"])

    async def make(self, path: str, **request: object) -> Json:
        reply = await self.tax.api("POST", f"/api/rpc/{path}", json=request, token="sync")
        assert reply.status == 200, reply.body
        document: Json = reply.json()
        return document

    async def business_shown(self, business_id: str) -> Json:
        """As `businesses.get` has it."""
        reply = await self.tax.api("GET", "/api/rpc/businesses/get", query={"id": business_id}, token="sync")
        assert reply.status == 200, reply.body
        document: Json = reply.json()
        return document

    def meanwhile(self, work: Meanwhile) -> None:
        """Let something happen once, while the authority is asked."""
        left = [work]

        async def once() -> None:
            if left:
                await left.pop()()

        self.registry.meanwhile = once

    def kept(self) -> list[BusinessRow]:
        """Every business of the person."""
        return self.tax.api.store.read_now(lambda tx: rows.of_entity(tx, self.person), "org_a")

    def one(self, business_id: str) -> BusinessRow:
        return next(row for row in self.kept() if row.id == business_id)

    async def write(self, work: Callable[[WriteTx], object]) -> None:
        await self.tax.api.store.write(work, "org_a")

    async def known_as(self, business_id: str, tax_business_id: str) -> None:
        """The business has been compared before."""
        changes = {"tax_business_id": tax_business_id}

        def compare(tx: WriteTx) -> None:
            record = replace(NEVER_SYNCED, status="in_sync", synced_at=tx.now)
            tax_sync.take_over(tx, business_id, changes, record)

        await self.write(compare)


@asynccontextmanager
async def open_house(open_tax: OpenTax, *sources: Json, **settings: Any) -> AsyncIterator[House]:
    """Behind a tax service, so that no request has to wait for the one before; in mode `hmrc` they do."""
    async with upstream() as server:
        registry = Registry(server, list(sources))
        server.script = registry.script
        async with open_tax(**{"mode": "forward", "upstream": server.url, **settings}) as tax:
            yield House(tax, registry, await settle(tax))


async def settle(tax: TaxApi, nino: str | None = NINO) -> str:
    """A connection, a token `sync` with all the scopes, and a person, whose id is answered."""
    tax.api.token("org_a", "sync", SCOPES)
    await tax.api.store.write(lambda tx: connections.save(tx, TOKENS, "operator"), "org_a")
    given = {} if nino is None else {"nino": nino}
    entity = {"name": "Ann Oak", "type": "sole_trader", **given}
    made = await tax.api("POST", "/legalEntity/createLegalEntity", json=entity, token="sync")
    assert made.status == 200, made.body
    return str(made.json()["id"])


TOKENS = Tokens("first", None, "read:self-assessment", None)


def told(document: Json) -> set[tuple[str, object, object]]:
    """The changes in an answer, without whose they are."""
    return {(one["field"], _plain(one["local"]), _plain(one["remote"])) for one in document["changes"]}


def _plain(value: object) -> object:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value
