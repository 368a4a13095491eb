"""Fixtures of lets."""

from collections.abc import Callable

import pytest

from tests.areas.landlord.premises import Premises
from tests.support.store import MemoryStore


@pytest.fixture
def premises(store: MemoryStore) -> Premises:
    """An organization with properties, as they are stored."""
    return Premises(store)


@pytest.fixture
def fresh_store(database_image: bytes) -> Callable[[], MemoryStore]:
    """For properties: an empty store for each example."""
    return lambda: MemoryStore(database_image)
