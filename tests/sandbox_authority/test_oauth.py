"""The sandbox authority lets programs in: codes, tokens, and what it says to those who have none."""

import json
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.clock import HOUR, MINUTE, Instant, SettableClock
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.sandbox_authority.authority import ENDPOINTS, Endpoint, SandboxAuthority
from gatewayd.sandbox_authority.oauth import AUTHORIZE, OUT_OF_BAND, TOKEN
from tests.sandbox_authority.asking import NOW, VRN, refused, versioned

BACK = "https://books.example/connected"
ASKED = {"response_type": "code", "client_id": "app", "scope": "read:vat", "redirect_uri": BACK, "state": "s t"}
PROGRAM = {"client_id": "app", "client_secret": "s3cret"}
OBLIGATIONS = f"/organisations/vat/{VRN}/obligations?status=O"


def tell(request: Request, later: int = 0) -> Response:
    return SandboxAuthority(SettableClock(Instant(NOW + later)), wants_tokens=True).answer(request)


def authorize(**changes: str) -> Response:
    return tell(Request("GET", f"{AUTHORIZE}?{urlencode({**ASKED, **changes})}", []))


def code_for(**changes: str) -> str:
    sent_to = dict(authorize(**changes).headers)[b"Location"].decode()
    return parse_qs(urlsplit(sent_to).query)["code"][0]


def token(form: dict[str, str], later: int = 0) -> Response:
    return tell(Request("POST", TOKEN, [], urlencode(form).encode()), later)


def redeem(code: str, later: int = 0, **changes: str) -> Response:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, **PROGRAM}
    return token({**form, **changes}, later)


def refresh(refresh_token: str, later: int = 0, **changes: str) -> Response:
    return token({"grant_type": "refresh_token", "refresh_token": refresh_token, **PROGRAM, **changes}, later)


def granted(given: Response) -> dict[str, str]:
    document: dict[str, str] = json.loads(given.body)
    assert given.status == 200, document
    assert dict(given.headers)[b"Cache-Control"] == b"no-store"
    return document


def refusal(given: Response) -> tuple[int, str]:
    """Status and code, in the shape of OAuth."""
    document = json.loads(given.body)
    assert document.keys() == {"error", "error_description"}
    return given.status, document["error"]


def ask(authorization: str | None, later: int = 0) -> Response:
    headers = versioned(1)
    if authorization is not None:
        headers.append((b"authorization", authorization.encode()))
    return tell(Request("GET", OBLIGATIONS, headers), later)


# -- a code


def test_who_comes_is_sent_back_with_a_code_and_their_state() -> None:
    given = authorize()
    assert given.status == 302
    address = urlsplit(dict(given.headers)[b"Location"].decode())
    assert f"{address.scheme}://{address.netloc}{address.path}" == BACK
    assert parse_qs(address.query).keys() == {"code", "state"}
    assert parse_qs(address.query)["state"] == ["s t"]


def test_a_redirect_uri_keeps_its_own_parameters() -> None:
    location = dict(authorize(redirect_uri=f"{BACK}?a=b").headers)[b"Location"].decode()
    assert location.startswith(f"{BACK}?a=b&code=")


def test_out_of_band_the_code_is_shown() -> None:
    given = authorize(redirect_uri=OUT_OF_BAND)
    assert given.status == 200
    assert granted(redeem(given.body.decode().strip(), redirect_uri=OUT_OF_BAND))["scope"] == "read:vat"


@pytest.mark.parametrize("name", ["response_type", "client_id", "redirect_uri"])
def test_what_is_needed_for_a_code(name: str) -> None:
    query = urlencode({key: value for key, value in ASKED.items() if key != name})
    given = tell(Request("GET", f"{AUTHORIZE}?{query}", []))
    assert refusal(given) == (400, "invalid_request")
    assert json.loads(given.body)["error_description"] == f"{name} is required"


@pytest.mark.parametrize("address", ["", "books.example", "javascript:alert(1)", f"{BACK}#x", f"{BACK}\r\nX: y"])
def test_a_redirect_uri_that_is_none(address: str) -> None:
    assert refusal(authorize(redirect_uri=address)) == (400, "invalid_request")


def test_only_codes_are_given() -> None:
    assert refusal(authorize(response_type="token")) == (400, "unsupported_response_type")


# -- tokens


def test_a_code_is_redeemed_for_tokens_that_open_the_authority() -> None:
    tokens = granted(redeem(code_for()))
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("bearer", 14_400, "read:vat")
    assert ask(f"Bearer {tokens['access_token']}").status == 200


def test_a_code_lasts_ten_minutes() -> None:
    code = code_for()
    assert redeem(code, later=10 * MINUTE - 1).status == 200
    assert refusal(redeem(code, later=10 * MINUTE)) == (400, "invalid_grant")


