"""Two daemons work with one PostgreSQL, and are killed and stopped at random: nothing that was answered is lost.

Each has a directory of its own, and the clock of one is five seconds ahead. Programs make clients, invoices and leads
over whichever answers, each call under one key until it is answered; one keeps a copy by `updatedSince`, and a receiver
has all events. `GATEWAYD_PAIR_SECONDS=600` is the long run.
"""

import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from gatewayd.store.settings import Bucket
from tests.contract.test_copying import recipe
from tests.daemon.conftest import ORIGIN
from tests.daemon.hooks import Hooks
from tests.daemon.instance import SECONDS, Firm, Instance, Running, serving, until
from tests.daemon.test_events_killed import receiving_slowly, subscribe
from tests.daemon.test_webhooks_killed import Attempt, failed_attempts
from tests.support import objects
from tests.support.delivered import as_listed, in_order, verified
from tests.support.postgres import Server

pytestmark = pytest.mark.either_engine("it has PostgreSQLs of its own in either run")

RUN_SECONDS: Final = float(os.environ.get("GATEWAYD_PAIR_SECONDS", "0"))
KILLS: Final = 3  # at the least
CALLERS: Final = 32
LIVES: Final = (0.2, 3.0)  # seconds between two kills
STOPPED_SECONDS: Final = 12.0 if RUN_SECONDS < 60 else 45.0
"""Longer than a session may idle in a transaction; in the long run longer than a lease too."""
ANSWER_SECONDS: Final = 6.0  # a caller then asks the other daemon
STILL_SECONDS: Final = 120.0  # none of the deliveries that are left comes to its end: something hangs
LINE: Final = {"description": "Work", "quantity": "1", "unitPrice": "10.00"}
MODULES: Final = ("gatewayd", "tests.daemon.fast_clock")
NO_LIMIT: Final = "[limits]\nrequests_per_minute = 0\n"
LISTS: Final = ["/clients", "/invoices", "/crm/listLeads"]
MET_BY_KILLS: Final = {
    "store_failed",
    "store_does_not_answer",
    "store_is_unwell",
    "webhooks_not_recorded",
    "parse_not_stored",
    "housekeeping_failed",
    "index_not_stored",
}
"""What a daemon logs whose neighbour holds the pulse, or that wakes up."""


@dataclass
class Pair:
    """Two daemons of one firm, each on a socket that stays while it is killed and started again."""

    instances: list[Instance]
    listeners: list[socket.socket]
    firm: Firm
    modules: Sequence[str]
    running: list[Running | None] = field(default_factory=lambda: [None, None])
    stacks: list[ExitStack] = field(default_factory=lambda: [ExitStack(), ExitStack()])

    def start(self, number: int) -> None:
        descriptors = (self.listeners[number].fileno(),)
        opening = serving(self.instances[number], descriptors=descriptors, module=self.modules[number])
        running = self.stacks[number].enter_context(opening)
        running.claimed |= MET_BY_KILLS
        self.running[number] = running

    def kill(self, number: int) -> None:
        running = self.running[number]
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        assert running.process.wait(SECONDS) == -signal.SIGKILL
        self.stacks[number].close()

    def end(self) -> None:
        for number, running in enumerate(self.running):
            assert running is not None
            assert running.end() == 0
            self.stacks[number].close()

    def in_flight(self) -> set[Attempt]:
        """Attempts that are under way, of either."""
        return set(self.instances[0].seen("SELECT id, attempts FROM deliveries WHERE in_flight = 1"))  # type: ignore[arg-type]


