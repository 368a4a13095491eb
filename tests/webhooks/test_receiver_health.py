"""The health of a receiver that only fails: since when, that it is told once, and that its subscription is disabled."""

from typing import NamedTuple

import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant, to_wire
from gatewayd.mail.notices import Mailing
from gatewayd.webhooks.dispatch import receiver_health
from gatewayd.webhooks.dispatch.receiver_health import AttemptOutcome, Notice
from gatewayd.webhooks.queue.claims import Claim
from gatewayd.webhooks.queue.receivers import Address
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import UpdateSubscription
from tests.support.store import START
from tests.support.subscribing import subscribe
from tests.webhooks.harness import DelayedResult, Harness, no_response, response

URL = "https://receiver.example/hooks"
SETTINGS = WebhookSettings(disable_after=5 * HOUR)  # as five days are, and sooner over
_SELECT = """
SELECT enabled, disabled_reason, disabled_at, failing_since, failing_told_at, version FROM webhook_subscriptions
WHERE org_id = :org_id AND id = :id
"""


class Row(NamedTuple):
    enabled: int
    disabled_reason: str | None
    disabled_at: int | None
    failing_since: int | None
    failing_told_at: int | None
    version: int


def row(harness: Harness, subscription_id: str) -> Row:
    found = harness.memory.read(lambda tx: tx.row(_SELECT, id=subscription_id), harness.org_id)
    assert found is not None
    return Row(*found)


def named(harness: Harness, event: str) -> list[dict[str, object]]:
    return [values for _, one, values in harness.log.lines if one == event]


def test_five_days_are_the_time() -> None:
    assert (WebhookSettings().disable_after, WebhookSettings().warn_after) == (5 * DAY, 5 * DAY // 2)


async def test_a_failure_is_noted_once_and_a_success_clears_it(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500), no_response("connection", 5), response(200))
    harness.emit()
    async with harness.dispatching():
        await trio.sleep(1)
        assert row(harness, made.id).failing_since == START
        await trio.sleep(60)
        assert row(harness, made.id).failing_since == START
        await trio.sleep(60)
    assert row(harness, made.id) == Row(1, None, None, None, None, 1)
    assert harness.log.events("warning") == []


async def test_it_is_announced_once_at_half_time_and_disabled_when_the_time_is_over(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(503))
    async with harness.dispatching(harness.dispatcher(SETTINGS)):
        for _ in range(8):
            harness.emit()
            await trio.sleep(3600)
            assert row(harness, made.id).failing_since == START
            if not row(harness, made.id).enabled:
                break
    ended = row(harness, made.id)
    assert (ended.enabled, ended.disabled_reason, ended.version) == (0, "failing", 2)
    assert ended.disabled_at is not None
    assert 5 * HOUR <= ended.disabled_at - START < 6 * HOUR
    assert ended.failing_told_at is not None
    assert 2.5 * HOUR <= ended.failing_told_at - START < 2.5 * HOUR + 30 * MINUTE
    (warning,) = named(harness, "webhook_subscription_failing")
    assert warning["subscription_id"] == made.id
    assert (warning["failing_since"], warning["disabled_at"]) == (to_wire(START), "2026-11-20T14:30:00.000Z")
    (off,) = named(harness, "subscription_disabled")
    assert (off["subscription_id"], off["reason"]) == (made.id, "nothing but failures")
    assert harness.sender.closed_idle == [made.id]
    assert harness.records(made.id)[-1]["status"] in ("pending", "retrying")  # kept for when it is enabled again


async def test_what_fails_seldom_is_not_disabled_before_a_delivery_is_exhausted(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500))
    async with harness.dispatching(harness.dispatcher(SETTINGS)):
        harness.emit()
        await trio.sleep(10 * 3600)
        assert row(harness, made.id).enabled == 1
        harness.emit()
        await trio.sleep(60)
        (warning,) = named(harness, "webhook_subscription_failing")
        assert warning["disabled_at"] == to_wire(harness.sender.posts[8].at)  # it may be any moment
        assert row(harness, made.id).enabled == 1
        await harness.until(lambda: row(harness, made.id).enabled == 0, 4_000)
    assert harness.records(made.id)[-1]["status"] == "exhausted"


