"""A data directory with subscriptions, the events that are put into it, and the daemon and the sink between them."""

import functools
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from gatewayd.cli.run_operation import operator_of
from gatewayd.clock import SystemClock
from gatewayd.store import WriteTx
from gatewayd.store.database import Store, open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import UpdateSubscription
from tests.bench.processes import BenchError, CpuTime, ServerProcess, running
from tests.bench.servers import Bench, command
from tests.support import sink as program
from tests.support.tenants import LOOPBACK_POLICY, LOOPBACK_SETTINGS, Tenant, add_tenants, emit, subscribe

WRITERS = 32
STALLED_SECONDS = 60.0
SETTLE_SECONDS = 1.5  # what a start still does when it says that it is ready
_LOOK_SECONDS = 0.02
_PENDING = "SELECT COUNT(*) FROM deliveries WHERE due_at IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Sink:
    """The receivers."""

    url: str
    file: Path

    def arrived(self) -> int:
        return program.arrived(self.file)

    def wait_for(self, total: int) -> None:
        """Until so many requests have come. Raises `BenchError` when none comes for STALLED_SECONDS."""
        seen, since = self.arrived(), time.monotonic()
        while (now := self.arrived()) < total:
            if now > seen:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > STALLED_SECONDS:
                raise BenchError(f"{now} of {total} deliveries arrived, and no more came")
            time.sleep(_LOOK_SECONDS)


@contextmanager
def receiving(bench: Bench) -> Iterator[Sink]:
    """The sink, on the client's core."""
    file, log = bench.scratch / "received", bench.scratch / "sink.log"
    file.unlink(missing_ok=True)
    run = (sys.executable, "-m", "tests.support.sink", file)
    with running("sink", run, log, bench.client_core) as server:
        yield Sink(f"http://127.0.0.1:{server.address[1]}", file)


@dataclass(frozen=True, slots=True)
class Outbox:
    """A data directory, whose daemon may or may not run."""

    directory: Path
    tenants: list[Tenant]

    @property
    def database(self) -> Path:
        return self.directory / DATABASE_NAME


def make_outbox(directory: Path, urls: Sequence[Sequence[str]]) -> Outbox:
    """A new directory: one organization for each list of URLs."""
    tenants: list[Tenant] = []
    _written(directory, lambda tx: tenants.extend(add_tenants(tx, urls)))
    return Outbox(directory, tenants)


def add_subscription(outbox: Outbox, tenant: Tenant, url: str) -> str:
    made: list[str] = []
    _written(outbox.directory, lambda tx: made.append(subscribe(tx, tenant.org_id, url)))
    return made[0]


def switch(outbox: Outbox, enabled: bool) -> None:
    """All subscriptions on or off: while they are off their deliveries wait."""

    def work(tx: WriteTx) -> None:
        for tenant in outbox.tenants:
            tx.bind(tenant.org_id)
            for one in tenant.subscriptions:
                request = UpdateSubscription(id=one, enabled=enabled)
                subscriptions.update_subscription(tx, operator_of(tenant.org_id), request, policy=LOOPBACK_POLICY)

    _written(outbox.directory, work)


def enqueue(outbox: Outbox, events: int) -> CpuTime:
    """Record events, each a write of its own, `WRITERS` at a time. Answers the CPU of this process meanwhile."""
    return trio.run(_enqueue, outbox, events)


async def _enqueue(outbox: Outbox, events: int) -> CpuTime:
    async with _opened(outbox.directory) as store:
        numbers = iter(range(events))

        async def writer() -> None:
            for number in numbers:
                tenant = outbox.tenants[number % len(outbox.tenants)]
                await store.write(functools.partial(emit, org_id=tenant.org_id, count=1))

        before = _own_cpu()
        async with trio.open_nursery() as nursery:
            for _ in range(WRITERS):
                nursery.start_soon(writer)
        return _own_cpu() - before


def pending(outbox: Outbox) -> int:
    """Deliveries that have not come to an end."""
    with closing(sqlite3.connect(f"file:{outbox.database}?mode=ro", uri=True, timeout=5)) as connection:
        (number,) = connection.execute(_PENDING).fetchone()
    return int(number)


def wait_until(done: Callable[[], bool], what: str) -> None:
    """Raises `BenchError` after STALLED_SECONDS."""
    deadline = time.monotonic() + STALLED_SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise BenchError(f"{what}: it did not come about")
        time.sleep(_LOOK_SECONDS)


@contextmanager
def delivering(bench: Bench, outbox: Outbox) -> Iterator[ServerProcess]:
    """`gatewayd serve`, to which receivers on loopback are allowed."""
    log = outbox.directory.with_suffix(".log")
    run = command(outbox.directory, LOOPBACK_SETTINGS)
    with running(f"gatewayd {outbox.directory.name}", run, log, bench.core) as server:
        yield server


def _opened(directory: Path) -> AbstractAsyncContextManager[Store]:
    return open_store(StoreSettings(directory=directory), SystemClock())


def _written(directory: Path, work: Callable[[WriteTx], None]) -> None:
    async def write() -> None:
        async with _opened(directory) as store:
            await store.write(work)

    trio.run(write)


def _own_cpu() -> CpuTime:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return CpuTime(usage.ru_utime, usage.ru_stime)
