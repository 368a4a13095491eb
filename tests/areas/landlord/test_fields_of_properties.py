"""Each field of a property: kept as it was said, changed alone, and taken away again."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.changes import expect_change
from tests.areas.landlord.lettings import Lettings

ADDRESS = {
    "line1": "12 Oak Street",
    "line2": "Clifton",
    "town": "Bristol",
    "county": "Avon",
    "postcode": "BS1 4QA",
    "countryCode": "GB",
    "uprn": "100023",
}
OTHER = {
    "line1": "7 Elm Row",
    "line2": "Headingley",
    "town": "Leeds",
    "county": "Yorkshire",
    "postcode": "LS1 4DY",
    "countryCode": "GB",
    "uprn": "100047",
}
DETAILS: dict[str, tuple[object, object]] = {
    "address": (ADDRESS, OTHER),
    "areaSqm": ("81.5", "90"),
    "councilTaxBand": ("C", "I"),
    "furnished": ("part_furnished", "unfurnished"),
    "leaseExpiryDate": ("2099-03-24", "2124-12-25"),
    "localAuthority": ("Bristol City Council", "Leeds City Council"),
    "tenure": ("leasehold", "commonhold"),
}


@pytest.mark.parametrize("name", DETAILS)
def test_a_detail_is_kept_changed_and_taken_away(lettings: Lettings, name: str) -> None:
    first, second = DETAILS[name]
    made = lettings.property(**{name: first})
    assert lettings.one("getProperty", f"id={made['id']}")[name] == first
    expect_change(made, lettings.post("updateProperty", id=made["id"], **{name: second}), **{name: second})
    assert lettings.post("updateProperty", id=made["id"], **{name: None})[name] is None
    assert lettings.property()[name] is None


def test_its_type_changes_alone(lettings: Lettings) -> None:
    made = lettings.property(type="house")
    expect_change(made, lettings.post("updateProperty", id=made["id"], type="bungalow"), type="bungalow")


def test_a_council_tax_band_is_a_letter(lettings: Lettings) -> None:
    with pytest.raises(Problem) as caught:
        lettings.property(councilTaxBand="J")
    assert fields_of(caught.value) == [("councilTaxBand", "invalid_format")]


def test_owners_may_be_said_by_the_other_name_with_a_first_day(lettings: Lettings) -> None:
    owner = lettings.unregistered_entity(type="individual")
    business = lettings.lets(owner)
    half = {"legalEntityId": owner, "sharePercent": "50"}
    partner = {"name": "Rosa Hart", "sharePercent": "50"}
    given = [{**half, "fromDate": "2026-04-06"}, {**partner, "fromDate": "2026-04-06"}]
    whole = {"legalEntityId": owner, "sharePercent": "100"}
    made = lettings.property(business, ownership=[whole, *given])
    assert [one["fromDate"] for one in made["owners"]] == [None, "2026-04-06", "2026-04-06"]
    assert made["ownerSharePercent"] == "50"
    later = [{**one, "fromDate": "2026-11-01"} for one in given]
    changed = lettings.post("updateProperty", id=made["id"], ownership=[whole, *later])
    assert [one["fromDate"] for one in changed["owners"]] == [None, "2026-11-01", "2026-11-01"]
    assert [one["legalEntityId"] for one in changed["owners"]] == [owner, owner, None]
    with pytest.raises(Problem) as caught:
        lettings.post(
            "updateProperty", id=made["id"], ownership=[whole, *({**one, "fromDate": "2026-11-21"} for one in given)]
        )
    assert fields_of(caught.value) == [("ownership", "out_of_range")]
