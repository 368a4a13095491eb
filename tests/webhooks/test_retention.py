"""What is past the retention goes, in small steps; what is not, or may still be sent, stays and costs nothing."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, SettableClock
from gatewayd.config import load
from gatewayd.daemon.background import HOUSEKEEPING_SECONDS
from gatewayd.daemon.daemon import Daemon, Surroundings
from gatewayd.outbound.transport import Policy
from gatewayd.store import StoreFailure, WriteTx
from gatewayd.webhooks.queue import retention
from gatewayd.webhooks.queue.retention import ROUND_SECONDS, SWEEP_ROWS, Retention
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import RemoveSubscription, UpdateSubscription
from tests.daemon.instance import Instance, until
from tests.support.store import START, MemoryStore, make_caller
from tests.support.subscribing import emit, subscribe
from tests.webhooks.harness import InlineStore, RecordingLog

T = TypeVar("T")

DAYS = 30
URL = "https://receiver.example/hooks"
STEPS_PER_TICK = 10

_END = """
UPDATE deliveries SET status = :status, attempts = 1, in_flight = 0, due_at = NULL, completed_at = :now
WHERE due_at IS NOT NULL
"""
_BEGIN = "UPDATE deliveries SET attempts = 1, in_flight = 1, due_at = :until"
_RETRY = "UPDATE deliveries SET status = 'retrying', attempts = 1, due_at = :now + 1"
_NOTE_ATTEMPTS = """
INSERT INTO delivery_attempts (delivery_id, attempt, org_id, wire)
SELECT id, number, org_id, x'7b7d' FROM deliveries, (SELECT 1 AS number UNION ALL SELECT 2) AS numbers
"""
_REPLAY = """
INSERT INTO deliveries (id, org_id, subscription_id, event_id, event, status, attempts, in_flight, due_at,
    replayed_from, created_at)
SELECT :id, org_id, subscription_id, event_id, event, 'pending', 0, 0, :now, id, :now FROM deliveries LIMIT 1
"""


class CountingStore(InlineStore):
    """Counts what each transaction deletes or changes, attempts and all. `before` runs ahead of each."""

    def __init__(self, memory: MemoryStore) -> None:
        super().__init__(memory)
        self.changes: list[int] = []
        self.before: Callable[[], object] = lambda: None

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        self.before()
        so_far = self.memory.changed_rows()
        result = await super().write(work, org_id)
        self.changes.append(self.memory.changed_rows() - so_far)
        return result


@dataclass(eq=False)
class Harness:
    """A store whose clock begins at `START`, one organization, and a sweep."""

    memory: MemoryStore
    store: CountingStore
    clock: SettableClock
    org_id: str
    log: RecordingLog = field(default_factory=RecordingLog)

    def __post_init__(self) -> None:
        self.retention = self.sweeper()

    def sweeper(self, days: int = DAYS) -> Retention:
        return Retention(days, self.clock, self.log)

    async def sweep(self) -> None:
        with trio.fail_after(60):
            await self.retention.sweep(self.store)

    async def sweep_after(self, microseconds: int) -> None:
        self.clock.advance(microseconds)
        await self.sweep()

    def subscribe(self, enabled: bool = True) -> str:
        return subscribe(self.memory, self.org_id, URL, enabled=enabled).id

    def emit(self, count: int = 1) -> None:
        for start in range(0, count, 500):
            emit(self.memory, self.org_id, min(500, count - start))

    def run(self, sql: str, **values: object) -> int:
        return self.memory.write(lambda tx: tx.run(sql, **values), self.org_id)

    def end(self, status: str = "succeeded") -> None:
        self.run(_END, status=status)

    def disable(self, subscription_id: str, enabled: bool = False) -> None:
        change = UpdateSubscription(id=subscription_id, enabled=enabled)
        caller, policy = make_caller(self.org_id), Policy()
        self.memory.write(lambda tx: subscriptions.update_subscription(tx, caller, change, policy=policy), self.org_id)

    def statuses(self) -> list[str]:
        """Of all deliveries, oldest first."""
        rows = self.memory.read(lambda tx: tx.rows("SELECT status FROM deliveries ORDER BY id"))
        return [row[0] for row in rows]

    def count(self, table: str) -> int:
        return int(self.memory.read(lambda tx: tx.value(f"SELECT COUNT(*) FROM {table}")))

    async def steps(self) -> int:
        """The work of one sweep, in steps of SQLite's machine."""
        ticks = 0

        def tick() -> bool:
            nonlocal ticks
            ticks += 1
            return False

        self.memory.connection.set_progress_handler(tick, STEPS_PER_TICK)
        await self.sweep()
        self.memory.connection.set_progress_handler(None)
        return ticks * STEPS_PER_TICK


