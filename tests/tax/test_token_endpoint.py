"""Who is to blame where the authority gives no tokens: of its refusals `invalid_grant` alone is the customer's."""

from pathlib import Path
from urllib.parse import parse_qs

import pytest
import trio
from trio.testing import MockClock

from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from gatewayd.tax.connections.token_endpoint import REFUSED_SECONDS, TokenEndpoint
from tests.support.engines import TaxLog
from tests.tax.conftest import OpenTax
from tests.tax.recording import Recorded, Stream, Upstream, answer, upstream
from tests.tax.test_grants import company
from tests.tax.test_hmrc import QUERY, connected, forms, stored

SECONDS = 60.0


def refusing(server: Upstream, body: bytes, status: str) -> None:
    """Refuse every access token, and every refresh with these words."""

    async def script(stream: Stream, request: Recorded) -> None:
        refused = request.line.startswith("POST")
        await stream.send_all(answer(body, status) if refused else answer(b"{}", "401 Unauthorized"))

    server.script = script


# RFC 6749 §5.2
@pytest.mark.parametrize(
    ("body", "status", "expected", "errors"),
    [
        (b'{"error":"invalid_grant"}', "400 Bad Request", (409, "tax_reauthorisation_required"), []),
        (b'{"error":"invalid_grant"}', "401 Unauthorized", (409, "tax_reauthorisation_required"), []),
        (b'{"error":"invalid_client"}', "401 Unauthorized", (503, "tax_not_configured"), ["tax_client_refused"]),
        (b'{"error":"invalid_client"}', "400 Bad Request", (503, "tax_not_configured"), ["tax_client_refused"]),
        (b'{"error":"unauthorized_client"}', "400 X", (503, "tax_not_configured"), ["tax_client_refused"]),
        (b'{"error":"invalid_request"}', "400 Bad Request", (502, "tax_upstream_error"), []),
        (b'{"error":7}', "400 Bad Request", (502, "tax_upstream_error"), []),
        (b"<html>", "401 Unauthorized", (502, "tax_upstream_error"), []),
        (b"", "503 Service Unavailable", (502, "tax_upstream_error"), []),
    ],
)
async def test_each_refusal_has_its_addressee(
    open_tax: OpenTax, tmp_path: Path, body: bytes, status: str, expected: tuple[int, str], errors: list[str]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=str(secret)) as tax,
        ):
            await connected(tax)
            refusing(server, body, status)
            reply = await tax.get(query=QUERY)
            assert stored(tax).refresh == "refresh-1"
            (call,) = tax.calls()
    assert (reply.status, reply.code) == expected
    assert (call.status, call.code) == expected
    assert ("onnect it again" in reply.json()["detail"]) == (expected[0] == 409)
    assert tax.log.error_events == errors


async def test_a_secret_that_is_replaced_counts_at_once(open_tax: OpenTax, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("old\n")
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=str(secret)) as tax,
        ):
            await connected(tax)
            refusing(server, b'{"error":"invalid_client"}', "401 X")
            await tax.get(query=QUERY)
            secret.write_text("new\n")
            await tax.get(query=QUERY)
            secret.unlink()
            unreadable = await tax.get(query=QUERY)
    assert [form["client_secret"] for form in forms(server)] == [["old"], ["new"]]
    assert (unreadable.status, unreadable.code) == (503, "tax_not_configured")
    assert tax.log.error_events == ["tax_client_refused", "tax_client_refused", "tax_client_secret_unreadable"]


async def test_a_call_is_recorded_with_the_connection_that_could_not_be_refreshed(
    open_tax: OpenTax, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=str(secret)) as tax,
        ):
            oak = await company(tax)
            ending = Tokens("access-1", "refresh-1", "", 5)
            await tax.api.store.write(lambda tx: connections.save(tx, ending, "operator", oak), "org_a")
            refusing(server, b'{"error":"invalid_client"}', "401 X")
            await tax.get(query=QUERY)
            (call,) = tax.calls()
    assert [request.line.split()[0] for request in server.requests] == ["POST"]
    assert (call.code, call.legal_entity_id) == ("tax_not_configured", oak)
    assert tax.log.error_events == ["tax_client_refused"]


class NotKnowing:
    """An authority that does not know the client."""

    def __init__(self) -> None:
        self.secrets: list[str] = []

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        await trio.lowlevel.checkpoint()
        self.secrets += parse_qs(request.body.decode())["client_secret"]
        return Response(401, [], b'{"error":"invalid_client"}')


async def test_a_secret_that_was_refused_is_not_tried_again_for_a_while(autojump_clock: MockClock) -> None:
    authority, log, secret = NotKnowing(), TaxLog(), ["old"]
    endpoint = TokenEndpoint(authority, "app", lambda: secret[0], log)

    async def refused() -> Problem:
        with pytest.raises(Problem) as caught:
            await endpoint.refresh("org_a", "refresh-1")
        return caught.value

    first, second = await refused(), await refused()
    assert (
        (first.code, first.extra)
        == (second.code, second.extra)
        == (
            "tax_not_configured",
            {"upstream": {"status": 401, "code": "invalid_client"}},
        )
    )
    assert (authority.secrets, log.error_events) == (["old"], ["tax_client_refused"])
    assert log.errors[0][1] == {"error_code": "invalid_client", "status": 401}
    secret[0] = "new"
    await refused()
    await refused()
    assert authority.secrets == ["old", "new"]
    await trio.sleep(REFUSED_SECONDS - 0.1)
    await refused()
    await trio.sleep(0.1)
    await refused()
    assert authority.secrets == ["old", "new", "new"]
