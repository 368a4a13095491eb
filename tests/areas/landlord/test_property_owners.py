"""Whose a property is: shares, and the part of the legal entity whose business it is in."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.areas.landlord.properties import rules
from gatewayd.areas.landlord.register.properties import PropertyOwner
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.lettings import Lettings
from tests.support.store import MemoryStore

ENTITY = "ent_1"


def named(share: str, name: str = "Ann Birch") -> dict[str, str]:
    return {"name": name, "sharePercent": share}


def of(entity_id: str, share: str) -> dict[str, str]:
    return {"legalEntityId": entity_id, "sharePercent": share}


def test_the_share_is_that_of_the_entity_of_the_business(lettings: Lettings) -> None:
    entity, partner = lettings.unregistered_entity(), lettings.unregistered_entity()
    business = lettings.lets(entity, ownerSharePercent="40")
    table: list[tuple[list[dict[str, str]], str]] = [
        ([], "40"),  # as the business says
        ([of(entity, "100")], "100"),
        ([of(entity, "50"), of(partner, "50")], "50"),
        ([of(entity, "33.30"), named("33.3")], "33.3"),  # whose the rest is nobody says
        ([of(entity, "25"), named("10"), of(entity, "25.5")], "50.5"),
        ([named("30"), of(partner, "20.25")], "49.75"),  # who names others alone leaves the rest
    ]
    made = lettings.property(business)
    for owners, share in table:
        assert lettings.property(business, owners=owners)["ownerSharePercent"] == share
        assert lettings.post("updateProperty", id=made["id"], owners=owners)["ownerSharePercent"] == share
        assert lettings.one("getProperty", f"id={made['id']}")["ownerSharePercent"] == share


def test_without_owners_the_share_follows_the_business(lettings: Lettings) -> None:
    entity = lettings.unregistered_entity()
    business = lettings.lets(entity)
    plain, split = lettings.property(business), lettings.property(business, owners=[of(entity, "60")])
    lettings.change_business(business, ownerSharePercent="50")
    shown = {row["id"]: row["ownerSharePercent"] for row in lettings.get("listProperties")[0]}
    assert shown == {plain["id"]: "50", split["id"]: "60"}


def test_owners_are_kept_as_they_were_given(lettings: Lettings) -> None:
    entity = lettings.unregistered_entity()
    owners = [of(entity, "050.50"), named("49.500000000000")]
    made = lettings.property(lettings.lets(entity), owners=owners)
    assert made["owners"] == [
        {"legalEntityId": entity, "name": None, "sharePercent": "50.5", "fromDate": None},
        {"legalEntityId": None, "name": "Ann Birch", "sharePercent": "49.5", "fromDate": None},
    ]
    cleared = lettings.post("updateProperty", id=made["id"], owners=[])
    assert (cleared["owners"], cleared["ownerSharePercent"]) == ([], "100")


@pytest.mark.parametrize(
    ("owners", "found"),
    [
        ([{"sharePercent": "50"}], [("[0].legalEntityId", "required")]),
        ([{"name": "Ann", "legalEntityId": "$entity", "sharePercent": "50"}], [("[0].name", "conflict")]),
        ([named("0")], [("[0].sharePercent", "out_of_range")]),
        ([named("-5")], [("[0].sharePercent", "out_of_range")]),
        ([named("100.000000000001")], [("[0].sharePercent", "out_of_range"), ("", "share_total")]),
        ([named("60"), named("40.1", "Bo")], [("", "share_total")]),
        ([of("$entity", "60"), named("40.000000000001")], [("", "share_total")]),
        ([named("60"), named("40", "Bo")], [("", "conflict")]),
        ([of("ent_1", "10")], [("[0].legalEntityId", "unknown_reference")]),
    ],
)
@pytest.mark.parametrize("field", ["owners", "ownership", None])
def test_shares_that_cannot_be_are_refused(
    lettings: Lettings, field: str | None, owners: list[dict[str, str]], found: list[tuple[str, str]]
) -> None:
    """In a new property under either name, and in one that is there."""
    entity = lettings.unregistered_entity()
    business = lettings.lets(entity)
    given: list[dict[str, Any]] = [{n: entity if v == "$entity" else v for n, v in each.items()} for each in owners]
    operation, body = "createProperty", {"businessId": business, "name": "Oak", "type": "flat", field or "": given}
    if field is None:
        operation, body = "updateProperty", {"id": lettings.property(business)["id"], "owners": given}
    with pytest.raises(Problem) as caught:
        lettings.post(operation, **body)
    assert fields_of(caught.value) == [(f"{field or 'owners'}{path}", code) for path, code in found]


def test_another_organizations_entity_owns_nothing(lettings: Lettings, store: MemoryStore) -> None:
    theirs = Lettings(store).unregistered_entity()
    with pytest.raises(Problem) as caught:
        lettings.property(owners=[of(theirs, "10")])
    assert fields_of(caught.value) == [("owners[0].legalEntityId", "unknown_reference")]


def test_ownership_is_another_name_of_owners(lettings: Lettings) -> None:
    made = lettings.property(ownership=[named("25")])
    assert (made["owners"][0]["name"], made["ownerSharePercent"]) == ("Ann Birch", "75")
    with pytest.raises(Problem) as caught:
        lettings.property(ownership=[named("25")], owners=[])
    assert fields_of(caught.value) == [("ownership", "conflict")]


def test_owners_change_under_either_name(lettings: Lettings) -> None:
    made = lettings.property(ownership=[named("25")])
    changed = lettings.post("updateProperty", id=made["id"], ownership=[named("40.0", "Bo")])
    assert (changed["owners"][0]["name"], changed["owners"][0]["sharePercent"]) == ("Bo", "40")
    assert changed["ownerSharePercent"] == "60"
    for wrong, found in (
        ({"ownership": [named("100.1")]}, ("ownership[0].sharePercent", "out_of_range")),
        ({"ownership": [], "owners": []}, ("ownership", "conflict")),
    ):
        with pytest.raises(Problem) as caught:
            lettings.post("updateProperty", id=made["id"], **wrong)
        assert fields_of(caught.value)[0] == found
    assert lettings.post("updateProperty", id=made["id"], ownership=[])["ownerSharePercent"] == "100"


SHARES = st.integers(1, 100 * 10**12).map(lambda n: f"{n // 10**12}.{n % 10**12:012}")
OWNERS = st.lists(
    st.builds(
        PropertyOwner,
        legal_entity_id=st.sampled_from([ENTITY, "ent_2", None]),
        share_percent=SHARES | st.sampled_from(["50", "25.0", "33.333333333333"]),
    ),
    max_size=5,
)


@given(OWNERS)
def test_shares_are_counted_exactly(owners: list[PropertyOwner]) -> None:
    """By fractions, in another way: what is taken is above 0 and at most 100, and at most what others leave."""
    shares = [Fraction(owner.share_percent) for owner in owners]
    own = sum(share for owner, share in zip(owners, shares, strict=True) if owner.legal_entity_id == ENTITY)
    others = sum(shares) - own
    codes = [error.code for error in rules.share_mistakes(owners, ENTITY, "owners")]
    if own + others > 100:
        assert codes == ["share_total"]
    elif owners and own == 0 and others == 100:
        assert codes == ["conflict"]
    else:
        assert codes == []
        share = rules.own_share(owners, ENTITY)
        if not owners:
            assert share is None
        else:
            assert share is not None
            assert Fraction(share) == (own or 100 - others)
            assert 0 < Fraction(share) <= 100 - others
            assert share == share.rstrip("0") or "." not in share