@pytest.fixture
def harness(database_image: bytes, autojump_clock: MockClock) -> Iterator[Harness]:
    clock = SettableClock(START)
    memory = MemoryStore(database_image, clock)
    yield Harness(memory, CountingStore(memory), clock, memory.org())
    memory.close()


# -- what goes


@pytest.mark.parametrize("status", ["succeeded", "exhausted", "cancelled"])
async def test_what_ended_before_the_retention_goes_with_its_attempts_and_its_event(
    autojump_clock: MockClock, harness: Harness, status: str
) -> None:
    harness.subscribe()
    harness.emit(3)
    harness.end(status)
    assert harness.run(_NOTE_ATTEMPTS) == 6
    await harness.sweep_after(DAYS * DAY)
    assert harness.statuses() == [status] * 3
    await harness.sweep_after(SECOND)
    assert [harness.count(table) for table in ("deliveries", "delivery_attempts", "events")] == [0, 0, 0]
    assert harness.log.lines == [("info", "webhooks_swept", {"cancelled": 0, "deliveries": 3, "events": 3})]


async def test_what_is_younger_stays(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(2)
    harness.end()
    harness.clock.advance(10 * DAY)
    harness.emit(2)
    harness.end("exhausted")
    await harness.sweep_after(25 * DAY)
    assert harness.statuses() == ["exhausted", "exhausted"]
    assert harness.count("events") == 2


async def test_an_event_that_nobody_subscribed_to_goes_when_it_is_older(
    autojump_clock: MockClock, harness: Harness
) -> None:
    harness.emit(2)
    await harness.sweep_after(DAYS * DAY)
    assert harness.count("events") == 2
    await harness.sweep_after(SECOND)
    assert harness.count("events") == 0


async def test_the_retention_is_the_setting(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit()
    harness.end()
    harness.retention = harness.sweeper(days=1)
    await harness.sweep_after(DAY + SECOND)
    assert harness.count("deliveries") == harness.count("events") == 0


# -- what stays


@pytest.mark.parametrize("state", ["pending", "retrying", "in flight"])
async def test_what_an_enabled_subscription_still_has_to_get_is_never_deleted(
    autojump_clock: MockClock, harness: Harness, state: str
) -> None:
    harness.subscribe()
    harness.emit(2)
    if state == "retrying":
        harness.run(_RETRY)
    if state == "in flight":
        harness.run(_BEGIN, until=START + SECOND)
    expected = harness.statuses()
    for _ in range(3):
        await harness.sweep_after(100 * DAY)
    assert harness.statuses() == expected
    assert harness.count("events") == 2
    assert harness.log.lines == []


async def test_what_was_held_for_long_and_ended_late_stays_for_the_retention_after_its_end(
    autojump_clock: MockClock, harness: Harness
) -> None:
    subscription_id = harness.subscribe()
    harness.emit(2)
    harness.disable(subscription_id)
    harness.clock.advance(29 * DAY)
    harness.disable(subscription_id, enabled=True)
    await harness.sweep_after(6 * DAY)  # as a dispatcher that was kept busy: it is sent only now
    harness.end()
    for _ in range(29):
        await harness.sweep_after(DAY)
    assert harness.statuses() == ["succeeded", "succeeded"]
    assert harness.count("events") == 2
    await harness.sweep_after(2 * DAY)
    assert harness.count("deliveries") == harness.count("events") == 0


async def test_the_retention_is_counted_from_the_end_to_the_microsecond(
    autojump_clock: MockClock, harness: Harness
) -> None:
    harness.subscribe()
    harness.emit()
    harness.clock.advance(SECOND)
    harness.end()
    await harness.sweep_after(DAYS * DAY)
    assert harness.statuses() == ["succeeded"]
    await harness.sweep_after(DAY)
    assert harness.statuses() == []


async def test_a_replay_keeps_the_event_and_not_the_original(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit()
    harness.end()
    harness.clock.advance(29 * DAY)
    replay_id = harness.memory.ids.new("wdlv")
    harness.run(_REPLAY, id=replay_id)
    await harness.sweep_after(2 * DAY)
    assert harness.statuses() == ["pending"]
    assert harness.count("events") == 1
    harness.end()
    await harness.sweep_after(31 * DAY)
    assert harness.count("deliveries") == harness.count("events") == 0


# -- what nobody will get


async def test_what_a_disabled_subscription_holds_is_cancelled_and_then_swept(
    autojump_clock: MockClock, harness: Harness
) -> None:
    subscription_id = harness.subscribe()
    harness.emit()
    harness.clock.advance(20 * DAY)
    harness.emit()
    harness.run(_RETRY)
    harness.disable(subscription_id)
    await harness.sweep_after(11 * DAY)
    assert harness.statuses() == ["cancelled", "retrying"]
    assert harness.count("events") == 2
    await harness.sweep_after(20 * DAY)
    assert harness.statuses() == ["cancelled", "cancelled"]
    await harness.sweep_after(11 * DAY)
    assert harness.statuses() == ["cancelled"]
    await harness.sweep_after(20 * DAY)
    assert harness.count("deliveries") == harness.count("events") == 0


async def test_what_a_deleted_subscription_left_is_cancelled(autojump_clock: MockClock, harness: Harness) -> None:
    subscription_id = harness.subscribe()
    harness.emit(2)
    request = RemoveSubscription(id=subscription_id)
    caller = make_caller(harness.org_id)
    harness.memory.write(lambda tx: subscriptions.remove_subscription(tx, caller, request), harness.org_id)
    harness.run("UPDATE deliveries SET status = 'pending', due_at = :now, completed_at = NULL")
    await harness.sweep_after((DAYS + 1) * DAY)
    assert harness.statuses() == ["cancelled", "cancelled"]
    assert harness.log.lines == [("info", "webhooks_swept", {"cancelled": 2, "deliveries": 0, "events": 0})]


async def test_an_attempt_that_is_under_way_is_left_to_its_end(autojump_clock: MockClock, harness: Harness) -> None:
    subscription_id = harness.subscribe()
    harness.emit()
    harness.disable(subscription_id)
    harness.clock.advance((DAYS + 1) * DAY)
    harness.run(_BEGIN, until=harness.clock.now() + 15 * SECOND)
    await harness.sweep()
    assert harness.statuses() == ["pending"]
    await harness.sweep_after(DAY)
    assert harness.statuses() == ["cancelled"]


async def test_an_attempt_whose_lease_is_just_over_is_no_longer_under_way(
    autojump_clock: MockClock, harness: Harness
) -> None:
    subscription_id = harness.subscribe()
    harness.emit()
    harness.disable(subscription_id)
    harness.clock.advance((DAYS + 1) * DAY)
    harness.run(_BEGIN, until=harness.clock.now())
    await harness.sweep()
    assert harness.statuses() == ["cancelled"]


# -- in small steps


async def test_one_transaction_takes_a_bounded_number_of_rows(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(2 * SWEEP_ROWS + 50)
    harness.end()
    harness.clock.advance(31 * DAY)
    await harness.sweep()
    assert harness.store.changes == [SWEEP_ROWS, SWEEP_ROWS, 50] * 2
    assert harness.count("deliveries") == harness.count("events") == 0


async def test_the_writer_is_left_to_others_between_the_steps(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(3 * SWEEP_ROWS)
    harness.end()
    harness.clock.advance(31 * DAY)
    began = trio.current_time()
    await harness.sweep()
    assert trio.current_time() - began == pytest.approx(6 * retention.PAUSE_SECONDS)


async def test_a_round_ends_in_time_and_the_next_one_goes_on(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(5 * SWEEP_ROWS)
    harness.end()
    harness.clock.advance(31 * DAY)
    steps_of_a_slow_disk = [ROUND_SECONDS / 2.5] * 100

    async def slow(work: Callable[[WriteTx], T]) -> T:
        with trio.CancelScope(shield=True):
            await trio.sleep(steps_of_a_slow_disk.pop())
        return await harness.store.write(work)

    class Slow:
        async def write(self, work: Callable[[WriteTx], T]) -> T:
            return await slow(work)

    with trio.fail_after(3600):
        await harness.retention.sweep(Slow())
        assert harness.count("deliveries") == 2 * SWEEP_ROWS
        await harness.retention.sweep(Slow())
    assert harness.count("deliveries") == 0
    assert [line[2]["deliveries"] for line in harness.log.lines] == [3 * SWEEP_ROWS, 2 * SWEEP_ROWS]


async def test_a_stop_does_not_wait_for_the_rest(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(3 * SWEEP_ROWS)
    harness.end()
    harness.clock.advance(31 * DAY)
    with trio.CancelScope() as scope:
        harness.store.before = scope.cancel
        await harness.sweep()
    assert scope.cancelled_caught
    assert harness.count("deliveries") == 2 * SWEEP_ROWS


# -- what may go wrong


async def test_a_full_disk_leaves_it_to_the_next_round(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(3 * SWEEP_ROWS)
    harness.end()
    harness.clock.advance(31 * DAY)

    def fill_up() -> None:
        harness.store.failing = int(len(harness.store.changes) == 1)

    harness.store.before = fill_up
    with pytest.raises(StoreFailure):
        await harness.sweep()
    assert harness.count("deliveries") == 2 * SWEEP_ROWS
    assert harness.log.events("info") == ["webhooks_swept"]
    harness.store.before = lambda: None
    await harness.sweep_after(MINUTE)
    assert harness.count("deliveries") == harness.count("events") == 0


async def test_a_process_that_was_killed_in_the_middle_is_followed_by_one_that_begins_anew(
    autojump_clock: MockClock, harness: Harness
) -> None:
    harness.subscribe()
    harness.emit(3 * SWEEP_ROWS)
    harness.end()
    harness.clock.advance(31 * DAY)
    with trio.CancelScope() as scope:
        harness.store.before = scope.cancel
        await harness.sweep()
    harness.store.before = lambda: None
    harness.retention = harness.sweeper()
    await harness.sweep()
    assert harness.count("deliveries") == harness.count("events") == 0


async def test_two_daemons_sweep_one_store(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(4 * SWEEP_ROWS)
    harness.end()
    harness.clock.advance(31 * DAY)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(harness.sweeper().sweep, harness.store)
    assert harness.count("deliveries") == harness.count("events") == 0
    assert sum(int(str(line[2]["deliveries"])) for line in harness.log.lines) == 4 * SWEEP_ROWS


async def test_a_clock_that_was_set_back_is_no_harm(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(2)
    harness.end()
    await harness.sweep_after(31 * DAY)
    harness.clock.advance(-31 * DAY)
    harness.emit(2)
    harness.end()
    await harness.sweep()
    assert harness.statuses() == ["succeeded", "succeeded"]


# -- what it costs


@pytest.mark.sqlite_only("steps of its machine are counted")
async def test_young_rows_cost_nothing(autojump_clock: MockClock, harness: Harness) -> None:
    harness.subscribe()
    harness.emit(500)
    few = await harness.steps()
    harness.emit(2_500)
    harness.clock.advance(MINUTE)
    assert await harness.steps() <= few + STEPS_PER_TICK < 200
    assert harness.store.changes == [0, 0] * 2


@pytest.mark.sqlite_only("steps of its machine are counted")
async def test_old_rows_that_stay_are_not_looked_at_again_before_a_day_is_over(
    autojump_clock: MockClock, harness: Harness
) -> None:
    harness.subscribe()
    harness.emit(3_000)
    young = await harness.steps()
    harness.clock.advance(31 * DAY)
    first = await harness.steps()
    assert first > 3_000
    for _ in range(20):
        harness.clock.advance(HOUR)
        assert await harness.steps() <= young + 2 * STEPS_PER_TICK
    harness.clock.advance(5 * HOUR)
    assert await harness.steps() == pytest.approx(first, rel=0.1)


STATEMENTS = {name: sql for name, sql in vars(retention).items() if name.endswith("_ANY_ORG")}
RANGES = {
    "_NEXT_DELIVERIES_ANY_ORG": "SEARCH deliveries USING COVERING INDEX sqlite_autoindex_deliveries_1 (id>? AND id<?)",
    "_CANCEL_HELD_ANY_ORG": "SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1 (id>? AND id<?)",
    "_DELETE_DELIVERIES_ANY_ORG": "SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1 (id>? AND id<?)",
    "_NEXT_EVENTS_ANY_ORG": "SEARCH events USING COVERING INDEX sqlite_autoindex_events_1 (id>? AND id<?)",
    "_DELETE_EVENTS_ANY_ORG": "SEARCH events USING COVERING INDEX sqlite_autoindex_events_1 (id>? AND id<?)",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_goes_by_the_primary_key(store: MemoryStore, name: str) -> None:
    values = dict.fromkeys(("after", "upto", "young", "before", "count", "now"), "")
    plan = [row[3] for row in store.connection.execute(f"EXPLAIN QUERY PLAN {STATEMENTS[name]}", values)]
    assert RANGES[name] in plan
    assert [line for line in plan if line.startswith("SCAN") and line != "SCAN step"] == []


# -- in the daemon


async def test_the_daemon_keeps_its_house(tmp_path: Path, mock_clock: MockClock) -> None:
    instance = Instance(tmp_path, "[webhooks]\nretention_days = 1\n")
    firm = await trio.to_thread.run_sync(instance.firm)
    old = "UPDATE events SET id = 'evt_00' || substr(id, 7) WHERE org_id = :org_id"

    def prepare() -> None:
        instance.do(firm.org_id, "crm.createLead", source="web")
        instance.write(lambda tx: tx.run(old), firm.org_id)

    await trio.to_thread.run_sync(prepare)
    log = io.StringIO()
    daemon = Daemon(load(instance.config, {}), Surroundings(log_stream=log))
    async with trio.open_nursery() as nursery:
        running = await nursery.start(daemon.run)
        assert await running.store.read(lambda tx: tx.value("SELECT COUNT(*) FROM events")) == 1
        mock_clock.jump(HOUSEKEEPING_SECONDS)
        await trio.to_thread.run_sync(until, lambda: "webhooks_swept" in log.getvalue())
        assert await running.store.read(lambda tx: tx.value("SELECT COUNT(*) FROM events")) == 0
        daemon.stop()
    (told,) = [line for line in map(json.loads, log.getvalue().splitlines()) if line["event"] == "webhooks_swept"]
    assert told["events"] == 1
