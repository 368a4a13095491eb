import pytest

from tests.areas.businesses.trades import Firm
from tests.support.store import MemoryStore


@pytest.fixture
def firm(store: MemoryStore) -> Firm:
    """An organization with one person, without businesses."""
    return Firm(store)
