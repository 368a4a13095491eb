"""A broker's large file is previewed, applied and undone by the daemon while others go on working."""

import json
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

import trio

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import SystemClock
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.bench.banking_import import (
    REQUESTS_PER_SECOND,
    TIMES_AT_MOST,
    Program,
    Waits,
    neighbour,
    resident_or_nothing,
)
from tests.bench.processes import BenchError, ServerProcess, children_of, cpu_time, resident_mib
from tests.bench.report import Figure, Report, at_most
from tests.bench.seeding import Seeded
from tests.bench.servers import Bench, serving
from tests.support.store import make_caller

HEADINGS = "Trade Date,Action,Ticker,Quantity,Price,Fees,Reference\n"
INSTRUMENTS, DAYS = 500, 2_000
LOOK_SECONDS = 0.2
STALLED_SECONDS = 3_600.0
STEPS = ("preview", "apply", "undo")
_FIRM_ANY_ORG = "SELECT org_id FROM legal_entities WHERE id = :id"
_ENDS = {"preview": "previewed", "apply": "applied", "undo": "reverted"}


@dataclass(frozen=True, slots=True)
class TradesSize:
    """So many rows, and how long the neighbour is looked at alone."""

    rows: int
    quiet_seconds: float


@dataclass(slots=True)
class Watched:
    """What was seen of one file, by step."""

    waits: Waits = field(default_factory=Waits)
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    daemon_mib: dict[str, float] = field(default_factory=dict)
    reader_mib: float = 0.0


def measure_broker_imports(bench: Bench, seeded: Seeded, size: TradesSize, report: Report) -> None:
    """One file, step by step, beside the neighbour."""
    path = bench.scratch / "trades.csv"
    write_trades(path, size.rows)
    watched = Watched()
    log = seeded.directory.with_suffix(".log")
    person = trio.run(_person, seeded)
    with serving(bench, seeded.directory) as server:
        account = _account(server, seeded, person)
        idle = resident_mib(server.pid)
        with neighbour(server, seeded, watched.waits):
            time.sleep(size.quiet_seconds)
            for step in STEPS:
                _take(server, seeded, watched, step, (account, path))
        silences = log.read_bytes().count(b"store_does_not_answer")
    title = f"A broker's file of {size.rows:,} rows, {INSTRUMENTS} instruments, beside {REQUESTS_PER_SECOND} requests/s"
    report.add(title, {}, [*_figures(size.rows, watched), *_bounds(watched, idle, silences)])


def write_trades(path: Path, rows: int) -> None:
    """Each instrument is bought three times and sold once, over and over; no sale is of more than is held."""
    with path.open("w") as file:
        file.write(HEADINGS)
        for n in range(rows):
            day = n * DAYS // rows
            date = f"{1 + day % 28:02}/{1 + day // 28 % 12:02}/{2019 + day // 336}"
            action = "Sell" if n // INSTRUMENTS % 4 == 3 else "Buy"
            price = f"{1 + n * 7919 % 90}.{n % 100:02}"
            file.write(f"{date},{action},T{n % INSTRUMENTS:03},{10 + n % 3},{price},1.50,R{n:09}\n")


async def _person(seeded: Seeded) -> str:
    """One more legal entity of the seeded firm: a person, for companies have no pools."""
    request = CreateLegalEntity(name="M Lee", type="individual")
    async with open_store(StoreSettings(directory=seeded.directory), SystemClock()) as store:
        org_id = str(await store.read(lambda tx: tx.value(_FIRM_ANY_ORG, id=seeded.entity_id)))
        return (await store.write(lambda tx: create_legal_entity(tx, make_caller(org_id), request), org_id)).id


def _account(server: ServerProcess, seeded: Seeded, person: str) -> str:
    with closing(Program(server, seeded)) as program:

        def made(path: str, **values: object) -> str:
            return str(json.loads(program.post(f"/api/rpc/assets/{path}", values))["id"])

        portfolio = made("createPortfolio", name="Savings", legalEntityId=person)
        return made("createAccount", portfolioId=portfolio, name="Broker", type="brokerage", currency="GBP")


