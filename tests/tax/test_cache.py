"""The cache of responses: for whom, for how long, and how many."""

from dataclasses import dataclass
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.store import WriteTx
from gatewayd.tax.authority.cache import BYTES_MAX, ENTRIES_MAX, ENTRY_BYTES_MAX, ResponseCache
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from tests.support import purses
from tests.tax.conftest import OpenTax
from tests.tax.recording import answer, saying, upstream

SECONDS = 60.0
KEPT = 30.0


@dataclass
class Authority:
    """Counts its answers, and says so."""

    status: int = 200
    size: int = 0
    asked: int = 0
    fails: bool = False

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        await trio.lowlevel.checkpoint()
        self.asked += 1
        if self.fails:
            raise Problem("tax_upstream_error", "x")
        return Response(self.status, [(b"X-CorrelationId", b"%d" % self.asked)], b"%d" % self.asked + b"x" * self.size)


async def ask(
    cache: ResponseCache, line: str = "/x", org_id: str = "org_a", method: str = "GET", **fields: str
) -> bytes:
    made = [(name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()]
    return (await cache.answer(Request(method, line, made), org_id)).body


async def test_the_same_question_is_asked_once_for_a_while(autojump_clock: MockClock) -> None:
    cache = ResponseCache(Authority(), KEPT)
    assert [await ask(cache) for _ in range(3)] == [b"1"] * 3
    await trio.sleep(KEPT - 0.01)
    assert await ask(cache) == b"1"
    await trio.sleep(0.01)
    assert await ask(cache) == b"2"
    assert len(cache) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"org_id": "org_b"},
        {"line": "/x?y"},
        {"gov_test_scenario": "OPEN"},
        {"authorization": "Bearer b"},
        {"accept": "application/vnd.hmrc.2.0+json"},
        {"accept_encoding": "gzip"},
    ],
    ids=str,
)
async def test_another_question_is_asked(other: dict[str, str]) -> None:
    cache = ResponseCache(Authority(), KEPT)
    assert await ask(cache, authorization="Bearer a", accept="x") == b"1"
    asked: dict[str, Any] = {"authorization": "Bearer a", "accept": "x", **other}
    assert await ask(cache, **asked) == b"2"
    assert await ask(cache, authorization="Bearer a", accept="x") == b"1"


async def test_what_differs_from_caller_to_caller_makes_no_other_question() -> None:
    cache = ResponseCache(Authority(), KEPT)
    assert await ask(cache, gov_client_device_id="a", x_request_id="1") == b"1"
    assert await ask(cache, gov_client_device_id="b", x_request_id="2") == b"1"


@pytest.mark.parametrize("status", [201, 204, 400, 401, 404, 429, 500, 503])
async def test_only_200_is_kept(status: int) -> None:
    cache = ResponseCache(Authority(status), KEPT)
    assert [await ask(cache), await ask(cache)] == [b"1", b"2"]
    assert (len(cache), cache.bytes) == (0, 0)


async def test_neither_a_failure_nor_a_post_is_kept() -> None:
    authority = Authority(fails=True)
    cache = ResponseCache(authority, KEPT)
    with pytest.raises(Problem):
        await ask(cache)
    authority.fails = False
    assert [await ask(cache, method="POST"), await ask(cache, method="POST")] == [b"2", b"3"]
    assert len(cache) == 0


async def test_who_wants_a_fresh_answer_gets_one() -> None:
    cache = ResponseCache(Authority(), KEPT)
    assert await ask(cache) == b"1"
    assert (await cache.answer(Request("GET", "/x", []), "org_a", fresh=True)).body == b"2"
    assert await ask(cache) == b"1"


async def test_there_is_a_limit_to_their_number() -> None:
    authority = Authority()
    cache = ResponseCache(authority, KEPT)
    for number in range(ENTRIES_MAX + 10):
        await ask(cache, f"/{number}")
    assert len(cache) == ENTRIES_MAX
    assert cache.bytes == sum(len(str(number)) for number in range(11, ENTRIES_MAX + 11))
    await ask(cache, "/10")
    assert authority.asked == ENTRIES_MAX + 10
    await ask(cache, "/9")
    assert authority.asked == ENTRIES_MAX + 11


