"""Properties: what is made, changed, found and valued, and what is refused."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.lettings import Lettings
from tests.support.store import MemoryStore

ADDRESS = {"line1": "12 Oak Street", "town": "Bristol", "postcode": "BS1 4QA", "countryCode": "GB", "uprn": "100023"}


def test_a_new_property_is_answered_whole(lettings: Lettings) -> None:
    business = lettings.lets()
    made = lettings.property(business, address=ADDRESS, purchasePrice="185000", areaSqm="81.50", externalId="p-1")
    assert made["id"].startswith("prop_")
    expected: Json = {
        "externalId": "p-1",
        "businessId": business,
        "name": "12 Oak Street",
        "jurisdiction": "england",
        "type": "house",
        "use": "residential_let",
        "tenure": None,
        "bedrooms": None,
        "areaSqm": "81.5",
        "owners": [],
        "ownerSharePercent": "100",
        "purchasePrice": "185000.00",
        "acquisitionCosts": None,
        "currency": "GBP",
        "licensing": "unknown",
        "gasSupply": None,
        "status": "active",
        "archivedAt": None,
        "currentValue": None,
        "currentValueDate": None,
        "version": 1,
    }
    assert {name: made[name] for name in expected} == expected
    assert made["address"] == {**ADDRESS, "line2": None, "county": None}
    assert lettings.one("getProperty", f"id={made['id']}") == made


def test_an_external_id_is_used_once(lettings: Lettings) -> None:
    first = lettings.property(externalId="p-1")
    with pytest.raises(Problem) as caught:
        lettings.property(externalId="p-1")
    assert (caught.value.code, caught.value.extra["existingId"]) == ("already_exists", first["id"])
    other = lettings.property()
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=other["id"], externalId="p-1")
    assert caught.value.code == "already_exists"


def test_the_name_is_the_first_line_of_the_address_by_default(lettings: Lettings) -> None:
    business = lettings.lets()
    made = lettings.post("createProperty", businessId=business, type="flat", address=ADDRESS)
    assert made["name"] == "12 Oak Street"
    long = {"line1": f" {'x' * 119} y{'z' * 30}", "countryCode": "GB"}
    made = lettings.post("createProperty", businessId=business, type="flat", address=long)
    assert made["name"] == "x" * 119
    with pytest.raises(Problem) as caught:
        lettings.post("createProperty", businessId=business, type="flat")
    assert fields_of(caught.value) == [("name", "required")]


@pytest.mark.parametrize("kind", ["uk_property", "foreign_property", "company_trade"])
def test_a_property_is_of_a_business_that_has_some(lettings: Lettings, kind: str) -> None:
    assert lettings.property(lettings.lets(kind=kind))["status"] == "active"


@pytest.mark.parametrize("kind", ["self_employment", "other"])
def test_a_property_is_of_no_other_business(lettings: Lettings, kind: str) -> None:
    with pytest.raises(Problem) as caught:
        lettings.property(lettings.lets(kind=kind))
    assert fields_of(caught.value) == [("businessId", "conflict")]


def test_a_business_that_is_not_there_any_more_is_refused(lettings: Lettings, store: MemoryStore) -> None:
    archived, ceased = lettings.lets(), lettings.lets()
    lettings.archive_business(archived)
    lettings.move_business(ceased, "ceased", effectiveDate="2026-11-01")
    for business in (archived, ceased):
        with pytest.raises(Problem) as caught:
            lettings.property(business)
        assert fields_of(caught.value) == [("businessId", "conflict")]
    for business in ("biz_1", Lettings(store).lets()):
        with pytest.raises(Problem) as caught:
            lettings.property(business)
        assert fields_of(caught.value) == [("businessId", "unknown_reference")]


@pytest.mark.parametrize(
    ("kind", "fields", "jurisdiction"),
    [
        ("uk_property", {}, "england"),
        ("uk_property", {"jurisdiction": "scotland"}, "scotland"),
        ("foreign_property", {}, "other"),
        ("company_trade", {"address": {"line1": "3 Rue Haute", "countryCode": "FR"}}, "other"),
        ("company_trade", {"address": ADDRESS}, "england"),
        ("foreign_property", {"jurisdiction": "wales"}, "wales"),
    ],
)
def test_where_it_lies_follows_from_its_business_and_address(
    lettings: Lettings, kind: str, fields: dict[str, object], jurisdiction: str
) -> None:
    assert lettings.property(lettings.lets(kind=kind), **fields)["jurisdiction"] == jurisdiction


def test_the_currency_is_that_of_the_business_unless_it_is_said(lettings: Lettings) -> None:
    business = lettings.lets(currency="JPY")
    assert lettings.property(business, purchasePrice="9000000")["purchasePrice"] == "9000000"
    assert lettings.property(business, purchasePrice="90000.5", currency="EUR")["purchasePrice"] == "90000.50"
    with pytest.raises(Problem) as caught:
        lettings.property(business, purchasePrice="90000.5")
    assert fields_of(caught.value) == [("purchasePrice", "invalid_decimal")]


@pytest.mark.parametrize(
    "name",
    ["groundRentAnnual", "serviceChargeAnnual", "purchasePrice", "acquisitionCosts", "improvementCosts"],
)
def test_an_amount_is_not_negative(lettings: Lettings, name: str) -> None:
    with pytest.raises(Problem) as caught:
        lettings.property(**{name: "-0.01"})
    assert fields_of(caught.value) == [(name, "out_of_range")]
    made = lettings.property(**{name: "0"})
    assert made[name] == "0.00"
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=made["id"], **{name: "-1"})
    assert fields_of(caught.value) == [(name, "out_of_range")]


def test_what_is_wrong_is_told_at_once(lettings: Lettings) -> None:
    with pytest.raises(Problem) as caught:
        lettings.property(areaSqm="0", purchasePrice="-1", foreignPropertyId="F1")
    assert fields_of(caught.value) == [
        ("purchasePrice", "out_of_range"),
        ("areaSqm", "out_of_range"),
        ("foreignPropertyId", "conflict"),
    ]


def test_a_foreign_property_has_an_id_of_its_own(lettings: Lettings) -> None:
    abroad = lettings.property(lettings.lets(kind="foreign_property"), foreignPropertyId="F1")
    assert abroad["foreignPropertyId"] == "F1"
    here = lettings.property()
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=here["id"], foreignPropertyId="F1")
    assert fields_of(caught.value) == [("foreignPropertyId", "conflict")]


def test_given_fields_change_and_null_clears(lettings: Lettings) -> None:
    made = lettings.property(address=ADDRESS, bedrooms=3, gasSupply=True, tenure="leasehold")
    changed = lettings.post(
        "updateProperty", id=made["id"], expectedVersion=1, address=None, bedrooms=None, gasSupply=False, name="Oak"
    )
    assert changed == {
        **made,
        "address": None,
        "bedrooms": None,
        "gasSupply": False,
        "name": "Oak",
        "version": 2,
        "updatedAt": changed["updatedAt"],
    }
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=made["id"], expectedVersion=1, name="Elm")
    assert caught.value.code == "version_conflict"


def test_another_organizations_property_is_not_found(lettings: Lettings, store: MemoryStore) -> None:
    theirs = Lettings(store).property()
    with pytest.raises(Problem) as caught:
        lettings.post("updateProperty", id=theirs["id"])
    assert caught.value.code == "not_found"
    with pytest.raises(Problem) as caught:
        lettings.one("getProperty", f"id={theirs['id']}")
    assert caught.value.code == "not_found"
    assert lettings.get("listProperties", "includeArchived=true")[0] == []


def test_the_value_is_that_of_the_latest_valuation(lettings: Lettings, store: MemoryStore) -> None:
    made, other = lettings.property(), lettings.property()
    lettings.valuation(other["id"], "2026-11-20", "1")
    lettings.valuation(made["id"], "2026-05-01", "240000")
    lettings.valuation(made["id"], "2025-05-01", "999999")
    lettings.valuation(made["id"], "2026-05-01", "241000")

    def values() -> set[tuple[str, str]]:
        found = [lettings.one("getProperty", f"id={made['id']}")]
        found += [row for row in lettings.get("listProperties")[0] if row["id"] == made["id"]]
        found.append(lettings.post("updateProperty", id=made["id"], bedrooms=2))
        return {(row["currentValue"], row["currentValueDate"]) for row in found}

    assert values() == {("241000.00", "2026-05-01")}
    lettings.valuation(made["id"], "2026-11-20", "250000")
    assert values() == {("250000.00", "2026-11-20")}
    store.clock.advance(-24 * 3600 * 1_000_000)  # of tomorrow, to a clock that was put back
    assert values() == {("241000.00", "2026-05-01")}


def test_what_is_included_is_asked_for(lettings: Lettings) -> None:
    made, other = lettings.property(), lettings.property()
    first, second = lettings.unit(made["id"], "Flat 1"), lettings.unit(made["id"], "Flat 2")
    hidden = lettings.unit(made["id"], "Flat 3")
    lettings.post("updatePropertyUnit", id=hidden["id"], archived=True)
    lettings.unit(other["id"], "Flat 1")
    older = lettings.valuation(made["id"], "2025-01-01", "1")
    newer = lettings.valuation(made["id"], "2026-01-01", "2")
    plain = lettings.one("getProperty", f"id={made['id']}")
    assert {"units", "valuations"} & plain.keys() == set()
    whole = lettings.one("getProperty", f"id={made['id']}&include=units,valuations")
    assert whole == {**plain, "units": [first, second], "valuations": [newer, older]}
    assert lettings.one("getProperty", f"id={made['id']}&include=units") == {**plain, "units": [first, second]}
    empty = lettings.one("getProperty", f"id={lettings.property()['id']}&include=valuations&include=units")
    assert (empty["units"], empty["valuations"]) == ([], [])


def test_the_list_is_filtered_and_goes_on(lettings: Lettings) -> None:
    business, other = lettings.lets(), lettings.lets()
    made = [lettings.property(business, name=f"P{n}")["id"] for n in range(5)]
    shop = lettings.property(other, name="Corner shop", use="commercial_let", type="commercial", externalId="x")
    lettings.post("updateProperty", id=shop["id"], status="under_offer")
    assert [row["id"] for row in lettings.walk("listProperties", f"businessId={business}&limit=2")] == made[::-1]
    for query in (
        "use=commercial_let",
        "status=under_offer",
        "externalId=x",
        f"businessId={other}",
        f"businessId={other}&status=under_offer&use=commercial_let&q=shop",
    ):
        assert [row["id"] for row in lettings.get("listProperties", query)[0]] == [shop["id"]]
    assert lettings.get("listProperties", f"businessId={business}&status=under_offer")[0] == []


@pytest.mark.parametrize("q", ["OAK", "bristol", "bs1%204qa", "100023", "oak%20s"])
def test_a_property_is_found_by_name_and_address(lettings: Lettings, q: str) -> None:
    made = lettings.property(name="Pied-a-terre", address=ADDRESS)
    lettings.property(name="Elsewhere 50%_!")
    assert [row["id"] for row in lettings.get("listProperties", f"q={q}")[0]] == [made["id"]]
    assert lettings.get("listProperties", "q=oak%25")[0] == []
    assert len(lettings.get("listProperties", "q=50%25_!")[0]) == 1
    lettings.post("updateProperty", id=made["id"], address={"line1": "3 Elm Row", "countryCode": "GB"})
    assert lettings.get("listProperties", f"q={q}")[0] == []


def test_changes_are_listed_in_their_order(lettings: Lettings, store: MemoryStore) -> None:
    first, second = lettings.property(), lettings.property()
    store.clock.advance(1_000_000)
    since = lettings.post("updateProperty", id=second["id"], name="Elm")["updatedAt"]
    store.clock.advance(1_000_000)
    lettings.post("updateProperty", id=first["id"], name="Ash")
    changed = lettings.walk("listProperties", f"updatedSince={since}&limit=1")
    assert [row["id"] for row in changed] == [second["id"], first["id"]]