def _take(server: ServerProcess, seeded: Seeded, watched: Watched, step: str, of: tuple[str, Path]) -> None:
    """Begin a step and follow it to its end: its seconds, CPU and memory. Raises `BenchError`."""
    account, path = of
    watched.waits.stage = step
    began, own = time.perf_counter(), cpu_time(server.pid)
    known = _newest(server, seeded, account)
    if step == "preview":
        target, body = f"accounts/{account}/imports?fileName=trades.csv&preview=true", path
    else:
        target, body = f"imports/{(known or {}).get('id')}/{step}", None
    threading.Thread(target=_send, args=(server, seeded, target, body), daemon=True).start()
    most = 0.0
    while (run := _newest(server, seeded, account)) is None or run["status"] != _ENDS[step]:
        if run is not None and run["status"] == "failed":
            raise BenchError(f"the import ended as {run}")
        most = max(most, resident_mib(server.pid))
        for child in children_of(server.pid):
            watched.reader_mib = max(watched.reader_mib, resident_or_nothing(child))
        time.sleep(LOOK_SECONDS)
        if time.perf_counter() - began > STALLED_SECONDS:
            raise BenchError(f"the import is still {run}")
    watched.seconds[step] = time.perf_counter() - began
    watched.cpu_seconds[step] = (cpu_time(server.pid) - own).total
    watched.daemon_mib[step] = max(most, resident_mib(server.pid))


def _send(server: ServerProcess, seeded: Seeded, target: str, path: Path | None) -> None:
    """Ask for a step, and wait for no answer: it comes after twenty seconds or in the end."""
    with closing(HTTPConnection(*server.address, timeout=STALLED_SECONDS, blocksize=1 << 18)) as connection:
        headers = {"Authorization": f"Bearer {seeded.key}"}
        headers["Content-Type"] = "application/json" if path is None else "text/csv"
        body = b"{}" if path is None else path.read_bytes()
        connection.request("POST", f"/api/rpc/assets/{target}", body, headers)
        connection.getresponse().read()


def _newest(server: ServerProcess, seeded: Seeded, account: str) -> dict[str, object] | None:
    with closing(Program(server, seeded)) as program:
        found = json.loads(program.get(f"/api/rpc/assets/imports?accountId={account}&limit=1"))["data"]
    return found[0] if found else None


def _figures(rows: int, watched: Watched) -> list[Figure]:
    figures = []
    for step in STEPS:
        figures.append(Figure(f"seconds of {step}", [watched.seconds[step]], None, "s"))
        figures.append(Figure(f"CPU of {step} per row", [watched.cpu_seconds[step] * 1e6 / rows], None, "us"))
        figures.append(Figure(f"RSS of the daemon during {step} at most", [watched.daemon_mib[step]], None, "MiB"))
    figures.append(Figure("RSS of the reader at most", [watched.reader_mib], None, "MiB"))
    for step in ("quiet", *STEPS):
        name = "alone" if step == "quiet" else f"during {step}"
        figures.append(
            Figure(f"p99 of the neighbour's GETs {name}", [watched.waits.percentile(step, 99, "GET")], None, "ms")
        )
        figures.append(Figure(f"p99 of its POSTs {name}", [watched.waits.percentile(step, 99, "POST")], None, "ms"))
        figures.append(Figure(f"longest GET {name}", [_longest(watched, step)], None, "ms"))
    return figures


def _longest(watched: Watched, step: str) -> float:
    return max(watched.waits.by_stage.get((step, "GET"), [0.0]))


def _bounds(watched: Watched, idle: float, silences: int) -> Sequence[Figure]:
    alone = watched.waits.percentile("quiet", 99) or 1.0
    ratios = [
        Figure(f"p99 during {s} / alone", [watched.waits.percentile(s, 99) / alone], at_most(TIMES_AT_MOST))
        for s in STEPS
    ]
    return [
        *ratios,
        Figure("RSS of the daemon before", [idle], None, "MiB"),
        Figure("times that the store did not answer", [float(silences)], at_most(0)),
    ]
