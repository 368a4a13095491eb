"""Events of resources while the daemon is killed: none is lost, and none tells of what is not there.

Somebody subscribes to everything, over HTTPS. Clients, invoices, opportunities and folders are made, changed and
deleted at random over the API, each call repeated until it is answered, while the daemon is killed again and again;
beside it another process writes too. In the end `events.list` has exactly the events of what was answered, and the
receiver has them all: in the same order once they are sorted, and one twice only where a kill met its attempt.
"""

import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from uuid import uuid4

from gatewayd.cli.run_operation import operator_of
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.transport import Policy
from gatewayd.store import WriteTx
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import CreatedSubscription, CreateSubscription
from tests.daemon.hooks import Arrival, Hooks, make_authority, receiving, webhook_settings
from tests.daemon.instance import SECONDS, Firm, Instance, Running, serving, until
from tests.daemon.test_webhooks_killed import Attempt, failed_attempts, in_flight
from tests.support.delivered import as_listed, in_order, verified

KILLS = int(os.environ.get("GATEWAYD_WEBHOOK_KILLS", "3"))
WRITERS = 2
EACH_ROUND = 40  # acts of all writers, of one to three calls
LONGEST_LIFE_SECONDS = 1.0
SLOWEST_ANSWER_SECONDS = 0.03  # of the receiver, so that kills find attempts under way
ALL_DELIVERED_SECONDS = 120.0
PATIENCE = {"store_does_not_answer", "webhooks_not_recorded"}  # two processes on a busy machine
MORE_SETTINGS = """timeout_seconds = 5
max_attempts = 100
[limits]
requests_per_minute = 0
"""
LINE = {"description": "Work", "quantity": "1", "unitPrice": "10.00"}

Told = tuple[str, str]  # the kind of an event, and what it is of


class EndedError(Exception):
    """The test is over, and what is asked for is not made."""


