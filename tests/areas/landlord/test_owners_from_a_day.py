"""Owners of a property from a day on: what was earned before stays whose it was (Domain B4, C2).

Each year 12,000.00 of rent comes for a house that two spouses own by halves; a declaration on Form 17 of 10 November
2026, by which one of them has 90 %, has effect from its day (Income Tax Act 2007 s837).
"""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore

BEFORE, YEAR = ("2025-04-06", "2026-04-05"), ("2026-04-06", "2027-04-05")
DAY = "2026-11-10"


class Spouses(LetBooks):
    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.house = self.property(owner_share_percent=None)
        self.own(self.shares("50"))
        for date, amount in (("2025-06-01", 12_000_00), ("2026-06-01", 8_000_00), (DAY, 4_000_00)):
            self.enter(self.lets, "periodAmount", amount, date, property_id=self.house)

    def shares(self, percent: str, day: str | None = None) -> list[dict[str, Any]]:
        both = ({"legalEntityId": self.owner}, percent), ({"name": "Ann"}, str(100 - int(percent)))
        return [{**who, "sharePercent": share, "fromDate": day} for who, share in both]

    def own(self, owners: list[dict[str, Any]]) -> Any:
        return self.post("updateProperty", id=self.house, owners=owners)

    def rent(self, days: tuple[str, str]) -> str:
        asked = f"id={self.house}&fromDate={days[0]}&toDate={days[1]}&share=owner"
        return str(self.one("propertyPnl", asked)["totals"]["grossIncome"])


@pytest.fixture
def spouses(store: MemoryStore) -> Spouses:
    return Spouses(store)


def test_a_declaration_counts_from_its_own_day(spouses: Spouses) -> None:
    """8,000 by half and 4,000 by nine tenths; the year before stays at a half of 12,000."""
    assert (spouses.rent(BEFORE), spouses.rent(YEAR)) == ("6000.00", "6000.00")
    changed = spouses.own(spouses.shares("90", DAY))
    assert [(one["sharePercent"], one["fromDate"]) for one in changed["owners"]] == [
        ("50", None),
        ("50", None),
        ("90", DAY),
        ("10", DAY),
    ]
    assert changed["ownerSharePercent"] == "90"
    assert (spouses.rent(BEFORE), spouses.rent(YEAR)) == ("6000.00", "7600.00")
    share = spouses.pnl(spouses.lets, *YEAR)["ownerShare"]
    assert share["totals"]["income"] == "7600.00"
    relief = spouses.one("getFinanceCostRelief", f"legalEntityId={spouses.owner}&taxYear=2025-26")
    assert relief["profits"] == "6000.00"


def test_a_later_day_goes_before_an_earlier_one_and_a_correction_replaces_it(spouses: Spouses) -> None:
    spouses.own(spouses.shares("90", DAY))
    spouses.own(spouses.shares("80", "2026-06-01"))  # 12,000 at 80 %: what was from November on went with it
    assert (spouses.rent(BEFORE), spouses.rent(YEAR)) == ("6000.00", "9600.00")
    spouses.own(spouses.shares("100", DAY)[:1])
    assert spouses.rent(YEAR) == "10400.00"
    spouses.own(spouses.shares("50"))
    assert (spouses.rent(BEFORE), spouses.rent(YEAR)) == ("6000.00", "6000.00")


def test_a_new_property_may_have_owners_of_several_days(spouses: Spouses) -> None:
    owners = [*spouses.shares("50"), *spouses.shares("90", DAY)]
    made = spouses.post("createProperty", businessId=spouses.lets, name="Oak", type="house", owners=owners)
    spouses.enter(spouses.lets, "periodAmount", 1_000_00, "2026-11-09", property_id=made["id"])
    spouses.enter(spouses.lets, "periodAmount", 1_000_00, DAY, property_id=made["id"])
    spouses.house = made["id"]
    assert spouses.rent(YEAR) == "1400.00"
    assert spouses.one("getProperty", f"id={made['id']}")["ownerSharePercent"] == "90"


def test_the_dashboard_is_by_the_share_of_its_day(spouses: Spouses) -> None:
    spouses.own(spouses.shares("90", DAY))
    spouses.post(
        "createPropertyValuation", propertyId=spouses.house, valuationDate="2026-01-01", amount="200000", method="agent"
    )
    for day, value in (("2026-11-09", "100000.00"), (DAY, "180000.00")):
        found = spouses.one("getDashboardSummary", f"businessId={spouses.lets}&asOfDate={day}")
        assert found["portfolioValue"] == value


def test_a_day_that_cannot_be_is_refused(spouses: Spouses) -> None:
    for owners, wrong in (
        (spouses.shares("90", "2026-11-21"), ("owners", "out_of_range")),
        (spouses.shares("90", "1899-12-31"), ("owners", "out_of_range")),
        ([*spouses.shares("60", DAY), *spouses.shares("60", DAY)], ("owners", "share_total")),
    ):
        with pytest.raises(Problem) as caught:
            spouses.own(owners)
        assert fields_of(caught.value) == [wrong]


def test_closed_days_keep_their_owners(spouses: Spouses) -> None:
    spouses.write(lambda tx: period_locks.close(tx, spouses.owner, *BEFORE, spouses.lets))
    with pytest.raises(Problem) as caught:
        spouses.own(spouses.shares("90", "2026-01-01"))
    assert caught.value.code == "period_closed"
    spouses.own(spouses.shares("90", DAY))
    assert (spouses.rent(BEFORE), spouses.rent(YEAR)) == ("6000.00", "7600.00")
    spouses.own(spouses.shares("70"))
    assert (spouses.rent(BEFORE), spouses.rent(YEAR)) == ("6000.00", "8400.00")
