"""Fixtures of assets."""

import pytest

from tests.areas.assets.holdings import Holdings
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore


@pytest.fixture
def holdings(store: MemoryStore) -> Holdings:
    """A person with an account and an instrument."""
    return Holdings(store)


@pytest.fixture
def shelves(store: MemoryStore) -> Shelves:
    """An organization that keeps portfolios."""
    return Shelves(store)
