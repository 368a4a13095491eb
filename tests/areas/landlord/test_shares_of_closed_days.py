"""An owner's share has no day of its own: closed days keep the one that they were closed with (Domain C1, C2).

Each year 1,000.00 of rent comes for one house and 500.00 that names none; interest of 300.00 on the house is paid.
"""

import pytest

from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Json
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore

CLOSED, OPEN = ("2024-04-06", "2025-04-05"), ("2025-04-06", "2026-04-05")
BOTH = (CLOSED[0], OPEN[1])


class Owned(LetBooks):
    """A person's lets, of which they have 40 %, and a house in them."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.change_share("40")
        self.house = self.property(owner_share_percent=None)
        for date in ("2025-04-05", "2025-04-06"):
            self.enter(self.lets, "periodAmount", 1000_00, date, property_id=self.house)
            self.enter(self.lets, "periodAmount", 500_00, date)
            self.enter(self.lets, "residentialFinancialCost", 300_00, date, property_id=self.house)

    def close(self) -> None:
        self.write(lambda tx: period_locks.close(tx, self.owner, *CLOSED, self.lets))

    def reopen(self) -> None:
        self.write(lambda tx: period_locks.reopen(tx, self.owner, *CLOSED, self.lets))

    def change_share(self, percent: str) -> None:
        self.change("update", id=self.lets, ownerSharePercent=percent)

    def share_house(self, percent: str | None) -> None:
        owners = [] if percent is None else [{"legalEntityId": self.owner, "sharePercent": percent}]
        self.post("updateProperty", id=self.house, owners=owners)

    def of_business(self, days: tuple[str, str]) -> tuple[str, str]:
        """What is the owner's of the income, and the percentage that is told."""
        share = self.pnl(self.lets, *days)["ownerShare"]
        return share["totals"]["income"], share["percent"]

    def of_house(self, days: tuple[str, str], **query: str) -> Json:
        text = "".join(f"&{name}={value}" for name, value in query.items())
        asked = f"propertyIds={self.house}&fromDate={days[0]}&toDate={days[1]}&share=owner{text}"
        return self.one("propertyPnl", asked)

    def rents(self, days: tuple[str, str]) -> list[str]:
        """The owner's rent of the house, the percentage told, and the rent that names no property."""
        found = self.of_house(days)
        (house,), (rest,) = found["properties"], found["notOfAnyProperty"]
        return [found["totals"]["grossIncome"], house["ownerSharePercent"], rest["totals"]["grossIncome"]]

    def relief(self, year: str) -> Json:
        return self.one("getFinanceCostRelief", f"legalEntityId={self.owner}&taxYear={year}")


@pytest.fixture
def owned(store: MemoryStore) -> Owned:
    return Owned(store)


def test_without_a_closed_day_it_reaches_back(owned: Owned) -> None:
    owned.change_share("100")
    assert owned.of_business(CLOSED) == ("1500.00", "100")
    assert owned.rents(CLOSED) == ["1000.00", "100", "500.00"]


def test_another_share_of_the_business(owned: Owned) -> None:
    owned.close()
    owned.change_share("100")
    assert owned.of_business(CLOSED) == ("600.00", "40")
    assert owned.of_business(OPEN) == ("1500.00", "100")
    assert owned.of_business(BOTH) == ("2100.00", "100")
    assert owned.rents(CLOSED) == ["400.00", "40", "200.00"]
    assert owned.rents(OPEN) == ["1000.00", "100", "500.00"]
    assert owned.rents(BOTH) == ["1400.00", "100", "700.00"]


def test_another_share_of_the_property(owned: Owned) -> None:
    owned.close()
    owned.share_house("75")
    assert owned.rents(CLOSED) == ["400.00", "40", "200.00"]
    assert owned.rents(OPEN) == ["750.00", "75", "200.00"]
    owned.change_share("10")
    assert owned.rents(CLOSED) == ["400.00", "40", "200.00"]
    assert owned.rents(OPEN) == ["750.00", "75", "50.00"]
    owned.share_house(None)  # as the business says
    assert owned.rents(CLOSED) == ["400.00", "40", "200.00"]
    assert owned.rents(OPEN) == ["100.00", "10", "50.00"]


def test_the_account_of_the_business_has_each_property_by_its_own_owners(owned: Owned) -> None:
    """As its properties have by themselves, with what names none."""
    owned.share_house("75")
    assert owned.of_business(OPEN) == ("950.00", None)
    house, _, rest = owned.rents(OPEN)
    assert float(house) + float(rest) == 950
    costs = owned.pnl(owned.lets, *OPEN)["ownerShare"]["memoranda"]
    assert [one["amount"] for one in costs] == ["225.00"]
    supposed = owned.ask("whatIf", id=owned.lets, fromDate=OPEN[0], toDate=OPEN[1], ownerSharePercent="50")
    assert supposed["actual"]["ownerShare"]["totals"]["income"] == "950.00"
    assert supposed["whatIf"]["ownerShare"]["totals"]["income"] == "1000.00"  # three quarters of the house stay


def test_the_account_of_the_business_keeps_the_shares_of_closed_days(owned: Owned) -> None:
    owned.close()
    owned.share_house("75")
    assert [owned.of_business(days) for days in (CLOSED, OPEN, BOTH)] == [
        ("600.00", "40"),
        ("950.00", None),
        ("1550.00", None),
    ]
    owned.share_house(None)
    assert [owned.of_business(days) for days in (CLOSED, OPEN)] == [("600.00", "40"), ("600.00", "40")]


def test_the_relief_of_a_closed_year_stays(owned: Owned) -> None:
    """40 % of 300.00 and of 1,500.00; then 75 % of the house, with 40 % of what names none."""
    owned.close()
    before = owned.relief("2024-25")
    assert (before["financeCosts"], before["profits"]) == ("120.00", "600.00")
    owned.share_house("75")
    assert owned.relief("2024-25") == before
    after = owned.relief("2025-26")
    assert (after["financeCosts"], after["profits"]) == ("225.00", "950.00")


def test_buckets_sum_to_the_share_of_the_whole(owned: Owned) -> None:
    owned.close()
    owned.share_house("33.3333")
    found = owned.of_house(BOTH, groupBy="month")
    assert found["totals"]["grossIncome"] == "733.33"  # 400.00 and a third
    parts = [float(part["totals"]["grossIncome"]) for part in found["buckets"]]
    assert round(sum(parts), 2) == 733.33
    assert [part for part in parts if part] == [733.33]  # both are of April
    before = owned.of_house(OPEN, compare="previous_year")["previous"]
    assert before["totals"]["grossIncome"] == "400.00"


def test_an_opened_year_keeps_its_share_until_another_is_said(owned: Owned) -> None:
    owned.close()
    owned.change_share("100")
    owned.reopen()
    assert owned.of_business(CLOSED) == ("600.00", "40")
    owned.change_share("50")
    assert [owned.of_business(days) for days in (CLOSED, OPEN)] == [("750.00", "50"), ("750.00", "50")]


def test_what_is_supposed_is_so_of_closed_days_too(owned: Owned) -> None:
    owned.close()
    owned.change_share("100")
    found = owned.ask("whatIf", id=owned.lets, fromDate=BOTH[0], toDate=BOTH[1], ownerSharePercent="50")
    assert found["actual"]["ownerShare"]["totals"]["income"] == "2100.00"
    assert found["whatIf"]["ownerShare"]["totals"]["income"] == "1500.00"
    assert found["ownerShareDifference"]["income"] == "-600.00"
