"""The sandbox authority as a whole: its endpoints, who is asked about, sameness, and that nothing raises."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.clock import DAY, Instant
from gatewayd.http1.request import Request
from gatewayd.sandbox_authority.authority import ENDPOINTS, Endpoint
from tests.sandbox_authority.asking import NINO, NOW, VRN, accepted, answer, document, refused, request, tell, versioned
from tests.sandbox_authority.schemas import UUID, VAT_OBLIGATIONS, shape

ID = "f2fb30e5-4ab6-4a29-b3c1-c7264259ff1c"
VALUES = {"vrn": VRN, "nino": NINO, "periodKey": "%23001", "taxYear": "2025-26", "calculationId": ID}
VALUES |= {"businessId": "XBIS12345678901"}
OBLIGATIONS = f"/organisations/vat/{VRN}/obligations"
STATUS = f"/individuals/person/itsa-status/{NINO}/2026-27"
ITSA_OBLIGATIONS = f"/obligations/details/{NINO}/income-and-expenditure"
each = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)


def path_of(template: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: VALUES[found[1]], template)


# -- paths


@each
def test_every_endpoint_wants_its_version(endpoint: Endpoint) -> None:
    path, version = path_of(endpoint.path), int(endpoint.version)

    def asked(headers: list[tuple[bytes, bytes]]) -> tuple[int, str]:
        given = tell(Request("GET", path, headers))
        return (200, "") if given.status == 200 else refused(given)

    assert asked(versioned(version)) not in ((404, "NOT_FOUND"), (406, "ACCEPT_HEADER_INVALID"), (405, ""))
    assert asked(versioned(version + 1)) == (404, "NOT_FOUND")
    for accept in (b"application/json", b"*/*", b"", b"application/vnd.hmrc.1.0+xml"):
        assert asked([(b"accept", accept)]) == (406, "ACCEPT_HEADER_INVALID")
    assert asked([]) == (406, "ACCEPT_HEADER_INVALID")


@each
def test_answers_are_json_with_a_correlation_id(endpoint: Endpoint) -> None:
    headers = dict(tell(Request("GET", path_of(endpoint.path), versioned(int(endpoint.version)))).headers)
    assert headers.keys() == {b"Content-Type", b"X-CorrelationId"}
    assert headers[b"Content-Type"] == b"application/json"


def test_what_stands_in_the_path_goes_before_the_query() -> None:
    path = f"/organisations/vat/{VRN}/returns/18A1"
    given = tell(Request("GET", f"{path}?periodKey=18A2&vrn=1", versioned(1)))
    assert document(given)["periodKey"] == "18A1"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "//",
        "/tax",
        "/tax/vat/getObligations",
        "/organisations/vat/../vat",
        f"{OBLIGATIONS}/",
        OBLIGATIONS.upper(),
        "/organisations/vat//obligations",
        "/organisations/vat/123456789",
        "/organisations/vat/123456789/returns",
        "/organisations/vat/123456789/obligations/x",
        "\xff",
    ],
)
def test_other_paths_are_not_found(path: str) -> None:
    assert refused(tell(Request("GET", path, versioned(1)))) == (404, "MATCHING_RESOURCE_NOT_FOUND")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "get", ""])
@each
def test_other_methods_are_refused(endpoint: Endpoint, method: str) -> None:
    asked = Request(method, path_of(endpoint.path), versioned(int(endpoint.version)))
    assert refused(tell(asked)) == (405, "METHOD_NOT_ALLOWED")


# -- sameness


@each
def test_two_sandboxes_answer_alike(endpoint: Endpoint) -> None:
    asked = Request("GET", path_of(endpoint.path), versioned(int(endpoint.version)))
    assert tell(asked) == tell(asked)


def test_correlation_ids_tell_requests_apart() -> None:
    given = [
        answer(STATUS),
        answer(STATUS, now=Instant(NOW + 1)),
        answer(STATUS, scenario="STATEFUL"),
        answer(STATUS, "history=true"),
        answer(STATUS.replace("2026-27", "2025-26")),
        answer(STATUS.replace("2026-27", "x")),
    ]
    ids = [dict(one.headers)[b"X-CorrelationId"].decode() for one in given]
    assert len(set(ids)) == len(ids)
    accepted_id = shape({"id": UUID})
    for one in ids:
        assert re.fullmatch(accepted_id["properties"]["id"]["pattern"], one)


def test_the_microsecond_changes_nothing_but_the_day_does() -> None:
    assert answer(ITSA_OBLIGATIONS).body == answer(ITSA_OBLIGATIONS, now=Instant(NOW + 1)).body
    assert answer(ITSA_OBLIGATIONS).body != answer(ITSA_OBLIGATIONS, now=Instant(NOW + 90 * DAY)).body


def test_scenarios_are_read_without_regard_to_the_case_of_the_name_and_an_empty_one_is_none() -> None:
    def with_header(name: bytes, value: bytes) -> bytes:
        return answer(OBLIGATIONS, "status=O", headers=[*versioned(1), (name, value)]).body

    plain = answer(OBLIGATIONS, "status=O").body
    assert with_header(b"GOV-TEST-SCENARIO", b" \t") == plain
    assert with_header(b"gov-test-scenario", b"QUARTERLY_NONE_MET ") != plain
    lower = answer(OBLIGATIONS, "status=O", "quarterly_none_met")
    assert refused(lower) == (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")


def test_of_a_repeated_parameter_the_first_counts() -> None:
    twice = tell(request(f"{OBLIGATIONS}?status=O&status=X"))
    rows = accepted(twice, VAT_OBLIGATIONS)["obligations"]
    assert {row["status"] for row in rows} == {"O"}
    many = tell(request(f"{OBLIGATIONS}?{'&'.join(['status=O'] * 1000)}"))
    assert refused(many) == (400, "INVALID_DATE_FROM")


# -- nothing raises

SCENARIO_WORDS = ["", "DYNAMIC", "NOT_FOUND", "OPEN", "STATEFUL", "MULTIPLE", "CUMULATIVE", "INSOLVENT_TRADER", "x\x00"]
ANY_BYTES = st.binary(max_size=20).map(lambda raw: raw.decode("latin-1"))
"""What may stand on a request line, whether it belongs there or not."""
SEGMENTS = (
    st.sampled_from([VRN, NINO, "2025-26", "2999-00", "%23001", "%FF", "..", "list", "XBIS12345678901"]) | ANY_BYTES
)
PATHS = (
    st.builds(
        lambda endpoint, segment: re.sub(r"\{\w+\}", lambda _: segment, endpoint.path),
        st.sampled_from(ENDPOINTS),
        SEGMENTS,
    )
    | st.sampled_from([path_of(endpoint.path) for endpoint in ENDPOINTS])
    | ANY_BYTES
)
NAMES = ["from", "to", "fromDate", "toDate", "status", "typeOfBusiness", *VALUES]
QUERY_VALUES = st.sampled_from(
    [
        *VALUES.values(),
        *("2999-00", "2000-01", "9999-12-31", "0001-01-01", "2026-04-06", "2026-06-30", "%ED%A0%80", "+"),
        *("open", "O", "uk-property"),
    ]
)
QUERIES = st.lists(st.tuples(st.sampled_from(NAMES), QUERY_VALUES), max_size=8).map(
    lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)
)


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(["GET", "GET", "POST", "\ud800"]),
    PATHS,
    QUERIES | ANY_BYTES,
    st.sampled_from(SCENARIO_WORDS).map(str.encode) | st.binary(max_size=20),
    st.integers(1, 9),
    st.binary(max_size=60),
)
def test_whatever_comes_is_answered(
    method: str, path: str, query: str, scenario: bytes, version: int, body: bytes
) -> None:
    headers = [*versioned(version), (b"gov-test-scenario", scenario)]
    asked = Request(method, f"{path}?{query}", headers, body)
    given = tell(asked)
    assert 200 <= given.status < 500
    assert isinstance(json.loads(given.body), dict)
    assert tell(asked) == given