@dataclass
class Work:
    """What callers have been answered."""

    pair: Pair
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    clients: list[str] = field(default_factory=list)
    invoices: dict[str, str] = field(default_factory=dict)  # the number of each
    leads: list[str] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)  # when

    def call_on(self, seed: int) -> None:
        """One program, until it is over; what it has begun it ends."""
        chance = random.Random(seed)
        try:
            while not self.over.is_set():
                kind = chance.randrange(4)
                if kind == 0:
                    made = self._do(chance, "accounting.createClient", name=f"Ash {chance.random()}")
                    self._note(lambda id_=made["id"]: self.clients.append(id_))
                elif kind == 1:
                    made = self._do(chance, "crm.createLead", source="fair")
                    self._note(lambda id_=made["id"]: self.leads.append(id_))
                else:
                    sale = {"clientId": self.pair.firm.client_id, "lines": [LINE], "status": "issued"}
                    made = self._do(chance, "accounting.createInvoice", **sale)
                    self._note(lambda of=made: self.invoices.update({of["id"]: of["number"]}))
        except BaseException:
            self.over.set()
            raise

    def _note(self, noted: Any) -> None:
        with self.lock:
            noted()
            self.answered.append(time.monotonic())

    def _do(self, chance: random.Random, operation_id: str, **values: object) -> dict[str, Any]:
        key, path = str(uuid4()), "/api/rpc/" + operation_id.replace(".", "/")
        give_up = time.monotonic() + SECONDS + STOPPED_SECONDS
        while True:
            status, answer = self.ask(chance.randrange(2), "POST", path, values, key)
            if status == 200:
                return dict(answer)
            assert status in (0, 409, 429, 503), (operation_id, status, answer)
            threading.Event().wait(chance.uniform(0, 0.1))
            assert status != 409 or answer["code"] == "request_in_progress", answer
            assert time.monotonic() < give_up, (operation_id, status, answer)

    def ask(self, number: int, method: str, path: str, body: object = None, key: str = "") -> tuple[int, Any]:
        """Status and answer of one daemon; 0: there was none."""
        headers = {"Authorization": f"Bearer {self.pair.firm.key}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        port = self.pair.listeners[number].getsockname()[1]
        try:
            with closing(HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)) as connection:
                connection.request(method, path, None if body is None else json.dumps(body).encode(), headers)
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())
        except (OSError, HTTPException):
            return 0, None

    def get(self, path: str) -> tuple[int, Any]:
        """What a copy asks for, of whichever answers."""
        give_up = time.monotonic() + SECONDS + STOPPED_SECONDS
        while time.monotonic() < give_up:
            status, answer = self.ask(random.randrange(2), "GET", "/api/rpc" + path)
            if status in (200, 410):
                return status, answer
            assert status in (0, 429, 503), (path, status, answer)
        raise AssertionError(path)


def keep_copy(work: Work, copy: Any) -> None:
    """Bring the copy up to date again and again."""
    while not work.over.is_set():
        copy.pull()


def disturb(pair: Pair) -> tuple[int, set[Attempt]]:
    """Kill either at random moments, and stop one for long; answers how many kills, and what attempts they met."""
    chance, met, kills = random.Random(28), set[Attempt](), 0
    begin, is_stopped, waiting = time.monotonic(), False, threading.Event()
    while time.monotonic() < begin + RUN_SECONDS or kills < KILLS or not is_stopped:
        waiting.wait(chance.uniform(*LIVES))
        number = chance.randrange(2)
        running = pair.running[number]
        assert running is not None
        if kills >= KILLS - 1 and not is_stopped:
            os.kill(running.pid, signal.SIGSTOP)
            met |= pair.in_flight()
            waiting.wait(STOPPED_SECONDS)
            met |= pair.in_flight()
            os.kill(running.pid, signal.SIGCONT)
            is_stopped = True
        else:
            pair.kill(number)
            met |= pair.in_flight()
            pair.start(number)
            kills += 1
    return kills, met


@contextmanager
def made_pair(
    directory: Path, url: str, settings: str, modules: Sequence[str] = MODULES, bucket: Bucket | None = None
) -> Iterator[Pair]:
    """Two daemons that serve, on an empty database. `bucket`: where documents lie; None: in a folder."""
    share = directory / "share"
    share.mkdir()
    with ExitStack() as open_:
        listeners = [open_.enter_context(socket.create_server(("127.0.0.1", 0), backlog=128)) for _ in range(2)]
        instances = []
        files, store_keys = (str(share), "") if bucket is None else (bucket.url, objects.settings_of(bucket))
        for number, listener in enumerate(listeners):
            own = directory / f"daemon-{number}"
            own.mkdir()
            bind = f'["fd://{listener.fileno()}"]'
            server_keys = f'public_url = "{ORIGIN}"'
            key_file = str(directory / "instance.key")
            instances.append(Instance(own, settings, bind, server_keys, url, key_file, files, store_keys))
        pair = Pair(instances, listeners, instances[0].firm(), modules)
        open_.callback(lambda: [stack.close() for stack in pair.stacks])
        for number in range(2):
            pair.start(number)
        yield pair


