"""The tax subtree through the real door: who may ask, what arrives at the service, and what comes back."""

import gzip
import json
import random
import string
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from gatewayd.contract.operation import Operation
from gatewayd.tax import AREA
from tests.daemon.conftest import Shared
from tests.daemon.hooks import make_authority
from tests.daemon.instance import Instance, serving
from tests.daemon.tax_upstream import Fields, Reply, Service, approved_key, ask, decide, tax_settings, taxing
from tests.daemon.test_sign_in_of_programs import connect, register
from tests.tax.conftest import HEADERS
from tests.tax.recording import answer

OBLIGATIONS = "/api/rpc/tax/vat/getObligations"
PAGE = "https://app.example.com"
CHALLENGE = 'Bearer error="insufficient_scope"'
CLOSED = [(403, True)] * 10
OPEN = [(200, False)] * 10
TOKEN = string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~"


@dataclass
class House(Shared):
    """A daemon in mode `forward`, the service behind it, and a key that is approved."""

    service: Service
    key: str

    def get(self, path: str = OBLIGATIONS, fields: Fields | None = None, key: str | None = None) -> Reply:
        return ask(self.running, key or self.key, path, fields)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    directory = tmp_path_factory.mktemp("forward")
    authority, ca_file = make_authority(directory)
    with taxing(authority) as service:
        server = f'cors_origins = ["{PAGE}"]\n'
        instance = Instance(directory, tax_settings("forward", service, ca_file), extra_server=server)
        firm = instance.firm()
        with serving(instance) as running:
            house = House(instance, running, firm, service, approved_key(instance, firm.org_id, firm.user_id))
            yield house
            house.get()  # whichever of the tests ran here, its log has one
            assert running.end() == 0
        log = running.log.read_text()
    assert "vat.getObligations" in log
    for secret in (firm.key, *(value.decode() for _, value in HEADERS if len(value) > 9)):
        assert secret not in log


@pytest.fixture(autouse=True)
def good_again(house: House) -> None:
    """Each test begins with a service that answers, and a clean sheet."""
    house.service.say(answer(b"{}"))
    house.service.requests.clear()


# -- who may ask


def statuses(house: House, token: str) -> list[tuple[int, bool]]:
    """What each of the ten answers, and whether it says which scope is missing."""
    found = []
    for operation in AREA.operations:
        reply = house.get(f"/api/rpc{operation.path}?{urlencode(operation.example)}", key=token)
        (challenge,) = reply.values("www-authenticate") or [""]
        told = challenge.startswith(CHALLENGE) and 'scope="tax:read"' in challenge
        assert not told or reply.code == "insufficient_scope"
        found.append((reply.status, told))
    return found


def test_approval_opens_and_closes_all_ten_while_the_daemon_runs(house: House) -> None:
    """For a key that chose the scope, a key that opens everything else, and a program that a person let in."""
    firm, client_id = house.firm, register(house)
    scoped = house.instance.key(firm.org_id, firm.user_id, ["tax:read"])
    subjects = [("--key", scoped.id), ("--key", firm.key_id), ("--client", client_id)]

    assert statuses(house, scoped.key) == statuses(house, firm.key) == CLOSED
    decide(house.instance, "approve", subjects)
    program = connect(house, client_id, "openid tax:read")["access_token"]  # a person is not asked for it before
    tokens = [scoped.key, firm.key, program]
    assert [statuses(house, token) for token in tokens] == [OPEN] * 3
    asked = len(house.service.requests)
    decide(house.instance, "refuse", subjects)
    assert [statuses(house, token) for token in tokens] == [CLOSED] * 3
    assert len(house.service.requests) == asked == 30
    decide(house.instance, "approve", subjects)
    assert [house.get(key=token).status for token in tokens] == [200] * 3


# -- what arrives


def odd_case(generator: random.Random, name: str) -> bytes:
    return "".join(generator.choice((letter.lower(), letter.upper())) for letter in name).encode()


def random_name(generator: random.Random, start: str = "") -> str:
    return start + "".join(generator.choices(TOKEN, k=generator.randint(1, 12)))


def random_value(generator: random.Random, planted: bytes) -> bytes:
    """Anything that a value may hold (RFC 9110 §5.5), Latin-1 included, around a mark."""
    around = bytes(generator.choices([*range(0x20, 0x7F), *range(0x80, 0x100), 0x09], k=generator.randint(0, 12)))
    return (around + planted + around[::-1]).strip(b" \t")


