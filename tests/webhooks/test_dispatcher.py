"""The dispatcher on virtual time: what is sent when, and what survives failures, crashes and stops."""

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gatewayd.clock import HOUR, SECOND, from_wire, to_wire
from gatewayd.sending import LOOK_AGAIN_SECONDS
from gatewayd.store import WriteTx
from gatewayd.webhooks.dispatch.delivery_report import SubscriptionCounters, SubscriptionCounts
from gatewayd.webhooks.schedule import RetryPolicy
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.signature import verify
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import RemoveSubscription, UpdateSubscription
from tests.support.store import START, make_caller
from tests.support.subscribing import emit, subscribe
from tests.webhooks.harness import DelayedResult, Harness, InlineStore, no_response, response

T = TypeVar("T")

URL = "https://receiver.example/hooks"
WAITS = (30, 60, 120, 240, 480, 960, 1920)  # Spec §8, seconds
LEASE_SECONDS = WebhookSettings().lease / SECOND


def seconds_after_start(instant: int) -> float:
    return (instant - START) / SECOND


# -- one delivery


async def test_an_event_is_posted_signed_and_recorded(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    async with harness.dispatching() as dispatcher:
        await wait_all_tasks_blocked()
        harness.emit()
        await harness.until(lambda: dispatcher.counts.succeeded == 1, 5)
        await wait_all_tasks_blocked()
    (post,) = harness.sender.posts
    assert (post.url, post.pool_key) == (URL, made.id)
    assert post.headers["X-Service-Event"] == "lead.created"
    verify(post.headers["X-Service-Signature"], post.body, made.secret, now=START // SECOND)
    (record,) = harness.records(made.id)
    assert post.headers["X-Service-Delivery"] == post.headers["webhook-id"] == record["id"]
    assert msgspec.json.decode(post.body)["id"] == record["id"]
    assert (record["status"], record["attempts"], record["responseCode"]) == ("succeeded", 1, 200)
    assert harness.log.lines == []


async def test_what_is_sent_again_is_known_by_its_first_delivery(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(410), response(200))
    harness.emit()
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: dispatcher.counts.exhausted == 1, 5)
        await wait_all_tasks_blocked()
        harness.update(UpdateSubscription(id=made.id, enabled=True))
        (first,) = harness.records(made.id)
        for count in (1, 2):
            harness.resend(harness.records(made.id)[-1]["id"])
            await harness.until(lambda: dispatcher.counts.succeeded == count, 5)  # noqa: B023 - called at once
            await wait_all_tasks_blocked()
    for post, record in zip(harness.sender.posts, harness.records(made.id), strict=True):
        assert post.headers["X-Service-Delivery"] == record["id"]
        assert post.headers["webhook-id"] == msgspec.json.decode(post.body)["id"] == first["id"]
        verify(post.headers["X-Service-Signature"], post.body, made.secret, now=post.at // SECOND)
    named = [post.headers.get("X-Service-Replayed-From") for post in harness.sender.posts]
    assert named == [None, first["id"], first["id"]]
    assert len({post.body for post in harness.sender.posts}) == 1


async def test_what_waits_from_before_the_start_is_sent(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.emit(7)
    async with harness.dispatching():
        await harness.until(lambda: all(one["status"] == "succeeded" for one in harness.records(made.id)), 5)
    assert len(harness.sender.posts) == 7


async def test_retries_come_at_the_exact_instants_of_the_schedule_and_end_exhausted(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500))
    harness.emit()
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "exhausted")
        await trio.sleep(4 * 3600)
        assert (dispatcher.counts.retried, dispatcher.counts.exhausted) == (7, 1)
    expected = [float(sum(WAITS[:n])) for n in range(8)]
    assert [seconds_after_start(post.at) for post in harness.sender.posts] == expected
    assert len({post.body for post in harness.sender.posts}) == 1
    assert len({post.headers["X-Service-Signature"] for post in harness.sender.posts}) == 8
    (record,) = harness.records(made.id)
    assert (record["attempts"], record["responseCode"], record["lastError"]) == (8, 500, "http_5xx")
    assert (record["nextAttemptAt"], record["completedAt"]) == (None, to_wire(harness.sender.posts[-1].at))
    assert harness.log.events("warning") == ["delivery_exhausted"]


async def test_a_receiver_that_does_not_answer_is_tried_again_after_its_ten_seconds(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, 10.0, response(200))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "succeeded")
    assert [seconds_after_start(post.at) for post in harness.sender.posts] == [0.0, 40.0]


