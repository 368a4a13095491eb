"""Fixtures of lets."""

import pytest

from tests.areas.landlord.landlords import Landlord
from tests.support.store import MemoryStore


@pytest.fixture
def landlord(store: MemoryStore) -> Landlord:
    """An organization that lets."""
    return Landlord(store)
