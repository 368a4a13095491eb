"""The pages on a store in a temporary directory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from tests.console.visiting import Site, open_site
from tests.contract.conftest import Seeded
from tests.contract.demo_firm import make_demo


@pytest.fixture(scope="session")
def demo(database_image: bytes, tmp_path_factory: pytest.TempPathFactory) -> Seeded:
    """The firm of the demo, made once. Only ever copied."""
    return trio.run(make_demo, tmp_path_factory.mktemp("demo"), database_image)


@pytest.fixture
async def site(database_image: bytes, tmp_path: Path) -> AsyncIterator[Site]:
    """The pages, with one person who owns one organization."""
    async with open_site(tmp_path, database_image) as opened:
        yield opened
