"""Fixtures of lets."""

import pytest

from tests.areas.landlord.premises import Premises
from tests.support.store import MemoryStore


@pytest.fixture
def premises(store: MemoryStore) -> Premises:
    """An organization with properties, as they are stored."""
    return Premises(store)
