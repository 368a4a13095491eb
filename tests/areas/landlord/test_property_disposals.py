"""Properties that are sold or archived, and what their tenancies have to say to that."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.lettings import Lettings

TODAY = "2026-11-20"


def test_what_is_sold_has_a_day_that_has_come(lettings: Lettings) -> None:
    made = lettings.property(acquisitionDate="2020-03-01")
    for fields, found in (
        ({}, ("disposalDate", "required")),
        ({"disposalDate": "2026-11-21"}, ("disposalDate", "out_of_range")),
        ({"disposalDate": "2020-02-29"}, ("disposalDate", "date_order")),
        ({"disposalDate": TODAY, "disposalProceeds": "-1"}, ("disposalProceeds", "out_of_range")),
        ({"disposalDate": TODAY, "disposalCosts": "-1"}, ("disposalCosts", "out_of_range")),
        ({"disposalDate": TODAY, "acquisitionDate": "2026-11-21"}, ("disposalDate", "date_order")),
    ):
        with pytest.raises(Problem) as caught:
            lettings.post("updateProperty", id=made["id"], status="sold", **fields)
        assert fields_of(caught.value) == [found]
    sold = lettings.post(
        "updateProperty",
        id=made["id"],
        status="sold",
        disposalDate=TODAY,
        disposalProceeds="260000",
        disposalCosts="3100.50",
    )
    names = ("status", "disposalDate", "disposalProceeds", "disposalCosts", "archivedAt")
    assert [sold[name] for name in names] == ["sold", TODAY, "260000.00", "3100.50", None]
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=made["id"], disposalDate=None)
    assert fields_of(caught.value) == [("disposalDate", "required")]


def test_it_is_sold_on_the_day_it_was_acquired_at_the_earliest(lettings: Lettings) -> None:
    made = lettings.property(acquisitionDate=TODAY)
    sold = lettings.post("updateProperty", id=made["id"], status="sold", disposalDate=TODAY)
    assert sold["status"] == "sold"


def test_a_sale_that_is_agreed_knows_its_day_before(lettings: Lettings) -> None:
    made = lettings.property()
    offered = lettings.post("updateProperty", id=made["id"], status="under_offer", disposalDate="2027-01-15")
    assert (offered["status"], offered["disposalDate"]) == ("under_offer", "2027-01-15")
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=made["id"], status="sold")
    assert fields_of(caught.value) == [("disposalDate", "out_of_range")]


def test_a_sale_that_was_none_is_forgotten_when_asked(lettings: Lettings) -> None:
    made = lettings.property()
    lettings.post("updateProperty", id=made["id"], status="sold", disposalDate=TODAY, disposalProceeds="1")
    back = lettings.post("updateProperty", id=made["id"], status="active")
    assert (back["status"], back["disposalDate"], back["disposalProceeds"]) == ("active", TODAY, "1.00")
    clear = lettings.post("updateProperty", id=made["id"], disposalDate=None, disposalProceeds=None)
    assert (clear["disposalDate"], clear["disposalProceeds"]) == (None, None)


@pytest.mark.parametrize(
    ("values", "is_refused"),
    [
        ({}, True),
        ({"end_date": "2026-06-30"}, True),  # its last day is one of its days
        ({"end_date": "2026-06-29"}, False),
        ({"start_date": "2026-08-01"}, True),  # to begin after the sale
        ({"notice_served_date": "2026-05-01", "notice_expiry_date": "2026-07-01", "notice_by": "tenant"}, True),
        ({"notice_served_date": "2026-04-01", "notice_expiry_date": "2026-06-01", "notice_by": "tenant"}, False),
        ({"notice_served_date": "2026-02-01", "notice_expiry_date": "2026-06-01", "notice_by": "landlord"}, True),
        ({"type": "company_let", "term_end_date": "2026-06-29"}, False),
        ({"type": "commercial_lease", "term_end_date": "2026-06-29"}, True),  # Landlord and Tenant Act 1954 s24
        ({"type": "assured_shorthold", "start_date": "2025-01-01", "term_end_date": "2026-06-29"}, True),  # Domain 0.1
    ],
)
def test_a_tenancy_that_goes_on_refuses_a_sale(lettings: Lettings, values: dict[str, object], is_refused: bool) -> None:
    made = lettings.property()
    tenancy = lettings.tenancy(made["id"], None, **values)
    lettings.tenancy(lettings.property()["id"])
    sale = {"id": made["id"], "status": "sold", "disposalDate": "2026-06-30"}
    if is_refused:
        with pytest.raises(Problem) as caught:
            lettings.post("updateProperty", **sale)
        assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", "active")
        assert tenancy in caught.value.message
        assert lettings.one("getProperty", f"id={made['id']}")["status"] == "active"
        sale["keepTenancies"] = True
    assert lettings.post("updateProperty", **sale)["status"] == "sold"


def test_a_tenancy_that_was_called_off_refuses_nothing(lettings: Lettings) -> None:
    made = lettings.property()
    lettings.tenancy(made["id"], start_date="2026-12-01", cancelled_at=lettings.store.now())
    sold = lettings.post("updateProperty", id=made["id"], status="sold", disposalDate=TODAY)
    assert sold["status"] == "sold"


def test_another_day_of_a_sale_is_looked_at_anew(lettings: Lettings) -> None:
    made = lettings.property()
    lettings.tenancy(made["id"], end_date="2026-06-30")
    lettings.post("updateProperty", id=made["id"], status="sold", disposalDate="2026-07-01")
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=made["id"], disposalDate="2026-06-01")
    assert caught.value.code == "invalid_state"
    named = lettings.post("updateProperty", id=made["id"], name="Sold", disposalDate="2026-07-01")
    assert named["name"] == "Sold"


def test_what_is_archived_is_hidden_and_comes_back(lettings: Lettings) -> None:
    made = lettings.property()
    archived = lettings.post("updateProperty", id=made["id"], status="archived")
    assert (archived["status"], archived["archivedAt"]) == ("archived", "2026-11-20T09:30:00.000Z")
    lettings.store.clock.advance(60_000_000)
    again = lettings.post("updateProperty", id=made["id"], status="archived", name="Kept")
    assert (again["archivedAt"], again["name"]) == (archived["archivedAt"], "Kept")
    assert lettings.get("listProperties")[0] == []
    assert lettings.get("listProperties", "status=active&includeArchived=true")[0] == []
    for query in ("status=archived", "includeArchived=true"):
        assert [row["id"] for row in lettings.get("listProperties", query)[0]] == [made["id"]]
    back = lettings.post("updateProperty", id=made["id"], status="active")
    assert (back["status"], back["archivedAt"]) == ("active", None)
    assert [row["id"] for row in lettings.get("listProperties")[0]] == [made["id"]]


def test_a_tenancy_that_goes_on_keeps_a_property_out_of_the_archive(lettings: Lettings) -> None:
    made = lettings.property()
    lettings.tenancy(made["id"], end_date=TODAY)
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=made["id"], status="archived")
    assert caught.value.code == "invalid_state"
    kept = lettings.post("updateProperty", id=made["id"], status="archived", keepTenancies=True)
    assert kept["status"] == "archived"
    again = lettings.post("updateProperty", id=made["id"], status="archived", name="Kept")
    assert (again["status"], again["name"]) == ("archived", "Kept")
    ended = lettings.property()
    lettings.tenancy(ended["id"], end_date="2026-11-19")
    assert lettings.post("updateProperty", id=ended["id"], status="archived")["status"] == "archived"


def test_what_was_sold_with_its_tenancies_is_archived_with_them(lettings: Lettings) -> None:
    made = lettings.property()
    lettings.tenancy(made["id"])
    lettings.post("updateProperty", id=made["id"], status="sold", disposalDate=TODAY, keepTenancies=True)
    archived = lettings.post("updateProperty", id=made["id"], status="archived")
    assert (archived["status"], archived["disposalDate"]) == ("archived", TODAY)
    with pytest.raises(Problem) as caught:  # out of the archive it is a sale again
        lettings.post("updateProperty", id=made["id"], status="sold")
    assert caught.value.code == "invalid_state"
    back = lettings.post("updateProperty", id=made["id"], status="sold", keepTenancies=True)
    assert (back["status"], back["archivedAt"]) == ("sold", None)


def test_a_property_comes_back_after_its_business(lettings: Lettings) -> None:
    business = lettings.lets()
    made, live = lettings.property(business), lettings.property(business)
    lettings.post("updateProperty", id=made["id"], status="archived")
    lettings.archive_business(business)
    assert lettings.post("updateProperty", id=live["id"], status="under_offer")["status"] == "under_offer"
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=made["id"], status="active")
    assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", "archived")
    assert lettings.post("updateProperty", id=made["id"], name="Kept")["status"] == "archived"
    lettings.move_business(business, "active")
    assert lettings.post("updateProperty", id=made["id"], status="active")["status"] == "active"
