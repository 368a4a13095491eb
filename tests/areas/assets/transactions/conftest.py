"""Fixtures of transactions: a person with accounts at two brokers."""

import pytest

from tests.areas.assets.transactions.broking import Broking
from tests.support.store import MemoryStore


@pytest.fixture
def broking(store: MemoryStore) -> Broking:
    return Broking(store)
