"""Journeys by one's own vehicle: what is asked, what they come to, and what moves with them."""

from typing import Any

import msgspec
import pytest

from gatewayd.areas.banking.allocations.operations import remove_allocation, update_allocation
from gatewayd.areas.banking.allocations.shapes import RemoveAllocation, UpdateAllocation
from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.profit_and_loss.operations import get_business_pnl
from gatewayd.areas.businesses.profit_and_loss.shapes import GetBusinessPnl
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Entry, Part
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.calendar import period_locks
from gatewayd.performing.performer import encoded
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Books, Json, fields_of
from tests.support.store import MemoryStore

NOBODYS = "biz_01k0000000000000000000000z"
COMPANY = {"type": "limited_company", "companyNumber": "01234567"}
TRIP = {"vehicleKind": "car", "vehicle": "AB12 CDE", "fromPlace": "Leeds", "toPlace": "York", "purpose": "Fitting"}


class Trips:
    """A business whose journeys are entered."""

    def __init__(self, books: Books, business_type: Any = "self_employment", **entity: object) -> None:
        self.books = books
        self.owner = books.unregistered_entity(**entity)
        self.business = self.another(business_type)

    def another(self, type_: Any = "self_employment", **fields: Any) -> str:
        request = CreateBusiness(legal_entity_id=self.owner, type=type_, name=f"{type_} {fields}", **fields)
        return self.books.store.write(lambda tx: create_business(tx, self.books.caller, request), self.books.org_id).id

    def enter(self, miles: str, date: str = "2025-06-01", **fields: object) -> Json:
        body = {"businessId": self.business, "date": date, "miles": miles, **TRIP, **fields}
        return self.books.post("createJourney", **body)

    def refused(self, miles: str = "10", date: str = "2025-06-01", **fields: object) -> Problem:
        with pytest.raises(Problem) as caught:
            self.enter(miles, date, **fields)
        return caught.value

    def get(self, journey: Json) -> Json:
        return self.books.one("getJourney", f"journeyId={journey['id']}")

    def close(self, first: str, last: str) -> None:
        self.books.store.write(lambda tx: period_locks.close(tx, self.owner, first, last), self.books.org_id)

    def expenses(self, business: str | None = None) -> dict[str, str]:
        """The lines of expenses of 2025-26, by their category."""
        request = GetBusinessPnl(id=business or self.business, tax_year="2025-26")
        work = self.books.store.read(lambda tx: get_business_pnl(tx, self.books.caller, request), self.books.org_id)
        shown = msgspec.json.decode(encoded(work))
        return {each["category"]: each["amount"] for each in shown["expenses"]}


@pytest.fixture
def trips(store: MemoryStore) -> Trips:
    return Trips(Books(store))


def codes(answer: Json) -> list[str]:
    return [each["code"] for each in answer["warnings"]]


def test_a_journey_is_answered_whole(trips: Trips) -> None:
    made = trips.enter("38.40", externalId="log-7", vehicleKind="van")
    assert made.pop("warnings")[0]["code"] == "vehicle_for_good"
    assert made == trips.get(made)
    assert {name: value for name, value in made.items() if name not in ("id", "allocationId")} == {
        **TRIP,
        "vehicleKind": "van",
        "externalId": "log-7",
        "legalEntityId": trips.owner,
        "businessId": trips.business,
        "taxYear": "2025-26",
        "date": "2025-06-01",
        "driver": None,
        "miles": "38.4",
        "passengers": 0,
        "fullRateMiles": "38.4",
        "amount": "17.28",  # 38.4 miles at 45p
        "currency": "GBP",
        "createdAt": made["createdAt"],
        "updatedAt": made["updatedAt"],
        "version": 1,
    }
    assert trips.refused(externalId="log-7").code == "already_exists"


def test_eleven_thousand_miles_are_4_750_of_vehicle_costs(trips: Trips) -> None:
    """The example of GOV.UK's page on simplified expenses for vehicles, by the day of the journeys and not of entry."""
    later = trips.enter("6000", "2025-09-01")
    assert later["amount"] == "2700.00"
    earlier = trips.enter("5000", "2025-05-01")
    assert earlier["amount"] == "2250.00"
    later = trips.get(later)
    assert (later["amount"], later["fullRateMiles"], later["version"]) == ("2500.00", "5000", 1)
    assert trips.expenses() == {"carVanTravelExpenses": "4750.00"}
    trips.books.post("deleteJourney", journeyId=earlier["id"])
    assert trips.get(later)["amount"] == "2700.00"
    assert trips.expenses() == {"carVanTravelExpenses": "2700.00"}


def test_each_tax_year_and_each_trade_has_its_own_miles(trips: Trips) -> None:
    trips.enter("9000", "2025-04-06")
    assert trips.enter("9000", "2025-04-05")["amount"] == "4050.00"
    assert trips.enter("9000", businessId=trips.another())["amount"] == "4050.00"
    assert trips.enter("9000")["amount"] == "2450.00"  # 1,000 at 45p, 8,000 at 25p


