"""Thousands of events on their way to 20 receivers while the daemon is killed: each arrives, and it all adds up.

Sixteen organizations, four of them with two subscriptions: every fourth event goes to two receivers. `make soak` kills
twenty times, over 10,000 events, which are 12,500 deliveries. A fifth of the events come through the API, the others
from a process beside the daemon, as the command line writes. The receivers are a process of their own, which writes
down what arrives before it answers.
"""

import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
import trio

from gatewayd.clock import SystemClock
from gatewayd.store import Store, StoreFailure
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.daemon.instance import ROOT, SECONDS, Instance, Running, serving, until
from tests.daemon.test_metrics import METRICS, scrape
from tests.support import sink
from tests.support.receivers import receiving
from tests.support.tenants import LOOPBACK_SETTINGS, Tenant, add_tenants, emit

KILLS = int(os.environ.get("GATEWAYD_WEBHOOK_KILLS", "4"))
WIDE, NARROW = 4, 12  # organizations with two subscriptions, and with one: 20 receivers
BATCH = 10  # events of one transaction beside the daemon
API_WRITERS = 2
BY_API_EACH_ROUND, BATCHES_EACH_ROUND = 100, 40
BY_API = KILLS * BY_API_EACH_ROUND
EVENTS = BY_API + KILLS * BATCHES_EACH_ROUND * BATCH
CONCURRENCY = 64
LONGEST_LIFE_SECONDS = 1.2  # of a daemon that is going to be killed
ALL_DELIVERED_SECONDS = 120.0
IDLE_SECONDS = 3.0
IDLE_COMMITS_MAX = 30  # the heartbeat makes one each second; a loop that does not wait makes thousands
IDLE_CPU_SECONDS_MAX = 1.5
# Two processes write, on a machine that may be busy: that one waits too long for the other is no fault.
PATIENCE = {"store_does_not_answer", "webhooks_not_recorded"}
# Nothing is exhausted by being killed; a lease, seven seconds, is soon over.
SETTINGS = f"""{LOOPBACK_SETTINGS}timeout_seconds = 2
max_attempts = 100
first_retry_seconds = 1
concurrency = {CONCURRENCY}
[limits]
requests_per_minute = 0
{METRICS}"""
REPORT = ROOT / "build" / "webhooks-killed.txt"

Attempt = tuple[str, int]  # a delivery and the number of the attempt, from 1


@dataclass
class Work:
    """What is to be recorded, and which leads of which organization were: those that an event told of for certain."""

    port: int
    tenants: list[Tenant]
    permits: dict[str, threading.Semaphore] = field(
        default_factory=lambda: {"api": threading.Semaphore(0), "store": threading.Semaphore(0)}
    )
    lock: threading.Lock = field(default_factory=threading.Lock)
    leads: dict[str, Tenant] = field(default_factory=dict)
    turn: "count[int]" = field(default_factory=count)
    asked_again: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def note(self, tenant: Tenant, leads: list[str]) -> None:
        with self.lock:
            self.leads.update(dict.fromkeys(leads, tenant))

    def allow_a_round(self) -> None:
        """Let the share of one round be written; what an earlier round did not get to is written in this one."""
        self.permits["api"].release(BY_API_EACH_ROUND)
        self.permits["store"].release(BATCHES_EACH_ROUND)

    def next_tenant(self) -> Tenant:
        """Who has the next lead of the API's: each as many as any other."""
        with self.lock:
            return self.tenants[next(self.turn) % len(self.tenants)]

    def end(self) -> None:
        self.over.set()
        for permit in self.permits.values():
            permit.release(API_WRITERS)


def write_over_the_api(work: Work) -> None:
    """One program: each lead it asks for until it is told that it was made."""
    connection = HTTPConnection("127.0.0.1", work.port, timeout=SECONDS)
    while work.permits["api"].acquire() and not work.over.is_set():
        tenant, key = work.next_tenant(), str(uuid4())
        while (made := ask(connection, tenant, key)) is None:
            work.asked_again += 1
            if work.over.is_set():
                return
        work.note(tenant, [made])
    connection.close()


def ask(connection: HTTPConnection, tenant: Tenant, key: str) -> str | None:
    """The id of the lead; None when the daemon went away before it said so, or could not write in time."""
    headers = {
        "Authorization": f"Bearer {tenant.key}",
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    try:
        connection.request("POST", "/api/rpc/crm/createLead", b'{"source":"fair"}', headers)
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, HTTPException):
        connection.close()
        return None
    if answer.status == 503:
        return None
    assert answer.status == 200, text
    return str(json.loads(text)["id"])


async def write_beside(work: Work, settings: StoreSettings, key_file: Path) -> None:
    """Another process, as far as the daemon can see."""
    async with open_store(settings, SystemClock(), key_file) as store:
        for turn in count():
            await trio.to_thread.run_sync(work.permits["store"].acquire)
            tenant = work.tenants[turn % len(work.tenants)]
            leads = None
            while leads is None:
                if work.over.is_set():
                    return
                leads = await recorded(store, tenant.org_id)
            work.note(tenant, leads)


