"""Responses that are kept until the next commit: given again while they hold, and never to anybody else."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest

from gatewayd.clock import DAY, HOUR, SECOND, to_wire
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.http.response_cache import ENTRY_BYTES, ENTRY_BYTES_MAX, ApiResponseCache, CacheKey
from gatewayd.http1.response import Response
from gatewayd.store import ReadTx
from gatewayd.store.sealer import Sealer
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.transactions import Bindings
from tests.http import probes
from tests.http.probes import Said, Word
from tests.support.api import TestedApi, Tuning, open_api
from tests.support.store import SEALING_KEY, START, at_version, make_caller

CALLER = make_caller("org_a")
_NAME = "SELECT name FROM organizations WHERE id = :org_id"
_RENAME = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("UPDATE organizations SET name = 'renamed elsewhere'")
connection.commit()
"""


@dataclass
class Counting:
    """Read rows that count how often their handlers ran, by what they ask the clock."""

    ran: Counter[str] = field(default_factory=Counter)

    def plain(self, tx: ReadTx, caller: Caller, request: Word) -> Said:
        """Say the organization's name."""
        self.ran["plain"] += 1
        return Said(said=str(tx.value(_NAME)), org=tx.org_id)

    def dated(self, tx: ReadTx, caller: Caller, request: Word) -> Said:
        """Say what day it is."""
        self.ran["dated"] += 1
        return Said(said=tx.today, org=tx.org_id)

    def timely(self, tx: ReadTx, caller: Caller, request: Word) -> Said:
        """Say what time it is."""
        self.ran["timely"] += 1
        return Said(said=to_wire(tx.now), org=tx.org_id)

    def who(self, tx: ReadTx, caller: Caller, request: Word) -> Said:
        """Say who is asking."""
        self.ran["who"] += 1
        return Said(said=caller.credential_id, org=tx.org_id)

    @property
    def operations(self) -> tuple[Operation, ...]:
        return (
            probes.row("probe.plain", "read", self.plain, "/kept/plain"),
            probes.row("probe.dated", "read", self.dated, "/kept/dated"),
            probes.row("probe.timely", "read", self.timely, "/kept/timely"),
            probes.row("probe.who", "read", self.who, "/kept/who"),
        )


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
async def api(
    database_image: bytes, tmp_path: Path, mock_clock: object, counting: Counting
) -> AsyncIterator[TestedApi]:
    operations = (*probes.OPERATIONS, *counting.operations)
    async with open_api(tmp_path, database_image, operations, Tuning(per_minute=60)) as opened:
        opened.token("org_a", "a")
        yield opened


async def said(api: TestedApi, path: str, token: str = "a", **query: str) -> str:
    reply = await api("GET", path, token=token, query={"word": "w", **query})
    assert reply.status == 200, reply.body
    return str(reply.json()["said"])


async def test_what_nothing_has_changed_is_read_once(api: TestedApi, counting: Counting) -> None:
    first = await api("GET", "/kept/plain", token="a", query={"word": "w"})
    api.clock.advance(3 * DAY)
    second = await api("GET", "/kept/plain", token="a", query={"word": "w"})
    assert counting.ran["plain"] == 1
    assert (second.status, second.body) == (first.status, first.body)
    assert second["x-request-id"] != first["x-request-id"]
    assert len(api.observed) == 2


async def test_each_request_is_authenticated_and_charged(api: TestedApi, counting: Counting) -> None:
    left = []
    for _ in range(3):
        reply = await api("GET", "/kept/plain", token="a", query={"word": "w"})
        left.append(reply["ratelimit"].partition(";t=")[0])
    assert left == ['"default";r=59', '"default";r=58', '"default";r=57']
    assert len(api.authenticator.asked) == 3
    assert counting.ran["plain"] == 1


async def test_a_credential_that_has_ended_is_given_nothing(api: TestedApi) -> None:
    await said(api, "/kept/plain")
    del api.authenticator.callers["a"]
    assert (await api("GET", "/kept/plain", token="a", query={"word": "w"})).status == 401


async def test_a_scope_that_was_taken_away_is_missed_at_once(api: TestedApi) -> None:
    await said(api, "/kept/plain")
    api.token("org_a", "a", ["accounting:read"])
    reply = await api("GET", "/kept/plain", token="a", query={"word": "w"})
    assert (reply.status, reply.code) == (403, "insufficient_scope")


async def test_nobody_gets_what_another_has_asked(api: TestedApi) -> None:
    await api.org("org_b", "b")
    api.token("org_a", "colleague")
    assert [await said(api, "/kept/who", token) for token in ("a", "b", "colleague", "a")] == [
        "key_a",
        "key_b",
        "key_colleague",
        "key_a",
    ]


async def test_a_credential_that_may_more_than_before_is_answered_anew(api: TestedApi, counting: Counting) -> None:
    """As two tokens of one grant are, one of which was narrowed."""
    await said(api, "/kept/plain")
    api.token("org_a", "a", ["entities:read"])
    await said(api, "/kept/plain")
    api.token("org_a", "a")
    await said(api, "/kept/plain")
    assert counting.ran["plain"] == 2


async def test_another_question_is_another_answer(api: TestedApi, counting: Counting) -> None:
    await said(api, "/kept/plain")
    await said(api, "/kept/plain", count="1")
    await said(api, "/api/rpc/kept/plain")
    assert counting.ran["plain"] == 3


async def test_a_commit_of_ours_ends_it(api: TestedApi, counting: Counting) -> None:
    before = await said(api, "/kept/plain")
    assert (await api("POST", "/probe/write", token="a", json={"word": "+"})).status == 200
    assert await said(api, "/kept/plain") == before + "+"


