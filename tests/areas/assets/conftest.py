"""Fixtures of assets."""

from collections.abc import Callable

import pytest

from tests.areas.assets.holdings import Holdings
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore


@pytest.fixture
def holdings(store: MemoryStore) -> Holdings:
    """A person with an account and an instrument."""
    return Holdings(store)


@pytest.fixture
def fresh_store(database_image: bytes) -> Callable[[], MemoryStore]:
    """For properties: an empty store for each example."""
    return lambda: MemoryStore(database_image)


@pytest.fixture
def shelves(store: MemoryStore) -> Shelves:
    """An organization that keeps portfolios."""
    return Shelves(store)
