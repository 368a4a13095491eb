"""Who is charged for calls, for what, and who is refused (Domain B8)."""

import msgspec
import pytest

from gatewayd.ledger.credits import charging
from gatewayd.performing.performer import Performer
from gatewayd.store import ReadTx
from tests.http.metered import CALL, OPERATIONS, READ, ROWS, WRITE, Metered, refused
from tests.http.probes import Word, said
from tests.support import purses
from tests.support.api import Body
from tests.support.scopes import request_of

# -- who is charged, and for what


@pytest.mark.parametrize("path", ROWS)
async def test_what_has_a_price_is_charged_to_whom_a_plan_meters(box: Metered, path: str) -> None:
    await box.price(ROWS[path], 300_000)
    await box.grant(1_000_000)
    assert [(await box.send(path)).status for _ in range(2)] == [200, 200]
    assert await box.charged() == [(ROWS[path], 300_000)] * 2
    assert (await box.balance(), await box.held()) == (400_000, 0)


@pytest.mark.parametrize("path", ROWS)
async def test_what_has_none_costs_nothing_and_writes_nothing(box: Metered, path: str) -> None:
    await box.price("probe.other", 1)
    before = box.api.store.changes
    assert (await box.send(path)).status == 200
    assert await box.charged() == []
    assert box.api.store.changes - before == (1 if path == WRITE else 0)


@pytest.mark.parametrize("path", ROWS)
async def test_who_has_no_plan_is_not_charged(box: Metered, path: str) -> None:
    await box.price(ROWS[path], 300_000)
    assert (await box.send(path, token="b")).status == 200
    assert (await box.charged(), await box.charged("org_b")) == ([], [])


@pytest.mark.parametrize("path", ROWS)
async def test_whose_plan_has_ended_meanwhile_is_not_charged(box: Metered, path: str) -> None:
    """It was there when the call was let in."""
    await box.price(ROWS[path], 300_000)
    rows = {operation.id: operation for operation in OPERATIONS}
    caller = msgspec.structs.replace(box.api.authenticator.callers["b"], metered=True)
    await Performer(box.api.store, box.deps).perform(rows[ROWS[path]], caller, Word(word="w"))
    assert await box.charged("org_b") == []


@pytest.mark.parametrize("path", ROWS)
async def test_an_operator_is_not_charged(box: Metered, path: str) -> None:
    await box.price(ROWS[path], 300_000)
    rows = {operation.id: operation for operation in OPERATIONS}
    operator = msgspec.structs.replace(box.api.authenticator.callers["good"], kind="operator")
    await Performer(box.api.store, box.deps).perform(rows[ROWS[path]], operator, Word(word="w"))
    assert await box.charged() == []


@pytest.mark.parametrize("path", ["/probe/long", "/probe/busy", "/probe/search", "/probe/longSearch"])
async def test_a_read_is_charged_however_it_runs(box: Metered, path: str) -> None:
    operation_id = path.replace("/", ".")[1:]
    await box.price(operation_id, 1)
    await box.grant(3)
    assert (await box.send(path)).status == 200
    reply = await box.api("HEAD", path, query={"word": "w"}) if "earch" not in path else await box.send(path)
    assert reply.status == 200
    assert await box.charged() == [(operation_id, 1)] * 2


async def test_a_read_that_is_too_long_for_the_loop_is_charged_once(box: Metered) -> None:
    await box.price("probe.busy", 1)
    await box.grant(1)
    reply = await box.api("GET", "/probe/busy", query={"word": "w", "count": str(60_000)})
    assert (reply.status, said(reply.body), box.api.store.long_reads) == (200, "w60000", 1)
    assert await box.charged() == [("probe.busy", 1)]


async def test_an_answer_that_was_kept_is_charged_again(box: Metered) -> None:
    """One that was read before it had a price is not given for nothing afterwards."""
    assert (await box.send(READ)).status == 200
    assert (await box.send(READ)).status == 200
    await box.price("probe.read", 1)
    await box.grant(2)
    assert [(await box.send(READ)).status for _ in range(3)] == [200, 200, 402]
    assert await box.charged() == [("probe.read", 1)] * 2


async def test_a_read_that_is_charged_is_not_answered_at_once(box: Metered) -> None:
    await box.price("probe.read", 1)
    await box.grant(1)
    request = request_of("GET", READ, query=b"word=w", headers=[(b"authorization", b"Bearer good")])
    assert box.api.api.at_once(request) is None
    assert (await box.api.send(request, Body(b""))).status == 200
    assert len(box.api.authenticator.asked) == 1
    assert box.api.limits.running == 0
    assert await box.charged() == [("probe.read", 1)]


async def test_a_read_without_a_price_is_answered_at_once(box: Metered) -> None:
    """Though something else has one: the plan is not looked up for it."""
    await box.price("probe.write", 1)
    request = request_of("GET", READ, query=b"word=w", headers=[(b"authorization", b"Bearer good")])
    assert box.api.api.at_once(request) is not None


