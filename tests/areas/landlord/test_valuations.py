"""Valuations of properties: in which order, and what is refused."""

import pytest

from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.lettings import Lettings
from tests.support.plans import plan_of
from tests.support.store import MemoryStore

TODAY = "2026-11-20"


def test_a_new_valuation_is_answered_whole(lettings: Lettings) -> None:
    home = lettings.property()
    given = {"source": "Harbour Estates", "confidence": "high", "notes": "Two offers", "externalId": "v-1"}
    made = lettings.valuation(home["id"], TODAY, "262500", currency="GBP", **given)
    assert made["id"].startswith("val_")
    assert {name: value for name, value in made.items() if name not in ("id", "createdAt", "updatedAt")} == {
        **given,
        "propertyId": home["id"],
        "valuationDate": TODAY,
        "amount": "262500.00",
        "currency": "GBP",
        "method": "agent",
        "documentId": None,
        "version": 1,
    }
    assert lettings.get("listPropertyValuations", f"propertyId={home['id']}")[0] == [made]
    with pytest.raises(Problem) as caught:
        lettings.valuation(home["id"], TODAY, "1", externalId="v-1")
    assert caught.value.extra == {"existingId": made["id"], "field": "externalId"}


def test_the_latest_day_comes_first_and_of_a_day_the_last_that_was_made(lettings: Lettings) -> None:
    home, other = lettings.property(), lettings.property()
    days = ["2026-03-01", "2024-03-01", "2026-03-01", "2025-03-01", "2026-03-01"]
    made = [lettings.valuation(home["id"], day, str(n + 1))["id"] for n, day in enumerate(days)]
    lettings.valuation(other["id"], "2026-03-01", "1")
    in_order = [made[4], made[2], made[0], made[3], made[1]]
    for limit in (1, 2, 3, 5):
        walked = lettings.walk("listPropertyValuations", f"propertyId={home['id']}&limit={limit}")
        assert [row["id"] for row in walked] == in_order


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("fromDate=2025-03-01", ["2026-03-01", "2026-02-28", "2025-03-01"]),
        ("toDate=2026-02-28", ["2026-02-28", "2025-03-01", "2025-02-28"]),
        ("fromDate=2025-03-01&toDate=2026-02-28", ["2026-02-28", "2025-03-01"]),
        ("fromDate=2026-02-28&toDate=2026-02-28", ["2026-02-28"]),
        ("toDate=2025-02-27", []),
        ("externalId=2025-03-01", ["2025-03-01"]),
    ],
)
def test_days_are_inclusive(lettings: Lettings, query: str, days: list[str]) -> None:
    home = lettings.property()
    for day in ("2025-02-28", "2025-03-01", "2026-02-28", "2026-03-01"):
        lettings.valuation(home["id"], day, "1", externalId=day)
    walked = lettings.walk("listPropertyValuations", f"propertyId={home['id']}&{query}&limit=1")
    assert [row["valuationDate"] for row in walked] == days


def test_days_stand_in_their_order(lettings: Lettings) -> None:
    home = lettings.property()
    with pytest.raises(Problem) as caught:
        lettings.get("listPropertyValuations", f"propertyId={home['id']}&fromDate=2026-03-02&toDate=2026-03-01")
    assert fields_of(caught.value) == [("toDate", "date_order")]


def test_a_cursor_belongs_to_its_filters(lettings: Lettings) -> None:
    home = lettings.property()
    for day in ("2025-02-28", "2025-03-01"):
        lettings.valuation(home["id"], day, "1")
    query = f"propertyId={home['id']}&limit=1"
    _, cursor = lettings.get("listPropertyValuations", query)
    with pytest.raises(Problem) as caught:
        lettings.get("listPropertyValuations", f"{query}&fromDate=2025-01-01&cursor={cursor}")
    assert caught.value.code == "invalid_cursor"


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"valuationDate": "2026-11-21"}, [("valuationDate", "out_of_range")]),
        ({"amount": "0"}, [("amount", "out_of_range")]),
        ({"amount": "-1"}, [("amount", "out_of_range")]),
        ({"amount": "1.001"}, [("amount", "invalid_decimal")]),
        ({"currency": "EUR"}, [("currency", "currency_mismatch")]),
        ({"currency": "KWD", "amount": "1.001"}, [("currency", "currency_mismatch")]),
        ({"documentId": "doc_1"}, [("documentId", "unknown_reference")]),
        (
            {"valuationDate": "2027-01-01", "amount": "0", "documentId": "doc_1"},
            [("amount", "out_of_range"), ("valuationDate", "out_of_range"), ("documentId", "unknown_reference")],
        ),
    ],
)
def test_what_cannot_be_is_refused(lettings: Lettings, fields: dict[str, str], found: list[tuple[str, str]]) -> None:
    home = lettings.property()
    body = {"propertyId": home["id"], "valuationDate": TODAY, "amount": "1", "method": "surveyor", **fields}
    with pytest.raises(Problem) as caught:
        lettings.post("createPropertyValuation", **body)
    assert fields_of(caught.value) == found


