"""A queue of a million: what the daemon takes of memory, and what it costs to pick the deliveries that come next."""

import sqlite3
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from gatewayd.clock import SystemClock
from gatewayd.store import WriteTx
from gatewayd.store.database import prepare
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.update_clock import UpdateClock
from gatewayd.store.transactions import Bindings
from gatewayd.webhooks.queue.claims import FIRST, Slots, claim_due
from gatewayd.webhooks.settings import WebhookSettings
from tests.bench import outbox as outboxes
from tests.bench.measure import Sample, Samples, ratios
from tests.bench.outbox import Outbox, Sink
from tests.bench.processes import CpuTime, cpu_time, resident_mib
from tests.bench.report import Figure, Report, at_most
from tests.bench.servers import Bench
from tests.bench.steppers import per_event
from tests.support.sink import path_of

ORGANIZATIONS, SUBSCRIPTIONS_EACH = 20, 10
SUBSCRIPTIONS = ORGANIZATIONS * SUBSCRIPTIONS_EACH
FEW = 5 * SUBSCRIPTIONS  # 1,000
MEBIBYTES = 200
TIMES_AT_MOST = 1.3
LOOKS = 40  # of one sample
_SERIES_CHUNK = 1_000  # copies of each template in one transaction

# Template k of a table becomes, in its n-th copy, a row that was there a millisecond earlier for each n.
_EVENT_ID = "printf('evt_00%018x%06x', s.n, {k})"
_DELIVERY_ID = "printf('wdlv_00%018x%06x', s.n, {k})"
_EARLIER = "t.{column} - s.n * 1000"


@dataclass(frozen=True, slots=True)
class Backlog:
    """A data directory with so many deliveries that are due."""

    outbox: Outbox
    rows: int

    @property
    def name(self) -> str:
        return f"{self.rows:,} pending"


@dataclass(frozen=True, slots=True)
class Size:
    """So many wait, multiples of SUBSCRIPTIONS; `delivered` are let through. `rounds` are those of picking."""

    rows: int
    delivered: int
    rounds: int


def measure_backlog(bench: Bench, size: Size, report: Report) -> None:
    """The queue beside a short one for picking, and beside one of those alone that are let through."""
    rows, delivered = size.rows, size.delivered
    with outboxes.receiving(bench) as sink:
        few = seed_backlog(bench.scratch / "few", sink, FEW)
        many = seed_backlog(bench.scratch / "many", sink, rows)
        picked = _pick_in_turn((few, many), size.rounds)
        alone = seed_backlog(bench.scratch / "alone", sink, delivered)
        drained, resident = _drain_in_turn(bench, sink, (alone, many), delivered)
    samples = {f"picking one of {name}": taken for name, taken in picked.items()}
    samples |= {f"delivering one of {name}": taken for name, taken in drained.items()}
    figures = [
        Figure("picking, many / few", ratios(picked, many.name, few.name), at_most(TIMES_AT_MOST)),
        Figure("delivering, many / all there are", ratios(drained, many.name, alone.name)),
        Figure(f"RSS while delivering from {many.name}", resident, at_most(MEBIBYTES), "MiB"),
    ]
    report.add(f"Backlog: {rows:,} deliveries to {SUBSCRIPTIONS} subscriptions", samples, figures)


# -- picking


def _pick_in_turn(backlogs: tuple[Backlog, ...], rounds: int) -> Samples:
    """In this process: full looks at the queues, each taken back, going round as the daemon does."""
    samples: Samples = {backlog.name: [] for backlog in backlogs}
    with ExitStack() as stack:
        pickers = {backlog.name: stack.enter_context(closing(_Picker(backlog))) for backlog in backlogs}
        for picker in pickers.values():
            picker.sample()  # what is looked at is in the cache
        for _ in range(rounds):
            for name, picker in pickers.items():
                samples[name].append(picker.sample())
    return samples


