"""The provider in process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.oauth import Provider, open_provider


@pytest.fixture
async def provider(database_image: bytes, tmp_path: Path) -> AsyncIterator[Provider]:
    """A provider with one person, and no client yet."""
    async with open_provider(tmp_path, database_image) as opened:
        yield opened