@dataclass
class Work:
    """What is to be done, and which events it has to make."""

    port: int
    firm: Firm
    permits: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    wanted: Counter[Told] = field(default_factory=Counter)
    done: int = 0

    def write(self, seed: int) -> None:
        """One program: something at random, as often as it may."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)) as connection:
            writer = Writer(self, random.Random(seed), connection)
            while self.permits.acquire() and not self.over.is_set():
                try:
                    writer.act()
                except EndedError:
                    return
                except BaseException:
                    self.over.set()  # the test need not wait for what does not come
                    raise
                with self.lock:
                    self.done += 1

    def note(self, id_: str, *kinds: str) -> None:
        """What was done has these events."""
        with self.lock:
            self.wanted.update((kind, id_) for kind in kinds)


class Writer:
    """Does things with what it made itself. Each call is made with the same key until it is answered."""

    def __init__(self, work: Work, chance: random.Random, connection: HTTPConnection) -> None:
        self.work, self.chance, self._connection = work, chance, connection
        self.clients: list[str] = []

    def act(self) -> None:
        acts: list[Callable[[], None]] = [self.add_client, self.sell, self.think_again, self.win, self.file]
        if self.clients:
            acts += [self.rename_client, self.leave_client]
        self.chance.choice(acts)()

    def add_client(self) -> None:
        self.clients.append(self._do("accounting.createClient", "client.created", name=self._name()))

    def rename_client(self) -> None:
        client = self.chance.choice(self.clients)
        self._do("accounting.updateClient", "client.updated", id=client, name=self._name())

    def leave_client(self) -> None:
        client = self.chance.choice(self.clients)
        self._do("accounting.archiveClient", "client.updated", "client.archived", id=client)
        self._do("accounting.updateClient", "client.updated", "client.restored", id=client, status="active")

    def sell(self) -> None:
        sale = {"clientId": self.work.firm.client_id, "lines": [LINE]}
        invoice = self._do("accounting.createInvoice", "invoice.created", "invoice.issued", status="issued", **sale)
        if self.chance.random() < 0.5:
            self._do("accounting.recordPayment", "invoice.updated", "invoice.part_paid", id=invoice, amount="4.00")
        if self.chance.random() < 0.5:
            self._do("accounting.recordPayment", "invoice.updated", "invoice.paid", id=invoice)

    def think_again(self) -> None:
        """A draft is made and deleted."""
        sale = {"clientId": self.work.firm.client_id, "lines": [LINE]}
        draft = self._do("accounting.createInvoice", "invoice.created", **sale)
        self._do("accounting.deleteInvoice", "invoice.removed", id=draft)

    def win(self) -> None:
        self._do("crm.createLead", "lead.created", source="fair")
        chance = self._do("crm.createOpportunity", "opportunity.created", name="Roof", stage="proposal")
        self._do("crm.moveOpportunity", "opportunity.updated", "opportunity.stage_changed", id=chance, stage="won")

    def file(self) -> None:
        folder = self._do("vault.createFolder", "folder.created", name=self._name())
        self._do("vault.updateFolderName", "folder.updated", id=folder, name=self._name())
        self._do("vault.deleteFolder", "folder.removed", id=folder)

    def _name(self) -> str:
        """One that nothing has yet."""
        return f"Ash {self.chance.random()}"

    def _do(self, operation_id: str, *kinds: str, **values: object) -> str:
        """The id of what it is of, once the call is answered."""
        key = str(uuid4())
        path = "/api/rpc/" + operation_id.replace(".", "/")
        while (id_ := self._ask(path, values, key)) is None:
            if self.work.over.is_set():
                raise EndedError
        self.work.note(id_, *kinds)
        return id_

    def _ask(self, path: str, body: dict[str, Any], key: str) -> str | None:
        """The id; None when the daemon went away before it said so, or could not write in time."""
        headers = {
            "Authorization": f"Bearer {self.work.firm.key}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        try:
            self._connection.request("POST", path, json.dumps(body).encode(), headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException):
            self._connection.close()
            return None
        if answer.status == 503:
            return None
        assert answer.status == 200, (path, body, text)
        return str(json.loads(text)["id"])


def kill_again_and_again(instance: Instance, work: Work, listener: socket.socket) -> set[Attempt]:
    """Kill at random moments; answers the attempts that were under way then."""
    chance = random.Random(27)
    met: set[Attempt] = set()
    for _ in range(KILLS):
        with serving(instance, descriptors=(listener.fileno(),)) as running:
            running.claimed |= PATIENCE
            goal = work.done + chance.randrange(1, EACH_ROUND)
            work.permits.release(EACH_ROUND)
            end = time.monotonic() + chance.uniform(0.1, LONGEST_LIFE_SECONDS)
            write_beside(instance, work)
            until(lambda: work.done >= goal or work.over.is_set() or time.monotonic() > end)  # noqa: B023 - called at once
            os.kill(running.pid, signal.SIGKILL)
            assert running.process.wait(SECONDS) == -signal.SIGKILL
        met |= in_flight(instance)
        write_beside(instance, work)
    return met


def write_beside(instance: Instance, work: Work) -> None:
    """What a command does: another process, as far as the daemon can see."""
    work.note(instance.do(work.firm.org_id, "crm.createLead", source="beside")["id"], "lead.created")


def finish(instance: Instance, work: Work, listener: socket.socket) -> list[dict[str, Any]]:
    """Let everything be done and delivered; answers what `events.list` has then."""
    with serving(instance, descriptors=(listener.fileno(),)) as running:
        running.claimed |= PATIENCE
        until(lambda: work.done >= KILLS * EACH_ROUND or work.over.is_set(), ALL_DELIVERED_SECONDS)
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


def subscribe(instance: Instance, org_id: str, url: str) -> CreatedSubscription:
    """Subscribe a receiver on loopback to everything."""
    request = CreateSubscription(url=url, events=["*"])
    policy = Policy(allow_networks=parse_networks(("127.0.0.0/8",)))

    def work(tx: WriteTx) -> CreatedSubscription:
        return subscriptions.create_subscription(tx, operator_of(org_id), request, policy=policy)

    return instance.write(work, org_id)


@contextmanager
def receiving_slowly(directory: Path) -> Iterator[tuple[Hooks, str]]:
    """A receiver that takes its time to say that it has what it has, and the settings to reach it with."""
    authority, ca_file = make_authority(directory)
    chance = random.Random(7)

    def decide(arrival: Arrival) -> int:
        threading.Event().wait(chance.uniform(0, SLOWEST_ANSWER_SECONDS))
        return 204

    with receiving(authority) as hooks:
        hooks.decide = decide
        yield hooks, webhook_settings(ca_file) + MORE_SETTINGS


def test_each_change_has_its_event_and_each_event_its_change_though_the_daemon_is_killed(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0), backlog=128) as listener,
        receiving_slowly(tmp_path) as (hooks, settings),
    ):
        instance = Instance(tmp_path, settings, f'["fd://{listener.fileno()}"]')
        firm = instance.firm()
        subscription = subscribe(instance, firm.org_id, hooks.url)
        work = Work(listener.getsockname()[1], firm)
        with ThreadPoolExecutor(WRITERS) as pool:
            writers = [pool.submit(work.write, seed) for seed in range(WRITERS)]
            try:
                met = kill_again_and_again(instance, work, listener)
                events = finish(instance, work, listener)
            finally:
                work.over.set()
                work.permits.release(WRITERS)
                listener.close()  # whoever still waits for an answer is let go
            for writer in writers:
                writer.result(SECONDS)
    assert work.done == KILLS * EACH_ROUND
    check_changes(instance, work, events)
    check_deliveries(instance, events)
    check_arrivals(instance, hooks, subscription, events)
    check_repeated(instance, hooks, met)


def check_changes(instance: Instance, work: Work, events: list[dict[str, Any]]) -> None:
    """What was answered has its events, once, and there are no others; rows are those that the events tell of."""
    told = Counter((event["event"], event["data"][f"{event['event'].partition('.')[0]}_id"]) for event in events)
    assert told == work.wanted
    assert [(event["id"],) for event in events] == instance.seen("SELECT id FROM events ORDER BY recorded_at, id")
    for table, name in (("clients", "client"), ("invoices", "invoice"), ("vault_folders", "folder")):
        rows = {row[0] for row in instance.seen(f"SELECT id FROM {table}")} - {work.firm.client_id}
        created, removed = ({id_ for kind, id_ in told if kind == f"{name}.{verb}"} for verb in ("created", "removed"))
        assert rows == created - removed, table


def check_deliveries(instance: Instance, events: list[dict[str, Any]]) -> None:
    """Each event has one delivery, and that succeeded."""
    deliveries = instance.seen("SELECT event_id, status FROM deliveries")
    assert {event_id for event_id, _ in deliveries} == {event["id"] for event in events}
    assert len(deliveries) == len(events)
    assert {status for _, status in deliveries} == {"succeeded"}


def check_arrivals(
    instance: Instance, hooks: Hooks, subscription: CreatedSubscription, events: list[dict[str, Any]]
) -> None:
    """What arrived, each once and sorted, is what the log has."""
    received = [verified(arrival, subscription.secret) for arrival in hooks.arrivals]
    assert [as_listed(document) for document in in_order(received)] == events


def check_repeated(instance: Instance, hooks: Hooks, met: set[Attempt]) -> None:
    """No more arrived than was sent, and what was sent again had been met by a kill, or failed and was logged so."""
    attempts = dict(instance.seen("SELECT id, attempts FROM deliveries"))
    arrived = Counter(arrival.delivery_id for arrival in hooks.arrivals)
    assert {id_ for id_, count in arrived.items() if count > attempts[id_]} == set()
    spent = {(id_, number) for id_, count in attempts.items() for number in range(1, count)}
    assert spent <= met | failed_attempts(instance.directory / "log")
