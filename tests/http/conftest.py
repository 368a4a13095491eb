"""The API over the probe rows."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.http.probes import OPERATIONS
from tests.support.api import TestedApi, Tuning, open_api

OpenProbes = Callable[..., AbstractAsyncContextManager[TestedApi]]


@pytest.fixture
def open_probes(database_image: bytes, tmp_path: Path) -> OpenProbes:
    """`async with open_probes(per_minute=5) as api`: the probe rows under this `Tuning`."""

    def opened(**tuning: Any) -> AbstractAsyncContextManager[TestedApi]:
        return open_api(tmp_path, database_image, OPERATIONS, Tuning(**tuning))

    return opened
