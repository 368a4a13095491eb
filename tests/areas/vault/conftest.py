"""Fixtures of the vault."""

import pytest

from tests.areas.vault.cabinet import Cabinet
from tests.support.store import MemoryStore


@pytest.fixture
def cabinet(store: MemoryStore) -> Cabinet:
    return Cabinet(store)