# Domain model §D3, and what else a caller's program, or a proxy before us, may send.
STRIPPED = """
Cookie TE Trailer Proxy-Authorization Proxy-Connection Proxy-Anything Forwarded X-Forwarded-For X-Forwarded-Host
X-Forwarded-Proto X-Real-IP Idempotency-Key If-Match If-None-Match If-Modified-Since If-Range X-Request-Id User-Agent
Content-Type Referer Via Keep-Alive Authorization2 X-Api-Key Priority Link Sunset
"""
OURS = {b"host", b"accept", b"user-agent", b"x-request-id", b"accept-encoding"}


def passing(generator: random.Random) -> Fields:
    """Fields of the two families that pass, some of them several times and with nothing in them."""
    names = [random_name(generator, generator.choice(("gov-client-x", "gov-vendor-x"))) for _ in range(40)]
    names += generator.choices(names, k=15)
    return [(odd_case(generator, name), random_value(generator, b"")) for name in names]


@pytest.mark.parametrize("seed", range(4))
def test_of_hundreds_of_fields_those_of_the_table_arrive_as_they_are(house: House, seed: int) -> None:
    generator, token = random.Random(seed), house.key.encode()
    passed = [*HEADERS, *passing(generator)]
    hidden = [(odd_case(generator, name), random_value(generator, token)) for name in STRIPPED.split()]
    hidden += [field for field in hidden if field[0].lower().startswith((b"x-", b"proxy-", b"if-m", b"via"))]
    hidden += [
        (random_name(generator, "x").encode(), random_value(generator, generator.choice((b"leaked", token))))
        for _ in range(200)
    ]
    ended = [(b"Gov-Client-Hop", b"leaked"), (b"CONNECTION", b"gov-client-hop")]
    sent = [*passed, *hidden, *ended]
    generator.shuffle(sent)
    reply = house.get(fields=[*sent, (b"Accept", b"application/json;leaked=1")])
    assert reply.status == 200, reply.body
    (request,) = house.service.requests
    assert request.line == "GET /tax/vat/getObligations HTTP/1.1"
    assert token not in request.raw
    assert b"leaked" not in request.raw
    assert b"authorization" not in {name.lower() for name, _ in request.fields}
    families = {name.lower() for name, _ in passed}
    expected = [(name.lower(), value) for name, value in sent if name.lower() in families]
    arrived = [(name.lower(), value) for name, value in request.fields]
    assert [each for each in arrived if each[0].startswith(b"gov-")] == expected
    assert {name for name, _ in arrived if not name.startswith(b"gov-")} == OURS
    assert request.values("host") == [house.service.url.removeprefix("https://").encode()]
    assert request.values("x-request-id") == [value.encode() for value in reply.values("x-request-id")]


# -- what comes back


BODY = b'{"vatDueSales": 1000.10,\n "netVatDue" :1e2, "n":"\\u00e9"}\n'
PACKER = zlib.compressobj(wbits=-15)
BODIES = {  # status, fields, body
    "numbers": ("200 OK", b"Content-Type: application/json\r\n", BODY),
    "gzip": ("200 OK", b"Content-Encoding: gzip\r\n", gzip.compress(BODY)),
    "deflate": ("200 OK", b"Content-Encoding: deflate\r\n", PACKER.compress(BODY) + PACKER.flush()),
    "br, by its name alone": ("200 OK", b"Content-Encoding: br\r\n", b"\x1b\x00\xff"),
    "gzip, by its name alone": ("200 OK", b"Content-Encoding: x-gzip, gzip\r\n", b"plain"),
    "unknown charset": ("200 OK", b"Content-Type: application/json; charset=ebcdic-uk\r\n", b"\xc0\x7f\xff"),
    "no type": ("200 OK", b"", b"\x00\x01\x02"),
    "empty": ("200 OK", b"Content-Type: application/json\r\n", b""),
    "not found": ("404 Not Found", b"Content-Type: application/json\r\n", b'{"code":"MATCHING_RESOURCE_NOT_FOUND"}'),
    "legacy": ("400 Bad", b"Content-Type: application/json\r\n", b'{"statusCode":400,"message":"DATE_RANGE_INVALID"}'),
    "every byte": ("200 OK", b"Content-Type: application/octet-stream\r\n", bytes(range(256)) * 300),
}
BESIDE = b"X-CorrelationId: c-1\r\nDeprecation: @1\r\nSunset: never\r\nSet-Cookie: leaked\r\nServer: leaked\r\n"


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
def test_bytes_come_back_as_they_are(house: House, name: str, chunked: bool) -> None:
    status, fields, body = BODIES[name]
    whole = answer(body, status, BESIDE + fields)
    if chunked:
        middle = len(body) // 2
        parts = [b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:middle], body[middle:]) if part]
        head = b"HTTP/1.1 %b\r\n%bTransfer-Encoding: chunked\r\n\r\n" % (status.encode(), BESIDE + fields)
        whole = head + b"".join(parts) + b"0\r\nX-Trailer: leaked\r\n\r\n"
    house.service.say(whole)
    reply = house.get()
    assert (reply.status, reply.body) == (int(status[:3]), body)
    passed = {key.decode().lower(): value.decode() for key, value in map(_parted, fields.splitlines())}
    for key in ("content-type", "content-encoding"):
        assert reply.values(key) == ([passed[key]] if key in passed else [])
    assert [reply.values(key) for key in ("x-correlationid", "deprecation", "sunset")] == [["c-1"], ["@1"], ["never"]]
    assert (reply.values("x-tax-upstream"), reply.values("cache-control")) == (["hmrc"], ["no-store"])
    assert "leaked" not in repr(reply.fields)


