"""A large statement comes in while others go on working: what a row costs, memory, and how long a neighbour waits."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Literal

from tests.bench.bank_books import BankBooks
from tests.bench.bank_floor import Floor, floor_of
from tests.bench.load import fetch
from tests.bench.processes import BenchError, CpuTime, ServerProcess, children_of, cpu_time, resident_mib, tree_cpu_time
from tests.bench.report import Figure, Report, at_most, percentile
from tests.bench.seeding import INVOICE, Seeded
from tests.bench.servers import Bench, get, serving

HEADINGS = "Number,Date,Account,Amount,Subcategory,Memo\n"
REQUESTS_PER_SECOND, PROGRAMS = 100, 10
POSTING = 2  # of the programs: the others only read, so that no answer to a GET waits behind that to a POST
TIMES_AT_MOST = 2.0
LOOK_SECONDS = 0.1
STALLED_SECONDS = 1_800.0
Kind = Literal["GET", "POST"]
KINDS: tuple[Kind, ...] = ("GET", "POST")
NOTHING = CpuTime(0.0, 0.0)
_WAITING = ("uploaded", "applying")


@dataclass(frozen=True, slots=True)
class ImportSize:
    """So many rows in each of so many imports, and how long the neighbour is looked at alone before each."""

    rows: int
    rounds: int
    quiet_seconds: float


@dataclass(slots=True)
class Waits:
    """Milliseconds that the neighbour waited, by what went on: `quiet`, `uploaded` (reading) and `applying`."""

    by_stage: dict[tuple[str, Kind], list[float]] = field(default_factory=dict)
    stage: str = "quiet"

    def note(self, milliseconds: float, stage: str, kind: Kind) -> None:
        if stage == self.stage:  # else the stage changed under way
            self.by_stage.setdefault((stage, kind), []).append(milliseconds)

    def of(self, stage: str) -> list[float]:
        return [one for kind in KINDS for one in self.by_stage.get((stage, kind), [])] or [0.0]

    def percentile(self, stage: str, percent: int, kind: Kind | None = None) -> float:
        taken = self.of(stage) if kind is None else self.by_stage.get((stage, kind)) or [0.0]
        return percentile(taken, percent)


@dataclass(slots=True)
class Watched:
    """What was seen of one import."""

    waits: Waits
    seconds: dict[str, float] = field(default_factory=dict)
    daemon_mib: float = 0.0
    reader_mib: float = 0.0
    daemon: CpuTime = NOTHING
    reader: CpuTime = NOTHING

    def rate(self, rows: int, *stages: str) -> float:
        """Rows a second in these stages; 0 where they were too short to be seen."""
        seconds = sum(self.seconds.get(stage, 0.0) for stage in stages)
        return rows / seconds if seconds else 0.0


def measure_imports(bench: Bench, seeded: BankBooks, size: ImportSize, report: Report) -> None:
    """In rounds: the neighbour alone, then beside an import; and the same rows by a bare `executemany`."""
    path = bench.scratch / "statement.csv"
    watched: list[Watched] = []
    floors: list[Floor] = []
    log = seeded.directory.with_suffix(".log")
    with serving(bench, seeded.directory) as server:
        for number in range(size.rounds):
            write_statement(path, size.rows, number)
            watched.append(_watched(server, seeded, path, size))
            floors.append(floor_of(bench.scratch / "floor", path))
        silences = log.read_bytes().count(b"store_does_not_answer")
    title = f"Imports of {size.rows:,} rows, {path.stat().st_size >> 20} MiB, beside {REQUESTS_PER_SECOND} requests/s"
    report.add(title, {}, _figures(size.rows, watched, floors, silences))


def write_statement(path: Path, rows: int, number: int) -> None:
    """A year of a busy account as Barclays writes it, some 85 bytes a row; `number` makes it another file."""
    with path.open("w") as file:
        file.write(HEADINGS)
        for n in range(rows):
            day = n * 336 // rows
            date = f"{1 + day % 28:02}/{1 + day // 28:02}/2025"
            amount = f"{(n * 7919) % 90_000 - 60_000}.{n % 100:02}"
            memo = f"CUSTOMER {n * 31 % 5_000:05} ORDER {number:02}{n:09} VIA SHOP ONLINE"
            file.write(f",{date},20-45-00 31926819,{amount},PAYMENT,{memo}\n")


def _figures(rows: int, watched: Sequence[Watched], floors: Sequence[Floor], silences: int) -> list[Figure]:
    def per_row(seconds: Iterator[float]) -> list[float]:
        return [one * 1e6 / rows for one in seconds]

    daemon = per_row(one.daemon.total for one in watched)
    reader = per_row(one.reader.total for one in watched)
    floor = per_row(one.cpu.total for one in floors)
    figures = [
        Figure("rows a second, all in all", [one.rate(rows, *_WAITING) for one in watched], None, "/s"),
        Figure("rows a second while read", [one.rate(rows, "uploaded") for one in watched], None, "/s"),
        Figure("rows a second while applied", [one.rate(rows, "applying") for one in watched], None, "/s"),
        Figure("CPU of the daemon per row", daemon, None, "us"),
        Figure("CPU of the reader per row", reader, None, "us"),
        Figure("CPU of the floor per row: executemany, 250 a commit", floor, None, "us"),
        Figure("daemon and reader / floor", [(a + b) / c for a, b, c in zip(daemon, reader, floor, strict=True)]),
        Figure("RSS of the daemon at most", [one.daemon_mib for one in watched], None, "MiB"),
        Figure("RSS of the reader at most", [one.reader_mib for one in watched], None, "MiB"),
    ]
    names = {"quiet": "alone", "uploaded": "while a file is read", "applying": "while it is applied"}
    for percent in (50, 99):
        for stage, name in names.items():
            values = [one.waits.percentile(stage, percent) for one in watched]
            figures.append(Figure(f"p{percent} of the neighbour {name}", values, None, "ms"))
    for kind in KINDS:
        for stage, name in names.items():
            values = [one.waits.percentile(stage, 99, kind) for one in watched]
            figures.append(Figure(f"p99 of its {kind}s {name}", values, None, "ms"))
    for stage in _WAITING:
        ratios = [one.waits.percentile(stage, 99) / one.waits.percentile("quiet", 99) for one in watched]
        figures.append(Figure(f"p99 {names[stage]} / alone", ratios, at_most(TIMES_AT_MOST)))
    longest = [max(max(one.waits.of(stage)) for stage in _WAITING) for one in watched]
    figures.append(Figure("longest wait of the neighbour", longest, None, "ms"))
    figures.append(Figure("times that the store did not answer", [float(silences)], at_most(0)))
    return figures


# -- one import


def _watched(server: ServerProcess, seeded: BankBooks, path: Path, size: ImportSize) -> Watched:
    waits = Waits()
    watched = Watched(waits)
    with neighbour(server, seeded, waits):
        time.sleep(size.quiet_seconds)
        own, tree = cpu_time(server.pid), tree_cpu_time(server.pid)
        waits.stage = "uploading"
        _upload(server, seeded, path)
        _follow(server, seeded, watched)
        watched.daemon, family = cpu_time(server.pid) - own, tree_cpu_time(server.pid) - tree
    watched.reader = family - watched.daemon
    return watched


def _upload(server: ServerProcess, seeded: BankBooks, path: Path) -> None:
    """Send the file, and wait for no answer: it comes after twenty seconds or in the end."""
    account = _made(server, seeded, "/api/rpc/accounts", {"name": "Current"})

    def send() -> None:
        with closing(HTTPConnection(*server.address, timeout=STALLED_SECONDS, blocksize=1 << 18)) as connection:
            headers = {"Authorization": f"Bearer {seeded.key}", "Content-Type": "text/csv"}
            headers["Content-Length"] = str(path.stat().st_size)
            with path.open("rb") as file:
                connection.request("POST", f"/api/rpc/accounts/{account}/imports?fileName=year.csv", file, headers)
            connection.getresponse().read()

    threading.Thread(target=send, daemon=True).start()


def _follow(server: ServerProcess, seeded: BankBooks, watched: Watched) -> None:
    """Until the import has ended: stages, and memory. Raises `BenchError`."""
    newest = get("/api/rpc/imports?limit=1", seeded.key)
    known = _newest(server, newest)
    while (run := _newest(server, newest)) == known or run is None:
        time.sleep(LOOK_SECONDS)
    began = time.perf_counter()
    while run is not None and run["status"] in _WAITING:
        status = str(run["status"])
        watched.waits.stage = status
        watched.daemon_mib = max(watched.daemon_mib, resident_mib(server.pid))
        for child in children_of(server.pid):
            watched.reader_mib = max(watched.reader_mib, resident_or_nothing(child))
        time.sleep(LOOK_SECONDS)
        now = time.perf_counter()
        watched.seconds[status] = watched.seconds.get(status, 0.0) + now - began
        began = now
        if sum(watched.seconds.values()) > STALLED_SECONDS:
            raise BenchError(f"the import is still {status}")
        run = _newest(server, newest)
    if run is None or run["status"] != "applied":
        raise BenchError(f"the import ended as {run}")


def resident_or_nothing(pid: int) -> float:
    try:
        return resident_mib(pid)
    except (FileNotFoundError, ProcessLookupError, StopIteration):  # it has just ended
        return 0.0


def _newest(server: ServerProcess, request: bytes) -> dict[str, object] | None:
    status, body = fetch(server.address, request)
    if status != 200:
        raise BenchError(f"the list of imports answered {status}: {body[:300].decode()}")
    found: list[dict[str, object]] = json.loads(body)["data"]
    return found[0] if found else None


def _made(server: ServerProcess, seeded: BankBooks, path: str, values: dict[str, object]) -> str:
    program = Program(server, seeded)
    try:
        return str(json.loads(program.post(path, values))["id"])
    finally:
        program.close()


# -- the neighbour


class Program:
    """Another customer's program on one kept connection."""

    def __init__(self, server: ServerProcess, seeded: BankBooks | Seeded) -> None:
        self._connection = HTTPConnection(*server.address, timeout=60)
        self._headers = {"Authorization": f"Bearer {seeded.key}", "Content-Type": "application/json"}

    def get(self, path: str) -> bytes:
        return self._asked("GET", path, None)

    def post(self, path: str, values: object) -> bytes:
        return self._asked("POST", path, json.dumps(values).encode())

    def close(self) -> None:
        self._connection.close()

    def _asked(self, method: str, path: str, body: bytes | None) -> bytes:
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 201):
            raise BenchError(f"{method} {path} answered {answer.status}: {content[:300].decode()}")
        return content


