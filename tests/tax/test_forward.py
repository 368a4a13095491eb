"""Forwarding, end to end: from a request at the API's door to raw bytes at an upstream, and back."""

import gzip
from urllib.parse import urlencode

import pytest
import trio

from gatewayd.contract.operation import Operation
from gatewayd.tax import AREA
from tests.tax.conftest import OpenTax
from tests.tax.recording import Recorded, Script, Stream, answer, hang_up, saying, upstream

SECONDS = 60.0


async def test_a_call_reaches_the_upstream_and_its_answer_the_caller(open_tax: OpenTax) -> None:
    body = b'{"obligations": [ {"periodKey":"18A1", "x": 1000.10 } ]}\n'
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(body))
            reply = await tax.get(query="from=2026-01-01&to=2026-12-31&vrn=980780684")
            calls = tax.calls()
    assert (reply.status, reply.body) == (200, body)
    assert server.request.line == ("GET /tax/vat/getObligations?from=2026-01-01&to=2026-12-31&vrn=980780684 HTTP/1.1")
    assert (reply["content-type"], reply["cache-control"], reply["x-tax-upstream"]) == (
        "application/json",
        "no-store",
        "hmrc",
    )
    (call,) = calls
    assert (call.request_id, call.operation, call.status, call.code) == (
        reply["x-request-id"],
        "vat.getObligations",
        200,
        None,
    )


@pytest.mark.parametrize("operation", AREA.operations, ids=lambda operation: operation.id)
async def test_every_operation_goes_to_its_own_path(open_tax: OpenTax, operation: Operation) -> None:
    """Also from its alias; parameters go in the caller's order, encoded anew."""
    example = urlencode(operation.example)
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=f"{server.url}/service") as tax:
            for path in (f"/api/rpc{operation.path}", operation.alias, f"/api/rpc{operation.alias}"):
                assert (await tax.get(path, example)).status == 200
            assert (await tax.get(f"/api/rpc{operation.path}")).status == 200
    *same, bare = [request.target for request in server.requests]
    assert same == [f"/service{operation.path}?{example}"] * 3
    assert bare == f"/service{operation.path}"


async def test_the_query_is_written_anew(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            for query in (
                "periodKey=%23001&vrn=%31",
                "periodKey=a%20b",
                "periodKey=a+b",
                "periodKey=%0D%0Ax",
                "vrn=../..",
            ):
                assert (await tax.get("/api/rpc/tax/vat/getVatReturn", query)).status == 200
            unknown = await tax.get("/api/rpc/tax/vat/getVatReturn", "periodKey=1&x=1")
            twice = await tax.get("/api/rpc/tax/vat/getVatReturn", "periodKey=1&periodKey=2")
    assert (unknown.code, twice.code) == ("unknown_parameter", "invalid_request")
    assert [request.target.partition("?")[2] for request in server.requests] == [
        "periodKey=%23001&vrn=1",
        "periodKey=a%20b",
        "periodKey=a%20b",
        "periodKey=%0D%0Ax",
        "vrn=..%2F..",
    ]


BODIES = {
    "gzip": (gzip.compress(b'{"a": 1}', mtime=0), b"Content-Type: application/json\r\nContent-Encoding: gzip\r\n"),
    "no gzip at all": (b"\x1f\x8b no", b"Content-Type: application/json\r\nContent-Encoding: gzip\r\n"),
    "unheard-of coding": (b"\x00\xff", b"Content-Type: application/json\r\nContent-Encoding: x-odd, br\r\n"),
    "latin-1": (b'{"n": "caf\xe9"}', b"Content-Type: application/json; charset=iso-8859-1\r\n"),
    "not JSON": (b"<p>", b"Content-Type: text/html\r\n"),
    "numbers": (b'{"a": 1000.10, "b": 1e400, "a": 2}', b"Content-Type: application/vnd.hmrc.1.0+json\r\n"),
    "empty": (b"", b""),
    "every byte": (bytes(range(256)) * 40, b"Content-Type: application/octet-stream\r\n"),
}


@pytest.mark.parametrize("name", BODIES)
async def test_bodies_pass_byte_for_byte(open_tax: OpenTax, name: str) -> None:
    body, fields = BODIES[name]
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(body, fields=fields))
            reply = await tax.get()
    assert (reply.status, reply.body) == (200, body)
    sent = [line.partition(b": ") for line in fields.split(b"\r\n") if line]
    assert [(n, v) for n, v in reply.headers if n in (b"content-type", b"content-encoding")] == [
        (name.lower(), value) for name, _, value in sent
    ]


async def test_a_chunked_answer_is_passed_whole(open_tax: OpenTax) -> None:
    chunked = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3\r\n{ }\r\n1\r\n\n\r\n0\r\nX: y\r\n\r\n"
    )
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(chunked)
            reply = await tax.get()
    assert (reply.status, reply.body) == (200, b"{ }\n")
    assert not {"transfer-encoding", "trailer", "x"} & {name.decode() for name, _ in reply.headers}


