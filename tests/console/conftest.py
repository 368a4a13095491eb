"""The pages on a store in a temporary directory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.console.visiting import Site, open_site


@pytest.fixture
async def site(database_image: bytes, tmp_path: Path) -> AsyncIterator[Site]:
    """The pages, with one person who owns one organization."""
    async with open_site(tmp_path, database_image) as opened:
        yield opened
