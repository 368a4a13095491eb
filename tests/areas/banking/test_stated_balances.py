"""What a person states of an account's day is taken back by whoever read it as it is."""

import pytest

from gatewayd.errors import Problem
from tests.areas.banking.lines import BankedBooks
from tests.support.store import MemoryStore


def test_another_version_is_not_taken_back(store: MemoryStore) -> None:
    books = BankedBooks(store)
    owner = books.entity()
    account = books.account(owner, books.business(owner))
    stated = books.post("stateBalance", accountId=account, date="2026-03-31", balance="880.00")
    with pytest.raises(Problem) as caught:
        books.post("removeStatedBalance", balanceId=stated["id"], expectedVersion=stated["version"] + 1)
    assert caught.value.code == "version_conflict"
    assert books.post("removeStatedBalance", balanceId=stated["id"], expectedVersion=stated["version"])["deleted"]
