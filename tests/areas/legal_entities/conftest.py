import pytest

from tests.areas.legal_entities.entities import Firm
from tests.support.store import MemoryStore


@pytest.fixture
def firm(store: MemoryStore) -> Firm:
    """An organization without legal entities."""
    return Firm(store)