async def test_a_success_starts_the_time_anew(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, *[response(500)] * 7, response(200), response(500))
    async with harness.dispatching(harness.dispatcher(SETTINGS)):
        harness.emit()
        await trio.sleep(4 * 3600)
        assert row(harness, made.id).failing_since is None
        harness.emit()
        await trio.sleep(2 * 3600)
    assert row(harness, made.id)[:5] == (1, None, None, START + 4 * HOUR, None)


async def test_a_success_beside_a_failure_clears_it(autojump_clock: MockClock, harness: Harness) -> None:
    """Both were claimed while all was well; the success ends last."""
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500), 5.0, response(410))
    harness.emit(2)
    async with harness.dispatching():
        await trio.sleep(1)
        assert row(harness, made.id).failing_since == START
        await trio.sleep(5)
        assert row(harness, made.id).failing_since is None


async def test_a_failure_beside_a_success_stands(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    failing = trio.Event()
    harness.sender.script(URL, response(200), DelayedResult(failing, response(500)), response(410))
    harness.emit(2)
    async with harness.dispatching():
        await trio.sleep(1)
        failing.set()
        await trio.sleep(1)
    assert row(harness, made.id).failing_since == START + SECOND


async def test_what_is_our_fault_neither_sets_nor_clears(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, RuntimeError("a defect"), response(500), RuntimeError("a defect"), response(200))
    harness.emit()
    async with harness.dispatching():
        await trio.sleep(1)
        assert row(harness, made.id).failing_since is None
        await trio.sleep(30)
        assert row(harness, made.id).failing_since == START + 30 * SECOND
        await trio.sleep(60)
        assert len(harness.sender.posts) == 3
        assert row(harness, made.id).failing_since == START + 30 * SECOND


async def test_an_interruption_by_a_stop_is_not_the_receivers_fault(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    async with harness.dispatching(harness.dispatcher(WebhookSettings(stop_seconds=1))):
        await harness.until(lambda: len(harness.sender.posts) == 1, 1)
    assert harness.records(made.id)[0]["lastError"] == "interrupted"
    assert row(harness, made.id).failing_since is None


async def test_a_secret_that_does_not_open_is_not_the_receivers_fault(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    sql = "UPDATE webhook_subscriptions SET secret_sealed = x'0102' WHERE org_id = :org_id AND id = :id"
    harness.memory.write(lambda tx: tx.run(sql, id=made.id), harness.org_id)
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "exhausted")
    assert row(harness, made.id)[:4] == (1, None, None, None)


async def test_a_failure_at_an_address_that_was_left_says_nothing(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    failing = trio.Event()
    harness.sender.script(URL, DelayedResult(failing, response(500)))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: len(harness.sender.posts) == 1, 1)
        harness.update(UpdateSubscription(id=made.id, url="https://b.example/"))
        failing.set()
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "retrying", 5)
        assert row(harness, made.id).failing_since is None


async def test_gone_is_disabled_with_the_instant(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(410))
    harness.emit()
    async with harness.dispatching():
        await trio.sleep(1)
    assert row(harness, made.id)[:3] == (0, "receiver_gone", START)


@pytest.mark.parametrize("jump", [-10 * DAY, -HOUR])
async def test_a_clock_set_back_holds_nothing_against_a_receiver(
    autojump_clock: MockClock, harness: Harness, jump: int
) -> None:
    """The time is counted anew from the first failure that the corrected clock saw."""
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500))
    harness.emit()
    async with harness.dispatching(harness.dispatcher(SETTINGS)):
        await trio.sleep(1)
        harness.clock.advance(jump)
        await trio.sleep(60)
        since = row(harness, made.id).failing_since
        assert since is not None
        assert START + jump < since <= START + jump + 61 * SECOND


async def test_failures_side_by_side_are_announced_once(autojump_clock: MockClock, harness: Harness) -> None:
    subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500))
    async with harness.dispatching(harness.dispatcher(SETTINGS)):
        harness.emit()
        await trio.sleep(3 * 3600)
        harness.emit(4)  # all are claimed before any of them has failed
        await trio.sleep(10)
    assert len(named(harness, "webhook_subscription_failing")) == 1


