"""Killed again and again while four programs write: what was acknowledged is there, once, and is delivered.

On a machine that is slow an attempt may end by its deadline though it has arrived: it is made again, and counted so.
"""

import json
import os
import random
import signal
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from uuid import uuid4

import pytest

from tests.daemon.hooks import Hooks, make_authority, receiving, webhook_settings
from tests.daemon.instance import SECONDS, Firm, Instance, serving, until
from tests.daemon.test_start_and_stop import subscribe

# `make soak` asks for fifty
ROUNDS = int(os.environ.get("GATEWAYD_KILL_ROUNDS", "6"))
WRITERS = 4
WRITES_PER_ROUND = 40
# A lease is soon over, so that what was in flight comes back soon; nothing is exhausted by being killed.
SETTINGS = "timeout_seconds = 1\nmax_attempts = 100\n[limits]\nrequests_per_minute = 0\n"


@dataclass
class Work:
    """What the writers may do, and what they were told was done: key -> id, key -> number."""

    port: int
    firm: Firm
    permits: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    changed: threading.Condition = field(default_factory=threading.Condition)
    invoices: dict[str, tuple[str, str]] = field(default_factory=dict)
    leads: dict[str, str] = field(default_factory=dict)
    tries: Counter[str] = field(default_factory=Counter)
    over: bool = False

    @property
    def done(self) -> int:
        return len(self.invoices) + len(self.leads)

    def wait_done(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.done >= count, SECONDS), self.done

    def note(self, path: str, key: str, made: dict[str, str]) -> None:
        with self.changed:
            if path.endswith("invoices"):
                self.invoices[key] = (made["id"], made["number"])
            else:
                self.leads[key] = made["id"]
            self.changed.notify_all()


def write_on(work: Work, seed: int) -> None:
    """One program: each thing it makes it asks for until it is told that it was made."""
    chance = random.Random(seed)
    connection = HTTPConnection("127.0.0.1", work.port, timeout=SECONDS)
    while work.permits.acquire() and not work.over:
        path, body = _lead(chance) if chance.random() < 0.3 else _invoice(work.firm)
        key = str(uuid4())
        while (made := _ask(connection, work, path, key, body)) is None:
            work.tries[key] += 1
            if work.over:
                return
        work.note(path, key, made)
    connection.close()


def _lead(chance: random.Random) -> tuple[str, dict[str, object]]:
    return "/api/rpc/crm/createLead", {"source": f"fair-{chance.randrange(1000)}"}


def _invoice(firm: Firm) -> tuple[str, dict[str, object]]:
    line = {"description": "Oak door", "quantity": "2", "unitPrice": "149.99"}
    return "/api/rpc/invoices", {"clientId": firm.client_id, "status": "issued", "lines": [line]}


def _ask(connection: HTTPConnection, work: Work, path: str, key: str, body: dict[str, object]) -> dict[str, str] | None:
    """The thing that was made; None when the daemon went away before it said so."""
    headers = {
        "Authorization": f"Bearer {work.firm.key}",
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    try:
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, HTTPException):
        connection.close()
        return None
    assert answer.status == 200, text
    made: dict[str, str] = json.loads(text)
    return made


def in_flight(instance: Instance) -> set[tuple[str, int]]:
    """The attempts that were under way when the daemon was killed."""
    rows = instance.seen("SELECT id, attempts FROM deliveries WHERE in_flight = 1")
    return {(str(delivery), int(attempts)) for delivery, attempts in rows}


def ended_by_deadline(instance: Instance) -> Counter[str]:
    """How many attempts of each delivery waited in vain for the answer to what may have arrived."""
    rows = instance.seen("SELECT delivery_id, wire FROM delivery_attempts")
    return Counter(str(delivery) for delivery, wire in rows if json.loads(wire)["error"] == "timeout")


def kill_again_and_again(instance: Instance, work: Work, hooks: Hooks, listener: socket.socket) -> set[tuple[str, int]]:
    """Answers every attempt that a kill met."""
    chance = random.Random(7)
    met: set[tuple[str, int]] = set()
    for number in range(ROUNDS):
        with serving(instance, descriptors=(listener.fileno(),)) as running:
            if number == 0:
                subscribe(running, work.firm, hooks.url)
            goal = work.done + chance.randrange(1, WRITES_PER_ROUND)
            work.permits.release(WRITES_PER_ROUND)
            work.wait_done(goal)
            os.kill(running.pid, signal.SIGKILL)
            assert running.process.wait(SECONDS) == -signal.SIGKILL
        met |= in_flight(instance)
    return met


def finish(instance: Instance, work: Work, listener: socket.socket) -> None:
    """Let the writers end and every delivery arrive."""
    with serving(instance, descriptors=(listener.fileno(),)) as running:
        work.wait_done(ROUNDS * WRITES_PER_ROUND)
        until(lambda: running.client.get("/readyz").status_code == 200)
        until(lambda: not unfinished(instance))
        assert running.end() == 0


def unfinished(instance: Instance) -> int:
    ((found,),) = instance.seen("SELECT count(*) FROM deliveries WHERE status <> 'succeeded'")
    return int(found)


def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    authority, ca_file = make_authority(tmp_path)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener, receiving(authority) as hooks:
        bind = f'["fd://{listener.fileno()}"]'
        instance = Instance(tmp_path, webhook_settings(ca_file) + SETTINGS, bind)
        work = Work(listener.getsockname()[1], instance.firm())
        with ThreadPoolExecutor(WRITERS) as pool:
            writers = [pool.submit(write_on, work, seed) for seed in range(WRITERS)]
            try:
                met = kill_again_and_again(instance, work, hooks, listener)
                finish(instance, work, listener)
            finally:
                work.over = True
                work.permits.release(WRITERS)
                listener.close()  # whoever still waits for an answer is let go
            for writer in writers:
                writer.result(SECONDS)
        check_invoices(instance, work)
        check_deliveries(instance, work, hooks, met)
    with capsys.disabled():
        repeated = sum(work.tries.values())
        arrived = len(hooks.arrivals)
        print(
            f"\n{ROUNDS} kills: {len(work.invoices)} invoices, {len(work.leads)} leads, {repeated} requests repeated,"
            f" {arrived} deliveries arrived, {len(met)} attempts met by a kill"
        )


def check_invoices(instance: Instance, work: Work) -> None:
    rows = instance.read(
        lambda tx: tx.rows("SELECT id, number FROM invoices WHERE org_id = :org_id ORDER BY number"), work.firm.org_id
    )
    assert set(rows) == set(work.invoices.values())
    assert len(rows) == len(work.invoices)
    assert [number for _, number in rows] == [f"INV-{count:06}" for count in range(1, len(rows) + 1)]
    verified = instance.run("verify")  # SQLite's pages too, and what rows refer to
    assert verified.returncode == 0, verified.stderr


def check_deliveries(instance: Instance, work: Work, hooks: Hooks, met: set[tuple[str, int]]) -> None:
    """At least once; and each arrival beyond the first belongs to an attempt that a kill met."""
    arrivals = Counter(arrival.delivery_id for arrival in hooks.arrivals)
    told = Counter(json.loads(arrival.body)["data"]["lead_id"] for arrival in hooks.arrivals)
    assert set(told) == set(work.leads.values())
    assert len(arrivals) == len(work.leads)  # one event for each lead, however often it was asked for
    cut = Counter(delivery for delivery, _ in met) + ended_by_deadline(instance)
    assert {delivery for delivery, count in arrivals.items() if count > 1 + cut[delivery]} == set()