async def recorded(store: Store, org_id: str) -> list[str] | None:
    """The leads of new events; None when the database was locked for too long, and nothing was written."""
    try:
        return await store.write(lambda tx: emit(tx, org_id, BATCH))
    except StoreFailure:
        return None


def found(instance: Instance, url: str) -> list[Tenant]:
    """The organizations; receiver n takes n milliseconds to answer."""
    places = [url + sink.path_of(number, number) for number in range(2 * WIDE + NARROW)]
    lists = [places[2 * n : 2 * n + 2] for n in range(WIDE)] + [[place] for place in places[2 * WIDE :]]
    return instance.write(lambda tx: add_tenants(tx, lists))


# -- the kills


@dataclass
class Killing:
    """What each kill met: attempts that had been begun and not recorded. `seen`: requests received by then."""

    met: list[set[Attempt]] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)

    @property
    def all(self) -> set[Attempt]:
        return set().union(*self.met)


def kill_again_and_again(instance: Instance, work: Work, file: Path, listener: socket.socket) -> Killing:
    chance = random.Random(20)
    killing = Killing()
    for _ in range(KILLS):
        with serving(instance, descriptors=(listener.fileno(),)) as running:
            running.claimed |= PATIENCE
            goal = sink.arrived(file) + chance.randrange(1, 2 * EVENTS // KILLS)
            work.allow_a_round()
            end = time.monotonic() + chance.uniform(0.1, LONGEST_LIFE_SECONDS)
            until(lambda: sink.arrived(file) >= goal or time.monotonic() > end)  # noqa: B023 - called at once
            os.kill(running.pid, signal.SIGKILL)
            assert running.process.wait(SECONDS) == -signal.SIGKILL
        killing.met.append(in_flight(instance) - killing.all)
        killing.seen.append(sink.arrived(file))
    return killing


def in_flight(instance: Instance) -> set[Attempt]:
    rows = instance.seen("SELECT id, attempts FROM deliveries WHERE in_flight = 1")
    return {(str(delivery), int(str(attempts))) for delivery, attempts in rows}


# -- the end


@dataclass
class Idle:
    """What a daemon with nothing to do did, over `IDLE_SECONDS`."""

    commits: float
    cpu_seconds: float


def finish(instance: Instance, work: Work, listener: socket.socket) -> Idle:
    """Let everything be recorded and delivered, then look at a daemon that has nothing to do."""
    with serving(instance, descriptors=(listener.fileno(),)) as running:
        running.claimed |= PATIENCE
        until(lambda: len(work.leads) >= EVENTS, ALL_DELIVERED_SECONDS)
        until(lambda: not unfinished(instance), ALL_DELIVERED_SECONDS)
        idle = watch_idle(running)
        assert running.end() == 0
    return idle


def unfinished(instance: Instance) -> int:
    return int(str(instance.seen("SELECT COUNT(*) FROM deliveries WHERE due_at IS NOT NULL")[0][0]))


def watch_idle(running: Running) -> Idle:
    url = place_of_the_last(running)
    before = scrape(url)
    threading.Event().wait(IDLE_SECONDS)  # nothing is waited for: what happens meanwhile is counted
    after = scrape(url)
    assert after["gatewayd_webhook_attempts_in_flight"] == {(): 0}
    commits, cpu = [
        after[name][()] - before[name][()]
        for name in ("gatewayd_store_commits_total", "gatewayd_process_cpu_seconds_total")
    ]
    return Idle(commits, cpu)


def place_of_the_last(running: Running) -> str:
    """Where the metrics of the daemon that runs now are: the log is that of all of them."""
    *_, last = [line for line in running.lines() if line["event"] == "serving"]
    return str(last["metrics"][0])


# -- the reckoning


class Delivery(NamedTuple):
    """A row, with what its event says."""

    id: str
    subscription: str
    lead: str
    status: str
    attempts: int
    response_code: int


_DELIVERIES = """
SELECT d.id, d.subscription_id, e.data, d.status, d.attempts, d.response_code
FROM deliveries d JOIN events e ON e.id = d.event_id
"""
_ATTEMPTS = "SELECT delivery_id, attempt, wire FROM delivery_attempts"


class Outcome(NamedTuple):
    """How an attempt is on record."""

    error: str | None
    response_code: int | None


SUCCESS = Outcome(None, 204)


@dataclass
class Reckoning:
    """All sides of it: what was recorded, what the database says, what arrived, which attempts came to nothing."""

    work: Work
    deliveries: list[Delivery]
    arrivals: list[sink.Arrival]
    killing: Killing
    failed: set[Attempt]
    recorded: dict[Attempt, Outcome]

    @property
    def wanted(self) -> set[tuple[str, str]]:
        return {(lead, its) for lead, tenant in self.work.leads.items() for its in tenant.subscriptions}

    @property
    def receivers(self) -> list[str]:
        """The subscription of each receiver."""
        return [its for tenant in self.work.tenants for its in tenant.subscriptions]

    @property
    def received(self) -> set[tuple[str, str]]:
        return {(arrival.lead, self.receivers[arrival.receiver]) for arrival in self.arrivals}

    def check(self) -> None:
        assert len(self.work.leads) == EVENTS
        assert self.received == self.wanted  # nothing lost, nothing for the wrong receiver, nothing nobody recorded
        assert {(row.lead, row.subscription) for row in self.deliveries} == self.wanted
        assert len(self.deliveries) == len(self.wanted)  # one delivery each, however often a lead was asked for
        assert {(row.status, row.response_code) for row in self.deliveries} == {("succeeded", 204)}
        self._check_attempts()

    def _check_attempts(self) -> None:
        """Every attempt but the last of a delivery was met by a kill, or failed and was logged as failed."""
        attempts = {row.id: row.attempts for row in self.deliveries}
        begun = {(delivery, number) for delivery, count in attempts.items() for number in range(1, count + 1)}
        spent = begun - set(attempts.items())
        assert spent <= self.killing.all | self.failed
        assert self.recorded.keys() == begun
        assert {attempt for attempt, outcome in self.recorded.items() if outcome == SUCCESS} == set(attempts.items())
        assert {attempt for attempt in spent if self.recorded[attempt].error == "interrupted"} <= self.killing.all
        seen = Counter(arrival.delivery for arrival in self.arrivals)
        assert seen.keys() == attempts.keys()
        assert {delivery for delivery, count in seen.items() if count > attempts[delivery]} == set()
        assert max(len(met) for met in self.killing.met) <= CONCURRENCY
        assert len(self.arrivals) - len(attempts) <= len(self.killing.all | self.failed)

    def report(self, idle: Idle) -> str:
        begun = sum(row.attempts for row in self.deliveries)
        met = self.killing.all
        errors = Counter(str(outcome.error or "success") for outcome in self.recorded.values())
        lines = [
            f"{KILLS} kills -9 of gatewayd serve",
            _line("events recorded", len(self.work.leads), f"{BY_API:,} of them over the API"),
            _line("asked for again", self.work.asked_again, "because a kill came before the answer"),
            _line("deliveries wanted", len(self.wanted), f"to {len(self.receivers)} receivers"),
            _line("deliveries succeeded", sum(row.status == "succeeded" for row in self.deliveries)),
            _line("requests received", len(self.arrivals)),
            _line("duplicates", len(self.arrivals) - len(self.received), f"the limit allows {CONCURRENCY} a kill"),
            _line("lost", len(self.wanted - self.received)),
            _line("attempts begun", begun),
            _line("on record", len(self.recorded), ", ".join(f"{error} {n:,}" for error, n in errors.most_common())),
            _line("met by a kill", len(met), " ".join(str(len(each)) for each in self.killing.met)),
            _line("failed by themselves", len(self.failed - met)),
            f"received before each kill: {' '.join(map(str, self.killing.seen))}",
            f"then idle for {IDLE_SECONDS:g} s: {idle.commits:.0f} commits, {idle.cpu_seconds:.2f} s of CPU",
        ]
        return "\n" + "\n".join(lines) + "\n"


def _line(name: str, number: int, more: str = "") -> str:
    return f"  {name:22}{number:8,}  {more}".rstrip()


def failed_attempts(log: Path) -> set[Attempt]:
    lines = [json.loads(line) for line in log.read_text().splitlines() if '"delivery_attempt_failed"' in line]
    return {(line["delivery_id"], line["attempt"]) for line in lines}


def test_every_event_is_received_though_the_daemon_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "received"
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener, receiving(file) as url:
        instance = Instance(tmp_path, SETTINGS, f'["fd://{listener.fileno()}"]')
        work = Work(listener.getsockname()[1], found(instance, url))
        context = instance.context
        with ThreadPoolExecutor(API_WRITERS + 1) as pool:
            writers = [pool.submit(write_over_the_api, work) for _ in range(API_WRITERS)]
            writers.append(pool.submit(trio.run, write_beside, work, context.store_settings, context.key_file))
            try:
                killing = kill_again_and_again(instance, work, file, listener)
                idle = finish(instance, work, listener)
            finally:
                work.end()
                listener.close()  # whoever still waits for an answer is let go
            for writer in writers:
                writer.result(SECONDS)
    rows = [
        Delivery(id_, subscription, json.loads(data)["lead_id"], *more)
        for id_, subscription, data, *more in instance.seen(_DELIVERIES)
    ]
    wires = {(delivery, number): json.loads(wire) for delivery, number, wire in instance.seen(_ATTEMPTS)}
    reckoning = Reckoning(
        work,
        rows,
        sink.arrivals(file),
        killing,
        failed_attempts(instance.directory / "log"),
        {attempt: Outcome(wire["error"], wire["responseCode"]) for attempt, wire in wires.items()},
    )
    report = reckoning.report(idle)
    with capsys.disabled():
        print(report)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(report)
    reckoning.check()
    assert idle.commits < IDLE_COMMITS_MAX
    assert idle.cpu_seconds < IDLE_CPU_SECONDS_MAX