@pytest.mark.parametrize(("since", "disabled"), [(None, False), (START - HOUR + 1, False), (START - HOUR, True)])
async def test_only_what_is_still_failing_is_disabled(harness: Harness, since: int | None, disabled: bool) -> None:
    """A success may have been recorded after the claim was made."""
    made = subscribe(harness.memory, harness.org_id, URL)
    note = "UPDATE webhook_subscriptions SET failing_since = :since WHERE org_id = :org_id AND id = :id"
    harness.memory.write(lambda tx: tx.run(note, since=since, id=made.id), harness.org_id)
    address = Address(harness.org_id, made.id, URL)
    upto = Instant(START - HOUR)
    assert harness.memory.write(lambda tx: subscriptions.disable(tx, address, "failing", upto)) == disabled
    assert row(harness, made.id).enabled == (not disabled)


# -- at the very instant


def noted(harness: Harness, subscription_id: str, outcome: AttemptOutcome, after: int) -> Notice | None:
    """What an attempt says that ends so long after the first failure."""
    mark = "UPDATE webhook_subscriptions SET failing_since = :since WHERE org_id = :org_id AND id = :id"
    harness.memory.write(lambda tx: tx.run(mark, since=START, id=subscription_id), harness.org_id)
    claim = Claim(
        message_id="wdlv_1",
        interruptions=0,
        delivery_id="wdlv_1",
        org_id=harness.org_id,
        subscription_id=subscription_id,
        url=URL,
        event="lead.created",
        attempt=1,
        begun_at=START,
        body=b"{}",
        secrets=("whsec_AAAA",),
        failing_since=START,
        warned=False,
    )
    assert "AAAA" not in repr(claim)
    at = Instant(START + after)
    return harness.memory.write(lambda tx: receiver_health.record_outcome(tx, claim, outcome, SETTINGS, at))


@pytest.mark.parametrize(("early", "disabled"), [(1, False), (0, True)])
def test_it_is_disabled_when_the_time_is_over_to_the_microsecond(harness: Harness, early: int, disabled: bool) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    notice = noted(harness, made.id, AttemptOutcome.EXHAUSTED, 5 * HOUR - early)
    assert notice is not None
    assert (notice.reason is not None, row(harness, made.id).enabled) == (disabled, not disabled)


@pytest.mark.parametrize(("early", "told"), [(1, False), (0, True)])
def test_it_is_announced_at_half_time_to_the_microsecond(harness: Harness, early: int, told: bool) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    notice = noted(harness, made.id, AttemptOutcome.FAILED, 5 * HOUR // 2 - early)
    assert (notice is not None) is told
    assert (row(harness, made.id).failing_told_at is not None) is told


def test_what_is_gone_is_told_once(harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    first, second = (noted(harness, made.id, AttemptOutcome.GONE, HOUR) for _ in range(2))
    assert first is not None
    assert (first.reason, first.disabled_at, second) == ("the receiver answered 410", None, None)


async def test_who_leads_is_told_by_mail_of_what_was_lost_and_of_the_end(
    autojump_clock: MockClock, harness: Harness
) -> None:
    harness.memory.user(harness.org_id, "owner", "ann@example.com")
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(503))
    settings = WebhookSettings(disable_after=5 * HOUR, mailing=Mailing("https://books.example"))
    async with harness.dispatching(harness.dispatcher(settings)):
        for _ in range(12):
            harness.emit()
            await trio.sleep(3600)
        assert row(harness, made.id).disabled_reason == "failing"
    told = harness.memory.read(lambda tx: tx.rows("SELECT recipient, kind, about, org_id FROM mails ORDER BY id"))
    to = ("ann@example.com", made.id, harness.org_id)
    assert [(recipient, about, org_id) for recipient, _, about, org_id in told] == [to, to]
    assert [kind for _, kind, _, _ in told] == ["webhook_failing", "webhook_switched_off"]


async def test_without_mail_nobody_is(autojump_clock: MockClock, harness: Harness) -> None:
    harness.memory.user(harness.org_id, "owner")
    subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(410))
    harness.emit()
    async with harness.dispatching():
        await trio.sleep(1)
    assert harness.memory.read(lambda tx: tx.rows("SELECT id FROM mails")) == []
