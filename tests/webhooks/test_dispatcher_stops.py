"""A dispatcher that is stopped: what may still end, what is broken off, and that all of it is on record and told."""

import trio
from trio.testing import MockClock

from gatewayd.webhooks.schedule import RetryPolicy
from gatewayd.webhooks.settings import WebhookSettings
from tests.support.subscribing import subscribe
from tests.webhooks.harness import DelayedResult, Harness, response

URL = "https://receiver.example/hooks"


async def test_a_stop_lets_attempts_under_way_end_and_records_them(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, 5.0)
    harness.emit(6)
    async with harness.dispatching():
        await harness.until(lambda: len(harness.sender.posts) == 4, 1)
    records = harness.records(made.id)
    assert [one["status"] for one in records] == ["succeeded"] * 4 + ["pending"] * 2
    assert [one["attempts"] for one in records] == [1] * 4 + [0] * 2


async def test_what_ends_during_a_stop_is_told_as_ever(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    gone = trio.Event()
    harness.sender.script(URL, DelayedResult(gone, response(410)))
    harness.emit()
    async with trio.open_nursery() as nursery:
        dispatcher = harness.dispatcher()
        await nursery.start(dispatcher.run)
        await harness.until(lambda: len(harness.sender.posts) == 1, 1)
        nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await trio.sleep(1)
            gone.set()
            await harness.until(lambda: not dispatcher.running, 1)
    assert harness.records(made.id)[0]["status"] == "exhausted"
    assert harness.log.events("warning") == ["delivery_exhausted", "subscription_disabled"]
    assert harness.sender.closed_idle == [made.id]


async def test_a_stop_does_not_wait_for_ever_and_leaves_what_it_broke_off_due(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    began = trio.current_time()
    stopping = harness.dispatcher(WebhookSettings(stop_seconds=3))
    assert not stopping.running
    async with harness.dispatching(stopping) as dispatcher:
        await harness.until(lambda: len(harness.sender.posts) == 1, 1)
        ran = [dispatcher.running]
    assert dispatcher.counts.interrupted == 1
    assert 3 <= trio.current_time() - began < 4
    assert [*ran, dispatcher.running] == [True, False]
    (record,) = harness.records(made.id)
    assert (record["status"], record["attempts"], record["lastError"]) == ("retrying", 1, "interrupted")
    harness.sender.script(URL, response(200))
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "succeeded", 1)


async def test_as_many_attempts_as_there_are_may_be_broken_off_by_stops(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    settings = WebhookSettings(stop_seconds=0, retry=RetryPolicy(max_attempts=2))
    seen = []
    for stops in (1, 2, 3, 4):
        async with harness.dispatching(harness.dispatcher(settings)):
            await harness.until(lambda: len(harness.sender.posts) == stops, 1)  # noqa: B023 - called at once
        (record,) = harness.records(made.id)
        seen.append((record["status"], record["attempts"], record["interruptions"], record["lastError"]))
    assert seen == [
        ("retrying", 1, 1, "interrupted"),
        ("retrying", 2, 2, "interrupted"),
        ("retrying", 3, 3, "interrupted"),
        ("exhausted", 4, 4, "interrupted"),
    ]


async def test_a_stop_while_the_disk_is_full_tells_what_it_could_not_record(
    autojump_clock: MockClock, harness: Harness
) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit(2)
    async with harness.dispatching(harness.dispatcher(WebhookSettings(stop_seconds=0))) as dispatcher:
        await harness.until(lambda: len(harness.sender.posts) == 2, 1)
        harness.outbox.failing = 1
    assert dispatcher.counts.store_failures == 1
    ((level, event, values),) = harness.log.lines
    assert (level, event, values["waiting"]) == ("error", "webhooks_not_recorded", 2)


async def test_a_stop_with_nothing_to_record_writes_nothing(autojump_clock: MockClock, harness: Harness) -> None:
    async with harness.dispatching():
        await trio.sleep(1)
        writes = harness.outbox.writes
    assert harness.outbox.writes == writes