async def test_jitter_only_lengthens_a_wait(autojump_clock: MockClock, harness: Harness) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500), response(200))
    harness.emit()
    async with harness.dispatching(harness.dispatcher(fraction=0.5)):
        await harness.until(lambda: len(harness.sender.posts) == 2)
    assert seconds_after_start(harness.sender.posts[1].at) == 31.5


async def test_retry_after_lengthens_a_wait_and_never_shortens_it(autojump_clock: MockClock, harness: Harness) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(429, retry_after="100"), response(503, retry_after="1"), response(200))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: len(harness.sender.posts) == 3)
    assert [seconds_after_start(post.at) for post in harness.sender.posts] == [0.0, 100.0, 160.0]


async def test_410_ends_the_delivery_and_disables_the_subscription_with_notice(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(410))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "exhausted")
        harness.emit()
        await trio.sleep(3600)
    assert len(harness.sender.posts) == 1
    sql = "SELECT enabled, disabled_reason, version FROM webhook_subscriptions WHERE org_id = :org_id"
    assert harness.memory.read(lambda tx: tx.row(sql), harness.org_id) == (0, "receiver_gone", 2)
    assert harness.log.events("warning") == ["delivery_exhausted", "subscription_disabled"]
    assert harness.sender.closed_idle == [made.id]
    assert len(harness.records(made.id)) == 1


async def test_410_of_an_address_that_was_left_meanwhile_disables_nothing(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    gone = trio.Event()
    harness.sender.script(URL, DelayedResult(gone, response(410)))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: len(harness.sender.posts) == 1, 5)
        harness.update(UpdateSubscription(id=made.id, url="https://b.example/"))
        gone.set()
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "exhausted", 5)
        harness.emit()
        await harness.until(lambda: len(harness.sender.posts_to("https://b.example/")) == 1, 5)


async def test_an_error_on_our_side_fails_one_attempt_and_is_told(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, RuntimeError("a defect"), response(200))
    harness.emit()
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "succeeded")
    assert [seconds_after_start(post.at) for post in harness.sender.posts] == [0.0, 30.0]
    assert dispatcher.counts.failed_here == 1
    ((level, event, values),) = harness.log.lines
    assert (level, event) == ("error", "delivery_failed_here")
    assert isinstance(values["exc_info"], RuntimeError)


async def test_a_secret_that_does_not_open_fails_its_attempts_and_no_others(
    autojump_clock: MockClock, harness: Harness
) -> None:
    broken = subscribe(harness.memory, harness.org_id, "https://broken.example/")
    whole = subscribe(harness.memory, harness.org_id, URL)
    sql = "UPDATE webhook_subscriptions SET secret_sealed = x'0102' WHERE org_id = :org_id AND id = :id"
    harness.memory.write(lambda tx: tx.run(sql, id=broken.id), harness.org_id)
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: harness.records(whole.id)[0]["status"] == "succeeded", 5)
        await harness.until(lambda: harness.records(broken.id)[0]["status"] == "retrying", 5)
    assert harness.records(broken.id)[0]["lastError"] == "internal"
    assert harness.sender.posts_to("https://broken.example/") == []
    assert harness.log.events("error") == ["delivery_failed_here"]


async def test_secrets_are_in_no_log_line(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, RuntimeError("a defect"), response(500), no_response("tls"), response(410))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "exhausted")
    assert len(harness.log.lines) == 5
    assert made.secret not in repr(harness.log.lines)


