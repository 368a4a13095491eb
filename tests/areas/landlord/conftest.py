"""Fixtures of lets."""

from collections.abc import Callable

import pytest

from tests.areas.landlord.lettings import Lettings
from tests.support.store import MemoryStore


@pytest.fixture
def lettings(store: MemoryStore) -> Lettings:
    """An organization that lets."""
    return Lettings(store)


@pytest.fixture
def fresh_store(database_image: bytes) -> Callable[[], MemoryStore]:
    """For properties: an empty store for each example."""
    return lambda: MemoryStore(database_image)
