"""The tax operations behind the API's door, over whatever upstream a test has."""

import itertools
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

import pytest

from gatewayd import tax
from gatewayd.areas import businesses, legal_entities, periods
from gatewayd.contract.operation import Operation
from gatewayd.leases.holder import open_holder
from gatewayd.tax import engine
from gatewayd.tax.sessions import call_log
from gatewayd.tax.sessions.call_log import TaxCall
from gatewayd.tax.settings import TaxSettings
from tests.support.api import Fields, Reply, TestedApi, Tuning, open_api
from tests.support.engines import Engines, TaxLog
from tests.support.rows import served

OBLIGATIONS = "/api/rpc/tax/vat/getObligations"
HEADERS: Fields = (  # WEB_APP_VIA_SERVER, with addresses that are public
    (b"gov-client-connection-method", b"WEB_APP_VIA_SERVER"),
    (b"gov-client-browser-js-user-agent", b"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"),
    (b"gov-client-device-id", b"beec798b-b366-47fa-b1f8-92cede14a1ce"),
    (b"gov-client-multi-factor", b"type=TOTP&timestamp=2026-11-20T09%3A12Z&unique-reference=c672b8d1ef56ed28ab87c362"),
    (b"gov-client-public-ip", b"8.8.8.8"),
    (b"gov-client-public-ip-timestamp", b"2026-11-20T09:12:05.123Z"),
    (b"gov-client-public-port", b"57961"),
    (b"gov-client-screens", b"width=1920&height=1080&scaling-factor=1&colour-depth=24"),
    (b"gov-client-timezone", b"UTC+00:00"),
    (b"gov-client-user-ids", b"my-app=alice"),
    (b"gov-client-window-size", b"width=1256&height=803"),
    (b"gov-vendor-forwarded", b"by=9.9.9.9&for=8.8.8.8"),
    (b"gov-vendor-license-ids", b"my-app=8D7963490527D33716835EE7C195516D5E562E03B224E9B359836466EE40CDE1"),
    (b"gov-vendor-product-name", b"My%20App"),
    (b"gov-vendor-public-ip", b"9.9.9.9"),
    (b"gov-vendor-version", b"my-front=1.0&my-back=2.1"),
)


@dataclass
class TaxApi:
    """The API with a token `tax` that may read taxes."""

    api: TestedApi
    log: TaxLog

    async def get(
        self, path: str = OBLIGATIONS, query: str = "", headers: Fields = HEADERS, token: str | None = "tax"
    ) -> Reply:
        return await self.api("GET", path, query=query, headers=headers, token=token)

    def calls(self, org_id: str = "org_a") -> list[TaxCall]:
        """The record, newest first."""
        return [each.call for each in self.api.store.read_now(call_log.list_calls, org_id)]


class OpenTax(Protocol):
    """`async with open_tax(mode="forward", upstream=url) as tax`. `paced`: with the rate limit of the authority."""

    def __call__(self, *, paced: bool = False, **settings: Any) -> AbstractAsyncContextManager[TaxApi]: ...


def query_of(operation: Operation) -> str:
    """The operation's own example."""
    return urlencode(operation.example)


def with_header(name: bytes, *values: bytes, of: Fields = HEADERS) -> list[tuple[bytes, bytes]]:
    """The headers with another one, or without it."""
    kept: Iterable[tuple[bytes, bytes]] = (field for field in of if field[0] != name)
    return [*kept, *((name, value) for value in values)]


@pytest.fixture
def open_tax(tmp_path: Path, database_image: bytes) -> OpenTax:
    numbers = itertools.count()

    @asynccontextmanager
    async def opened(*, paced: bool = False, **settings: Any) -> AsyncIterator[TaxApi]:
        pace: dict[str, float] = {} if paced else {"authority_interval_seconds": 0.0}
        directory = tmp_path / f"api-{next(numbers)}"
        directory.mkdir()
        engines, log = Engines(), TaxLog()
        operations = served(tax.AREA, legal_entities.AREA, businesses.AREA, periods.AREA)
        tuning = Tuning(deps=engines)
        async with (
            open_api(directory, database_image, operations, tuning) as api,
            open_holder(api.store) as holder,
            engine.open_tax(holder, TaxSettings(**settings), api.clock, log, "gatewayd/test", **pace) as engines.tax,
        ):
            api.token("org_a", "tax", ["tax:read"])
            await api.org("org_b", "other", ["tax:read", "entities:read", "entities:write"])
            yield TaxApi(api, log)

    return opened