async def test_a_commit_of_another_process_ends_it(api: TestedApi, tmp_path: Path, counting: Counting) -> None:
    """One that does not say so, as the sqlite3 shell does: it is noticed within a quarter of a second."""
    await said(api, "/kept/plain")
    database = next(tmp_path.rglob(DATABASE_NAME))
    subprocess.run([sys.executable, "-c", _RENAME, str(database)], check=True, timeout=30)
    await api.store.write(lambda tx: None)  # the loop lets its snapshot go
    assert await said(api, "/kept/plain") == "renamed elsewhere"


async def test_what_depends_on_the_date_ends_with_the_day_in_london(api: TestedApi, counting: Counting) -> None:
    noon = await said(api, "/kept/dated")
    api.clock.advance(1 * HOUR)
    assert await said(api, "/kept/dated") == noon
    assert counting.ran["dated"] == 1
    api.clock.advance(1 * DAY)
    assert await said(api, "/kept/dated") > noon
    assert counting.ran["dated"] == 2


async def test_what_depends_on_the_instant_is_read_each_time(api: TestedApi, counting: Counting) -> None:
    first = await said(api, "/kept/timely")
    api.clock.advance(1 * SECOND)
    assert await said(api, "/kept/timely") > first
    assert counting.ran["timely"] == 2


async def test_a_page_keeps_its_link(api: TestedApi) -> None:
    links = [(await api("GET", path, token="a"))["link"] for path in ("/words", "/words", "/api/rpc/words")]
    assert links == [
        '</words?cursor=bmV4dA==>; rel="next"',
        '</words?cursor=bmV4dA==>; rel="next"',
        '</api/rpc/words?cursor=bmV4dA==>; rel="next"',
    ]


async def test_an_error_is_not_kept(api: TestedApi) -> None:
    """It bears the id of its request."""
    replies = [await api("GET", "/probe/read", token="a") for _ in range(2)]
    assert [reply.status for reply in replies] == [422, 422]
    assert replies[0].json()["requestId"] != replies[1].json()["requestId"]


# -- the bound


def reading(version: int | None, *, instant: bool = False) -> ReadTx:
    """A read of a version that has asked for nothing, or for the instant."""
    tx = at_version(ReadTx(apsw.Connection(":memory:"), Bindings(None, START), Sealer(SEALING_KEY)), version)
    if instant:
        assert tx.now == START
    return tx


def key(number: int) -> CacheKey:
    return CacheKey(CALLER, b"/things", b"n=%04d" % number)


def response(size: int) -> Response:
    return Response(200, (), bytes(size))


def held(cache: ApiResponseCache, version: int, upto: int) -> list[int]:
    return [number for number in range(upto) if cache.find(key(number), reading(version)) is not None]


def test_it_takes_no_more_than_it_may() -> None:
    most = 10 * (1_000 + ENTRY_BYTES + len(b"/things") + len(b"n=0000"))
    cache = ApiResponseCache(most)
    for number in range(10):
        cache.keep(key(number), response(1_000), reading(1))
    assert held(cache, 1, 11) == list(range(10))
    for number in range(10, 20):
        cache.keep(key(number), response(1_000), reading(1))
        assert held(cache, 1, 21) == list(range(10, number + 1))
    cache.keep(key(20), response(1_000), reading(2))
    cache.keep(key(21), response(1_000), reading(2))
    assert held(cache, 2, 22) == [20, 21]


def test_what_fills_all_of_it_is_kept() -> None:
    cache = ApiResponseCache(1_000 + ENTRY_BYTES + len(b"/things") + len(b"n=0000"))
    cache.keep(key(0), response(1_000), reading(1))
    assert held(cache, 1, 1) == [0]


def test_what_is_larger_than_all_of_it_is_not_kept() -> None:
    cache = ApiResponseCache(10_000)
    cache.keep(key(0), response(10_000), reading(1))
    assert held(cache, 1, 1) == []


def test_what_is_large_is_not_kept_and_pushes_nothing_out() -> None:
    cache = ApiResponseCache()
    cache.keep(key(0), response(1_000), reading(1))
    cache.keep(key(1), response(ENTRY_BYTES_MAX), reading(1))
    cache.keep(key(2), response(100 << 20), reading(1))
    cache.keep(key(3), response(ENTRY_BYTES_MAX // 2), reading(1))
    assert held(cache, 1, 4) == [0, 3]


def test_a_long_address_counts() -> None:
    cache = ApiResponseCache(10_000)
    for number in range(3):
        cache.keep(CacheKey(CALLER, b"/things", b"%d" % number * 5_000), response(1), reading(1))
    assert cache.find(CacheKey(CALLER, b"/things", b"1" * 5_000), reading(1)) is None


def test_a_version_ends_the_one_before() -> None:
    cache = ApiResponseCache()
    cache.keep(key(0), response(1), reading(1))
    cache.keep(key(1), response(1), reading(2))
    assert (held(cache, 1, 2), held(cache, 2, 2)) == ([], [1])


def test_a_read_of_a_version_that_nobody_knows_keeps_nothing_and_is_given_nothing() -> None:
    cache = ApiResponseCache()
    cache.keep(key(0), response(1), reading(1))
    cache.keep(key(1), response(1), reading(None))
    assert cache.find(key(0), reading(None)) is None
    assert held(cache, 1, 2) == [0]


def test_what_asked_for_the_instant_is_not_kept() -> None:
    cache = ApiResponseCache()
    cache.keep(key(0), response(1), reading(1, instant=True))
    assert held(cache, 1, 1) == []
