"""Cross-origin requests (Fetch standard): only from origins the operator lists."""

import pytest

from gatewayd.http1.cors import Cors
from tests.http.conftest import OpenProbes

APP = b"https://app.example.com"
PREFLIGHT = [
    (b"origin", APP),
    (b"access-control-request-method", b"POST"),
    (b"access-control-request-headers", b"authorization, content-type, idempotency-key"),
]


async def test_a_preflight_of_a_listed_origin_needs_no_token(open_probes: OpenProbes) -> None:
    async with open_probes(origins=(APP.decode(),)) as api:
        reply = await api("OPTIONS", "/probe/write", token=None, headers=PREFLIGHT)
    assert (reply.status, reply.body) == (204, b"")
    assert reply["access-control-allow-origin"] == APP.decode()
    assert reply["access-control-allow-methods"] == "POST"
    allowed = reply["access-control-allow-headers"].split(", ")
    assert {"authorization", "content-type", "idempotency-key"} <= set(allowed)
    assert int(reply["access-control-max-age"]) > 0
    assert reply["vary"] == "origin"
    assert "access-control-allow-credentials" not in reply


@pytest.mark.parametrize("path", ["/probe/write", "/nowhere"])
async def test_errors_can_be_read_across_origins_too(open_probes: OpenProbes, path: str) -> None:
    async with open_probes(origins=(APP.decode(),)) as api:
        reply = await api("POST", path, token=None, headers=[(b"origin", APP)])
    assert reply["access-control-allow-origin"] == APP.decode()
    exposed = reply["access-control-expose-headers"].split(", ")
    assert {"x-request-id", "www-authenticate", "retry-after", "link", "ratelimit"} <= set(exposed)


@pytest.mark.parametrize(
    "origin", [b"https://evil.example.com", b"null", b"https://app.example.com.evil.com", APP + b"/"]
)
async def test_other_origins_get_nothing(open_probes: OpenProbes, origin: bytes) -> None:
    async with open_probes(origins=(APP.decode(),)) as api:
        read = await api("GET", "/probe/read", query={"word": "w"}, headers=[(b"origin", origin)])
        preflight = await api(
            "OPTIONS", "/probe/write", headers=[(b"origin", origin), (b"access-control-request-method", b"POST")]
        )
    for reply in (read, preflight):
        assert not any(name.startswith(b"access-control") for name, _ in reply.headers)
        assert reply["vary"] == "origin"  # a cache must not give this answer to the listed origin


async def test_no_listed_origin_means_no_cors_at_all(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("OPTIONS", "/probe/write", headers=PREFLIGHT)
    assert "vary" not in reply
    assert not any(name.startswith(b"access-control") for name, _ in reply.headers)


async def test_a_second_origin_is_refused(open_probes: OpenProbes) -> None:
    async with open_probes(origins=(APP.decode(),)) as api:
        reply = await api("GET", "/probe/read", headers=[(b"origin", APP), (b"origin", b"https://evil.example.com")])
    assert reply.status == 400


def test_any_origin() -> None:
    cors = Cors(["*"])
    assert (b"access-control-allow-origin", b"https://a.example") in cors.headers({b"origin": b"https://a.example"})


def test_options_that_is_no_preflight() -> None:
    assert Cors(["*"]).preflight({b"origin": APP}, ["GET"]) == []


# -- what some operations take and give beside every one's

FAMILIES = (b"gov-client-", b"x-scenario")


def preflight(cors: Cors, asked: bytes) -> list[str]:
    request = {b"origin": APP, b"access-control-request-method": b"GET", b"access-control-request-headers": asked}
    fields = dict(cors.preflight(request, ["GET"]))
    return fields[b"access-control-allow-headers"].decode().split(", ")


def test_of_a_family_a_preflight_is_told_what_it_asks_for() -> None:
    cors = Cors([APP.decode()], FAMILIES)
    told = preflight(cors, b"gov-client-new, Gov-Client-Device-ID ,gov-client-new,gov-other,cookie")
    assert [name for name in told if name.startswith("gov-")] == ["gov-client-new", "gov-client-device-id"]
    assert {"x-scenario", "authorization", "dpop"} <= set(told)
    assert "cookie" not in told
    assert not any(name.startswith("gov-") for name in preflight(cors, b""))


@pytest.mark.parametrize(
    "asked", [b"gov-client-a b", b"gov-client-\xff", b"gov-client-a:b", b"gov-client-" + b"x" * 200]
)
def test_what_is_no_name_is_not_repeated(asked: bytes) -> None:
    assert not any(name.startswith("gov-") for name in preflight(Cors(["*"], FAMILIES), asked))


def test_without_families_nothing_is_repeated() -> None:
    assert preflight(Cors(["*"]), b"gov-client-a") == preflight(Cors(["*"]), b"")


def test_other_origins_are_told_no_families() -> None:
    request = {b"origin": b"https://evil.example.com", b"access-control-request-method": b"GET"}
    assert Cors([APP.decode()], FAMILIES).preflight(request, ["GET"]) == []


def test_pages_may_read_what_operations_give() -> None:
    exposed = dict(Cors(["*"], (), (b"sunset", b"link")).headers({b"origin": APP}))[b"access-control-expose-headers"]
    names = exposed.split(b", ")
    assert {b"sunset", b"x-request-id"} <= set(names)
    assert len(names) == len(set(names))
