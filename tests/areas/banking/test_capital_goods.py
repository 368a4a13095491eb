"""Capital goods of a business on the flat rate of VAT: marked, and told of where nobody marked them (Domain C4)."""

from typing import Any

import pytest

from tests.areas.banking.lines import BankedBooks
from tests.support.store import MemoryStore

FLAT = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "flat_rate", "flatRatePercent": "12"}


class FlatTrading(BankedBooks):
    """A business on the flat rate, and an account that names it."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.owner = self.entity(vat=FLAT)
        self.trade = self.business(self.owner)
        self.current = self.account(self.owner, self.trade)

    def told(self, amount: int, *parts: dict[str, Any]) -> list[str]:
        each = [{"category": "adminCosts", "vatCode": "standard", **part} for part in parts]
        answer = self.post("allocate", bankTransactionId=self.line(self.current, amount), parts=each)
        return [warning["code"] for warning in answer["warnings"]]


@pytest.fixture
def trading(store: MemoryStore) -> FlatTrading:
    return FlatTrading(store)


def test_a_purchase_of_2_000_that_is_not_marked_is_told(trading: FlatTrading) -> None:
    assert trading.told(-2_000_00, {}) == ["capital_goods_unmarked"]
    assert trading.told(-1_999_99, {}) == []
    assert trading.told(-2_000_00, {"capitalGoods": True}) == []


def test_the_parts_of_a_bank_line_are_one_purchase(trading: FlatTrading) -> None:
    """A computer and its screen are one package, paid at once (Notice 733 section 15)."""
    screen = {"amount": "500.00", "category": "otherExpenses"}
    assert trading.told(-2_000_00, {"amount": "1500.00"}, screen) == ["capital_goods_unmarked"]
    marked = [{**part, "capitalGoods": True} for part in ({"amount": "1500.00"}, screen)]
    assert trading.told(-2_000_00, *marked) == []
    assert trading.told(-2_000_00, marked[0], screen) == ["capital_goods_small"]


def test_an_allocation_is_marked_afterwards(trading: FlatTrading) -> None:
    row = trading.part(trading.line(trading.current, -2_400_00), vatCode="standard")
    assert row["capitalGoods"] is False
    row = trading.post("updateAllocation", allocationId=row["id"], capitalGoods=True)
    assert (row["capitalGoods"], row["vatAmount"]) == (True, "400.00")


def test_off_the_flat_rate_nothing_is_told(store: MemoryStore) -> None:
    books = FlatTrading(store)
    other = books.entity()
    account = books.account(other, books.business(other))
    answer = books.post(
        "allocate",
        bankTransactionId=books.line(account, -2_400_00),
        parts=[{"category": "adminCosts", "vatCode": "standard"}],
    )
    assert answer["warnings"] == []