def test_all_that_one_taxpayer_lets_is_one_business(store: MemoryStore) -> None:
    trips = Trips(Books(store), "uk_property", type="partnership")
    other = trips.another("uk_property")
    trips.enter("9000", "2025-05-01")
    assert trips.enter("2000", businessId=other)["amount"] == "700.00"  # 1,000 at 45p, 1,000 at 25p
    assert trips.expenses() == {"travelCosts": "4050.00"}
    assert fields_of(trips.refused(date="2017-04-05")) == [("date", "out_of_range")]
    assert trips.enter("10", "2017-04-06")["amount"] == "4.50"


def test_an_employees_miles_are_counted_by_who_drives(store: MemoryStore) -> None:
    trips = Trips(Books(store), "company_trade", **COMPANY)
    assert fields_of(trips.refused()) == [("driver", "required")]
    first = trips.enter("9000", "2026-05-01", driver="Ann Oak")
    assert (first["amount"], codes(first)) == ("4950.00", [])
    assert trips.enter("9000", "2026-05-02", driver="Bob Ash")["amount"] == "4950.00"
    second = trips.enter("2000", "2026-05-03", driver="ann  oak", passengers=1)
    assert second["amount"] == "900.00"  # 1,000 at 55p, 1,000 at 25p, 2,000 at 5p
    trips.books.post("updateJourney", journeyId=first["id"], driver="Bob Ash")
    assert trips.get(first)["amount"] == "4950.00"
    assert trips.get(second)["amount"] == "1200.00"  # Ann's first
    assert trips.enter("10", "2026-05-04", driver="Ann Oak", vehicleKind="bicycle")["amount"] == "2.00"


def test_what_does_not_fit_is_told_at_once(trips: Trips) -> None:
    problem = trips.refused("10.05", "2099-01-01", driver="Ann", passengers=1, vehicleKind="bicycle")
    assert fields_of(problem) == [
        ("miles", "out_of_range"),
        ("date", "out_of_range"),
        ("driver", "conflict"),
        ("passengers", "conflict"),
        ("vehicleKind", "conflict"),
    ]
    for miles in ("0", "10000"):
        assert fields_of(trips.refused(miles)) == [("miles", "out_of_range")]
    assert fields_of(trips.refused(businessId=NOBODYS)) == [("businessId", "unknown_reference")]
    assert fields_of(trips.refused(date="2013-04-05")) == [("date", "out_of_range")]
    abroad = trips.another(currency="EUR")
    assert fields_of(trips.refused(businessId=abroad)) == [("businessId", "currency_mismatch")]


def test_a_trust_has_no_rate_that_is_known(store: MemoryStore) -> None:
    trips = Trips(Books(store), "other", type="trust")
    assert fields_of(trips.refused()) == [("businessId", "conflict")]


def test_what_the_law_asks_beside_the_miles_is_told(trips: Trips) -> None:
    assert codes(trips.enter("10")) == ["vehicle_for_good"]
    assert codes(trips.enter("10", "2026-04-06")) == ["rate_unsettled"]
    part = Part("carVanTravelExpenses", business_id=trips.business, direction="out", amount=8000, description="Fuel")

    def fuel(tx: WriteTx) -> None:
        allocations.enter(tx, [part], Entry("2025-07-01", "GBP"))

    trips.books.store.write(fuel, trips.books.org_id)
    told = trips.enter("10", vehicle="YK19 ASH")
    assert codes(told) == ["vehicle_for_good", "vehicle_costs_claimed"]
    assert told["warnings"][1]["message"].startswith("80.00 of other vehicle and travel costs")
    changed = trips.books.post("updateJourney", journeyId=told["id"], vehicle="YK20 NEW")
    assert codes(changed) == ["vehicle_for_good", "vehicle_costs_claimed"]


def test_what_is_changed_is_reckoned_anew(trips: Trips) -> None:
    first, second = trips.enter("8000", "2025-05-01"), trips.enter("4000", "2025-06-01")
    assert second["amount"] == "1400.00"  # 2,000 at 45p, 2,000 at 25p
    changed = trips.books.post(
        "updateJourney", journeyId=first["id"], expectedVersion=1, date="2024-06-01", miles="100.5", externalId="x"
    )
    assert (changed["taxYear"], changed["amount"], changed["version"]) == ("2024-25", "45.23", 2)  # 4,522.5p
    assert trips.get(second)["amount"] == "1800.00"
    more = {"fromPlace": "Hull", "toPlace": "Goole", "purpose": "Fetching", "vehicleKind": "motorcycle"}
    changed = trips.books.post("updateJourney", journeyId=second["id"], **more)
    assert {name: changed[name] for name in more} == more
    assert changed["amount"] == "960.00"  # 4,000 at 24p
    entry = trips.books.store.read(lambda tx: ALLOCATIONS.get(tx, changed["allocationId"]), trips.books.org_id)
    assert entry.description == "4000 miles by AB12 CDE, Hull to Goole: Fetching"
    assert entry.vat_code == "outside_scope"
    with pytest.raises(Problem) as caught:
        trips.books.post("updateJourney", journeyId=first["id"], expectedVersion=1, miles="1")
    assert caught.value.code == "version_conflict"
    with pytest.raises(Problem) as caught:
        trips.books.post("updateJourney", journeyId=second["id"], externalId="x")
    assert caught.value.code == "already_exists"
    with pytest.raises(Problem) as caught:
        trips.books.post("updateJourney", journeyId=second["id"], passengers=1)
    assert fields_of(caught.value) == [("passengers", "conflict")]


