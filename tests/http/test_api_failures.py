"""What the dispatch does when something fails, takes too long or is broken off."""

import threading
from pathlib import Path

import apsw
import pytest
import trio

from gatewayd.contract.caller import Caller
from gatewayd.store import OverBudget, ReadTx, StoreFailure
from gatewayd.store.sqlite.long_reads import ORGANIZATION_THREADS
from tests.http.conftest import OpenProbes
from tests.http.probes import Deps, Said, Word, said
from tests.support.api import ANSWER_SECONDS, Body, TestedApi
from tests.support.store import make_caller

READ = "/probe/read"
WRITE = "/probe/write"
CALL = "/probe/call"
BUSY_STEPS = 60_000  # rows to count: far more than two milliseconds of work
_SELECT_NAME = "SELECT name FROM organizations WHERE id = 'org_a'"


async def name_of_org(api: TestedApi) -> object:
    return await api.store.read(lambda tx: tx.value(_SELECT_NAME))


# -- exceptions


@pytest.mark.parametrize("path", [WRITE, CALL])
async def test_an_unexpected_exception_is_500_and_logged_once(open_probes: OpenProbes, path: str) -> None:
    async def fail(caller: Caller, request: Word) -> Said:
        raise LookupError("the word was raise")

    async with open_probes(deps=Deps(act=fail)) as api:
        reply = await api("POST", path, json={"word": "raise"})
        assert (reply.status, reply.code) == (500, "internal_error")
        assert b"the word was" not in reply.body
        assert b"LookupError" not in reply.body
        logged = api.errors.claim("request_failed")
        assert isinstance(logged["exc_info"], LookupError)
        assert logged["request_id"] == reply["x-request-id"]
        assert await name_of_org(api) == "org_a"
        assert (await api("POST", WRITE, json={"word": "!"})).status == 200  # one request failed, not the daemon


