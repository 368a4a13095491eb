"""Fixtures of assets."""

import pytest

from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore


@pytest.fixture
def shelves(store: MemoryStore) -> Shelves:
    return Shelves(store)