def test_closed_periods_hold(trips: Trips) -> None:
    kept, later = trips.enter("9000", "2025-06-01"), trips.enter("2000", "2025-08-01")
    trips.close("2025-06-01", "2025-06-30")
    assert trips.refused("10", "2025-06-02").code == "period_closed"
    for operation, fields in (
        ("updateJourney", {"purpose": "Another"}),
        ("updateJourney", {"date": "2025-07-01"}),
        ("deleteJourney", {}),
    ):
        with pytest.raises(Problem) as caught:
            trips.books.post(operation, journeyId=kept["id"], **fields)
        assert caught.value.code == "period_closed"
    with pytest.raises(Problem) as caught:
        trips.books.post("updateJourney", journeyId=later["id"], date="2025-06-02")
    assert caught.value.code == "period_closed"
    earlier = trips.enter("2000", "2025-05-01")
    assert earlier["amount"] == "700.00"  # the closed one has 9,000 of the 10,000
    assert trips.get(later)["amount"] == "500.00"
    assert trips.get(kept) == {name: value for name, value in kept.items() if name != "warnings"}
    assert trips.expenses() == {"carVanTravelExpenses": "5250.00"}  # 10,000 at 45p, 3,000 at 25p


def test_a_journeys_entry_is_changed_by_its_miles_alone(trips: Trips) -> None:
    journey = trips.enter("10")
    caller, org = trips.books.caller, trips.books.org_id
    update = UpdateAllocation(allocation_id=journey["allocationId"], amount="1")
    remove = RemoveAllocation(allocation_id=journey["allocationId"])
    for act in (
        lambda tx: update_allocation(tx, caller, update),
        lambda tx: remove_allocation(tx, caller, remove),
    ):
        with pytest.raises(Problem) as caught:
            trips.books.store.write(act, org)
        assert caught.value.code == "invalid_state"
        assert journey["id"] in caught.value.message


def test_delete(trips: Trips) -> None:
    journey = trips.enter("10")
    with pytest.raises(Problem) as caught:
        trips.books.post("deleteJourney", journeyId=journey["id"], expectedVersion=2)
    assert caught.value.code == "version_conflict"
    answer = trips.books.post("deleteJourney", journeyId=journey["id"], expectedVersion=1)
    assert answer == {"id": journey["id"], "deleted": True}
    with pytest.raises(Problem) as caught:
        trips.get(journey)
    assert caught.value.code == "not_found"
    assert trips.expenses() == {}


def test_lists(store: MemoryStore) -> None:
    trips = Trips(Books(store), "company_trade", **COMPANY)
    other = trips.another("company_trade")
    first = trips.enter("10", "2025-05-01", driver="Ann", externalId="1")
    second = trips.enter("10", "2025-06-01", driver="Bob", vehicleKind="van", vehicle="V1", businessId=other)
    for query, found in (
        ("", [second, first]),
        (f"businessId={other}", [second]),
        (f"legalEntityId={trips.owner}", [second, first]),
        ("vehicleKind=car", [first]),
        ("vehicle=V1", [second]),
        ("driver=Ann", [first]),
        ("fromDate=2025-05-02", [second]),
        ("toDate=2025-05-01", [first]),
        ("externalId=1", [first]),
        ("updatedSince=2020-01-01T00:00:00Z", [first, second]),
        ("updatedSince=2020-01-01T00:00:00Z&limit=1", [first, second]),
    ):
        assert [each["id"] for each in trips.books.walk("listJourneys", query)] == [each["id"] for each in found]
    with pytest.raises(Problem) as caught:
        trips.books.get(
            "listJourneys", "fromDate=2025-05-02&toDate=2025-05-01&businessId=biz_01k0000000000000000000000z"
        )
    assert fields_of(caught.value) == [("businessId", "unknown_reference"), ("toDate", "date_order")]
    store.clock.advance(SECOND)
    trips.books.post("deleteJourney", journeyId=first["id"])
    told = trips.books.listing("listJourneys", "updatedSince=2020-01-01T00:00:00Z").extra
    assert f'"removed":[{{"id":"{first["id"]}","status":"removed"'.encode() in told


def test_another_organization_sees_none(trips: Trips) -> None:
    journey = trips.enter("10")
    stranger = Books(trips.books.store, "Elm Ltd")
    for operation in ("updateJourney", "deleteJourney"):
        with pytest.raises(Problem) as caught:
            stranger.post(operation, journeyId=journey["id"])
        assert caught.value.code == "not_found"
    assert stranger.get("listJourneys")[0] == []