async def test_prices_are_looked_up_once_something_was_committed(box: Metered, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[frozenset[str]] = []

    def counted(tx: ReadTx) -> frozenset[str]:
        looked.append(priced_by_call(tx))
        return looked[-1]

    priced_by_call = charging.priced_by_call
    monkeypatch.setattr(charging, "priced_by_call", counted)
    assert [(await box.send(READ, word)).status for word in "abc"] == [200] * 3
    assert looked == [frozenset()]
    await box.price("probe.write", 1)
    assert [(await box.send(READ, word)).status for word in "abc"] == [200] * 3
    assert looked == [frozenset(), frozenset({"probe.write"})]


async def test_the_subject_of_a_charge_is_the_credential(box: Metered) -> None:
    await box.price("probe.read", 1)
    await box.price("probe.call", 1)
    await box.grant(2)
    await box.send(READ)
    await box.send(CALL)
    assert await box.api.store.read(purses.subjects, "org_a") == [("api_key", "key_good")] * 2


# -- work that is priced apart


@pytest.mark.parametrize(("status", "charges"), [(200, 1), (204, 1), (400, 0), (404, 0), (500, 0)])
async def test_what_another_service_refuses_costs_nothing(box: Metered, status: int, charges: int) -> None:
    await box.price("probe.forward", 5)
    await box.grant(5)
    assert (await box.send("/probe/relay", str(status))).status == status
    assert await box.charged() == [("probe.forward", 5)] * charges
    assert await box.held() == 0


async def test_a_row_and_the_work_it_does_may_both_have_a_price(box: Metered) -> None:
    await box.price("probe.forward", 5)
    await box.price("probe.relay", 2)
    await box.grant(13)
    assert [(await box.send("/probe/relay", "200")).status for _ in range(2)] == [200, 402]
    assert sorted(await box.charged()) == [("probe.forward", 5), ("probe.relay", 2)]
    assert (await box.held(), await box.balance()) == (0, 6)


async def test_who_has_nothing_left_is_answered_what_costs_nothing(box: Metered) -> None:
    """Of a row that may cost something, a request that doesn't."""
    await box.price("probe.find.deep", 7)
    assert (await box.api("GET", "/probe/find", query={"word": "w", "count": 0})).status == 200
    assert refused(await box.api("GET", "/probe/find", query={"word": "w", "count": 1}))


@pytest.mark.parametrize(("count", "charges"), [(0, []), (1, [("probe.find.deep", 7)])])
async def test_work_that_not_every_request_does_is_charged_where_it_is_done(
    box: Metered, count: int, charges: list[tuple[str, int]]
) -> None:
    await box.price("probe.find.deep", 7)
    await box.grant(7)
    assert (await box.api("GET", "/probe/find", query={"word": "w", "count": count})).status == 200
    assert await box.charged() == charges


@pytest.mark.parametrize("key", [None, "k"])
async def test_work_that_an_answer_came_about_without_is_not_charged(box: Metered, key: str | None) -> None:
    await box.price("probe.seek.deep", 7)
    await box.price("probe.seek", 2)
    await box.grant(9)
    for _ in range(1 if key is None else 2):
        assert (await box.send("/probe/seek", "shallow", key=key)).status == 200
    assert (await box.charged(), await box.held(), await box.balance()) == ([("probe.seek", 2)], 0, 7)
    assert refused(await box.send("/probe/seek", "shallow")), "before it is done nobody knows"
    await box.grant(2)
    assert (await box.send("/probe/seek", "deep")).status == 200
    assert sorted(await box.charged()) == [("probe.seek", 2), ("probe.seek", 2), ("probe.seek.deep", 7)]


# -- who cannot pay


@pytest.mark.parametrize("path", ROWS)
@pytest.mark.parametrize("left", [0, 299_999])
async def test_who_cannot_pay_is_refused_before_any_work(box: Metered, path: str, left: int) -> None:
    await box.price(ROWS[path], 300_000)
    await box.grant(left) if left else None
    reply = await box.send(path, "missing" if path == WRITE else "w")
    assert refused(reply), reply.body
    assert box.deps.calls == []
    assert (await box.charged(), await box.held(), await box.balance()) == ([], 0, left)
    await box.grant(300_000 - left)
    assert (await box.send(path)).status == 200


async def test_a_file_is_not_received_from_who_cannot_pay(box: Metered) -> None:
    await box.price("probe.take", 2)
    body = Body(b"x" * 100)
    query = {"word": "w"}
    assert refused(await box.api("POST", "/probe/take", query=query, body=body))
    assert (body.read, box.deps.calls) == (0, [])
    await box.grant(2)
    assert (await box.api("POST", "/probe/take", query=query, body=b"x" * 100)).status == 200
    assert await box.charged() == [("probe.take", 2)]


async def test_a_file_that_was_taken_before_under_its_key_is_answered_whatever_is_left(box: Metered) -> None:
    await box.price("probe.take", 2)
    await box.grant(3)
    sent = [
        await box.api("POST", "/probe/take", query={"word": "w"}, body=b"x", headers=[(b"idempotency-key", b"k")])
        for _ in range(2)
    ]
    assert [reply.status for reply in sent] == [200, 200]
    assert sent[1]["idempotent-replayed"] == "true"
    assert await box.charged() == [("probe.take", 2)]


async def test_a_credential_that_may_not_call_it_is_told_that_first(box: Metered) -> None:
    await box.price("probe.write", 1)
    box.api.token("org_a", "reader", ["entities:read"])
    assert (await box.send(WRITE, token="reader")).code == "insufficient_scope"
