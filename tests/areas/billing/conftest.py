"""The billing rows over a real store, asked by an administrator of the instance and by the owner of an organization."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewayd.areas.billing import AREA, handlers
from gatewayd.areas.billing.priced_work import PricedWork
from gatewayd.catalogue import joined
from gatewayd.clock import to_wire
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.store import WriteTx
from tests.support.api import Reply, TestedApi, open_api

_USER = """
INSERT INTO users (id, email, email_folded, name, instance_admin, created_at, updated_at)
VALUES (:id, :id, :id, :id, :admin, :now, :now)
"""


PRICED: PricedWork = {"vault.parse": ("page", "mb"), "tax.forward": ("call",), "crm.createLead": ("call",)}


class Billing:
    """The API of one instance. The token `good` is the administrator's, `owner` the owner's; both of `org_a`."""

    def __init__(self, api: TestedApi) -> None:
        self.api = api

    async def get(self, path: str, query: str = "", **how: Any) -> Any:
        reply = await self.api("GET", f"/billing/{path}", query=query, **how)
        assert reply.status == 200, reply.body
        return reply.json()

    async def do(self, path: str, **body: object) -> Any:
        reply = await self.post(path, body)
        assert reply.status == 200, reply.body
        return reply.json()

    async def post(self, path: str, body: object, **how: Any) -> Reply:
        return await self.api("POST", f"/billing/{path}", json=body, **how)

    async def use(self, amount: str, **more: object) -> list[Any]:
        """Usage, which nothing but an import enters here; answers its entries."""
        entry = {"occurredAt": self.wire_now(), "type": "usage", "amount": f"-{amount}", **more}
        done = await self.do("ledger/import", source="test", entries=[entry])
        assert done["added"] == 1
        found = (await self.get("ledger", "order=asc&limit=500"))["data"]
        return [one for one in found if one["importId"] == done["importId"]]

    def wire_now(self) -> str:
        return to_wire(self.api.clock.now())


def _add_users(tx: WriteTx) -> None:
    for name, admin in (("usr_admin", 1), ("usr_owner", 0)):
        tx.run(_USER, id=name, admin=admin)


OpenBilling = Callable[[], AbstractAsyncContextManager[Billing]]


@pytest.fixture
def open_billing(database_image: bytes, tmp_path: Path) -> OpenBilling:
    """`async with open_billing() as billing`."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Billing]:
        (area,) = joined([AREA], handlers(PRICED))
        async with open_api(tmp_path, database_image, area.operations) as api:
            await api.store.write(_add_users)
            for token, user_id in (("good", "usr_admin"), ("owner", "usr_owner")):
                caller = api.token("org_a", token, ALL_SCOPES)
                api.authenticator.callers[token] = msgspec.structs.replace(caller, user_id=user_id)
            yield Billing(api)

    return opened
