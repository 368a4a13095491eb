"""What the tax authority would remark on reaches the caller and the record of the call; what it agreed to is lawful."""

import trio

from tests.tax.conftest import HEADERS, OBLIGATIONS, OpenTax, with_header
from tests.tax.recording import answer, saying, upstream
from tests.tax.registry import SYNC, open_house, trade

SECONDS = 60.0
TOLD = "x-fraud-header-warnings"
REMARKABLE = [*HEADERS, (b"gov-client-mac-addresses", b"planted")]
PRIVATE = (
    b"gov-client-public-ip",
    b"gov-client-public-ip-timestamp",
    b"gov-client-public-port",
    b"gov-vendor-public-ip",
    b"gov-vendor-forwarded",
)


async def test_a_warning_reaches_the_caller_and_the_record_and_never_with_a_value(open_tax: OpenTax) -> None:
    said = "Gov-Client-MAC-Addresses=unexpected"
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(fields=b"X-Fraud-Header-Warnings: theirs\r\n"))
            quiet = await tax.get()
            reply = await tax.get(headers=REMARKABLE)
            server.script = saying(answer(b"", "302 Found"))
            failed = await tax.get(headers=REMARKABLE)
            last, second, first = tax.calls()
    assert TOLD not in quiet.headers
    assert (reply.status, reply[TOLD]) == (200, said)
    assert (failed.code, failed[TOLD]) == ("tax_upstream_error", said)
    assert (first.warnings, second.warnings, last.warnings) == (None, said, said)
    assert server.requests[1].values("gov-client-mac-addresses") == [b"planted"]  # as it came
    assert tax.log.events == ["tax_upstream_unfit"]


async def test_where_headers_are_not_required_what_is_wrong_is_told_as_well(open_tax: OpenTax) -> None:
    headers = with_header(b"gov-client-timezone", b"GMT", of=REMARKABLE)
    said = "Gov-Client-Timezone=invalid_format, Gov-Client-MAC-Addresses=unexpected"
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url, fraud_headers="warn") as tax:
            reply = await tax.get(headers=headers)
            (call,) = tax.calls()
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            refused = await tax.get(headers=headers)
    assert (reply.status, reply[TOLD], call.warnings) == (200, said, said)
    assert (refused.code, refused[TOLD]) == ("fraud_headers_invalid", "Gov-Client-MAC-Addresses=unexpected")


async def test_what_the_authority_agreed_to_do_without_is_not_asked_for(open_tax: OpenTax) -> None:
    left_out = with_header(b"gov-client-multi-factor")
    with trio.fail_after(SECONDS):
        async with upstream() as server:
            async with open_tax(mode="forward", upstream=server.url) as tax:
                refused = await tax.get(headers=left_out)
            agreed = ("Gov-Client-Multi-Factor",)
            async with open_tax(mode="forward", upstream=server.url, headers_agreed_missing=agreed) as tax:
                reply = await tax.get(headers=left_out)
                bad = await tax.get(headers=with_header(b"gov-client-multi-factor", b"x"))
    assert [(error["path"], error["code"]) for error in refused.json()["errors"]] == [
        ("Gov-Client-Multi-Factor", "required")
    ]
    assert (reply.status, TOLD in reply.headers, bad.code) == (200, False, "fraud_headers_invalid")


async def test_a_server_beside_its_clients_sends_what_it_has(open_tax: OpenTax) -> None:
    headers = list(HEADERS)
    for name in PRIVATE:
        headers = with_header(name, b"", of=headers)
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            reply = await tax.get(OBLIGATIONS, headers=headers)
    assert (reply.status, TOLD in reply.headers) == (200, False)
    assert [server.request.values(name.decode()) for name in PRIVATE] == [[b""]] * len(PRIVATE)


async def test_who_compares_businesses_is_told_as_well(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            for dry_run in (False, True):
                body = {"id": oak, "dryRun": dry_run}
                reply = await house.tax.api("POST", SYNC, json=body, headers=REMARKABLE, token="sync")
                assert (reply.status, reply[TOLD]) == (200, "Gov-Client-MAC-Addresses=unexpected")
            quiet = await house.tax.api("POST", SYNC, json={"id": oak}, headers=HEADERS, token="sync")
    assert (quiet.status, TOLD in quiet.headers) == (200, False)