async def test_there_is_a_limit_to_their_size() -> None:
    cache = ResponseCache(Authority(size=ENTRY_BYTES_MAX - 10), KEPT)
    for number in range(20):
        await ask(cache, f"/{number}")
    assert BYTES_MAX - ENTRY_BYTES_MAX < cache.bytes <= BYTES_MAX
    large = ResponseCache(Authority(size=ENTRY_BYTES_MAX), KEPT)
    await ask(large)
    assert (len(large), large.bytes) == (0, 0)


async def test_two_at_once_leave_one_behind() -> None:
    cache = ResponseCache(Authority(), KEPT)
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(ask, cache)
    assert (len(cache), cache.bytes) == (1, 1)


# -- through the door


def connect(access: str) -> Any:
    def work(tx: WriteTx) -> None:
        connections.save(tx, Tokens(access, None, "read:vat", None), "operator")

    return work


async def test_a_kept_answer_is_recorded_and_belongs_to_one_organization(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url, cache_seconds=60.0) as tax:
            server.script = saying(*(answer(b"[%d]" % number, fields=b"X-CorrelationId: c\r\n") for number in range(9)))
            query = "vrn=980780684"
            bodies = [(await tax.get(query=query)).body for _ in range(3)]
            other = (await tax.get(query=query, token="other")).body
            rows = tax.api.store.read_now(lambda tx: tx.rows(CALLS), "org_a")
    assert (bodies, other) == ([b"[0]"] * 3, b"[1]")
    assert rows == [(200, "c")] * 3


CALLS = "SELECT status, correlation_id FROM tax_calls WHERE org_id = :org_id ORDER BY id"


async def test_a_kept_answer_says_how_old_it_is_and_is_not_charged_as_passed_on(open_tax: OpenTax) -> None:
    """The authority's own `Age` is not ours to give: only what is kept here was not passed on."""
    prices = {"tax.forward": 5, "vat.getObligations": 2}
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url, cache_seconds=60.0) as tax:
            server.script = saying(answer(b"[0]", fields=b"Age: 7\r\n"), answer(b"[1]", fields=b"Age: 7\r\n"))
            await tax.api.store.write(purses.put_on_plan, "org_a")
            for name, price in prices.items():
                await tax.api.store.write(lambda tx, name=name, price=price: purses.price(tx, name, price))
            await tax.api.store.write(lambda tx: purses.leave(tx, 100), "org_a")
            replies = [await tax.get(query=f"vrn={vrn}") for vrn in ("980780684", "980780684", "193054661")]
            charged = tax.api.store.read_now(purses.charged, "org_a")
            held = tax.api.store.read_now(purses.held, "org_a")
    told = [(reply.body, dict(reply.headers).get(b"age")) for reply in replies]
    assert told == [(b"[0]", None), (b"[0]", b"0"), (b"[1]", None)]
    own, forwarded = ("vat.getObligations", 2), ("tax.forward", 5)
    assert (charged, held) == ([own, forwarded, own, own, forwarded], 0)


async def test_another_connection_of_the_organization_asks_anew(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url, cache_seconds=60.0) as tax:
            server.script = saying(*(answer(b"[%d]" % number) for number in range(9)))
            seen = []
            for access in ("one", "one", "two"):
                await tax.api.store.write(connect(access), "org_a")
                seen.append((await tax.get(query="vrn=980780684")).body)
            await tax.api.store.write(connections_removed, "org_a")
            ended = await tax.get(query="vrn=980780684")
    assert seen == [b"[0]", b"[0]", b"[1]"]
    assert ended.code == "tax_not_connected"


def connections_removed(tx: WriteTx) -> None:
    tx.run("DELETE FROM tax_connections WHERE org_id = :org_id")


async def test_without_the_setting_every_question_is_asked(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = saying(answer(b"[0]"), answer(b"[1]"))
            assert [(await tax.get()).body, (await tax.get()).body] == [b"[0]", b"[1]"]