async def test_a_rotated_secret_signs_beside_the_old_one_for_a_day(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    rotated = harness.update(UpdateSubscription(id=made.id, rotate_secret=True))
    assert isinstance(rotated.secret, str)
    async with harness.dispatching():
        harness.emit()
        await harness.until(lambda: len(harness.sender.posts) == 1, 5)
        await trio.sleep(24 * 3600)
        harness.emit()
        await harness.until(lambda: len(harness.sender.posts) == 2, 5)
    early, late = harness.sender.posts
    for secret in (rotated.secret, made.secret):
        verify(early.headers["X-Service-Signature"], early.body, secret, now=early.at // SECOND)
    assert early.headers["X-Service-Signature"].count("v1=") == 2
    verify(late.headers["X-Service-Signature"], late.body, rotated.secret, now=late.at // SECOND)
    assert late.headers["X-Service-Signature"].count("v1=") == 1


# -- limits and isolation


async def test_a_hanging_receiver_does_not_hold_up_the_others(autojump_clock: MockClock, harness: Harness) -> None:
    hanging = [f"https://h{n}.example/" for n in range(20)]
    for url in hanging:
        subscribe(harness.memory, harness.org_id, url)
        harness.sender.script(url, 10.0)
    harness.emit(10)
    async with harness.dispatching():
        await wait_all_tasks_blocked()
        healthy = subscribe(harness.memory, harness.org_id, URL)
        for _ in range(5):
            harness.emit()
            await trio.sleep(0.2)
        records = harness.records(healthy.id)
    assert [one["status"] for one in records] == ["succeeded"] * 5
    assert [one["lastAttemptAt"] for one in records] == [one["createdAt"] for one in records]


@pytest.mark.parametrize(("concurrency", "used"), [(64, 12), (6, 5)])  # of 6 one is kept for an idle subscription
async def test_limits_hold_for_each_subscription_and_over_all(
    autojump_clock: MockClock, harness: Harness, concurrency: int, used: int
) -> None:
    urls = [f"https://r{n}.example/" for n in range(4)]
    for url in urls:
        subscribe(harness.memory, harness.org_id, url)
        harness.sender.script(url, 2.0)
    harness.emit(12)
    settings = WebhookSettings(per_subscription=3, concurrency=concurrency)
    async with harness.dispatching(harness.dispatcher(settings)) as dispatcher:
        await harness.until(lambda: dispatcher.counts.succeeded == 48, 100)
    assert max(harness.sender.most_in_flight[url] for url in urls) == 3
    assert used <= harness.sender.most_at_once <= min(concurrency, 12)
    assert harness.sender.overlaps == []


async def test_what_is_in_flight_counts_when_more_comes(autojump_clock: MockClock, harness: Harness) -> None:
    for number in range(8):
        url = f"https://r{number}.example/"
        subscribe(harness.memory, harness.org_id, url)
        harness.sender.script(url, 9.0)
    async with harness.dispatching(harness.dispatcher(WebhookSettings(concurrency=6))):
        for _ in range(5):
            harness.emit()
            await trio.sleep(1)
    assert harness.sender.most_at_once == 6


async def test_what_ends_at_once_is_recorded_at_once_and_together(autojump_clock: MockClock, harness: Harness) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, 2.0)
    harness.emit(4)
    async with harness.dispatching() as dispatcher:
        await trio.sleep(1)
        writes, sweeps = harness.outbox.writes, harness.sender.sweeps
        await trio.sleep(2)
        assert dispatcher.counts.succeeded == 4
        assert harness.outbox.writes - writes == 1
        assert harness.sender.sweeps - sweeps == 1


async def test_one_slot_is_enough_to_get_on(autojump_clock: MockClock, harness: Harness) -> None:
    for n in range(3):
        subscribe(harness.memory, harness.org_id, f"https://r{n}.example/")
    harness.emit(5)
    settings = WebhookSettings(per_subscription=1, concurrency=1)
    async with harness.dispatching(harness.dispatcher(settings)) as dispatcher:
        await harness.until(lambda: dispatcher.counts.succeeded == 15, 5)
    assert harness.sender.most_at_once == 1


async def test_a_deleted_subscription_gets_nothing_more(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: len(harness.sender.posts) == 1, 5)
        await wait_all_tasks_blocked()
        request = RemoveSubscription(id=made.id)
        caller = make_caller(harness.org_id)
        harness.memory.write(lambda tx: subscriptions.remove_subscription(tx, caller, request), harness.org_id)
        await trio.sleep(3600)
    assert len(harness.sender.posts) == 1


async def test_a_disabled_subscription_waits_and_is_served_once_enabled(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.emit()
    harness.update(UpdateSubscription(id=made.id, enabled=False))
    async with harness.dispatching():
        await trio.sleep(3600)
        assert harness.sender.posts == []
        harness.update(UpdateSubscription(id=made.id, enabled=True))
        await harness.until(lambda: len(harness.sender.posts) == 1, 1)


async def test_receivers_that_hang_at_once_do_not_fill_the_slots(autojump_clock: MockClock, harness: Harness) -> None:
    """80 hang and 20 are well. Once each of the 80 has hung, they share a quarter of the slots, in turns."""
    orgs = [harness.memory.org("Hanging 1 Ltd"), harness.memory.org("Hanging 2 Ltd")]
    hanging = [f"https://h{number}.example/" for number in range(80)]
    for number, url in enumerate(hanging):
        subscribe(harness.memory, orgs[number % 2], url)
        harness.sender.script(url, 10.0)
    healthy = [subscribe(harness.memory, harness.org_id, f"https://r{number}.example/") for number in range(20)]
    for org_id in orgs:
        emit(harness.memory, org_id, 10)
    settings = WebhookSettings()
    async with harness.dispatching():
        await trio.sleep(4 * settings.timeout_seconds)  # 80 and 64 slots: more than a round for those that began late
        before = len(harness.sender.posts)
        harness.sender.most_at_once, harness.sender.most_in_flight = 0, {}
        for _ in range(100):
            harness.emit()
            await trio.sleep(1.5)
    records = [record for made in healthy for record in harness.records(made.id)]
    waits = [from_wire(one["lastAttemptAt"]) - from_wire(one["createdAt"]) for one in records]
    assert len(waits) == 20 * 100
    assert max(waits) == 0
    assert {harness.sender.most_in_flight[url] for url in hanging} == {1}
    assert harness.sender.most_at_once <= settings.slow_slots + 20
    served = Counter(post.url for post in harness.sender.posts[before:])
    assert min(served[url] for url in hanging) >= 2  # in 150 s 16 slots serve 80 receivers three times


async def test_a_suspect_that_answers_has_its_room_back(autojump_clock: MockClock, harness: Harness) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, 10.0, 2.0)
    harness.emit()
    async with harness.dispatching():
        await trio.sleep(11)
        harness.emit(8)
        await trio.sleep(1)
        assert harness.sender.in_flight[URL] == 1
        await trio.sleep(2)
        assert harness.sender.in_flight[URL] == 4


async def test_a_receiver_whose_name_is_not_found_is_slow(autojump_clock: MockClock, harness: Harness) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    until = trio.Event()
    harness.sender.script(URL, no_response("dns", 0), DelayedResult(until, response(200)))
    harness.emit()
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: dispatcher.counts.retried == 1, 5)
        harness.emit(8)
        await trio.sleep(1)
        assert harness.sender.in_flight[URL] == 1
        until.set()


async def test_a_2xx_whose_body_breaks_is_the_end_of_it(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(200, body_error="connection"), response(500))
    harness.emit()
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: dispatcher.counts.succeeded == 1, 5)
        await trio.sleep(3600)
    (record,) = harness.records(made.id)
    assert (record["status"], record["responseCode"], record["lastError"]) == ("succeeded", 200, None)
    assert [one["bodyError"] for one in harness.attempts(record["id"])] == ["connection"]
    assert len(harness.sender.posts) == 1