@pytest.mark.parametrize("changes", [{"redirect_uri": f"{BACK}/x"}, {"client_id": "other"}])
def test_a_code_is_for_one_program_at_one_address(changes: dict[str, str]) -> None:
    assert refusal(redeem(code_for(), **changes)) == (400, "invalid_grant")
    assert refusal(redeem("made-up")) == (400, "invalid_grant")


def test_an_access_token_lasts_four_hours_and_is_renewed() -> None:
    tokens = granted(redeem(code_for()))
    assert ask(f"Bearer {tokens['access_token']}", later=4 * HOUR - 1).status == 200
    ended = ask(f"Bearer {tokens['access_token']}", later=4 * HOUR)
    assert refused(ended) == (401, "INVALID_CREDENTIALS")
    renewed = granted(refresh(tokens["refresh_token"], later=4 * HOUR))
    assert renewed["access_token"] != tokens["access_token"]
    assert renewed["scope"] == "read:vat"
    assert ask(f"Bearer {renewed['access_token']}", later=4 * HOUR).status == 200


def test_a_refresh_token_is_no_code_and_opens_nothing_itself() -> None:
    tokens = granted(redeem(code_for()))
    assert refusal(redeem(tokens["refresh_token"])) == (400, "invalid_grant")
    assert refusal(refresh(tokens["access_token"])) == (400, "invalid_grant")
    assert refusal(refresh(code_for())) == (400, "invalid_grant")
    assert refused(ask(f"Bearer {tokens['refresh_token']}")) == (401, "INVALID_CREDENTIALS")


def test_a_program_says_who_it_is() -> None:
    assert refusal(redeem(code_for(), client_secret="")) == (401, "invalid_client")
    assert refusal(refresh("x", client_secret="")) == (401, "invalid_client")
    assert refusal(refresh("x", client_id="")) == (400, "invalid_request")


def test_a_program_has_a_token_of_its_own() -> None:
    """RFC 6749 §4.4.3: without a refresh token."""
    given = token({"grant_type": "client_credentials", **PROGRAM})
    document = json.loads(given.body)
    assert (given.status, document.keys()) == (200, {"access_token", "token_type", "expires_in", "scope"})
    assert refusal(token({"grant_type": "client_credentials", "client_id": "app"})) == (401, "invalid_client")


@pytest.mark.parametrize("grant_type", ["password", "implicit", ""])
def test_other_grants_are_not_known(grant_type: str) -> None:
    assert refusal(token({"grant_type": grant_type, **PROGRAM}))[0] == 400


def test_the_endpoints_have_one_method_each() -> None:
    assert refusal(tell(Request("POST", AUTHORIZE, [])))[0] == 405
    assert refusal(tell(Request("GET", TOKEN, [])))[0] == 405


# -- at the authority


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer ", "Basic YTpi", "sometoken"])
def test_nobody_is_answered_without_a_token(authorization: str | None) -> None:
    assert refused(ask(authorization)) == (401, "MISSING_CREDENTIALS")


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_every_endpoint_asks_for_one(endpoint: Endpoint) -> None:
    assert refused(tell(Request("GET", endpoint.path, versioned(1)))) == (401, "MISSING_CREDENTIALS")


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_a_programs_own_token_opens_nobodys_taxes(endpoint: Endpoint) -> None:
    """HMRC reference guide: 401 where an application's token is sent to what a user has to grant."""
    own = granted(token({"grant_type": "client_credentials", **PROGRAM}))["access_token"]
    headers = [*versioned(int(endpoint.version)), (b"authorization", f"Bearer {own}".encode())]
    response = tell(Request("GET", endpoint.path, headers))
    if endpoint.path.startswith("/test/"):
        assert response.status == 200
        assert refused(tell(Request("GET", endpoint.path, headers), 4 * HOUR)) == (401, "INVALID_CREDENTIALS")
    else:
        assert refused(response) == (401, "INCORRECT_ACCESS_TOKEN_TYPE")


def test_a_token_of_somebody_elses_is_taken() -> None:
    assert ask("bearer 3d5f").status == 200


def test_without_tokens_there_is_no_token_endpoint() -> None:
    """As it stands in a daemon's own process."""
    given = SandboxAuthority(SettableClock(NOW)).answer(Request("POST", TOKEN, []))
    assert refused(given) == (404, "MATCHING_RESOURCE_NOT_FOUND")


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["GET", "POST"]),
    st.sampled_from([AUTHORIZE, TOKEN, OBLIGATIONS]),
    st.binary(max_size=40).map(lambda raw: raw.decode("latin-1")),
    st.binary(max_size=80),
    st.binary(max_size=40),
)
def test_whatever_comes_is_answered(method: str, path: str, query: str, body: bytes, bearer: bytes) -> None:
    headers = [*versioned(1), (b"authorization", b"Bearer " + bearer)]
    status = tell(Request(method, f"{path}?{query}", headers, body)).status
    assert 200 <= status < 500
