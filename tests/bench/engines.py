"""SQLite and PostgreSQL side by side in one run: what a read, a page and a durable write cost daemon and server.

Both have the same firms, made by the same operations. PostgreSQL is durable, as it is by itself, on the same disk, and
shares the core of the daemons: what two machines would do together is not to be seen here, and is not claimed.
"""

import itertools
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gatewayd.cli.run_operation import operator_of
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.store import WriteTx
from tests.bench.load import request_bytes, run_load
from tests.bench.measure import WARMING_REQUESTS, Effort
from tests.bench.processes import BenchError, CpuTime, ServerProcess, cpu_time, running, tree_cpu_time
from tests.bench.report import Figure, Report
from tests.bench.seeding import INVOICE
from tests.bench.servers import Bench, command_of, get
from tests.daemon.instance import AREAS, Firm, Instance
from tests.support import postgres

FIRMS: Final = 16
INVOICES: Final = 1_000
CHUNK: Final = 100
CONNECTIONS: Final = 32
_TITLE: Final = "SQLite and PostgreSQL, one core for daemons and server"
_NO_LIMIT: Final = "[limits]\nrequests_per_minute = 0\n"


@dataclass(frozen=True, slots=True)
class Side:
    """One engine: daemons that serve the same rows, and the process of the server behind them; None: there is none."""

    name: str
    daemons: Sequence[ServerProcess]
    firms: Sequence[Firm]
    behind: int | None = None

    def spent(self) -> tuple[CpuTime, CpuTime]:
        """So far, of the daemons, and of the server."""
        ours = [cpu_time(daemon.pid) for daemon in self.daemons]
        daemons = CpuTime(sum(each.user for each in ours), sum(each.system for each in ours))
        return daemons, CpuTime(0, 0) if self.behind is None else tree_cpu_time(self.behind)


class Turn(NamedTuple):
    """What one request cost in one turn, microseconds of CPU, and how many there were a second."""

    ours: float
    server: float
    rate: float


