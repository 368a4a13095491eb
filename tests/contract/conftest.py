"""The whole catalogue over a real store, with one of everything in it."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from gatewayd.bundles.engine import Bundles
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.importing.engine import open_importing
from gatewayd.importing.parts import ImportParts
from gatewayd.importing.prices import PriceImporting
from gatewayd.tax import engine
from gatewayd.tax.settings import TaxSettings
from tests.contract.rows import OPERATIONS, seed
from tests.support.api import TestedApi, Tuning, open_api
from tests.support.engines import Engines, TaxLog
from tests.support.statement_files import read_parts


class OpenCatalogue(Protocol):
    """`async with open_catalogue() as (api, ids)`: `ids` are those of the seeded resources by prefix."""

    def __call__(self) -> AbstractAsyncContextManager[tuple[TestedApi, dict[str, str]]]: ...


@pytest.fixture
def open_catalogue(database_image: bytes, tmp_path: Path) -> OpenCatalogue:
    """Organization `org_a` (token `good`) has one of everything; `org_b` (token `other`) has nothing."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[TestedApi, dict[str, str]]]:
        engines = Engines()
        settings = TaxSettings(mode="sandbox", fraud_headers="off")
        async with (
            open_api(tmp_path, database_image, OPERATIONS, Tuning(deps=engines)) as api,
            engine.open_tax(api.store, settings, api.clock, TaxLog(), "gatewayd/test") as engines.tax,
            open_importing(
                ImportParts(store=api.store, directory=tmp_path, read_apart=read_parts, log=TaxLog(), max_bytes=1 << 20)
            ) as engines.importing,
        ):
            engines.prices = PriceImporting(api.store)
            engines.bundles = Bundles(api.store, tmp_path)
            api.token("org_a", "good", ALL_SCOPES)
            await api.org("org_b", "other", ALL_SCOPES)
            yield api, await seed(api)

    return opened
