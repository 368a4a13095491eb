"""The API over the probe rows."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.http.metered import Metered, OpenMetered
from tests.http.probes import OPERATIONS
from tests.support.api import TestedApi, Tuning, open_api

OpenProbes = Callable[..., AbstractAsyncContextManager[TestedApi]]


@pytest.fixture
def open_probes(database_image: bytes, tmp_path: Path) -> OpenProbes:
    """`async with open_probes(per_minute=5) as api`: the probe rows under this `Tuning`."""

    def opened(**tuning: Any) -> AbstractAsyncContextManager[TestedApi]:
        return open_api(tmp_path, database_image, OPERATIONS, Tuning(**tuning))

    return opened


@pytest.fixture
def open_metered(database_image: bytes, tmp_path: Path) -> OpenMetered:
    """`async with open_metered(deps) as box`: the probe rows under a plan."""
    return OpenMetered(database_image, tmp_path)


@pytest.fixture
async def box(open_metered: OpenMetered) -> AsyncIterator[Metered]:
    async with open_metered() as opened:
        yield opened