@pytest.mark.parametrize("status", ["400 Bad Request", "403 Forbidden", "404 Not Found", "422 X", "500 X", "503 X"])
async def test_the_authoritys_refusals_pass(open_tax: OpenTax, status: str) -> None:
    body = b'{"statusCode":400,"message":"DATE_RANGE_INVALID"}'
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(body, status))
            reply = await tax.get()
            assert [call.status for call in tax.calls()] == [int(status[:3])]
    assert (reply.status, reply.body) == (int(status[:3]), body)
    assert len(server.requests) == (2 if status[0] == "5" else 1)


async def test_a_second_try_may_go_better(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(status="500 X"), answer(b"{}"))
            assert (await tax.get()).body == b"{}"
            server.script = _hang_up_then(answer(b"[]"))
            assert (await tax.get()).body == b"[]"
    assert len(server.requests) == 4


def _hang_up_then(then: bytes) -> Script:
    left = [hang_up, saying(then)]

    async def script(stream: Stream, request: Recorded) -> None:
        await left.pop(0)(stream, request)

    return script


async def test_a_401_is_never_passed_on(open_tax: OpenTax) -> None:
    """A client would drop its own token, which is good."""
    refusal = answer(
        b'{"code":"INVALID_CREDENTIALS","message":"x"}', "401 Unauthorized", b'WWW-Authenticate: Bearer realm="x"\r\n'
    )
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(refusal)
            reply = await tax.get()
            assert [(call.status, call.code) for call in tax.calls()] == [(409, "tax_reauthorisation_required")]
    assert (reply.status, reply.code) == (409, "tax_reauthorisation_required")
    assert reply.json()["upstream"] == {"status": 401, "code": "INVALID_CREDENTIALS"}
    assert "www-authenticate" not in reply
    assert "x-tax-upstream" not in reply


@pytest.mark.parametrize("status", ["406 X", "407 X", "301 X", "302 X", "304 X", "307 X", "399 X"])
async def test_what_is_between_us_and_the_upstream_is_not_passed_on(open_tax: OpenTax, status: str) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            body = b"" if status.startswith("304") else b'{"code":"ACCEPT_HEADER_INVALID"}'
            server.script = saying(answer(body, status, f"Location: {server.url}/elsewhere\r\n".encode()))
            reply = await tax.get()
    assert (reply.status, reply.code) == (502, "tax_upstream_error")
    assert reply.json()["upstream"]["status"] == int(status[:3])
    assert "location" not in reply
    assert len(server.requests) == 1


@pytest.mark.parametrize("location", ["http://[", "//\\x", "ftp://x", "https://example.com:99999/", "\xff"])
async def test_a_redirect_to_nowhere_is_a_redirect(open_tax: OpenTax, location: str) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(b"", "302 Found", b"Location: " + location.encode("latin-1") + b"\r\n"))
            assert (await tax.get()).code == "tax_upstream_error"


async def test_one_connection_serves_many_calls(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(fields=b"Set-Cookie: a=b\r\n"))
            for _ in range(5):
                assert (await tax.get()).status == 200
    assert (server.connections, len(server.requests)) == (1, 5)
    assert [request.values("cookie") for request in server.requests] == [[]] * 5


async def test_off_is_503(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_tax(mode="off") as tax:
            reply = await tax.get()
            assert [(call.status, call.code) for call in tax.calls()] == [(503, "tax_not_configured")]
    assert (reply.status, reply.code) == (503, "tax_not_configured")


async def test_the_record_names_who_asked_and_the_upstreams_own_id(open_tax: OpenTax) -> None:
    fields = b"X-CorrelationId: c75f40a6-a3df-4429-a697-471eeec46435\r\nX-CorrelationId: 2\r\n"
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(fields=fields), answer(fields=b"X-CorrelationId: a b\r\n"))
            replies = [await tax.get(), await tax.get()]
            second, first = tax.calls()
            others = tax.calls("org_b")
    assert [(call.request_id, call.correlation_id) for call in (first, second)] == [
        (replies[0]["x-request-id"], "c75f40a6-a3df-4429-a697-471eeec46435"),
        (replies[1]["x-request-id"], None),
    ]
    assert (first.credential_id, first.user_id) == ("key_tax", "usr_00000000000000000000000000")
    assert others == []


async def test_an_entity_of_another_organization_is_not_asked_about(open_tax: OpenTax) -> None:
    """Its id alone is what a tax service behind `forward` may go by."""
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            made = await tax.api(
                "POST", "/legalEntity/createLegalEntity", json={"name": "Elm", "type": "sole_trader"}, token="other"
            )
            entity = f"legalEntityId={made.json()['id']}"
            foreign = await tax.get(query=entity)
            own = await tax.get(query=entity, token="other")
    assert (foreign.status, foreign.code) == (404, "not_found")
    assert own.status == 200
    assert server.request.target.endswith(entity)
