"""What is measured side by side: requests against servers in turn, CPU per request of each, ratios of each round."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.bench.load import LoadResult, run_load
from tests.bench.processes import BenchError, ServerProcess, cpu_time

_TRIAL_REQUESTS = 64
WARMING_REQUESTS = 5 * _TRIAL_REQUESTS  # of each subject, before the first round
MOST_REQUESTS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One request to one server, sent over and over; or requests that each serve once, `most` of them in a sample."""

    name: str
    server: ServerProcess
    request: bytes | Iterator[bytes]
    connections: int = 16
    most: int = MOST_REQUESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One turn of a subject. CPU in microseconds per request, of the server with all its threads."""

    requests: int
    user_us: float
    system_us: float
    requests_per_second: float

    @property
    def cpu_us(self) -> float:
        return self.user_us + self.system_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured: rounds, and about how many CPU seconds the server spends in each sample."""

    rounds: int
    cpu_seconds: float
    # No sample lasts longer than about this, however little CPU it takes.
    wall_seconds: float = 4.0


Samples = dict[str, list[Sample]]


def interleave(subjects: Sequence[Subject], effort: Effort) -> Samples:
    """A B C, A B C, ...: one sample of each subject per round, so that what disturbs the machine disturbs all."""
    counts = {subject.name: _calibrated(subject, effort) for subject in subjects}
    samples: Samples = {subject.name: [] for subject in subjects}
    for _ in range(effort.rounds):
        for subject in subjects:
            samples[subject.name].append(_sample(subject, counts[subject.name]))
    return samples


def ratios(samples: Samples, over: str, under: str) -> list[float]:
    """CPU of `over` divided by that of `under`, for each round."""
    return [a.cpu_us / b.cpu_us for a, b in zip(samples[over], samples[under], strict=True)]


def rate_ratios(samples: Samples, over: str, under: str) -> list[float]:
    """Requests per second of `over` divided by those of `under`, for each round."""
    return [a.requests_per_second / b.requests_per_second for a, b in zip(samples[over], samples[under], strict=True)]


def median_cpu(samples: Sequence[Sample]) -> float:
    """Microseconds per request."""
    return statistics.median(sample.cpu_us for sample in samples)


def _calibrated(subject: Subject, effort: Effort) -> int:
    """How many requests come to the effort, after warming up."""
    _sample(subject, _TRIAL_REQUESTS)
    trial = _sample(subject, 4 * _TRIAL_REQUESTS)
    by_cpu = effort.cpu_seconds * 1e6 / max(trial.cpu_us, 10.0)
    by_wall = effort.wall_seconds * trial.requests_per_second
    return int(min(max(by_cpu, _TRIAL_REQUESTS), max(by_wall, _TRIAL_REQUESTS), subject.most))


def _sample(subject: Subject, requests: int) -> Sample:
    before = cpu_time(subject.server.pid)
    result = run_load(subject.server.address, subject.request, requests=requests, connections=subject.connections)
    spent = cpu_time(subject.server.pid) - before
    _require_success(subject, result)
    return Sample(
        requests=requests,
        user_us=spent.user * 1e6 / requests,
        system_us=spent.system * 1e6 / requests,
        requests_per_second=result.requests_per_second,
    )


def _require_success(subject: Subject, result: LoadResult) -> None:
    if set(result.statuses) - {200, 201}:
        raise BenchError(f"{subject.name} answered {result.statuses}")