class _Picker:
    """The daemon's own look, on a connection as the daemon's."""

    def __init__(self, backlog: Backlog) -> None:
        outbox = backlog.outbox
        self._sealer = prepare(outbox.directory, None)
        self._connection = connections.open_writer(outbox.database, 5.0)
        self._update_clock = UpdateClock(self._connection)
        self._settings = WebhookSettings()
        self._clock = SystemClock()
        self._after = FIRST
        # Taken back one by one, but in one transaction: or SQLite would read all pages anew after each.
        self._connection.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.close()

    def sample(self) -> Sample:
        spent, claims, began = 0, 0, time.perf_counter()
        for _ in range(LOOKS):
            found, cost = self._look()
            claims, spent = claims + found, spent + cost
        return per_event(CpuTime(spent / 1e9, 0.0), claims, time.perf_counter() - began)

    def _look(self) -> tuple[int, int]:
        """How many were found, and nanoseconds of CPU."""
        slots = Slots(self._settings.concurrency, {}, frozenset(), self._after)
        now = self._clock.now()
        tx = WriteTx(
            self._connection,
            Bindings(None, now),
            self._sealer,
            lambda prefix: prefix,
            self._update_clock,
            self._reacting,
        )
        self._connection.execute("SAVEPOINT claimed")
        before = time.thread_time_ns()
        claimed = claim_due(tx, slots, self._settings, now)
        spent = time.thread_time_ns() - before
        self._connection.execute("ROLLBACK TO claimed")
        self._connection.execute("RELEASE claimed")
        self._after = claimed.after
        return len(claimed.claims), spent


# -- delivering


def _drain_in_turn(
    bench: Bench, sink: Sink, backlogs: tuple[Backlog, ...], delivered: int
) -> tuple[Samples, list[float]]:
    """CPU per delivery of each, and the memory of the daemon with the last."""
    samples: Samples = {}
    resident: list[float] = []
    for backlog in backlogs:
        outbox = backlog.outbox
        outboxes.switch(outbox, enabled=False)
        with outboxes.delivering(bench, outbox) as server:
            time.sleep(outboxes.SETTLE_SECONDS)
            before, idle, began = sink.arrived(), cpu_time(server.pid), time.perf_counter()
            outboxes.switch(outbox, enabled=True)
            sink.wait_for(before + delivered)
            spent, seconds = cpu_time(server.pid) - idle, time.perf_counter() - began
            resident = [resident_mib(server.pid)]
            samples[backlog.name] = [per_event(spent, sink.arrived() - before, seconds)]
    return samples, resident


# -- seeding


def seed_backlog(directory: Path, sink: Sink, rows: int) -> Backlog:
    """Deliveries of events that the operations wrote, copied by SQL; `rows` is a multiple of SUBSCRIPTIONS."""
    numbers = iter(range(SUBSCRIPTIONS))
    urls = [[sink.url + path_of(next(numbers)) for _ in range(SUBSCRIPTIONS_EACH)] for _ in range(ORGANIZATIONS)]
    outbox = outboxes.make_outbox(directory, urls)
    outboxes.enqueue(outbox, ORGANIZATIONS)
    with closing(sqlite3.connect(outbox.database, isolation_level=None)) as connection:
        _copy(connection, rows // SUBSCRIPTIONS - 1)
    return Backlog(outbox, rows)


def _copy(connection: sqlite3.Connection, copies: int) -> None:
    connection.executescript(
        """
        PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-400000;
        CREATE TEMP TABLE series (n INTEGER PRIMARY KEY);
        CREATE TEMP TABLE event_numbers AS SELECT id, row_number() OVER (ORDER BY id) AS k FROM events;
        CREATE TEMP TABLE delivery_numbers AS SELECT id, row_number() OVER (ORDER BY id) AS k FROM deliveries;
        """
    )
    for first in range(1, copies + 1, _SERIES_CHUNK):
        numbers = range(first, min(first + _SERIES_CHUNK, copies + 1))
        connection.execute("BEGIN")
        connection.execute("DELETE FROM series")
        connection.executemany("INSERT INTO series VALUES (?)", ((n,) for n in numbers))
        connection.execute(_insert_copies(connection, "events", _event_columns()))
        connection.execute(_insert_copies(connection, "deliveries", _delivery_columns()))
        connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode=WAL")


def _event_columns() -> Mapping[str, str]:
    return {"id": _EVENT_ID.format(k="k.k"), "created_at": _EARLIER.format(column="created_at")}


def _delivery_columns() -> Mapping[str, str]:
    event_number = "(SELECT e.k FROM event_numbers e WHERE e.id = t.event_id)"
    return {
        "id": _DELIVERY_ID.format(k="k.k"),
        "event_id": _EVENT_ID.format(k=event_number),
        "created_at": _EARLIER.format(column="created_at"),
        "due_at": _EARLIER.format(column="due_at"),
    }


def _insert_copies(connection: sqlite3.Connection, table: str, changed: Mapping[str, str]) -> str:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0]
    values = ", ".join(changed.get(column, f"t.{column}") for column in columns)
    numbers = "event_numbers" if table == "events" else "delivery_numbers"
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values}"
        f" FROM {numbers} k JOIN {table} t ON t.id = k.id CROSS JOIN series s ORDER BY s.n"
    )
