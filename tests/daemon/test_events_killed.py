"""Events of resources while the daemon is killed: none is lost, and none tells of what is not there.

Somebody subscribes to everything. Clients and invoices are made over the API, each asked for until it is told that it
was made, while the daemon is killed again and again. In the end each row has its events, each event its row and its
delivery, and `events.list` has them in the order in which the deliveries were made.
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
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.daemon.instance import SECONDS, Firm, Instance, Running, serving, until
from tests.support import sink
from tests.support.receivers import receiving
from tests.support.tenants import LOOPBACK_SETTINGS, subscribe

KILLS = int(os.environ.get("GATEWAYD_WEBHOOK_KILLS", "3"))
WRITERS = 2
EACH_ROUND = 60  # requests of all writers
LONGEST_LIFE_SECONDS = 1.0
ALL_DELIVERED_SECONDS = 120.0
PATIENCE = {"store_does_not_answer", "webhooks_not_recorded"}  # two processes on a busy machine
SETTINGS = f"""{LOOPBACK_SETTINGS}timeout_seconds = 2
max_attempts = 100
first_retry_seconds = 1
[limits]
requests_per_minute = 0
"""
LINE = {"description": "Work", "quantity": "1", "unitPrice": "10.00"}

_EVENTS = "SELECT id, kind, CAST(data AS TEXT) FROM events ORDER BY recorded_at, id"
_DELIVERED = "SELECT event_id, id, status FROM deliveries ORDER BY id"


@dataclass
class Work:
    """What is to be made, and what was answered."""

    port: int
    firm: Firm
    permits: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    made: list[str] = field(default_factory=list)

    def write(self) -> None:
        """One program: a client, then an invoice to it, each until it is told of it."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        while self.permits.acquire() and not self.over.is_set():
            body: dict[str, Any] = {"name": "Ash Ltd", "allowDuplicate": True}
            if random.random() < 0.5:
                body = {"clientId": self.firm.client_id, "status": "issued", "lines": [LINE]}
            path, key = "/invoices" if "lines" in body else "/clients", str(uuid4())
            while (id_ := self._ask(connection, path, body, key)) is None:
                if self.over.is_set():
                    return
            with self.lock:
                self.made.append(id_)
        connection.close()

    def _ask(self, connection: HTTPConnection, path: str, body: dict[str, Any], key: str) -> str | None:
        """The id; None when the daemon went away before it said so, or could not write in time."""
        headers = {
            "Authorization": f"Bearer {self.firm.key}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        try:
            connection.request("POST", path, json.dumps(body).encode(), headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException):
            connection.close()
            return None
        if answer.status == 503:
            return None
        assert answer.status == 200, text
        return str(json.loads(text)["id"])


def kill_again_and_again(instance: Instance, work: Work, listener: socket.socket) -> None:
    chance = random.Random(27)
    for _ in range(KILLS):
        with serving(instance, descriptors=(listener.fileno(),)) as running:
            running.claimed |= PATIENCE
            goal = len(work.made) + chance.randrange(1, EACH_ROUND)
            work.permits.release(EACH_ROUND)
            end = time.monotonic() + chance.uniform(0.1, LONGEST_LIFE_SECONDS)
            until(lambda: len(work.made) >= goal or time.monotonic() > end)  # noqa: B023 - called at once
            os.kill(running.pid, signal.SIGKILL)
            assert running.process.wait(SECONDS) == -signal.SIGKILL


def finish(instance: Instance, work: Work, listener: socket.socket) -> list[dict[str, Any]]:
    """Let everything be made and delivered; answers what `events.list` has then."""
    with serving(instance, descriptors=(listener.fileno(),)) as running:
        running.claimed |= PATIENCE
        until(lambda: len(work.made) >= KILLS * EACH_ROUND, ALL_DELIVERED_SECONDS)
        until(
            lambda: instance.seen("SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL") == [(0,)],
            ALL_DELIVERED_SECONDS,
        )
        events = listed(running, work.firm)
        assert running.end() == 0
    return events


def listed(running: Running, firm: Firm) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    query = {"since": "2020-01-01T00:00:00Z", "limit": "100"}
    headers = {"Authorization": f"Bearer {firm.key}"}
    while True:
        page = running.client.get("/events", params=query, headers=headers).json()
        events += page["data"]
        if page["nextCursor"] is None:
            return events
        query["cursor"] = page["nextCursor"]


def test_each_change_has_its_event_and_each_event_its_change_though_the_daemon_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "received"
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener, receiving(file) as url:
        instance = Instance(tmp_path, SETTINGS, f'["fd://{listener.fileno()}"]')
        firm = instance.firm()
        instance.write(lambda tx: subscribe(tx, firm.org_id, url + sink.path_of(0), "*"))
        work = Work(listener.getsockname()[1], firm)
        with ThreadPoolExecutor(WRITERS) as pool:
            writers = [pool.submit(work.write) for _ in range(WRITERS)]
            try:
                kill_again_and_again(instance, work, listener)
                events = finish(instance, work, listener)
            finally:
                work.over.set()
                work.permits.release(WRITERS)
                listener.close()  # whoever still waits for an answer is let go
            for writer in writers:
                writer.result(SECONDS)
    check_changes(instance, work)
    check_deliveries(instance, events, file)


def check_changes(instance: Instance, work: Work) -> None:
    """Each row has its events, once, and each event its row."""
    clients = {row[0] for row in instance.seen("SELECT id FROM clients")} - {work.firm.client_id}
    invoices = {row[0] for row in instance.seen("SELECT id FROM invoices")}
    assert set(work.made) == clients | invoices
    assert len(work.made) == KILLS * EACH_ROUND
    told: Counter[tuple[str, str]] = Counter()
    for _, kind, data in instance.seen(_EVENTS):
        told[kind, json.loads(data)[f"{kind.partition('.')[0]}_id"]] += 1
    wanted = {("client.created", id_) for id_ in clients}
    wanted |= {(kind, id_) for id_ in invoices for kind in ("invoice.created", "invoice.issued")}
    assert {event for event in told if event[0] in {"client.created", "invoice.created", "invoice.issued"}} == wanted
    assert {kind for kind, _ in told} == {kind for kind, _ in wanted}
    assert set(told.values()) == {1}


def check_deliveries(instance: Instance, events: list[dict[str, Any]], file: Path) -> None:
    """Each event was delivered, and the log has them in the order in which their deliveries were made."""
    deliveries = instance.seen(_DELIVERED)
    assert [event["id"] for event in events] == [event_id for event_id, _, _ in deliveries]
    assert {status for _, _, status in deliveries} == {"succeeded"}
    assert {arrival.delivery for arrival in sink.arrivals(file)} == {id_ for _, id_, _ in deliveries}
