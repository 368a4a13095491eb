"""`Idempotency-Key`: what is sent twice acts once (domain model §0.2)."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

from gatewayd.clock import DAY, SECOND
from gatewayd.contract.caller import Caller
from gatewayd.errors import not_found
from gatewayd.following import reactions
from gatewayd.performing import idempotency, performer
from gatewayd.store import StoreFailure
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from gatewayd.store.sqlite import connections, schema
from tests.http.conftest import OpenProbes
from tests.http.probes import Deps, Said, Word, said
from tests.store.faulty_files import FAILING, FULL, Call, FaultyFiles
from tests.support.api import ANSWER_SECONDS, Fields, Reply, TestedApi
from tests.support.store import START

WRITE = "/probe/write"
CALL = "/probe/call"
_NAME = "SELECT name FROM organizations WHERE id = 'org_a'"
_RECORDS = "SELECT COUNT(*) FROM idempotency_keys"
_RESPONSES = "SELECT response FROM idempotency_keys"


def key(text: str) -> Fields:
    return [(b"idempotency-key", text.encode()), (b"content-type", b"application/json")]


async def post(api: TestedApi, path: str, word: str, under: str = "k1", token: str = "good") -> Reply:
    return await api("POST", path, json={"word": word}, headers=key(under), token=token)


async def value(api: TestedApi, sql: str) -> object:
    return await api.store.read(lambda tx: tx.value(sql))


async def test_a_repeated_write_gets_the_first_answer_and_acts_once(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        first = await post(api, WRITE, "!")
        second = await post(api, WRITE, "!")
        assert await value(api, _NAME) == "org_a!"
    assert (first.status, second.status) == (200, 200)
    assert first.body == second.body
    assert "idempotent-replayed" not in first
    assert second["idempotent-replayed"] == "true"


async def test_a_key_is_good_for_other_methods_that_change_something(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        first, second = [await api("PATCH", "/things/t1", json={"word": "!"}, headers=key("k1")) for _ in range(2)]
        other = await api("PATCH", "/things/t2", json={"word": "!"}, headers=key("k1"))
    assert (first.body, "idempotent-replayed" in first) == (second.body, False)
    assert second["idempotent-replayed"] == "true"
    assert (other.status, other.code) == (409, "idempotency_conflict")


async def test_the_same_request_written_otherwise_is_the_same(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        first = await api("POST", WRITE, body=b'{"word":"!","count":0}', headers=key("k1"))
        second = await api("POST", "/api/rpc/probe/write", body=b'{ "word": "\\u0021" }', headers=key("k1"))
    assert second["idempotent-replayed"] == "true"
    assert first.body == second.body


async def test_another_body_under_the_key_is_a_conflict(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        await post(api, WRITE, "!")
        reply = await post(api, WRITE, "?")
        assert (reply.status, reply.code) == (409, "idempotency_conflict")
        assert "retry-after" not in reply
        assert await value(api, _NAME) == "org_a!"


async def test_another_operation_under_the_key_is_a_conflict(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        await post(api, WRITE, "!")
        assert (await post(api, "/probe/secret", "!")).code == "idempotency_conflict"


async def test_keys_are_each_credentials_own(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        await api.org("org_b", "b")
        api.token("org_a", "second")
        replies = [await post(api, WRITE, "!", token=token) for token in ("good", "second", "b")]
        assert [said(reply.body) for reply in replies] == ["org_a!", "org_a!!", "org_b!"]


async def test_two_at_once_act_once(open_probes: OpenProbes) -> None:
    replies: list[Reply] = []

    async def send(api: TestedApi) -> None:
        replies.append(await post(api, WRITE, "!"))

    async with open_probes() as api:
        async with trio.open_nursery() as nursery:
            for _ in range(8):
                nursery.start_soon(send, api)
        assert await value(api, _NAME) == "org_a!"
    assert {reply.body for reply in replies} == {replies[0].body}
    assert sum("idempotent-replayed" in reply for reply in replies) == 7


@pytest.mark.parametrize(("age", "replayed"), [(DAY - SECOND, True), (DAY, False)])
async def test_a_record_is_kept_for_a_day(open_probes: OpenProbes, age: int, replayed: bool) -> None:
    async with open_probes() as api:
        await post(api, WRITE, "!")
        api.clock.advance(age)
        assert ("idempotent-replayed" in await post(api, WRITE, "!")) == replayed


async def test_a_key_may_be_used_for_another_request_after_a_day(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        await post(api, WRITE, "!")
        api.clock.advance(DAY)
        assert said((await post(api, WRITE, "?")).body) == "org_a!?"
        assert (await post(api, WRITE, "?"))["idempotent-replayed"] == "true"
        assert await value(api, _RECORDS) == 1


async def test_the_sweep_deletes_what_is_older_than_a_day(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        await post(api, WRITE, "!", under="old")
        api.clock.advance(DAY)
        await post(api, WRITE, "!", under="new")
        assert await api.store.write(idempotency.sweep) == 1
        assert "idempotent-replayed" in await post(api, WRITE, "!", under="new")


@pytest.mark.parametrize("word", ["missing", "raise"])
async def test_a_first_attempt_that_failed_leaves_the_key_free(open_probes: OpenProbes, word: str) -> None:
    async with open_probes() as api:
        assert (await post(api, WRITE, word)).status in (404, 500)
        api.errors.logged.clear()
        assert await value(api, _RECORDS) == 0
        assert said((await post(api, WRITE, "!")).body) == "org_a!"


async def test_a_call_that_is_given_the_request_as_it_came_is_repeated_all_the_same(open_probes: OpenProbes) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:
        replies = [
            await api("POST", "/probe/overhear", json={"word": "gov-x"}, headers=[*key("k1"), (b"gov-x", b"y")])
            for _ in range(2)
        ]
    assert said(replies[0].body) == f"y {replies[0]['x-request-id']}"
    assert replies[0].body == replies[1].body
    assert replies[1]["idempotent-replayed"] == "true"
    assert deps.calls == ["gov-x"]


async def test_a_secret_answer_is_sealed_and_comes_back_whole(open_probes: OpenProbes) -> None:
    async with open_probes(deps=Deps()) as api:
        for path, under in (("/probe/secret", "k1"), ("/probe/secretCall", "k2")):
            first = await post(api, path, "whsec", under)
            second = await post(api, path, "whsec", under)
            assert first.body == second.body
            assert second["idempotent-replayed"] == "true"
        rows = await api.store.read(lambda tx: tx.rows(_RESPONSES))
    assert len(rows) == 2
    assert not any(b"whsec" in row[0] for row in rows)


async def test_an_answer_that_is_no_secret_is_kept_as_it_is(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        first = await post(api, WRITE, "!")
        assert await value(api, _RESPONSES) == first.body


@pytest.mark.parametrize("text", ["", " ", "k" * 256, "a\tb", "a\x7fb"])
async def test_a_key_that_is_none_is_refused(open_probes: OpenProbes, text: str) -> None:
    async with open_probes() as api:
        reply = await post(api, WRITE, "!", under=text)
        assert (reply.status, reply.code) == (400, "invalid_request")
        assert await value(api, _NAME) == "org_a"


@pytest.mark.parametrize("length", [1, 255])
async def test_the_shortest_and_the_longest_key_are_taken(open_probes: OpenProbes, length: int) -> None:
    async with open_probes() as api:
        await post(api, WRITE, "!", under="k" * length)
        assert "idempotent-replayed" in await post(api, WRITE, "!", under="k" * length)


async def test_a_replay_needs_the_scope_still(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        await post(api, WRITE, "!")
        api.token("org_a", "good", ["entities:read"])
        assert (await post(api, WRITE, "!")).status == 403


async def test_a_read_does_not_look_at_the_key(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        assert (await post(api, "/probe/search", "a")).status == 200
        assert (await post(api, "/probe/search", "b")).status == 200
        assert await value(api, _RECORDS) == 0


# -- calls: no transaction spans them


async def test_a_repeated_call_is_made_once(open_probes: OpenProbes) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:
        first, second = await post(api, CALL, "!"), await post(api, CALL, "!")
        assert (await post(api, CALL, "?")).code == "idempotency_conflict"
    assert first.body == second.body
    assert second["idempotent-replayed"] == "true"
    assert deps.calls == ["!"]


async def test_a_call_repeated_while_it_runs_is_a_conflict_for_now(open_probes: OpenProbes) -> None:
    entered, leave = trio.Event(), trio.Event()

    async def wait(caller: Caller, request: Word) -> Said:
        entered.set()
        await leave.wait()
        return Said(said=request.word, org="")

    deps = Deps(act=wait)
    async with open_probes(deps=deps) as api, trio.open_nursery() as nursery:
        nursery.start_soon(post, api, CALL, "!")
        with trio.fail_after(ANSWER_SECONDS):
            await entered.wait()
        reply = await post(api, CALL, "!")
        assert (reply.status, reply.code, reply["retry-after"]) == (409, "idempotency_conflict", "1")
        leave.set()
    assert deps.calls == ["!"]


def is_unknown(reply: Reply) -> bool:
    """Whether it says that nobody knows what the first request did, and not to wait for it."""
    told = (reply.status, reply.code, reply.json()["outcome"]) == (409, "idempotency_conflict", "unknown")
    return told and "retry-after" not in reply


async def test_a_call_that_was_refused_leaves_the_key_free(open_probes: OpenProbes) -> None:
    async def refuse(caller: Caller, request: Word) -> Said:
        raise not_found("word")

    deps = Deps(act=refuse)
    async with open_probes(deps=deps) as api:
        for _ in range(2):
            assert (await post(api, CALL, "!")).status == 404
        assert await value(api, _RECORDS) == 0
    assert deps.calls == ["!", "!"]


@pytest.mark.parametrize(("error", "event"), [(StoreFailure, "store_failed"), (LookupError, "request_failed")])
async def test_a_call_that_broke_off_is_not_made_again(
    open_probes: OpenProbes, error: type[Exception], event: str
) -> None:
    async def fail(caller: Caller, request: Word) -> Said:
        raise error("in the midst of it")

    deps = Deps(act=fail)
    async with open_probes(deps=deps) as api:
        assert (await post(api, CALL, "!")).status in (500, 503)
        api.errors.claim(event)
        assert is_unknown(await post(api, CALL, "!"))
        assert is_unknown(await post(api, CALL, "!"))
        assert (await post(api, CALL, "?")).code == "idempotency_conflict"
        assert (await post(api, CALL, "!", under="k2")).status in (500, 503)
        api.errors.claim(event)
        api.clock.advance(DAY)
        assert (await post(api, CALL, "!")).status in (500, 503)  # the key is forgotten, as any is
        api.errors.claim(event)
    assert deps.calls == ["!", "!", "!"]


async def test_a_call_that_broke_off_leaves_other_records_alone(open_probes: OpenProbes) -> None:
    async def fail(caller: Caller, request: Word) -> Said:
        raise StoreFailure("the disk is full")

    async with open_probes(deps=Deps(act=fail)) as api:
        await api.org("org_b", "b")
        api.token("org_a", "second")
        others = [("other", "good"), ("k1", "second"), ("k1", "b")]
        for under, token in others:
            await post(api, WRITE, "!", under=under, token=token)
        assert (await post(api, CALL, "!")).status == 503
        api.errors.claim("store_failed")
        for under, token in others:
            assert "idempotent-replayed" in await post(api, WRITE, "!", under=under, token=token)


async def test_a_call_that_was_cancelled_is_not_made_again(open_probes: OpenProbes) -> None:
    entered = trio.Event()

    async def wait(caller: Caller, request: Word) -> Said:
        entered.set()
        await trio.sleep_forever()
        raise AssertionError

    deps = Deps(act=wait)
    async with open_probes(deps=deps) as api:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post, api, CALL, "!")
            with trio.fail_after(ANSWER_SECONDS):
                await entered.wait()
            nursery.cancel_scope.cancel()
        assert is_unknown(await post(api, CALL, "!"))
    assert deps.calls == ["!"]


# -- the store fails when the answer is to be kept


def files_of(api: TestedApi) -> FaultyFiles:
    """The files of the writer, which can be made to fail below SQLite."""
    return FaultyFiles(api.store._writer._parts.connection.statements)


@pytest.mark.parametrize("faults", [FULL, FAILING], ids=["full", "failing"])
@pytest.mark.parametrize("refused", [False, True])
async def test_an_answer_is_kept_once_the_disk_takes_it(
    open_probes: OpenProbes, faults: Mapping[Call, int], refused: bool
) -> None:
    async def act(caller: Caller, request: Word) -> Said:
        files.fail_at(1, faults, once=True)
        if refused:
            raise not_found("word")
        return Said(said="done", org="")

    deps = Deps(act=act)
    async with open_probes(deps=deps) as api:
        files = files_of(api)
        first = await post(api, CALL, "!")
        files.repair()
        assert first.status == (404 if refused else 200)
        assert await value(api, _RECORDS) == (0 if refused else 1)
        second = await post(api, CALL, "!")
        files.repair()
        assert second.body == first.body or refused
        assert ("idempotent-replayed" in second) != refused
    assert deps.calls == (["!", "!"] if refused else ["!"])


async def test_an_answer_that_cannot_be_kept_is_given_and_not_made_again(
    open_probes: OpenProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(caller: Caller, request: Word) -> Said:
        files.fail_at(1, FULL, once=False)
        return Said(said="done", org="")

    monkeypatch.setattr(performer, "RECORD_SECONDS", 0.2)
    deps = Deps(act=act)
    async with open_probes(deps=deps) as api:
        files = files_of(api)
        assert said((await post(api, CALL, "!")).body) == "done"
        files.repair()
        waiting = await post(api, CALL, "!")
        assert (waiting.code, waiting.json()["outcome"], waiting["retry-after"]) == (
            "idempotency_conflict",
            "pending",
            "1",
        )
        api.clock.advance(LEASE)
        assert is_unknown(await post(api, CALL, "!"))
    assert deps.calls == ["!"]


async def test_a_call_that_cannot_be_reserved_is_not_made(open_probes: OpenProbes) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:
        files = files_of(api)
        files.fail_at(1, FULL, once=False)
        assert (await post(api, CALL, "!")).status == 503
        api.errors.claim("store_failed")
        files.repair()
        assert deps.calls == []
        assert (await post(api, CALL, "!")).status == 200


# -- reservations: a call that is under way has a lease

LEASE = 90 * SECOND
"""30 s that a call may wait for others, and a minute for what it reads and writes."""
BEFORE_LEASES = 12
_INTERRUPT = "UPDATE idempotency_keys SET response = NULL, lease_until = :lease_until WHERE key = 'k1'"


async def die_in_a_call(api: TestedApi) -> None:
    """What a killed process leaves behind is the mark of a call under way."""
    await post(api, CALL, "!")
    await api.store.write(lambda tx: tx.run(_INTERRUPT, lease_until=tx.now + LEASE))


@pytest.mark.parametrize("word", ["!", "another"])
async def test_a_call_that_the_process_died_in_is_not_made_again(open_probes: OpenProbes, word: str) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:
        await post(api, WRITE, "!", under="done")
        await die_in_a_call(api)
        api.clock.advance(LEASE - 1)
        assert (await post(api, CALL, "!")).json()["outcome"] == "pending"
        api.clock.advance(1)
        reply = await post(api, CALL, word)
        assert is_unknown(reply) if word == "!" else "outcome" not in reply.json()
        assert "idempotent-replayed" in await post(api, WRITE, "!", under="done")
    assert deps.calls == ["!"]


def test_what_was_under_way_before_there_were_leases_is_forgotten() -> None:
    database = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(database, schema.packaged()[:BEFORE_LEASES], START)
    for name, response in (("done", b"{}"), ("under way", None)):
        database.execute(
            "INSERT INTO idempotency_keys VALUES ('org_a', 'key_a', ?, x'00', 'a.b', ?, 0, 0)", (name, response)
        )
    schema.migrate(database, schema.packaged(), START)
    assert database.execute("SELECT key, lease_until FROM idempotency_keys").fetchall() == [("done", None)]
    database.close()


class UnderWay(NamedTuple):
    """`end` lets the first call end and answers its reply."""

    api: TestedApi
    end: Callable[[], Awaitable[Reply]]


@asynccontextmanager
async def call_under_way(open_probes: OpenProbes, ending: Callable[[], Said]) -> AsyncIterator[UnderWay]:
    """A first call, which ends as told; those after it answer at once."""
    entered, leave, ended = trio.Event(), trio.Event(), trio.Event()
    replies: list[Reply] = []

    async def act(caller: Caller, request: Word) -> Said:
        if entered.is_set():
            return Said(said="second", org="")
        entered.set()
        await leave.wait()
        return ending()

    async with open_probes(deps=Deps(act=act)) as api, trio.open_nursery() as nursery:

        async def first() -> None:
            replies.append(await post(api, CALL, "!"))
            ended.set()

        async def end() -> Reply:
            leave.set()
            with trio.fail_after(ANSWER_SECONDS):
                await ended.wait()
            return replies[0]

        nursery.start_soon(first)
        with trio.fail_after(ANSWER_SECONDS):
            await entered.wait()
        yield UnderWay(api, end)


async def test_the_start_of_another_daemon_leaves_what_is_under_way(open_probes: OpenProbes, tmp_path: Path) -> None:
    async with call_under_way(open_probes, lambda: Said(said="first", org="")) as (api, end):
        async with open_store(StoreSettings(directory=tmp_path), api.clock, reactions=reactions) as other:
            await other.write(idempotency.sweep)
        assert (await post(api, CALL, "!")).code == "idempotency_conflict"
        reply = await end()
        again = await post(api, CALL, "!")
    assert said(reply.body) == "first"
    assert (again.body, again["idempotent-replayed"]) == (reply.body, "true")


async def test_a_call_that_outlives_its_lease_leaves_its_answer_all_the_same(open_probes: OpenProbes) -> None:
    async with call_under_way(open_probes, lambda: Said(said="first", org="")) as (api, end):
        api.clock.advance(LEASE)
        assert is_unknown(await post(api, CALL, "!"))
        reply = await end()
        again = await post(api, CALL, "!")
    assert said(reply.body) == "first"
    assert (again.body, again["idempotent-replayed"]) == (reply.body, "true")


async def test_a_call_that_breaks_off_after_its_lease_stays_unknown(open_probes: OpenProbes) -> None:
    def fail() -> Said:
        raise StoreFailure("the disk is full")

    async with call_under_way(open_probes, fail) as (api, end):
        api.clock.advance(LEASE)
        assert is_unknown(await post(api, CALL, "!"))
        assert (await end()).status == 503
        api.errors.claim("store_failed")
        assert is_unknown(await post(api, CALL, "!"))