@dataclass(slots=True)
class Kind:
    """One kind of request to one side: a sequence of them, and over how many connections."""

    name: str
    side: Side
    requests: Callable[[], Iterator[bytes]]
    connections: int
    count: int = 0
    turns: list[Turn] = field(default_factory=list)

    def take(self, count: int) -> Turn:
        """So many requests, shared out evenly among the daemons of the side."""
        before = self.side.spent()
        daemons = self.side.daemons
        rates: list[float] = []

        def load(daemon: ServerProcess) -> None:
            result = run_load(
                daemon.address,
                self.requests(),
                requests=count // len(daemons),
                connections=max(1, self.connections // len(daemons)),
            )
            if set(result.statuses) - {200}:
                raise BenchError(f"{self.name} answered {result.statuses}")
            rates.append(result.requests_per_second)

        threads = [threading.Thread(target=load, args=(daemon,)) for daemon in daemons]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(rates) < len(daemons):
            raise BenchError(f"{self.name} was not answered")
        after = self.side.spent()
        spent = [(later - earlier).total * 1e6 / count for earlier, later in zip(before, after, strict=True)]
        return Turn(spent[0], spent[1], sum(rates))


def measure_engines(bench: Bench, effort: Effort, report: Report) -> None:
    """A point read, a page, a page that was not asked before, and a POST of an invoice."""
    programs = postgres.programs()
    if programs is None:
        report.add(_TITLE, {}, [], ["There is no PostgreSQL here."])
        return
    with ExitStack() as stack:
        sqlite = stack.enter_context(_sqlite(bench))
        server = stack.enter_context(postgres.running(programs, durable=True))
        one, two = stack.enter_context(_postgresql(bench, server))
        kinds = [*_reads(sqlite), *_reads(one), *_writes(sqlite), *_writes(one), *_writes(two)]
        for kind in kinds:
            kind.count = _calibrated(kind, effort)
        for _ in range(effort.rounds):
            for kind in kinds:
                kind.turns.append(kind.take(kind.count))
    report.add(_TITLE, {}, _figures(kinds))


def _calibrated(kind: Kind, effort: Effort) -> int:
    kind.take(WARMING_REQUESTS)
    trial = kind.take(WARMING_REQUESTS)
    by_cpu = effort.cpu_seconds * 1e6 / max(trial.ours + trial.server, 10.0)
    return max(64, int(min(by_cpu, effort.wall_seconds * trial.rate)) // 64 * 64)


def _reads(side: Side) -> Iterator[Kind]:
    firm = side.firms[0]
    entity = get("/api/rpc/legalEntity/getLegalEntities", firm.key)
    page = get("/api/rpc/invoices?limit=50", firm.key)
    days = itertools.count()

    def fresh() -> Iterator[bytes]:
        while True:
            number = next(days)
            since = f"{1900 + number % 100}-{1 + number // 100 % 12:02}-{1 + number // 1200 % 28:02}"
            yield get(f"/api/rpc/invoices?limit=50&issueDateFrom={since}", firm.key)

    yield Kind("entities", side, lambda: itertools.repeat(entity), 16)
    yield Kind("page of 50 invoices", side, lambda: itertools.repeat(page), 16)
    yield Kind("page of 50, not asked before", side, fresh, 16)


def _writes(side: Side) -> Iterator[Kind]:
    posts = [_post(firm) for firm in side.firms]
    yield Kind("POST invoice, one organization", side, lambda: itertools.repeat(posts[0]), CONNECTIONS)
    yield Kind(f"POST invoice, {FIRMS} organizations", side, lambda: itertools.cycle(posts), CONNECTIONS)


def _post(firm: Firm) -> bytes:
    body = json.dumps({**INVOICE, "clientId": firm.client_id}).encode()
    headers = {"Authorization": f"Bearer {firm.key}", "Content-Type": "application/json"}
    return request_bytes("POST", "/api/rpc/invoices", headers, body)


def _figures(kinds: Sequence[Kind]) -> Iterator[Figure]:
    for kind in kinds:
        name = f"{kind.name}: {kind.side.name}"
        yield Figure(f"{name}, CPU of the daemon", [turn.ours for turn in kind.turns], None, "us")
        if kind.side.behind is not None:
            yield Figure(f"{name}, CPU of the server", [turn.server for turn in kind.turns], None, "us")
        if "POST" in kind.name:
            yield Figure(f"{name}, rate", [turn.rate for turn in kind.turns], None, "/s")
    by_name = {(kind.side.name, kind.name): kind for kind in kinds}
    for (side, name), kind in by_name.items():
        base = by_name.get(("SQLite", name))
        if base is not None and base is not kind:
            pairs = zip(kind.turns, base.turns, strict=True)
            yield Figure(f"{name}: {side} / SQLite, CPU of all", [(a.ours + a.server) / b.ours for a, b in pairs])


@contextmanager
def _sqlite(bench: Bench) -> Iterator[Side]:
    directory = bench.scratch / "engine-sqlite"
    directory.mkdir()
    instance = Instance(directory, _NO_LIMIT)
    firms = _seed(instance)
    with running("SQLite", command_of(instance.config), directory / "log", bench.core) as daemon:
        yield Side("SQLite", [daemon], firms)


@contextmanager
def _postgresql(bench: Bench, server: postgres.Server) -> Iterator[tuple[Side, Side]]:
    """The same database with one daemon, and with two."""
    server.pin(bench.core)
    url, key_file = server.url(server.new_database()), bench.scratch / "engine.key"
    daemons: list[ServerProcess] = []
    firms: list[Firm] = []
    with ExitStack() as stack:
        for number in range(2):
            directory = bench.scratch / f"engine-postgresql-{number}"
            directory.mkdir()
            instance = Instance(directory, _NO_LIMIT, url=url, key_file=str(key_file))
            firms = firms or _seed(instance)
            name = f"PostgreSQL {number}"
            daemons.append(
                stack.enter_context(running(name, command_of(instance.config), directory / "log", bench.core))
            )
        one = Side("PostgreSQL", daemons[:1], firms, server.pid)
        yield one, Side("PostgreSQL, two daemons", daemons, firms, server.pid)


def _seed(instance: Instance) -> list[Firm]:
    firms = [instance.firm(f"Firm {number}") for number in range(FIRMS)]
    firm = firms[0]
    create = next(row for row in AREAS["accounting"].operations if row.id == "accounting.createInvoice")
    request = RequestDecoder(create).body(json.dumps({**INVOICE, "clientId": firm.client_id}).encode())

    def some(tx: WriteTx) -> None:
        for _ in range(CHUNK):
            create.handler(tx, operator_of(firm.org_id), request)

    for _ in range(INVOICES // CHUNK):
        instance.write(some, firm.org_id)
    return firms
