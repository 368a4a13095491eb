"""Fixtures of banking: books with a business and an account that names it."""

import pytest

from tests.areas.banking.lines import BankedBooks
from tests.support.store import MemoryStore


class Trading(BankedBooks):
    """An organization with one business, and an account that names it."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.owner = self.entity()
        self.trade = self.business(self.owner)
        self.current = self.account(self.owner, self.trade)


@pytest.fixture
def trading(store: MemoryStore) -> Trading:
    return Trading(store)
