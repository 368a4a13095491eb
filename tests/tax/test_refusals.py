"""Each of the ten operations with each of its own errors."""

import pytest
import trio

from gatewayd.contract.operation import Operation
from gatewayd.tax import AREA
from tests.tax.conftest import HEADERS, OpenTax, TaxApi, query_of, with_header
from tests.tax.recording import answer, hang, hang_up, saying, upstream

SECONDS = 60.0

each = pytest.mark.parametrize("operation", AREA.operations, ids=lambda operation: operation.id)


async def refused(tax: TaxApi, operation: Operation, code: str) -> None:
    """The operation answers with that error, and the record says so."""
    reply = await tax.get(f"/api/rpc{operation.path}", query_of(operation))
    assert reply.code == code
    assert [(call.operation, call.status, call.code) for call in tax.calls()] == [(operation.id, reply.status, code)]


@each
async def test_tax_not_configured(open_tax: OpenTax, operation: Operation) -> None:
    async with open_tax(mode="off") as tax:
        await refused(tax, operation, "tax_not_configured")


@each
async def test_tax_not_connected(open_tax: OpenTax, operation: Operation) -> None:
    async with open_tax(mode="hmrc", upstream="http://127.0.0.1:9") as tax:
        await refused(tax, operation, "tax_not_connected")


@each
async def test_tax_reauthorisation_required(open_tax: OpenTax, operation: Operation) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(b"{}", "401 Unauthorized"))
            await refused(tax, operation, "tax_reauthorisation_required")


@each
async def test_tax_upstream_error(open_tax: OpenTax, operation: Operation) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = hang_up
            await refused(tax, operation, "tax_upstream_error")


@each
async def test_tax_upstream_timeout(open_tax: OpenTax, operation: Operation) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url, timeout_seconds=0.1) as tax:
            server.script = hang
            await refused(tax, operation, "tax_upstream_timeout")


@each
async def test_fraud_headers_invalid(open_tax: OpenTax, operation: Operation) -> None:
    """One error for each header, and nothing is sent."""
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            headers = with_header(b"gov-client-device-id", b"x", of=with_header(b"gov-client-timezone"))
            reply = await tax.get(f"/api/rpc{operation.path}", query_of(operation), headers)
    assert (reply.status, reply.code) == (400, "fraud_headers_invalid")
    assert [(error["path"], error["code"]) for error in reply.json()["errors"]] == [
        ("Gov-Client-Device-ID", "invalid_format"),
        ("Gov-Client-Timezone", "required"),
    ]
    assert server.requests == []


@each
async def test_header_in_production(open_tax: OpenTax, operation: Operation) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url, fraud_headers="off") as tax:
            headers = [*HEADERS, (b"gov-test-scenario", b"DYNAMIC")]
            reply = await tax.get(f"/api/rpc{operation.path}", query_of(operation), headers)
    assert (reply.status, reply.code) == (400, "test_header_in_production")
    assert server.requests == []
