"""Fixtures of lets."""

from collections.abc import Callable

import pytest

from tests.areas.landlord.landlords import Landlord
from tests.areas.landlord.lettings import Lettings
from tests.areas.landlord.premises import Premises
from tests.support.store import MemoryStore


@pytest.fixture
def landlord(store: MemoryStore) -> Landlord:
    """An organization that lets."""
    return Landlord(store)


@pytest.fixture
def lettings(store: MemoryStore) -> Lettings:
    """An organization that lets."""
    return Lettings(store)


@pytest.fixture
def premises(store: MemoryStore) -> Premises:
    """An organization with properties, as they are stored."""
    return Premises(store)


@pytest.fixture
def fresh_store(database_image: bytes) -> Callable[[], MemoryStore]:
    """For properties: an empty store for each example."""
    return lambda: MemoryStore(database_image)
