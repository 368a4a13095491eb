"""The sandbox authority's businesses of a person: every scenario, every refusal, and that its answers fit together."""

import datetime

import pytest

from gatewayd.http1.response import Response
from gatewayd.sandbox_authority.businesses import LIST_SCENARIOS, RETRIEVE_SCENARIOS
from tests.sandbox_authority.asking import NINO, accepted, answer, document, refused
from tests.sandbox_authority.schemas import BUSINESS, BUSINESSES

OBLIGATIONS_AT = "/obligations/details/{nino}/income-and-expenditure"
LETTERS = {"self-employment": "B", "uk-property": "P", "foreign-property": "F", "property-unspecified": "A"}
UNKNOWN = (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")
NOT_FOUND = (404, "MATCHING_RESOURCE_NOT_FOUND")
PEOPLE = [f"AA{number * 24_691:06d}A" for number in range(40)]


def business(rest: str, scenario: str | None = None, nino: str = NINO) -> Response:
    return answer(f"/individuals/business/details/{{nino}}/{rest}", f"nino={nino}", scenario)


def kinds(scenario: str | None = None, nino: str = NINO) -> dict[str, str]:
    """The type of each business listed, by its id."""
    listed = accepted(business("list", scenario, nino), BUSINESSES)["listOfBusinesses"]
    return {row["businessId"]: row["typeOfBusiness"] for row in listed}


def test_the_documented_scenarios_are_all_there() -> None:
    every = {"PROPERTY", "FOREIGN_PROPERTY", "UNSPECIFIED", "NOT_FOUND", "STATEFUL"}
    assert every | {"BUSINESS_AND_PROPERTY"} == LIST_SCENARIOS
    assert every | {"DYNAMIC"} == RETRIEVE_SCENARIOS


@pytest.mark.parametrize(
    ("scenario", "letters"),
    [
        (None, "B"),
        ("PROPERTY", "P"),
        ("FOREIGN_PROPERTY", "F"),
        ("UNSPECIFIED", "A"),
        ("BUSINESS_AND_PROPERTY", "BPF"),
    ],
)
def test_the_businesses_of_every_scenario(scenario: str | None, letters: str) -> None:
    found = kinds(scenario)
    assert list(found) == [f"X{letter}IS12345678901" for letter in letters]
    for id_, kind in found.items():
        details = "DYNAMIC" if scenario == "BUSINESS_AND_PROPERTY" else scenario
        assert accepted(business(id_, details), BUSINESS)["typeOfBusiness"] == kind == kind_of(id_)


def kind_of(business_id: str) -> str:
    return next(kind for kind, letter in LETTERS.items() if letter == business_id[1])


def test_a_dynamic_business_is_that_of_its_id() -> None:
    found = [accepted(business(f"X{letter}IS12345678901", "DYNAMIC"), BUSINESS) for letter in "BPFA"]
    assert [one["typeOfBusiness"] for one in found] == list(LETTERS)


def test_a_person_has_businesses_of_their_own_when_stateful() -> None:
    """A trade always; property in some cases; and ids that nobody else has."""
    found = [kinds("STATEFUL", nino) for nino in PEOPLE]
    assert all("self-employment" in of_one.values() for of_one in found)
    assert {len(of_one) for of_one in found} == {1, 2, 3}
    ids = [id_ for of_one in found for id_ in of_one]
    assert len(set(ids)) == len(ids)
    for nino, of_one in zip(PEOPLE, found, strict=True):
        for id_, kind in of_one.items():
            assert accepted(business(id_, "STATEFUL", nino), BUSINESS)["typeOfBusiness"] == kind
    assert refused(business(next(iter(found[1])), "STATEFUL", PEOPLE[0])) == NOT_FOUND


def test_what_a_business_is_like_follows_from_the_person() -> None:
    found = [accepted(business("XBIS12345678901", nino=nino), BUSINESS) for nino in PEOPLE]
    assert len({one["commencementDate"] for one in found}) > len(PEOPLE) / 2
    assert len({one["tradingName"] for one in found}) > 3
    for nino, one in zip(PEOPLE, found, strict=True):
        (listed,) = document(business("list", nino=nino))["listOfBusinesses"]
        assert (listed["tradingName"], listed["tradingType"]) == (one["tradingName"], one["tradingType"])
        assert one == document(business("XBIS12345678901", nino=nino))


def test_dates_follow_one_another() -> None:
    for nino in PEOPLE:
        one = document(business("XBIS12345678901", nino=nino))
        began = datetime.date.fromisoformat(one["commencementDate"])
        assert began.isoformat() <= one["firstAccountingPeriodEndDate"] < one["accountingPeriods"][0]["end"]
        latency = one.get("latencyDetails")
        if latency is not None:
            assert latency["taxYear1"] < latency["taxYear2"]
            assert latency["latencyEndDate"] > one["commencementDate"]
    assert {"latencyDetails" in document(business("XBIS12345678901", nino=nino)) for nino in PEOPLE} == {True, False}


@pytest.mark.parametrize("kind", ["uk-property", "foreign-property", "property-unspecified"])
def test_property_has_no_trade_and_no_address(kind: str) -> None:
    one = document(business(f"X{LETTERS[kind]}IS12345678901", "DYNAMIC"))
    assert not [name for name in one if name.startswith(("trading", "businessAddress"))]


def test_every_business_has_obligations() -> None:
    for scenario in (None, "BUSINESS_AND_PROPERTY", "STATEFUL"):
        for id_, kind in kinds(scenario).items():
            query = f"nino={NINO}&typeOfBusiness={kind}&businessId={id_}"
            (one,) = document(answer(OBLIGATIONS_AT, query))["obligations"]
            assert (one["businessId"], one["typeOfBusiness"]) == (id_, kind)
    listed = document(answer(OBLIGATIONS_AT, f"nino={NINO}"))["obligations"]
    assert {one["businessId"]: one["typeOfBusiness"] for one in listed} == kinds("BUSINESS_AND_PROPERTY")


@pytest.mark.parametrize(
    ("rest", "scenario", "expected"),
    [
        ("list", "NOT_FOUND", NOT_FOUND),
        ("list", "DYNAMIC", UNKNOWN),
        ("XBIS12345678901", "NOT_FOUND", NOT_FOUND),
        ("XPIS12345678901", None, NOT_FOUND),
        ("XBIS12345678901", "PROPERTY", NOT_FOUND),
        ("XBIS12345678901", "BUSINESS_AND_PROPERTY", UNKNOWN),
        ("XBIS1234567890", None, (400, "FORMAT_BUSINESS_ID")),
    ],
)
def test_businesses_that_are_refused(rest: str, scenario: str | None, expected: tuple[int, str]) -> None:
    assert refused(business(rest, scenario)) == expected
