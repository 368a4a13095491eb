"""Servers as child processes: pinned to one core, found by the address they announce, ended by their own id."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 30.0
STOP_SECONDS = 20.0
_LOOK_SECONDS = 0.002
_SCHEDULER = 2  # of the clocks of another process, that which the kernel's scheduler keeps (clock_getcpuclockid(3))
_ANNOUNCED = re.compile(rb"http://127\.0\.0\.1:(\d+)")


@dataclass(frozen=True, slots=True)
class Cores:
    """The core of the servers and the core of the client; one and the same where there is only one."""

    server: int
    client: int


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that listens."""

    name: str
    pid: int
    address: tuple[str, int]


@dataclass(frozen=True, slots=True)
class CpuTime:
    """CPU seconds of a process with all its threads: together to the nanosecond, each about."""

    user: float
    system: float

    def __sub__(self, earlier: "CpuTime") -> "CpuTime":
        return CpuTime(self.user - earlier.user, self.system - earlier.system)

    @property
    def total(self) -> float:
        return self.user + self.system


class BenchError(Exception):
    """Something that is measured does not work."""


def pick_cores() -> Cores:
    """The last core for servers, the first for the client."""
    allowed = sorted(os.sched_getaffinity(0))
    return Cores(server=allowed[-1], client=allowed[0])


def cpu_time(pid: int) -> CpuTime:
    """User and system time so far: from its clock, divided as in /proc (proc(5)), which counts in ticks of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    total = time.clock_gettime(~pid << 3 | _SCHEDULER)
    share = user / (user + system) if user + system else 1.0
    return CpuTime(total * share, total * (1 - share))


def tree_cpu_time(pid: int) -> CpuTime:
    """The same of a process with all that descend from it, also those that have ended and were waited for."""
    tick = os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    ended: dict[int, CpuTime] = {}  # of the children of each that were waited for
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            continue
        fields = text.rpartition(")")[2].split()
        one = int(path.parent.name)
        parents[one] = int(fields[1])
        ended[one] = CpuTime(*(int(field) / tick for field in fields[13:15]))
    family, generation = {pid}, {pid}
    while generation:
        generation = {one for one, parent in parents.items() if parent in generation} - family
        family |= generation
    its = [ended[one] for one in family if one in ended]
    for one in family:
        with contextlib.suppress(OSError):  # it has just ended
            its.append(cpu_time(one))
    return CpuTime(sum(each.user for each in its), sum(each.system for each in its))


def children_of(pid: int) -> list[int]:
    """The processes that any thread of this one has started and that are still there."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found += (int(child) for child in (task / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):  # the thread has just ended
            continue
    return found


def resident_mib(pid: int) -> float:
    """VmRSS."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


@contextmanager
def running(name: str, command: Sequence[str | Path], log: Path, core: int) -> Iterator[ServerProcess]:
    """A server from its first `http://127.0.0.1:PORT` in the log to the end of the block.

    Raises `BenchError` when it ends or says nothing within START_SECONDS.
    """
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
    try:
        yield ServerProcess(name, process.pid, ("127.0.0.1", _announced_port(name, process, log)))
    finally:
        _end(process)


def _announced_port(name: str, process: "subprocess.Popen[bytes]", log: Path) -> int:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        text = log.read_bytes()
        if (found := _ANNOUNCED.search(text)) is not None:
            return int(found[1])
        if process.poll() is not None:
            raise BenchError(f"{name} ended with {process.returncode}:\n{text[-2000:].decode(errors='replace')}")
        time.sleep(_LOOK_SECONDS)
    raise BenchError(f"{name} announced no address within {START_SECONDS:g} s")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