@contextmanager
def neighbour(server: ServerProcess, seeded: BankBooks | Seeded, waits: Waits) -> Iterator[None]:
    """GETs and POSTs of invoices by programs of their own, at their moments, whatever the answers before took."""
    over = threading.Event()
    failures: list[BaseException] = []

    def ask(number: int) -> None:
        interval = PROGRAMS / REQUESTS_PER_SECOND
        moment = time.perf_counter() + number * interval / PROGRAMS
        program = Program(server, seeded)
        try:
            turn, kind = number, KINDS[number < POSTING]
            while not over.wait(max(0.0, moment - time.perf_counter())):
                stage = waits.stage
                _ask_once(program, seeded, turn, kind)
                waits.note((time.perf_counter() - moment) * 1e3, stage, kind)
                turn, moment = turn + 1, moment + interval
        except (OSError, BenchError) as error:
            failures.append(error)
        finally:
            program.close()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(PROGRAMS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


def _ask_once(program: Program, seeded: BankBooks | Seeded, turn: int, kind: Kind) -> None:
    if kind == "POST":
        sold = {**INVOICE, "clientId": seeded.client_id, "legalEntityId": seeded.entity_id}
        program.post("/api/rpc/invoices", sold)
    elif turn % 2:
        program.get(f"/api/rpc/legalEntity/getLegalEntity?id={seeded.entity_id}")
    else:
        program.get("/api/rpc/invoices?limit=20")