def test_a_valuation_is_of_a_property_in_use(lettings: Lettings, store: MemoryStore) -> None:
    theirs = Lettings(store).property()
    for property_id in ("prop_1", theirs["id"]):
        with pytest.raises(Problem) as caught:
            lettings.valuation(property_id, TODAY, "1")
        assert fields_of(caught.value) == [("propertyId", "unknown_reference")]
        with pytest.raises(Problem) as caught:
            lettings.get("listPropertyValuations", f"propertyId={property_id}")
        assert fields_of(caught.value) == [("propertyId", "unknown_reference")]
    home = lettings.property()
    lettings.post("updateProperty", id=home["id"], status="sold", disposalDate=TODAY)
    lettings.valuation(home["id"], TODAY, "1")
    lettings.post("updateProperty", id=home["id"], status="archived")
    with pytest.raises(Problem) as caught:
        lettings.valuation(home["id"], TODAY, "1")
    assert caught.value.code == "invalid_state"
    assert len(lettings.get("listPropertyValuations", f"propertyId={home['id']}")[0]) == 1


def test_who_follows_changes_learns_of_another_value(lettings: Lettings, store: MemoryStore) -> None:
    home = lettings.property()
    lettings.valuation(home["id"], "2026-06-01", "1")

    def changed(date: str) -> list[tuple[str, int]]:
        store.clock.advance(1_000_000)
        since = lettings.valuation(home["id"], date, "2")["updatedAt"]
        found = lettings.get("listProperties", f"updatedSince={since}")[0]
        return [(row["currentValueDate"], row["version"]) for row in found]

    assert changed("2026-05-31") == []
    assert changed("2026-06-01") == [("2026-06-01", 1)]
    assert changed(TODAY) == [(TODAY, 1)]


def test_those_of_all_properties_are_listed_and_followed(lettings: Lettings, store: MemoryStore) -> None:
    home, other = lettings.property(), lettings.property()
    made = {}
    for place, day in ((home, "2026-03-01"), (other, "2026-05-01"), (home, "2026-04-01")):
        store.clock.advance(SECOND)
        made[day] = lettings.valuation(place["id"], day, "1", externalId=day)["id"]
    march, may, april = made.values()
    since = "updatedSince=2026-11-20T09:30:01.500Z"
    for query, found in (
        ("", [may, april, march]),
        (f"propertyId={home['id']}", [april, march]),
        ("fromDate=2026-04-01", [may, april]),
        ("toDate=2026-04-01", [april, march]),
        ("externalId=2026-05-01", [may]),
        (since, [may, april]),
        (f"{since}&propertyId={home['id']}", [april]),
        (f"{since}&toDate=2026-04-01", [april]),
        (f"{since}&fromDate=2026-05-01", [may]),
    ):
        for limit in (1, 2, 50):
            walked = lettings.walk("listPropertyValuations", f"{query}&limit={limit}".lstrip("&"))
            assert [row["id"] for row in walked] == found, query


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "property_valuations_by_date"),
        ("propertyId={}", "property_valuations_of_property"),
        ("updatedSince=2026-01-01T00:00:00Z", "property_valuations_by_change"),
    ],
)
def test_a_page_comes_from_the_index_with_its_order(lettings: Lettings, query: str, index: str) -> None:
    query = query.format(lettings.property()["id"])
    steps = plan_of(lettings, "listPropertyValuations", query)
    assert any(f"USING INDEX {index} " in step for step in steps), steps
    assert not [step for step in steps if "TEMP B-TREE" in step or "SCAN property_valuations" in step], steps
