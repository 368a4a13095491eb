"""Which header fields pass: every rule of the tables, hundreds of random names, and what the wire really carries."""

import random
import string

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.errors import Problem
from gatewayd.tax.authority.headers import (
    FROM_PAGES,
    REQUEST,
    REQUEST_PREFIXES,
    RESPONSE,
    RESPONSE_PREFIXES,
    TO_PAGES,
    OwnFields,
    Rule,
    request_fields,
    response_fields,
)
from tests.tax.conftest import HEADERS, OpenTax, with_header
from tests.tax.recording import answer, saying, upstream

SECONDS = 60.0
OURS = OwnFields(accept="application/vnd.hmrc.1.0+json", bearer="granted", request_id="req_1", user_agent="gatewayd/1")
OUR_FIELDS = [
    (b"Accept", b"application/vnd.hmrc.1.0+json"),
    (b"User-Agent", b"gatewayd/1"),
    (b"X-Request-Id", b"req_1"),
    (b"Authorization", b"Bearer granted"),
]
PLAIN = [*OUR_FIELDS, (b"Accept-Encoding", b"identity")]
TOKEN = string.ascii_lowercase + string.digits + "!#$%&'*+-.^_`|~"


def names(table: dict[bytes, Rule], prefixes: dict[bytes, Rule], *rules: Rule) -> list[bytes]:
    """Every name of the tables with one of these rules; for a prefix, a name that begins with it."""
    return [n for n, rule in table.items() if rule in rules] + [
        p + b"x" for p, rule in prefixes.items() if rule in rules
    ]


REQUEST_STRIPPED = names(dict(REQUEST), dict(REQUEST_PREFIXES), Rule.STRIP, Rule.SET)
RESPONSE_PASSED = names(dict(RESPONSE), {}, Rule.PASS)
RESPONSE_STRIPPED = names(dict(RESPONSE), dict(RESPONSE_PREFIXES), Rule.STRIP, Rule.SET)

# Domain model §D3, line by line: what stands there must be in the tables.
D3_REQUEST = (
    b"authorization accept x-request-id cookie host connection te trailer upgrade proxy-authorization proxy-connection"
    b" forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip idempotency-key expect if-none-match"
    b" if-match if-modified-since if-range"
).split()
D3_RESPONSE = (
    b"set-cookie server connection keep-alive transfer-encoding upgrade te trailer proxy-authenticate"
    b" access-control-allow-origin access-control-allow-credentials strict-transport-security"
).split()
D3_RESPONSE_PASSED = b"content-type x-correlationid deprecation sunset link retry-after".split()


@pytest.mark.parametrize("name", dict.fromkeys([*REQUEST_STRIPPED, *D3_REQUEST]))
def test_a_request_field_is_stripped_or_ours(name: bytes) -> None:
    for spelt in (name, name.upper(), name.title()):
        assert request_fields([(spelt, b"secret")], OURS, sandbox=True) == PLAIN


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (b"gov-client-device-id", b"Gov-Client-Device-ID"),
        (b"gov-client-browser-js-user-agent", b"Gov-Client-Browser-JS-User-Agent"),
        (b"gov-client-mac-addresses", b"Gov-Client-MAC-Addresses"),
        (b"gov-vendor-license-ids", b"Gov-Vendor-License-IDs"),
        (b"gov-client-something-new", b"Gov-Client-Something-New"),
        (b"gov-vendor-something-new", b"Gov-Vendor-Something-New"),
    ],
)
def test_a_fraud_prevention_field_passes_with_its_value(name: bytes, written: bytes) -> None:
    value = b"a=%C3%A9&b=  \t\xff,;"
    assert request_fields([(name, value), (name, b"")], OURS, sandbox=False) == [
        *OUR_FIELDS,
        (written, value),
        (written, b""),
        (b"Accept-Encoding", b"identity"),
    ]


def test_what_codings_the_caller_understands_passes() -> None:
    assert request_fields([(b"accept-encoding", b"gzip")], OURS, sandbox=False) == [
        *OUR_FIELDS,
        (b"Accept-Encoding", b"gzip"),
    ]


def test_without_a_grant_there_is_no_authorization() -> None:
    fields = request_fields([(b"authorization", b"Bearer callers")], OURS._replace(bearer=None), sandbox=False)
    assert b"Authorization" not in [name for name, _ in fields]


def test_a_test_scenario_is_for_the_sandbox() -> None:
    asked = [(b"gov-test-scenario", b"DYNAMIC")]
    assert (b"Gov-Test-Scenario", b"DYNAMIC") in request_fields(asked, OURS, sandbox=True)
    with pytest.raises(Problem) as caught:
        request_fields(asked, OURS, sandbox=False)
    assert caught.value.code == "test_header_in_production"


def test_what_connection_names_ends_here() -> None:
    fields = [(b"connection", b"close, Gov-Client-Device-ID"), (b"gov-client-device-id", b"x")]
    assert request_fields(fields, OURS, sandbox=False) == PLAIN
    answered = [(b"Connection", b"Link"), (b"Link", b"x"), (b"Sunset", b"y")]
    assert response_fields(answered, "hmrc") == [(b"sunset", b"y"), (b"x-tax-upstream", b"hmrc")]


@pytest.mark.parametrize("name", dict.fromkeys([*RESPONSE_PASSED, *D3_RESPONSE_PASSED]))
def test_an_answers_field_passes(name: bytes) -> None:
    for spelt in (name, name.upper(), name.title()):
        assert response_fields([(spelt, b"\xe9 ,x")], "hmrc") == [(name, b"\xe9 ,x"), (b"x-tax-upstream", b"hmrc")]