async def test_a_receiver_whose_bodies_never_end_is_slow(autojump_clock: MockClock, harness: Harness) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    until = trio.Event()
    harness.sender.script(URL, response(200, body_error="timeout"), DelayedResult(until, response(200)))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: len(harness.sender.posts) == 1, 5)
        harness.emit(8)
        await trio.sleep(1)
        assert harness.sender.in_flight[URL] == 1
        until.set()


# -- crashes, clocks


async def test_a_crash_between_claim_and_record_leaves_the_attempt_counted(
    autojump_clock: MockClock, harness: Harness
) -> None:
    """The process dies: nothing of its memory is left, not even the chance to record."""
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    crashed = harness.dispatcher(WebhookSettings(stop_seconds=0))
    async with trio.open_nursery() as nursery:
        await nursery.start(crashed.run)
        await harness.until(lambda: len(harness.sender.posts) == 1, 5)
        harness.outbox.failing = 1  # the record that a stop would still make is lost with the process
        nursery.cancel_scope.cancel()
    (record,) = harness.records(made.id)
    assert (record["status"], record["attempts"], record["nextAttemptAt"]) == ("pending", 1, None)
    harness.sender.script(URL, response(200))
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "succeeded", 60)
    assert [seconds_after_start(post.at) for post in harness.sender.posts][1] == LEASE_SECONDS
    assert harness.records(made.id)[0]["attempts"] == 2


