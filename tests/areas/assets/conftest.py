import pytest

from tests.areas.assets.holdings import Holdings
from tests.areas.assets.shelf import Shelf
from tests.support.store import MemoryStore


@pytest.fixture
def holdings(store: MemoryStore) -> Holdings:
    """A person with an account and an instrument."""
    return Holdings(store)


@pytest.fixture
def shelf(store: MemoryStore) -> Shelf:
    """An organization with one person."""
    return Shelf(store)