def _parted(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b": ")
    return name, value


# -- what is recorded, and what pages may do


RECORD = "SELECT * FROM tax_calls WHERE org_id = :org_id AND request_id = :request_id"
COUNT = "SELECT count(*) FROM tax_calls WHERE org_id = :org_id"
COLUMNS = "operation, status, code, correlation_id"


@pytest.mark.parametrize("operation", AREA.operations, ids=lambda operation: operation.id)
def test_each_call_is_one_row_without_bodies(house: House, operation: Operation) -> None:
    org_id = house.firm.org_id
    before = house.instance.read(lambda tx: tx.value(COUNT), org_id)
    house.service.say(answer(b'{"planted-body": 1}', fields=b"X-CorrelationId: c-7\r\n"))
    reply = house.get(f"/api/rpc{operation.path}?{urlencode(operation.example)}")
    (request_id,) = reply.values("x-request-id")

    def read(select: str) -> list[tuple[object, ...]]:
        return house.instance.read(lambda tx: tx.rows(select, request_id=request_id), org_id)

    assert read(RECORD.replace("*", COLUMNS)) == [(operation.id, 200, None, "c-7")]
    ((*row,),) = read(RECORD)
    kept = repr(row)
    assert "planted-body" not in kept
    for _, value in HEADERS:
        assert value.decode() not in kept
    assert house.instance.read(lambda tx: tx.value(COUNT), org_id) == int(str(before)) + 1


def test_a_page_may_send_the_headers_and_read_the_answers(house: House) -> None:
    names = [name.decode() for name, _ in HEADERS]
    asked = {"Origin": PAGE, "Access-Control-Request-Method": "GET"}
    preflight = house.running.client.options(
        OBLIGATIONS, headers={**asked, "Access-Control-Request-Headers": ",".join(["authorization", *names])}
    )
    allowed = preflight.headers["access-control-allow-headers"].split(", ")
    assert {"authorization", "dpop", "gov-test-scenario", *names} <= set(allowed)
    reply = house.get(fields=[*HEADERS, (b"Origin", PAGE.encode())])
    (exposed,) = reply.values("access-control-expose-headers")
    assert {"x-tax-upstream", "x-correlationid", "deprecation", "sunset"} <= set(exposed.split(", "))


def test_what_the_caller_leaves_out_is_named(house: House) -> None:
    reply = house.get(fields=[each for each in HEADERS if each[0] != b"gov-client-timezone"])
    assert (reply.status, reply.code) == (400, "fraud_headers_invalid")
    assert [error["path"] for error in json.loads(reply.body)["errors"]] == ["Gov-Client-Timezone"]
    assert house.service.requests == []


def test_our_hop_is_added_for_a_client_behind_a_trusted_proxy(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    server = 'trusted_proxies = ["127.0.0.0/8"]\n'
    with taxing(authority) as service:
        settings = tax_settings("forward", service, ca_file, 'append_hop = "1.1.1.1"\ncache_seconds = 60\n')
        instance = Instance(tmp_path, settings, extra_server=server)
        firm = instance.firm()
        with serving(instance) as running:
            key = approved_key(instance, firm.org_id, firm.user_id)
            for peer in (b"9.9.9.9", b"10.0.0.7"):
                path = f"{OBLIGATIONS}?from={peer.decode()}"
                sent = [*HEADERS, (b"X-Forwarded-For", b"6.6.6.6, " + peer)]
                assert [ask(running, key, path, sent).status for _ in range(3)] == [200] * 3
            assert running.end() == 0
    told = [request.values("gov-vendor-forwarded") for request in service.requests]
    assert told == [[b"by=9.9.9.9&for=8.8.8.8,by=1.1.1.1&for=9.9.9.9"], [b"by=9.9.9.9&for=8.8.8.8"]]
    assert all(b"gatewayd=" in request.values("gov-vendor-version")[0] for request in service.requests)