async def crash(harness: Harness, times: int) -> None:
    """Let a process begin what is due and die, again and again; the leases are over afterwards."""
    for _ in range(times):
        async with trio.open_nursery() as nursery:
            await nursery.start(harness.dispatcher(WebhookSettings(stop_seconds=0)).run)
            await trio.sleep(LEASE_SECONDS / 2)
            harness.outbox.failing = 1
            nursery.cancel_scope.cancel()
        harness.outbox.failing = 0
        await trio.sleep(LEASE_SECONDS)


async def test_eight_crashes_leave_a_delivery_its_eight_attempts(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    await crash(harness, 8)
    harness.sender.script(URL, response(500))
    restarted = harness.clock.now()
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "exhausted")
    (record,) = harness.records(made.id)
    assert (record["attempts"], record["interruptions"], record["lastError"]) == (16, 8, "http_5xx")
    assert [one["attempt"] for one in harness.attempts(record["id"])] == list(range(1, 17))
    tried = [(post.at - restarted) / SECOND for post in harness.sender.posts[8:]]
    assert tried == [float(sum(WAITS[:n])) for n in range(8)]  # the waits are those of the first eight


async def test_never_more_than_twice_as_many_attempts_whatever_crashes(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    await crash(harness, 18)
    assert len(harness.sender.posts) == 16
    (record,) = harness.records(made.id)
    assert (record["status"], record["attempts"], record["lastError"]) == ("exhausted", 16, "interrupted")
    assert record["interruptions"] == 16
    (told,) = [values for _, event, values in harness.log.lines if event == "delivery_exhausted"]
    assert (told["delivery_id"], told["subscription_id"], told["error"]) == (record["id"], made.id, "interrupted")


async def test_what_has_more_attempts_than_the_settings_now_allow_is_exhausted(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500))
    harness.emit()
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: dispatcher.counts.retried == 3)
    fewer = WebhookSettings(retry=RetryPolicy(max_attempts=2))
    async with harness.dispatching(harness.dispatcher(fewer)) as dispatcher:
        await harness.until(lambda: dispatcher.counts.exhausted == 1)
    (record,) = harness.records(made.id)
    assert (record["status"], record["attempts"], record["lastError"]) == ("exhausted", 3, "http_5xx")
    assert [one["error"] for one in harness.attempts(record["id"])] == ["http_5xx"] * 3
    assert len(harness.sender.posts) == 3


async def test_two_dispatchers_on_one_database_send_each_attempt_once(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, 0.3)
    async with harness.dispatching() as first, harness.dispatching() as second:
        for _ in range(10):
            harness.emit(3)
            await trio.sleep(0.1)
        await harness.until(lambda: first.counts.succeeded + second.counts.succeeded == 30, 60)
    assert len(harness.sender.posts) == 30
    assert harness.sender.overlaps == []
    assert min(first.counts.succeeded, second.counts.succeeded) > 0
    assert {one["attempts"] for one in harness.records(made.id)} == {1}


async def test_a_full_disk_loses_no_result_and_sends_nothing_twice(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, 5.0)
    harness.emit()
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: len(harness.sender.posts) == 1, 1)
        harness.outbox.failing = 60
        await harness.until(lambda: harness.outbox.failing == 59, 10)
        began = trio.current_time()
        await harness.until(lambda: harness.outbox.failing == 0, 120)
        assert 58 <= trio.current_time() - began <= 60  # a pause between any two tries
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "succeeded", 10)
        assert dispatcher.counts.store_failures == 60
    assert len(harness.sender.posts) == 1
    assert harness.log.events("error") == ["webhooks_not_recorded"]  # once, not sixty times
    assert harness.log.events("info") == ["webhooks_recorded_again"]


class SlowFailures(InlineStore):
    """A full disk that takes a second to say so."""

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        if self.failing:
            with trio.CancelScope(shield=True):
                await trio.sleep(1)
        return await super().write(work, org_id)


