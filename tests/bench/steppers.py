"""Child processes that deliver events step by step, and what each step costs them with all their children."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.measure import Sample
from tests.bench.processes import BenchError, CpuTime, cpu_time, tree_cpu_time
from tests.bench.servers import ROOT

STEP_SECONDS = 300.0
START_SECONDS = 60.0
STOP_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What a step cost: all processes of the stepper, and Redis, which serves it."""

    own: CpuTime
    redis: CpuTime
    seconds: float

    def sample(self, events: int) -> Sample:
        """Everything together."""
        return per_event(CpuTime(self.own.user + self.redis.user, self.own.system + self.redis.system), events, self)

    def redis_sample(self, events: int) -> Sample:
        return per_event(self.redis, events, self)


def per_event(cpu: CpuTime, events: int, spent: Spent | float) -> Sample:
    """A sample of microseconds per event; `spent` says how long it took."""
    seconds = spent.seconds if isinstance(spent, Spent) else spent
    return Sample(
        requests=events,
        user_us=cpu.user * 1e6 / events,
        system_us=cpu.system * 1e6 / events,
        requests_per_second=events / seconds,
    )


@dataclass(frozen=True, slots=True)
class Stepper:
    """One that is ready."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    redis_pid: int | None

    def step(self, word: str) -> Spent:
        """Have it done. Raises `BenchError` when it ends or takes longer than STEP_SECONDS."""
        before, began = self._cpu(), time.perf_counter()
        assert self.process.stdin is not None
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()
        self.expect("done", STEP_SECONDS)
        own, redis = self._cpu()
        return Spent(own - before[0], redis - before[1], time.perf_counter() - began)

    def expect(self, word: str, seconds: float) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], seconds)
        said = stdout.readline().decode().strip() if ready else "nothing"
        if said != word:
            last = self.log.read_text(errors="replace")[-2000:]
            raise BenchError(f"{self.name} said {said!r} instead of {word!r}:\n{last}")

    def _cpu(self) -> tuple[CpuTime, CpuTime]:
        redis = CpuTime(0.0, 0.0) if self.redis_pid is None else cpu_time(self.redis_pid)
        return tree_cpu_time(self.process.pid), redis


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a stepper runs: its core, its files, and the Redis it may use."""

    core: int
    directory: Path
    redis: "Redis | None" = None


@dataclass(frozen=True, slots=True)
class Redis:
    """A running Redis of this run alone."""

    pid: int
    socket: Path


@contextmanager
def stepping(name: str, command: Sequence[str | Path], given: Mapping[str, object], place: Place) -> Iterator[Stepper]:
    """A stepper from its first word to the end of the block, when it is told to end."""
    log = place.directory / "log"
    redis = {} if place.redis is None else {"redis": str(place.redis.socket)}
    document = json.dumps({**given, **redis, "directory": str(place.directory)})
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*(str(part) for part in command), document],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=sink,
            bufsize=0,
            preexec_fn=lambda: os.sched_setaffinity(0, {place.core}),
        )
    stepper = Stepper(name, process, log, None if place.redis is None else place.redis.pid)
    try:
        stepper.expect("ready", START_SECONDS)
        yield stepper
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
    process.stdout.close()


@contextmanager
def redis_server(program: str, core: int, directory: Path) -> Iterator[Redis]:
    """Redis on a socket file, every write on disk before it is acknowledged."""
    place = directory / "redis.sock"
    settings = ["--port", "0", "--unixsocket", place, "--dir", directory, "--save", "", "--daemonize", "no"]
    settings += ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"]
    with (directory / "redis.log").open("wb") as sink:
        process = subprocess.Popen(
            [program, *(str(part) for part in settings)],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not place.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise BenchError(f"redis-server does not start:\n{(directory / 'redis.log').read_text()[-2000:]}")
            time.sleep(0.01)
        yield Redis(process.pid, place)
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)