async def test_a_problem_out_of_a_write_rolls_it_back(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        assert (await api("POST", WRITE, json={"word": "missing"})).code == "not_found"
        assert await name_of_org(api) == "org_a"


async def test_a_write_that_the_store_refuses_is_503(open_probes: OpenProbes) -> None:
    async def refuse(caller: Caller, request: Word) -> Said:
        raise StoreFailure("the disk is full")

    async with open_probes(deps=Deps(act=refuse)) as api:
        reply = await api("POST", CALL, json={"word": "w"})
        assert (reply.status, reply.code, reply["retry-after"]) == (503, "unavailable", "1")
        assert b"disk" not in reply.body
        assert isinstance(api.errors.claim("store_failed")["exc_info"], StoreFailure)


async def test_a_locked_database_is_503_and_then_goes_on(open_probes: OpenProbes, tmp_path: Path) -> None:
    async with open_probes(busy_timeout_seconds=0.05) as api:
        other = apsw.Connection(str(tmp_path / "gatewayd.db"))
        other.execute("BEGIN IMMEDIATE")
        reply = await api("POST", WRITE, json={"word": "w"})
        assert (reply.status, reply.code) == (503, "unavailable")
        api.errors.claim("store_failed")
        assert (await api("GET", READ, query={"word": "w"})).status == 200  # readers are not held up
        other.execute("ROLLBACK")
        other.close()
        assert (await api("POST", WRITE, json={"word": "w"})).status == 200


# -- long reads


async def test_a_read_over_its_budget_runs_again_on_a_thread(open_probes: OpenProbes) -> None:
    async with open_probes(per_minute=10) as api:
        before = api.store.long_reads
        reply = await api("GET", "/probe/busy", query={"word": "w", "count": BUSY_STEPS})
        assert (reply.status, said(reply.body)) == (200, f"w{BUSY_STEPS}")
        assert api.store.long_reads == before + 1
        assert reply["ratelimit"].startswith('"default";r=9;')  # charged once
        assert len(api.authenticator.asked) == 1  # and asked once who is calling
        assert api.limits.running == 0


async def test_who_has_its_share_of_long_reads_is_told_so(
    open_probes: OpenProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewayd.store.sqlite.long_reads.LONG_READ_SECONDS", 2.0)
    over = threading.Event()
    async with open_probes() as api, trio.open_nursery() as nursery:
        await api.org("org_b", "other")
        for _ in range(ORGANIZATION_THREADS):
            nursery.start_soon(api.store.read_later, lambda tx: over.wait(120), "org_a")
        while api.store.read_shares.count.of("org_a") < ORGANIZATION_THREADS:
            await trio.lowlevel.checkpoint()
        other = await api("GET", "/probe/long", query={"word": "w"}, token="other")
        refused = await api("GET", "/probe/long", query={"word": "w"})
        over.set()
    assert other.status == 200
    assert (refused.status, refused.code, refused["retry-after"]) == (429, "rate_limited", "5")


async def test_a_short_read_stays_on_the_loop(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        before = api.store.long_reads
        assert (await api("GET", "/probe/busy", query={"word": "w", "count": 1})).status == 200
        assert api.store.long_reads == before


@pytest.mark.parametrize(("method", "path"), [("GET", "/probe/long"), ("POST", "/probe/longSearch")])
async def test_a_row_known_to_be_long_goes_to_a_thread_at_once(open_probes: OpenProbes, method: str, path: str) -> None:
    async with open_probes(per_minute=10) as api:
        before = api.store.long_reads
        values: dict[str, object] = {"word": "w", "count": 5}
        reply = await (api(method, path, query=values) if method == "GET" else api(method, path, json=values))
        assert (reply.status, said(reply.body)) == (200, "w5")
        assert api.store.long_reads == before + 1
        assert reply["ratelimit"].startswith('"default";r=9;')
        assert api.limits.running == 0


async def test_a_problem_on_the_thread_comes_out(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        assert (await api("GET", "/probe/long", query={"wrod": "w"})).code == "unknown_parameter"
        assert api.limits.running == 0


async def test_who_is_calling_is_asked_on_a_thread_where_the_loop_cannot(open_probes: OpenProbes) -> None:
    loop = threading.get_ident()
    asked: list[tuple[bool, bool]] = []

    def elsewhere(tx: ReadTx, token: str, peer: str | None, possession: object) -> Caller:
        asked.append((threading.get_ident() == loop, tx.version is None))
        if threading.get_ident() == loop:
            raise OverBudget
        return make_caller("org_a")

    async with open_probes(authenticate=elsewhere) as api:
        reply = await api("GET", READ, query={"word": "w"})
        assert reply.status == 200
        assert asked[-1] == (False, True)  # there a version is not known


# -- requests at once


async def test_requests_at_once_are_bounded_for_each_credential(open_probes: OpenProbes) -> None:
    entered, leave = trio.Event(), trio.Event()

    async def wait(caller: Caller, request: Word) -> Said:
        entered.set()
        await leave.wait()
        return Said(said="", org="")

    async with open_probes(deps=Deps(act=wait), concurrent=1) as api, trio.open_nursery() as nursery:
        api.token("org_a", "second")
        nursery.start_soon(_post, api, CALL)
        with trio.fail_after(ANSWER_SECONDS):
            await entered.wait()
        refused = await api("GET", READ, query={"word": "w"})
        assert (refused.status, refused.code, refused["retry-after"]) == (429, "rate_limited", "1")
        assert (await api("GET", READ, token="second", query={"word": "w"})).status == 200
        leave.set()
    assert api.errors.logged == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", READ, b"", 422),
        ("POST", WRITE, b"{", 400),
        ("POST", WRITE, b'{"word": "raise"}', 500),
        ("POST", WRITE, b'{"word": "missing"}', 404),
        ("POST", "/probe/search", b"{", 400),
        ("POST", "/probe/longSearch", b"{", 400),
        ("POST", CALL, b'{"word": "w"}', 200),
        ("GET", "/probe/both", b"", 403),
    ],
)
async def test_whatever_becomes_of_a_request_its_place_is_free_again(
    open_probes: OpenProbes, method: str, path: str, body: bytes, status: int
) -> None:
    async with open_probes(concurrent=1, deps=Deps()) as api:
        for _ in range(2):
            assert (await api(method, path, body=body)).status == status
            api.errors.logged.clear()
        assert api.limits.running == 0


async def test_a_cancelled_request_frees_its_place(open_probes: OpenProbes) -> None:
    entered = trio.Event()

    async def wait(caller: Caller, request: Word) -> Said:
        entered.set()
        await trio.sleep_forever()
        raise AssertionError

    async with open_probes(deps=Deps(act=wait), concurrent=1) as api:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_post, api, CALL)
            with trio.fail_after(ANSWER_SECONDS):
                await entered.wait()
            nursery.cancel_scope.cancel()
        assert api.limits.running == 0


async def test_a_request_cancelled_in_its_body_frees_its_place(open_probes: OpenProbes) -> None:
    class Endless(Body):
        asked = trio.Event()

        async def receive(self) -> dict[str, object]:
            self.asked.set()
            await trio.sleep_forever()
            raise AssertionError

    body = Endless()
    async with open_probes(concurrent=1) as api:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send, api, body)
            with trio.fail_after(ANSWER_SECONDS):
                await body.asked.wait()
            nursery.cancel_scope.cancel()
        assert api.limits.running == 0


async def _post(api: TestedApi, path: str) -> None:
    await api("POST", path, json={"word": "w"})


async def _send(api: TestedApi, body: Body) -> None:
    await api("POST", WRITE, body=body)