def test_nothing_is_lost_though_either_is_killed(
    tmp_path: Path, postgresql: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    url = postgresql.url(postgresql.new_database())
    with receiving_slowly(tmp_path) as (hooks, settings), made_pair(tmp_path, url, settings) as pair:
        subscription = subscribe(pair.instances[0], pair.firm.org_id, hooks.url)
        work, program = Work(pair), recipe()
        program.LISTS = LISTS
        copy = program.Copy(tmp_path / "copy.json", work.get)
        with ThreadPoolExecutor(CALLERS + 1) as pool:
            tasks = [pool.submit(work.call_on, seed) for seed in range(CALLERS)]
            tasks.append(pool.submit(keep_copy, work, copy))
            try:
                kills, met = disturb(pair)
            finally:
                work.over.set()
            for task in tasks:
                task.result(SECONDS + STOPPED_SECONDS)
        copy.pull()
        wait_for_deliveries(pair)
        shown = {path: whole(work, path) for path in LISTS}
        events = whole(work, "/events/list?since=2020-01-01T00:00:00Z")
        pair.end()
    check_rows(work)
    assert {path: list(copy.lists[path]["rows"].values()) for path in LISTS} == {
        path: sorted(rows, key=lambda row: list(copy.lists[path]["rows"]).index(row["id"]))
        for path, rows in shown.items()
    }
    received = [verified(arrival, subscription.secret) for arrival in hooks.arrivals]
    assert [as_listed(document) for document in in_order(received)] == sorted(
        events, key=lambda of: str(of["sequence"])
    )
    check_repeated(pair, hooks, met)
    with capsys.disabled():
        print(f"\n{kills} kills; {len(work.invoices)} invoices, {len(work.clients)} clients, {len(work.leads)} leads")


def wait_for_deliveries(pair: Pair) -> None:
    """Until none is left, however many there are; that none of them ends for long is a fault."""
    left = unfinished(pair)
    while left:
        until(lambda before=left: unfinished(pair) < before, STILL_SECONDS)  # type: ignore[misc]
        left = unfinished(pair)
        if RUN_SECONDS:
            print(time.strftime("%H:%M:%S"), left, "deliveries left", flush=True)


def unfinished(pair: Pair) -> int:
    """How many deliveries have not come to their end."""
    ((count,),) = pair.instances[0].seen("SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL")
    return int(count)


def whole(work: Work, path: str) -> list[dict[str, Any]]:
    """All rows of a list."""
    rows: list[dict[str, Any]] = []
    cursor = ""
    while True:
        status, page = work.get(path + ("&" if "?" in path else "?") + "limit=100" + cursor)
        assert status == 200
        rows += page["data"]
        if page["nextCursor"] is None:
            return rows
        cursor = f"&cursor={page['nextCursor']}"


def check_rows(work: Work) -> None:
    """What was answered is there, once, and nothing else; numbers have no gaps."""
    seen = work.pair.instances[0].seen
    assert dict(seen("SELECT id, number FROM invoices")) == work.invoices
    assert Counter(work.leads) == Counter(id_ for (id_,) in seen("SELECT id FROM leads"))
    clients = Counter(id_ for (id_,) in seen("SELECT id FROM clients"))
    assert Counter([work.pair.firm.client_id, *work.clients]) == clients
    numbers = sorted(int(number.rpartition("-")[2]) for number in work.invoices.values())
    assert numbers == list(range(1, len(numbers) + 1))


def check_repeated(pair: Pair, hooks: Hooks, met: set[Attempt]) -> None:
    """What was sent again had been met by a kill or a stop, or failed and was logged so."""
    attempts = dict(pair.instances[0].seen("SELECT id, attempts FROM deliveries"))
    arrived = Counter(arrival.delivery_id for arrival in hooks.arrivals)
    assert {id_ for id_, count in arrived.items() if count > attempts[id_]} == set()
    spent = {(id_, number) for id_, count in attempts.items() for number in range(1, count)}
    failed = set[Attempt]().union(*(failed_attempts(instance.directory / "log") for instance in pair.instances))
    assert spent <= met | failed