async def test_what_ends_while_a_record_fails_is_recorded_with_it(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.outbox = SlowFailures(harness.memory)
    harness.sender.script(URL, 5.0, 5.5)
    harness.emit(2)
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: len(harness.sender.posts) == 2, 1)
        harness.outbox.failing = 1
        await harness.until(lambda: dispatcher.counts.succeeded == 2, 10)
        await trio.sleep(2)
        assert dispatcher.in_flight == 0
        assert [one["status"] for one in harness.records(made.id)] == ["succeeded"] * 2
    assert len(harness.sender.posts) == 2


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
async def test_a_clock_that_is_set_stops_nothing_and_doubles_nothing(
    autojump_clock: MockClock, harness: Harness, jump: int
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, 5.0, response(500), response(200))
    harness.emit(2)
    async with harness.dispatching():
        await harness.until(lambda: len(harness.sender.posts) == 2, 1)
        harness.clock.advance(jump)
        with trio.fail_after(120):
            while {one["status"] for one in harness.records(made.id)} != {"succeeded"}:
                await trio.sleep(0.5)
        harness.emit()
        with trio.fail_after(120):
            while [one["status"] for one in harness.records(made.id)] != ["succeeded"] * 3:
                await trio.sleep(0.5)
    assert harness.sender.overlaps == []
    assert sorted(one["attempts"] for one in harness.records(made.id)) == [1, 1, 2]


async def test_what_was_recorded_by_a_clock_that_was_ahead_is_sent_at_once(
    autojump_clock: MockClock, harness: Harness
) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    harness.emit()
    harness.clock.advance(-HOUR)
    began = trio.current_time()
    async with harness.dispatching():
        await harness.sender.arrived.wait()
        assert trio.current_time() == began


async def test_a_clock_set_back_under_an_attempt_does_not_shorten_the_wait_after_it(
    autojump_clock: MockClock, harness: Harness
) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    slow = DelayedResult(trio.Event(), response(500))
    harness.sender.script(URL, slow, response(200))
    harness.emit()
    async with harness.dispatching():
        await trio.sleep(5)
        harness.clock.advance(-HOUR)
        began = trio.current_time()
        slow.until.set()
        await harness.until(lambda: len(harness.sender.posts) == 2, 100)
        assert 30 <= trio.current_time() - began <= 31


# -- waiting


async def test_looks_are_few_while_nothing_is_due(autojump_clock: MockClock, harness: Harness) -> None:
    """A restart with an idle subscription, a disabled one that is owed something, and one whose retries go on."""
    subscribe(harness.memory, harness.org_id, "https://idle.example/", "opportunity.stage_changed")
    disabled = subscribe(harness.memory, harness.org_id, "https://disabled.example/")
    retrying = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    async with trio.open_nursery() as nursery:
        await nursery.start(harness.dispatcher(WebhookSettings(stop_seconds=0)).run)
        await trio.sleep(1)
        harness.update(UpdateSubscription(id=disabled.id, enabled=False))
        harness.outbox.failing = 1
        nursery.cancel_scope.cancel()
    harness.sender.script(URL, response(500))
    harness.emit()
    harness.outbox.writes = 0
    async with harness.dispatching():
        await trio.sleep(3600)
    assert [(one["status"], one["attempts"]) for one in harness.records(retrying.id)] == [
        ("retrying", 8),  # one of them interrupted
        ("retrying", 7),
    ]
    idle_scans = 3600 / LOOK_AGAIN_SECONDS
    assert idle_scans <= harness.outbox.writes <= idle_scans + 3 * len(harness.sender.posts)


# -- numbers


async def test_attempts_are_counted_by_subscription(autojump_clock: MockClock, harness: Harness) -> None:
    well, ill = (subscribe(harness.memory, harness.org_id, url) for url in (URL, "https://ill.example/"))
    harness.sender.script("https://ill.example/", response(500))
    harness.emit()
    async with harness.dispatching() as dispatcher:
        await harness.until(lambda: harness.records(ill.id)[0]["status"] == "exhausted")
        counts = dispatcher.subscription_counts
        assert counts[well.id] == SubscriptionCounts(succeeded=1, failed=0, exhausted=0, seconds_sum=0.02)
        assert counts[ill.id].seconds_sum == pytest.approx(8 * 0.02)
        assert (counts[ill.id].failed, counts[ill.id].exhausted) == (7, 1)


def test_counters_forget_the_subscription_that_was_sent_to_longest_ago() -> None:
    counters = SubscriptionCounters(max_subscriptions=2)
    for name in ("a", "b", "a", "c"):
        counters.add(name, "succeeded", 1.0)
    assert {name: one.succeeded for name, one in counters.by_subscription.items()} == {"a": 2, "c": 1}
