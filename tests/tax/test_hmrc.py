"""The authority itself: each operation at its own endpoint, with the organization's tokens, refreshed where refused."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import trio

from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.store import WriteTx
from gatewayd.tax import AREA
from gatewayd.tax.authority.mapping import ENDPOINTS, authority_target
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Connection, Tokens
from tests.sandbox_authority.asking import tell
from tests.tax.conftest import OBLIGATIONS, OpenTax, TaxApi, query_of
from tests.tax.recording import Recorded, Stream, Upstream, answer, saying, upstream

SECONDS = 60.0
ROWS = {operation.id: operation for operation in AREA.operations}
TARGETS = {
    "vat.getObligations": "/organisations/vat/980780684/obligations?from=2018-01-02&to=2018-02-02",
    "vat.getLiabilities": "/organisations/vat/980780684/liabilities?from=2018-01-02&to=2018-02-02",
    "vat.getPayments": "/organisations/vat/980780684/payments?from=2018-01-02&to=2018-02-02",
    "vat.getVatReturn": "/organisations/vat/980780684/returns/18A1",
    "itsaStatus.get": "/individuals/person/itsa-status/AA123456A/2026-27",
    "itsaObligations.list": "/obligations/details/AA123456A/income-and-expenditure",
    "itsaCalculations.list": "/individuals/calculations/AA123456A/self-assessment/2026-27",
    "itsaCalculations.get": "/individuals/calculations/AA123456A/self-assessment/2026-27/"
    "f2fb30e5-4ab6-4a29-b3c1-c7264259ff1c",
}
ACCEPTED = dict(zip(TARGETS, [1, 1, 1, 1, 2, 3, 8, 8], strict=True))


def save(access: str = "first", refresh: str | None = "refresh-1", expires_in: int | None = None) -> Any:
    def work(tx: WriteTx) -> None:
        connections.save(tx, Tokens(access, refresh, "read:vat", expires_in), "operator")

    return work


async def connected(tax: TaxApi, **tokens: Any) -> None:
    await tax.api.store.write(save(**tokens), "org_a")


def stored(tax: TaxApi) -> Connection:
    found = tax.api.store.read_now(connections.find, "org_a")
    assert found is not None
    return found


@pytest.mark.parametrize("operation_id", TARGETS)
async def test_each_operation_has_its_endpoint(open_tax: OpenTax, operation_id: str) -> None:
    row = ROWS[operation_id]
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            await connected(tax)
            reply = await tax.get(f"/api/rpc{row.path}", query_of(row))
    assert (reply.status, reply["x-tax-upstream"]) == (200, "hmrc")
    assert server.request.target == TARGETS[operation_id]
    assert server.request.values("accept") == [b"application/vnd.hmrc.%d.0+json" % ACCEPTED[operation_id]]
    assert server.request.values("authorization") == [b"Bearer first"]


async def test_the_other_parameters_go_where_they_belong(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            await connected(tax)
            path = "/api/rpc/tax"
            await tax.get(f"{path}/vat/getVatReturn", "vrn=980780684&periodKey=%23001")
            await tax.get(
                f"{path}/itsaObligations/list", "nino=AA123456A&kind=final_declaration&taxYear=2026-27&toDate=x"
            )
            await tax.get(f"{path}/itsaStatus/get", "nino=AA123456A&taxYear=2026-27&history=true&futureYears=false")
    assert [request.target for request in server.requests] == [
        "/organisations/vat/980780684/returns/%23001",
        "/obligations/details/AA123456A/crystallisation?taxYear=2026-27",
        "/individuals/person/itsa-status/AA123456A/2026-27?futureYears=false&history=true",
    ]


@pytest.mark.parametrize("value", ["..", ".", "a/b", "%2e%2e", "a b", "x" * 65, "é", "a\nb", "a?b", ""])
@pytest.mark.parametrize("name", ["vrn", "periodKey"])
def test_nothing_of_a_caller_becomes_a_path(name: str, value: str) -> None:
    with pytest.raises(Problem) as caught:
        authority_target(ENDPOINTS["vat.getVatReturn"], {"vrn": "980780684", "periodKey": "18A1", name: value})
    assert [error.path for error in caught.value.errors] == [name]


async def test_what_the_authority_needs_is_asked_for(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            await connected(tax)
            reply = await tax.get("/api/rpc/tax/vat/getLiabilities", "vrn=980780684")
            nobody = await tax.get("/api/rpc/tax/vat/getObligations")
    assert [(e["path"], e["code"]) for e in reply.json()["errors"]] == [("from", "required"), ("to", "required")]
    assert [(e["path"], e["code"]) for e in nobody.json()["errors"]] == [("vrn", "required")]
    assert server.requests == []


async def test_the_number_is_the_entitys_and_an_entity_is_named_where_there_are_two(open_tax: OpenTax) -> None:
    entity = {"name": "Elm", "type": "sole_trader", "vatNumber": "GB980780684", "nino": "AA123456A"}
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            await connected(tax)
            made = await tax.api("POST", "/legalEntity/createLegalEntity", json=entity)
            await tax.get("/api/rpc/tax/vat/getObligations")
            await tax.get("/api/rpc/tax/itsaObligations/list")
            await tax.api("POST", "/legalEntity/createLegalEntity", json={"name": "Oak", "type": "sole_trader"})
            which = await tax.get("/api/rpc/tax/vat/getObligations")
            await tax.get("/api/rpc/tax/vat/getObligations", f"legalEntityId={made.json()['id']}")
            await tax.get("/api/rpc/tax/vat/getObligations", "vrn=123456789")
    assert [(e["path"], e["code"]) for e in which.json()["errors"]] == [("legalEntityId", "required")]
    assert [request.target for request in server.requests] == [
        "/organisations/vat/980780684/obligations",
        "/obligations/details/AA123456A/income-and-expenditure",
        "/organisations/vat/980780684/obligations",
        "/organisations/vat/123456789/obligations",
    ]


# -- tokens


def refusing(server: Upstream, good: str, granted: dict[str, Any] | None) -> None:
    """Accept one token, and grant another for a refresh; None: refuse that."""

    async def script(stream: Stream, request: Recorded) -> None:
        if request.line.startswith("POST"):
            body = json.dumps(granted or {"error": "invalid_grant"}).encode()
            await stream.send_all(answer(body, "400 Bad Request" if granted is None else "200 OK"))
        elif request.values("authorization") == [f"Bearer {good}".encode()]:
            await stream.send_all(answer())
        else:
            await stream.send_all(answer(b'{"code":"INVALID_CREDENTIALS"}', "401 Unauthorized"))

    server.script = script


def forms(server: Upstream) -> list[dict[str, list[str]]]:
    return [parse_qs(request.body.decode()) for request in server.requests if request.line.startswith("POST")]


GRANTED = {"access_token": "second", "refresh_token": "refresh-2", "expires_in": 14400, "scope": "read:vat"}
QUERY = "vrn=980780684"


@pytest.fixture
def secret(tmp_path: Path) -> str:
    file = tmp_path / "secret"
    file.write_text("s3cret\n")
    return str(file)


async def test_a_refused_token_is_refreshed_and_the_call_made_again(open_tax: OpenTax, secret: str) -> None:
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=secret) as tax,
        ):
            await connected(tax)
            refusing(server, "second", GRANTED)
            assert (await tax.get(query=QUERY)).status == 200
            assert (await tax.get(query=QUERY)).status == 200
            kept = stored(tax)
    assert forms(server) == [
        {
            "grant_type": ["refresh_token"],
            "refresh_token": ["refresh-1"],
            "client_id": ["app"],
            "client_secret": ["s3cret"],
        }
    ]
    assert (kept.access, kept.refresh) == ("second", "refresh-2")
    assert kept.expires_at == tax.api.clock.now() + 14400 * SECOND
    assert len(server.requests) == 4


async def test_of_many_at_once_one_refreshes(open_tax: OpenTax, secret: str) -> None:
    """The refresh token works only once."""
    statuses: list[int] = []
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=secret) as tax,
        ):
            await connected(tax)
            refusing(server, "second", GRANTED)

            async def call() -> None:
                statuses.append((await tax.get(query=QUERY)).status)

            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(call)
    assert (statuses, len(forms(server))) == ([200] * 3, 1)


async def test_a_token_that_is_about_to_end_is_refreshed_first(open_tax: OpenTax, secret: str) -> None:
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=secret) as tax,
        ):
            await connected(tax, expires_in=3600)
            tax.api.clock.advance(3590 * SECOND)
            refusing(server, "second", {**GRANTED, "refresh_token": None})
            assert (await tax.get(query=QUERY)).status == 200
            assert stored(tax).refresh == "refresh-1"
    assert [request.line.split(" ")[0] for request in server.requests] == ["POST", "GET"]


@pytest.mark.parametrize("client_id", ["app", ""])
async def test_what_cannot_be_refreshed_is_for_a_person(open_tax: OpenTax, secret: str, client_id: str) -> None:
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id=client_id, client_secret_file=secret) as tax,
        ):
            await connected(tax)
            refusing(server, "none", None)
            reply = await tax.get(query=QUERY)
    assert (reply.status, reply.code) == (409, "tax_reauthorisation_required")
    assert len(forms(server)) == (1 if client_id else 0)


async def test_a_token_endpoint_that_fails_is_an_upstream_that_fails(open_tax: OpenTax, secret: str) -> None:
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=secret) as tax,
        ):
            await connected(tax)
            refusing(server, "none", {"access_token": "a b"})
            assert (await tax.get(query=QUERY)).code == "tax_upstream_error"
            assert stored(tax).access == "first"


async def test_a_bearer_of_the_organization_goes_along_when_forwarding(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            await connected(tax)
            await tax.get()
            await tax.get(token="other")
    assert [request.values("authorization") for request in server.requests] == [[b"Bearer first"], []]


# -- composed


def pretending(server: Upstream, failing: str = "") -> None:
    """The sandbox authority behind a network; `failing` is part of a path that is answered with 500."""

    async def script(stream: Stream, request: Recorded) -> None:
        if failing and failing in request.target:
            await stream.send_all(answer(b'{"code":"SERVER_ERROR"}', "500 X"))
            return
        made = tell(Request("GET", request.target, request.fields))
        await stream.send_all(answer(made.body, f"{made.status} X"))

    server.script = script


PERSON = "nino=AA123456A"


async def test_calls_are_a_third_of_a_second_apart(open_tax: OpenTax) -> None:
    """Domain D3: three requests a second."""
    arrived: list[float] = []

    async def script(stream: Stream, request: Recorded) -> None:
        arrived.append(trio.current_time())
        await stream.send_all(answer())

    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url, paced=True) as tax:
            await connected(tax)
            server.script = script
            async with trio.open_nursery() as calls:
                for day in (1, 2, 3):
                    calls.start_soon(tax.get, OBLIGATIONS, f"vrn=980780684&from=2018-01-{day:02}&to=2018-02-02")
    assert arrived[2] - arrived[0] >= 0.4  # of two thirds: the first one may have been late


async def test_tax_years_are_composed(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            await connected(tax)
            pretending(server)
            reply = await tax.get("/api/rpc/tax/selfAssessment/listTaxYears", PERSON)
    assert reply.status == 200, reply.body
    years = reply.json()["taxYears"]
    assert [year["taxYear"] for year in years] == ["2022-23", "2023-24", "2024-25", "2025-26", "2026-27"]
    assert years[-1]["startDate"] == "2026-04-06"
    assert all(sum(year["quarterly"].values()) > 0 for year in years)
    assert len(server.requests) == 7


@pytest.mark.parametrize("failing", ["", "itsa-status", "balance-and-transactions"])
async def test_a_summary_is_composed_and_a_part_may_fail(open_tax: OpenTax, failing: str) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            await connected(tax)
            pretending(server, failing)
            reply = await tax.get("/api/rpc/tax/selfAssessment/getFilingSummary", f"{PERSON}&taxYear=2026-27")
    assert reply.status == 200, reply.body
    summary = reply.json()
    statuses = {part["source"]: part["status"] for part in summary["parts"]}
    assert list(statuses.values()).count("failed") == (1 if failing else 0)
    assert (summary["balance"] is None) == (failing == "balance-and-transactions")
    assert (summary["itsaStatus"] is None) == (failing == "itsa-status")
    assert summary["obligations"]
    assert summary["latestCalculation"]["id"]


@pytest.mark.parametrize("year", ["", "2026", "2026-28", "soon-er"])
async def test_a_summary_needs_a_tax_year(open_tax: OpenTax, year: str) -> None:
    with trio.fail_after(SECONDS):
        async with open_tax(mode="hmrc", upstream="http://127.0.0.1:9") as tax:
            await connected(tax)
            reply = await tax.get("/api/rpc/tax/selfAssessment/getFilingSummary", f"{PERSON}&taxYear={year}")
    assert [error["path"] for error in reply.json()["errors"]] == ["taxYear"]


async def test_of_what_is_composed_a_refused_token_is_the_whole_answer(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            await connected(tax)
            server.script = saying(answer(b"{}", "401 X"))
            for path in ("listTaxYears", "getFilingSummary"):
                reply = await tax.get(
                    f"/api/rpc/tax/selfAssessment/{path}",
                    f"{PERSON}&taxYear=2026-27".partition("&" if path == "listTaxYears" else "#")[0],
                )
                assert reply.code == "tax_reauthorisation_required"
