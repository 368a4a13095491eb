"""What is sent again, refused or fails costs nothing more, on a full disk too (Domain C8)."""

import pytest
import trio

from gatewayd.clock import SECOND
from gatewayd.contract.caller import Caller
from gatewayd.errors import not_found
from gatewayd.performing import performer
from gatewayd.store import StoreFailure
from tests.http.metered import CALL, READ, ROWS, WRITE, Metered, OpenMetered, refused
from tests.http.probes import Deps, Said, Word, said
from tests.store.faulty_files import FULL, FaultyFiles
from tests.support.api import ANSWER_SECONDS

LEASE = 90 * SECOND


# -- what is sent again, what is refused, what fails


@pytest.mark.parametrize("path", [WRITE, CALL])
async def test_what_is_replayed_is_not_charged_again_even_with_nothing_left(box: Metered, path: str) -> None:
    await box.price(ROWS[path], 5)
    await box.grant(5)
    first = await box.send(path, key="k1")
    again = await box.send(path, key="k1")
    assert (first.status, again.status, again.body) == (200, 200, first.body)
    assert again["idempotent-replayed"] == "true"
    assert refused(await box.send(path, key="k2"))
    assert (await box.send(path, "other", key="k1")).code == "idempotency_conflict"
    assert await box.charged() == [(ROWS[path], 5)]


@pytest.mark.parametrize("path", [WRITE, CALL])
async def test_a_key_that_was_refused_for_want_of_credits_is_free(box: Metered, path: str) -> None:
    await box.price(ROWS[path], 5)
    assert refused(await box.send(path, key="k1"))
    await box.grant(5)
    reply = await box.send(path, key="k1")
    assert (reply.status, "idempotent-replayed" in reply) == (200, False)


@pytest.mark.parametrize("key", [None, "k1"])
@pytest.mark.parametrize(("word", "status"), [("missing", 404), ("raise", 500)])
async def test_a_write_that_is_refused_or_fails_costs_nothing(
    box: Metered, word: str, status: int, key: str | None
) -> None:
    await box.price("probe.write", 5)
    await box.grant(5)
    assert (await box.send(WRITE, word, key=key)).status == status
    box.api.errors.logged.clear()
    assert (await box.charged(), await box.balance()) == ([], 5)
    assert (await box.send(WRITE, key=key)).status == 200


@pytest.mark.parametrize("key", [None, "k1"])
@pytest.mark.parametrize("error", [not_found("word"), LookupError("no"), StoreFailure("no"), trio.TooSlowError()])
async def test_a_call_that_is_refused_or_fails_costs_nothing(
    open_metered: OpenMetered, error: Exception, key: str | None
) -> None:
    async def fail(caller: Caller, request: Word) -> Said:
        assert await box.held() == 5
        raise error

    async with open_metered(Deps(act=fail)) as box:
        await box.price("probe.call", 5)
        await box.grant(5)
        assert (await box.send(CALL, key=key)).status in (404, 500, 503)
        box.api.errors.logged.clear()
        assert (await box.charged(), await box.held(), await box.balance()) == ([], 0, 5)


async def test_a_call_that_is_cancelled_costs_nothing(open_metered: OpenMetered) -> None:
    entered = trio.Event()

    async def wait(caller: Caller, request: Word) -> Said:
        entered.set()
        await trio.sleep_forever()
        raise AssertionError

    async with open_metered(Deps(act=wait)) as box:
        await box.price("probe.call", 5)
        await box.grant(5)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(box.send, CALL)
            with trio.fail_after(ANSWER_SECONDS):
                await entered.wait()
            assert await box.held() == 5
            nursery.cancel_scope.cancel()
        assert (await box.charged(), await box.held()) == ([], 0)


async def test_a_read_that_fails_costs_nothing(box: Metered) -> None:
    await box.price("probe.read", 5)
    await box.grant(5)
    assert (await box.api("GET", READ, query={})).status == 422
    assert (await box.charged(), await box.balance()) == ([], 5)


async def test_what_a_call_under_way_holds_is_not_there_for_others(open_metered: OpenMetered) -> None:
    entered, leave = trio.Event(), trio.Event()

    async def wait(caller: Caller, request: Word) -> Said:
        entered.set()
        await leave.wait()
        return Said(said=request.word, org="")

    async with open_metered(Deps(act=wait)) as box, trio.open_nursery() as nursery:
        await box.price("probe.call", 5)
        await box.price("probe.write", 1)
        await box.grant(5)
        nursery.start_soon(box.send, CALL)
        with trio.fail_after(ANSWER_SECONDS):
            await entered.wait()
        assert refused(await box.send(WRITE))
        assert refused(await box.send(CALL))
        leave.set()
    assert box.deps.calls == ["w"]


# -- the disk, and the process


def files_of(box: Metered) -> FaultyFiles:
    return FaultyFiles(box.api.store._writer._parts.connection.statements)


@pytest.mark.parametrize("path", ROWS)
async def test_on_a_full_disk_nobody_is_charged_and_nobody_answered_for_nothing(box: Metered, path: str) -> None:
    await box.price(ROWS[path], 5)
    await box.grant(5)
    files = files_of(box)
    files.fail_at(1, FULL, once=False)
    assert (await box.send(path)).status == 503
    box.api.errors.claim("store_failed")
    files.repair()
    assert (box.deps.calls, await box.charged(), await box.held()) == ([], [], 0)
    assert (await box.send(path)).status == 200
    assert await box.charged() == [(ROWS[path], 5)]


async def test_a_call_that_cannot_be_settled_is_answered_and_costs_nothing_in_the_end(
    open_metered: OpenMetered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a kill: what is held comes back with the end of its lease."""

    async def act(caller: Caller, request: Word) -> Said:
        files.fail_at(1, FULL, once=False)
        return Said(said="done", org="")

    monkeypatch.setattr(performer, "RECORD_SECONDS", 0.2)
    async with open_metered(Deps(act=act)) as box:
        await box.price("probe.call", 5)
        await box.grant(5)
        files = files_of(box)
        assert said((await box.send(CALL)).body) == "done"
        files.repair()
        box.api.clock.advance(LEASE - 1)
        assert (await box.held(), refused(await box.send(CALL))) == (5, True)
        box.api.clock.advance(1)
        assert (await box.held(), await box.charged()) == (0, [])
