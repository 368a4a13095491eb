"""Homes with an EPC of F or G: told of their tenancies and on the dashboard, unless they are exempt (SI 2015/962)."""

import pytest

from tests.areas.accounting.books import Json
from tests.areas.landlord.landlords import Landlord, codes

TODAY_ISSUED = "2026-11-01"


def epc(landlord: Landlord, house: str, rating: str, **fields: object) -> Json:
    body = {"propertyId": house, "type": "epc", "issuedDate": TODAY_ISSUED, "rating": rating, **fields}
    return landlord.post("createCertificate", **body)


def told(landlord: Landlord, house: str) -> list[bool]:
    lets = landlord.walk("listTenancies", f"propertyId={house}")
    return ["epc_below_minimum" in codes(one) for one in lets]


def on_dashboard(landlord: Landlord) -> list[str]:
    found = landlord.one("getDashboardSummary", "")["warnings"]
    return [one["message"] for one in found if one["code"] == "epc_below_minimum"]


@pytest.mark.parametrize(
    ("jurisdiction", "rating", "expected"),
    [
        ("england", "F", True),
        ("england", "G", True),
        ("england", "E", False),
        ("wales", "F", True),
        ("scotland", "G", False),
        ("northern_ireland", "G", False),
    ],
)
def test_a_let_home_below_e_is_told_in_england_and_wales(
    landlord: Landlord, jurisdiction: str, rating: str, *, expected: bool
) -> None:
    house = landlord.house(jurisdiction=jurisdiction)
    landlord.let(house)
    epc(landlord, house, rating)
    assert told(landlord, house) == [expected]
    assert len(on_dashboard(landlord)) == expected


def test_an_exemption_ends_it_for_its_five_years(landlord: Landlord) -> None:
    """Registered on 1 November 2026, it holds until 31 October 2031."""
    house = landlord.house()
    landlord.let(house)
    epc(landlord, house, "G")
    fields = {"type": "mees_exemption", "issuedDate": TODAY_ISSUED, "reference": "PRS-1"}
    exemption = landlord.post("createCertificate", propertyId=house, **fields)
    assert (exemption["expiryDate"], told(landlord, house), on_dashboard(landlord)) == ("2031-10-31", [False], [])
    landlord.at("2031-10-31")
    assert told(landlord, house) == [False]
    landlord.at("2031-11-01")
    assert told(landlord, house) == [True]


def test_a_better_one_and_one_that_has_expired_end_it(landlord: Landlord) -> None:
    house = landlord.house()
    landlord.let(house)
    epc(landlord, house, "F", issuedDate="2026-01-01")
    better = epc(landlord, house, "C")
    assert told(landlord, house) == [False]
    landlord.post("deleteCertificate", id=better["id"])
    assert told(landlord, house) == [True]
    landlord.at("2036-01-01")  # ten years from 1 January 2026 end on the eve
    assert told(landlord, house) == [False]


def test_lodgers_companies_and_former_tenants_are_not_told_of(landlord: Landlord) -> None:
    for fields in ({"type": "lodger"}, {"type": "company_let"}, {"type": "other", "endDate": "2026-11-19"}):
        house = landlord.house()
        landlord.let(house, **fields)
        epc(landlord, house, "G")
        assert told(landlord, house) == [False]
    assert on_dashboard(landlord) == []


def test_a_unit_goes_by_its_own(landlord: Landlord) -> None:
    house = landlord.house()
    poor, good, none = (landlord.unit(house) for _ in range(3))
    for unit in (poor, good, none):
        landlord.let(house, unitId=unit)
    epc(landlord, house, "F", unitId=poor)
    epc(landlord, house, "C", unitId=good)
    by_unit = {one["unitId"]: "epc_below_minimum" in codes(one) for one in landlord.walk("listTenancies", "")}
    assert by_unit == {poor: True, good: False, none: False}
    assert len(on_dashboard(landlord)) == 1
    epc(landlord, house, "G")
    by_unit = {one["unitId"]: "epc_below_minimum" in codes(one) for one in landlord.walk("listTenancies", "")}
    assert by_unit == {poor: True, good: False, none: True}