@pytest.mark.parametrize("name", dict.fromkeys([*RESPONSE_STRIPPED, *D3_RESPONSE]))
def test_an_answers_field_is_stripped(name: bytes) -> None:
    for spelt in (name, name.upper(), name.title()):
        assert response_fields([(spelt, b"x")], "hmrc") == [(b"x-tax-upstream", b"hmrc")]


@settings(max_examples=500, deadline=None)
@given(st.text(TOKEN, min_size=1, max_size=40), st.binary(max_size=40))
def test_an_unknown_field_passes_in_neither_direction(name: str, value: bytes) -> None:
    field = (name.encode(), value)
    if not name.startswith(("gov-client-", "gov-vendor-")) and field[0] not in {
        b"accept-encoding",
        b"gov-test-scenario",
    }:
        assert request_fields([field], OURS, sandbox=True) == PLAIN
    if field[0] not in RESPONSE_PASSED:
        assert response_fields([field], "hmrc") == [(b"x-tax-upstream", b"hmrc")]


# -- on the wire


def random_fields(generator: random.Random) -> list[tuple[bytes, bytes]]:
    """Many fields, none of which may pass, each with a mark that can be looked for."""
    fields = [(name, b"leaked") for name in REQUEST_STRIPPED if name not in UNSENDABLE]
    for _ in range(300):
        name = "".join(generator.choices(TOKEN, k=generator.randint(1, 20)))
        fields.append((name.encode(), b"leaked"))
    generator.shuffle(fields)
    return [field for field in fields if field[0] not in UNSENDABLE]


UNSENDABLE = {
    b"authorization",
    b"accept",
    b"content-length",
    b"transfer-encoding",
    b"host",
    b"dpop",
    b"idempotency-key",
}
"""What the door itself has an opinion of; the caller's token is looked for in its own right."""


@pytest.mark.parametrize("seed", range(3))
async def test_of_hundreds_of_fields_only_the_named_ones_arrive(open_tax: OpenTax, seed: int) -> None:
    generator = random.Random(seed)
    extra = [(b"gov-client-x%d" % number, generator.randbytes(8).hex().encode()) for number in range(50)]
    sent = [*HEADERS, *random_fields(generator), *extra]
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            reply = await tax.get(headers=[*sent, (b"cookie", b"leaked")])
    assert reply.status == 200, reply.body
    request = server.request
    assert b"leaked" not in request.raw
    assert b"Bearer" not in request.raw
    arrived = {name.lower(): value for name, value in request.fields}
    assert {name: value for name, value in arrived.items() if name.startswith(b"gov-")} == dict([*HEADERS, *extra])
    assert arrived.keys() - dict([*HEADERS, *extra]).keys() == {
        *(b"host", b"accept", b"user-agent", b"x-request-id", b"accept-encoding"),
    }
    assert request.values("accept") == [b"application/vnd.hmrc.1.0+json"]
    assert request.values("x-request-id") == [reply["x-request-id"].encode()]
    assert request.values("host") == [server.url.removeprefix("http://").encode()]
    assert request.values("user-agent") == [b"gatewayd/test"]


async def test_names_are_written_as_the_authority_writes_them(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            await tax.get()
    sent = [name for name, _ in server.request.fields if name.lower().startswith(b"gov-")]
    assert b"Gov-Client-Browser-JS-User-Agent" in sent
    assert all(name.startswith((b"Gov-Client-", b"Gov-Vendor-")) for name in sent)


async def test_what_the_upstream_says_beside_its_answer_stays_here(open_tax: OpenTax) -> None:
    passed = {name: b"p%d" % number for number, name in enumerate(RESPONSE_PASSED)}
    hidden = [
        name for name in RESPONSE_STRIPPED if name not in {b"content-length", b"transfer-encoding", b"connection"}
    ]
    lines = (
        [(name, b"leaked") for name in hidden] + list(passed.items()) + [(b"x-%d" % n, b"leaked") for n in range(80)]
    )
    random.Random(0).shuffle(lines)
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(fields=b"".join(b"%b: %b\r\n" % line for line in lines)))
            reply = await tax.get()
    assert reply.status == 200
    assert b"leaked" not in b"".join(value for _, value in reply.headers)
    assert {name: value for name, value in reply.headers if name in passed} == passed
    assert reply["cache-control"] == "no-store"


@pytest.mark.parametrize("mode", ["warn", "off"])
async def test_missing_fraud_headers_may_be_let_through(open_tax: OpenTax, mode: str) -> None:
    """Warned of by name and code, never by value."""
    headers = with_header(b"gov-client-device-id", b"secret-device", of=with_header(b"gov-client-timezone"))
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url, fraud_headers=mode) as tax:
            assert (await tax.get(headers=headers)).status == 200
    assert server.request.values("gov-client-device-id") == [b"secret-device"]
    assert tax.log.events == (["fraud_headers_invalid"] if mode == "warn" else [])
    assert "secret-device" not in repr(tax.log.warnings)
    if mode == "warn":
        assert tax.log.warnings[0][1]["faults"] == [
            "Gov-Client-Device-ID: invalid_format",
            "Gov-Client-Timezone: required",
        ]


def test_pages_may_send_what_passes_and_read_what_comes_back() -> None:
    assert set(FROM_PAGES) == {b"gov-client-", b"gov-vendor-", b"gov-test-scenario"}
    assert {b"x-tax-upstream", b"x-correlationid", b"deprecation", b"sunset"} <= set(TO_PAGES)
    assert not {b"set-cookie", b"server"} & set(TO_PAGES)
