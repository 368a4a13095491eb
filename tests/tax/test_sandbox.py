"""The sandbox authority as a whole: every path, who is asked about, sameness, and that nothing raises."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.clock import DAY
from gatewayd.tax.sandbox import ENDPOINTS, SUBTREE, Sandbox, SandboxRequest
from tests.tax.asking import NINO, NOW, VRN, accepted, answer, document, refused, request, versioned
from tests.tax.authority_schemas import UUID, VAT_OBLIGATIONS, VAT_RETURN, shape

ID = "f2fb30e5-4ab6-4a29-b3c1-c7264259ff1c"
SOUND = {  # a query that each operation of the subtree answers
    "/tax/vat/getObligations": "status=O",
    "/tax/vat/getLiabilities": "from=2017-01-02&to=2017-02-02",
    "/tax/vat/getPayments": "from=2017-01-02&to=2017-02-02",
    "/tax/vat/getVatReturn": "periodKey=%23001",
    "/tax/itsaStatus/get": "taxYear=2026-27",
    "/tax/itsaObligations/list": "",
    "/tax/itsaCalculations/list": "taxYear=2025-26",
    "/tax/itsaCalculations/get": f"taxYear=2025-26&calculationId={ID}",
    "/tax/selfAssessment/listTaxYears": "",
    "/tax/selfAssessment/getFilingSummary": "taxYear=2025-26",
}
SCENARIOS = {"/tax/vat/getLiabilities": "SINGLE_LIABILITY", "/tax/vat/getPayments": "SINGLE_PAYMENT"}
VALUES = {"vrn": VRN, "nino": NINO, "periodKey": "%23001", "taxYear": "2025-26", "calculationId": ID}
VALUES |= {"businessId": "XBIS12345678901"}
OPERATIONS = Path(__file__).parents[1] / "contract" / "operations.tsv"


def path_of(template: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: VALUES[found[1]], template)


# -- paths


def test_the_subtree_is_that_of_the_spec() -> None:
    rows = [line.split("\t") for line in OPERATIONS.read_text("utf-8").splitlines()]
    assert {row[2] for row in rows if row[0] == "tax"} == SUBTREE.keys() == SOUND.keys()


@pytest.mark.parametrize("path", SUBTREE)
def test_every_operation_answers_for_who_names_no_taxpayer(path: str) -> None:
    given = answer(path, SOUND[path], SCENARIOS.get(path))
    assert given.status == 200, given.body
    assert given.headers.keys() == {"Content-Type", "X-CorrelationId"}
    accepted(given, {"type": "object", "minProperties": 1})


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}")
def test_every_endpoint_of_the_authority_wants_its_version(endpoint: Any) -> None:
    path, version = path_of(endpoint.path), int(endpoint.version)

    def asked(headers: dict[str, str]) -> tuple[int, str]:
        given = answer(path, method=endpoint.method, headers=headers)
        return (200, "") if given.status == 200 else refused(given)

    assert asked(versioned(version)) not in ((404, "NOT_FOUND"), (406, "ACCEPT_HEADER_INVALID"), (405, ""))
    assert asked(versioned(version + 1)) == (404, "NOT_FOUND")
    for accept in ("application/json", "*/*", "", "application/vnd.hmrc.1.0+xml"):
        assert asked({"accept": accept}) == (406, "ACCEPT_HEADER_INVALID")
    assert asked({}) == (406, "ACCEPT_HEADER_INVALID")


def test_the_authoritys_endpoints_and_the_subtree_say_the_same() -> None:
    ours = answer("/tax/vat/getVatReturn", f"vrn={VRN}&periodKey=%23001")
    theirs = answer(f"/organisations/vat/{VRN}/returns/%23001", headers=versioned(1))
    assert ours.body == theirs.body
    accepted(ours, VAT_RETURN)


def test_what_stands_in_the_path_goes_before_the_query() -> None:
    path = f"/organisations/vat/{VRN}/returns/18A1"
    assert document(answer(path, "periodKey=18A2&vrn=1", headers=versioned(1)))["periodKey"] == "18A1"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "//",
        "/tax",
        "/tax/../x",
        "/tax/vat/getobligations",
        "/tax/vat/getObligations/",
        "/organisations/vat//obligations",
        "/organisations/vat/123456789",
        "/organisations/vat/123456789/obligations/x",
        "\ud800",
    ],
)
def test_other_paths_are_not_found(path: str) -> None:
    assert refused(answer(path, headers=versioned(1))) == (404, "MATCHING_RESOURCE_NOT_FOUND")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "get", ""])
def test_other_methods_are_refused(method: str) -> None:
    for path in (*SUBTREE, "/organisations/vat/123456789/obligations"):
        assert refused(answer(path, method=method, headers=versioned(1))) == (405, "METHOD_NOT_ALLOWED")
    returns = answer("/organisations/vat/123456789/returns", headers=versioned(1))
    assert refused(returns) == (405, "METHOD_NOT_ALLOWED")


# -- who is asked about


def test_the_taxpayer_follows_from_the_organization_and_the_entity() -> None:
    def figures(query: str = "", org_id: str = "org_one") -> bytes:
        return answer("/tax/vat/getVatReturn", f"periodKey=18A1{query}", org_id=org_id).body

    assert figures() == figures()
    asked = [figures(), figures(org_id="org_two"), figures("&legalEntityId=ent_1"), figures("&legalEntityId=ent_2")]
    assert len(set(asked)) == len(asked)
    assert figures(f"&vrn={VRN}", "org_two") == figures(f"&vrn={VRN}&legalEntityId=ent_1", "org_one")


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30), st.text("abcdefghijklmnopqrstuvwxyz0123456789_", max_size=30))
def test_derived_taxpayers_are_sound(org_id: str, entity: str) -> None:
    for path in ("/tax/vat/getObligations", "/tax/itsaObligations/list", "/tax/selfAssessment/listTaxYears"):
        query = f"{SOUND[path]}&legalEntityId={entity}"
        assert answer(path, query, org_id=org_id).status == 200


# -- sameness


@pytest.mark.parametrize("path", SUBTREE)
def test_two_sandboxes_answer_alike(path: str) -> None:
    asked = request(path, SOUND[path], SCENARIOS.get(path))
    assert Sandbox().answer(asked) == Sandbox().answer(asked)


def test_correlation_ids_tell_requests_apart() -> None:
    path, query = "/tax/itsaStatus/get", "taxYear=2026-27"
    given = [
        answer(path, query),
        answer(path, query, now=NOW + 1),
        answer(path, query, org_id="org_two"),
        answer(path, query, "STATEFUL"),
        answer(path, "taxYear=2025-26"),
        answer(path, "taxYear=x"),
    ]
    ids = [one.headers["X-CorrelationId"] for one in given]
    assert len(set(ids)) == len(ids)
    accepted_id = shape({"id": UUID})
    for one in ids:
        assert re.fullmatch(accepted_id["properties"]["id"]["pattern"], one)


def test_the_microsecond_changes_nothing_but_the_day_does() -> None:
    path = "/tax/itsaObligations/list"
    assert answer(path, now=NOW).body == answer(path, now=NOW + 1).body
    assert answer(path, now=NOW).body != answer(path, now=NOW + 90 * DAY).body


def test_scenarios_are_read_without_regard_to_the_case_of_the_name_and_an_empty_one_is_none() -> None:
    path = "/tax/vat/getObligations"
    plain = answer(path, "status=O").body
    assert answer(path, "status=O", headers={"GOV-TEST-SCENARIO": " \t"}).body == plain
    assert answer(path, "status=O", headers={"gov-test-scenario": "QUARTERLY_NONE_MET "}).body != plain
    lower = answer(path, "status=O", "quarterly_none_met")
    assert refused(lower) == (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")


def test_of_a_repeated_parameter_the_first_counts() -> None:
    rows = accepted(answer("/tax/vat/getObligations", "status=O&status=X"), VAT_OBLIGATIONS)["obligations"]
    assert {row["status"] for row in rows} == {"O"}
    many = "&".join(["status=O"] * 1000)
    assert refused(answer("/tax/vat/getObligations", many)) == (400, "INVALID_DATE_FROM")


# -- nothing raises

SCENARIO_WORDS = ["", "DYNAMIC", "NOT_FOUND", "OPEN", "STATEFUL", "MULTIPLE", "CUMULATIVE", "INSOLVENT_TRADER", "x\x00"]
SURROGATES = st.text(st.characters(), max_size=20) | st.just("\ud800\udfff")
SEGMENTS = (
    st.sampled_from([VRN, NINO, "2025-26", "2999-00", "%23001", "%FF", "..", "list", "XBIS12345678901"]) | SURROGATES
)
PATHS = (
    st.sampled_from(sorted(SUBTREE))
    | st.builds(
        lambda endpoint, segment: re.sub(r"\{\w+\}", lambda _: segment, endpoint.path),
        st.sampled_from(ENDPOINTS),
        SEGMENTS,
    )
    | SURROGATES
)
NAMES = ["from", "to", "fromDate", "toDate", "status", "typeOfBusiness", "kind", *VALUES]
QUERY_VALUES = st.sampled_from(
    [
        *VALUES.values(),
        *("2999-00", "2000-01", "9999-12-31", "0001-01-01", "2026-04-06", "2026-06-30", "%ED%A0%80", "+"),
        *("open", "O", "final_declaration", "uk-property"),
    ]
)
QUERIES = st.lists(st.tuples(st.sampled_from(NAMES), QUERY_VALUES), max_size=8).map(
    lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)
)
BODIES = st.binary(max_size=60) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["periodKey", "vatDueSales", "finalised"]), inner, max_size=3)
    ),
    max_leaves=6,
).map(lambda value: json.dumps(value).encode("utf-8"))


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(["GET", "GET", "POST", "\ud800"]),
    PATHS,
    QUERIES | SURROGATES,
    st.sampled_from(SCENARIO_WORDS) | SURROGATES,
    st.integers(1, 9),
    BODIES,
)
def test_whatever_comes_is_answered(
    method: str, path: str, query: str, scenario: str, version: int, body: bytes
) -> None:
    headers = versioned(version, scenario)
    asked = SandboxRequest(method=method, path=path, query=query, headers=headers, body=body, org_id="\ud800", now=NOW)
    given = Sandbox().answer(asked)
    assert 200 <= given.status < 500
    assert isinstance(json.loads(given.body), dict)
    assert Sandbox().answer(asked) == given
