import pytest

from tests.areas.periods.desk import Desk
from tests.support.store import MemoryStore


@pytest.fixture
def desk(store: MemoryStore) -> Desk:
    """An organization with one person, without businesses, whose income makes quarterly updates due."""
    desk = Desk(store)
    desk.know_incomes()
    return desk
