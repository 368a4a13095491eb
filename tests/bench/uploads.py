"""Ten documents come in at a time while others go on working: how long those wait, and what a byte costs."""

import json
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection

from tests.bench.banking_import import Waits, neighbour
from tests.bench.processes import BenchError, ServerProcess, cpu_time, resident_mib
from tests.bench.report import Figure, Report, at_most
from tests.bench.seeding import Seeded
from tests.bench.servers import Bench, serving

AT_ONCE = 10
TIMES_AT_MOST = 1.5
MEMORY_MIB_MAX = 120
PACES = {"at 25 MB/s": 25_000_000, "as fast as it goes": 0}
BYTES_PER_SECOND = 300_000_000  # of disk, at the most


@dataclass(frozen=True, slots=True)
class UploadSize:
    """So many rounds; in each the neighbour is looked at for so long alone, and at each pace."""

    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Sent:
    """What one round took in: bytes, seconds, CPU seconds of the daemon, and its memory."""

    size_bytes: int
    seconds: float
    cpu_seconds: float
    resident_mib: float


def measure_uploads(bench: Bench, seeded: Seeded, size: UploadSize, report: Report) -> None:
    """In rounds: the neighbour alone, then beside ten uploads at each pace."""
    waits: list[Waits] = []
    sent: dict[str, list[Sent]] = {name: [] for name in PACES}
    with serving(bench, seeded.directory) as server:
        for _ in range(size.rounds):
            seen = Waits()
            with neighbour(server, seeded, seen):
                time.sleep(size.seconds)
                for name, pace in PACES.items():
                    seen.stage = name
                    sent[name].append(_send(server, seeded, pace, size.seconds))
                    seen.stage = "between"
                    time.sleep(1.0)
            waits.append(seen)
    report.add(f"{AT_ONCE} uploads at a time beside 100 requests/s", {}, _figures(waits, sent))


def _figures(waits: list[Waits], sent: dict[str, list[Sent]]) -> list[Figure]:
    figures = [Figure("p99 of the neighbour alone", [one.percentile("quiet", 99) for one in waits], None, "ms")]
    for name, rounds in sent.items():
        figures += [
            Figure(f"p99 of the neighbour {name}", [one.percentile(name, 99) for one in waits], None, "ms"),
            Figure(
                f"p99 {name} / alone",
                [one.percentile(name, 99) / one.percentile("quiet", 99) for one in waits],
                at_most(TIMES_AT_MOST),
            ),
            Figure(f"received {name}", [one.size_bytes / one.seconds / 1e6 for one in rounds], None, "MB/s"),
            Figure(f"CPU per MB {name}", [one.cpu_seconds / one.size_bytes * 1e9 for one in rounds], None, "ms"),
            Figure(f"RSS {name}", [one.resident_mib for one in rounds], at_most(MEMORY_MIB_MAX), "MiB"),
        ]
    return figures


def _send(server: ServerProcess, seeded: Seeded, pace: int, seconds: float) -> Sent:
    """Upload for so long, by a process beside this one. Raises `BenchError`."""
    urls = [_upload_path(server, seeded) for _ in range(400)]
    asked = {"address": server.address, "paths": urls, "at_once": AT_ONCE, "pace": pace, "seconds": seconds}
    before, began = cpu_time(server.pid), time.perf_counter()
    command = [sys.executable, "-m", "tests.bench.uploading_program"]
    ran = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    if ran.returncode:
        raise BenchError(ran.stderr)
    taken = time.perf_counter() - began
    return Sent(int(ran.stdout), taken, (cpu_time(server.pid) - before).total, resident_mib(server.pid))


def _upload_path(server: ServerProcess, seeded: Seeded) -> str:
    with closing(HTTPConnection(*server.address, timeout=60)) as connection:
        fields = {"Authorization": f"Bearer {seeded.key}", "Content-Type": "application/json"}
        connection.request("POST", "/api/rpc/vault/documents", b'{"name": "scan.pdf"}', fields)
        content = connection.getresponse().read()
        made = json.loads(content)
    if "upload" not in made:
        raise BenchError(content.decode())
    return "/" + str(made["upload"]["url"]).split("/", 3)[3]
