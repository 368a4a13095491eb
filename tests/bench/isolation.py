"""Whether one receiver that hangs delays the others: a hundred healthy ones, with it and without it, in turn."""

import threading
import time
from dataclasses import dataclass, field

from tests.bench import outbox as outboxes
from tests.bench.latency import Program, recorded_at, taken_ms
from tests.bench.load import fetch, request_bytes
from tests.bench.outbox import Outbox, Sink
from tests.bench.processes import BenchError, ServerProcess
from tests.bench.report import Figure, Report, at_most, percentile
from tests.bench.servers import Bench
from tests.support.sink import arrivals, path_of

HEALTHY = 100
HANGING = HEALTHY  # the number of the one that hangs, among receivers and organizations
HANG_MS = 10_000
DELIVERIES_PER_SECOND = 150
PROGRAMS = 2
ENOUGH_TO_HANG = 8  # events: twice what one subscription has in flight
OVER_SECONDS = 11.0  # the longest attempt, and a second
MORE_AT_MOST = 1.2


@dataclass(slots=True)
class Rounds:
    """p50 and p99 of the healthy ones in milliseconds, round by round."""

    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)

    def add(self, taken: list[float]) -> None:
        self.p50.append(percentile(taken, 50))
        self.p99.append(percentile(taken, 99))


@dataclass(frozen=True, slots=True)
class Site:
    """What a round works with."""

    outbox: Outbox
    server: ServerProcess
    sink: Sink


def measure_isolation(bench: Bench, rounds: int, seconds: float, report: Report) -> None:
    """Events come through the API at an even pace, one delivery each."""
    without, hanging = Rounds(), Rounds()
    with outboxes.receiving(bench) as sink:
        urls = [[sink.url + path_of(number)] for number in range(HEALTHY)]
        outbox = outboxes.make_outbox(bench.scratch / "isolation", [*urls, []])
        with outboxes.delivering(bench, outbox) as server:
            site = Site(outbox, server, sink)
            _paced(site, 1.0)  # connections are made
            for number in range(rounds):
                if number % 2:
                    hanging.add(_with_one_that_hangs(site, seconds))
                    without.add(_paced(site, seconds))
                else:
                    without.add(_paced(site, seconds))
                    hanging.add(_with_one_that_hangs(site, seconds))
    report.add(f"Isolation: {HEALTHY} healthy receivers and one that hangs", {}, _figures(without, hanging))


def _figures(without: Rounds, hanging: Rounds) -> list[Figure]:
    def moved(parts: tuple[list[float], list[float]]) -> list[float]:
        return [b / a for a, b in zip(*parts, strict=True)]

    return [
        Figure("p50 without it, commit to receipt", without.p50, None, "ms"),
        Figure("p50 with it", hanging.p50, None, "ms"),
        Figure("p99 without it", without.p99, None, "ms"),
        Figure("p99 with it", hanging.p99, None, "ms"),
        Figure("p99 with it / without it", moved((without.p99, hanging.p99)), at_most(MORE_AT_MOST)),
    ]


def _with_one_that_hangs(site: Site, seconds: float) -> list[float]:
    """It hangs when the round begins, and gets its share of the events. Afterwards it is gone, with all it had."""
    tenant = site.outbox.tenants[HANGING]
    url = site.sink.url + path_of(HANGING, HANG_MS)
    subscription = outboxes.add_subscription(site.outbox, tenant, url)
    before = site.sink.arrived()
    program = Program(site.server.address, [tenant.key])
    for _ in range(ENOUGH_TO_HANG):
        program.make_lead()
    program.close()
    site.sink.wait_for(before + 1)
    taken = _paced(site, seconds)
    _remove(site, tenant.key, subscription)
    time.sleep(OVER_SECONDS)
    return taken


def _remove(site: Site, key: str, subscription: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = b'{"id":"%b"}' % subscription.encode()
    status, answer = fetch(
        site.server.address, request_bytes("POST", "/api/rpc/webhooks/subscriptions/delete", headers, body)
    )
    if status != 200:
        raise BenchError(f"the subscription was not deleted: {answer[:300].decode()}")


def _paced(site: Site, seconds: float) -> list[float]:
    """Milliseconds from commit to receipt of each delivery to a healthy one."""
    first = site.sink.arrived()
    count = int(seconds * DELIVERIES_PER_SECOND / PROGRAMS)
    failures: list[BaseException] = []
    threads = [threading.Thread(target=_program, args=(site, n, count, failures)) for n in range(PROGRAMS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]

    def healthy() -> int:
        return sum(arrival.receiver != HANGING for arrival in arrivals(site.sink.file, first))

    wanted = sum(_turn(n, turn) != HANGING for n in range(PROGRAMS) for turn in range(count))
    outboxes.wait_until(lambda: healthy() >= wanted, "every healthy receiver has everything")
    received = [arrival for arrival in arrivals(site.sink.file, first) if arrival.receiver != HANGING]
    return taken_ms(received, recorded_at(site.outbox))


def _turn(program: int, turn: int) -> int:
    """Whose event comes: all organizations one after another, the one that hangs included."""
    return (turn * PROGRAMS + program) % (HEALTHY + 1)


def _program(site: Site, number: int, count: int, failures: list[BaseException]) -> None:
    interval = PROGRAMS / DELIVERIES_PER_SECOND
    program = Program(site.server.address, [tenant.key for tenant in site.outbox.tenants])
    began = time.monotonic() + number * interval / PROGRAMS
    try:
        for turn in range(count):
            time.sleep(max(0.0, began + turn * interval - time.monotonic()))
            program.make_lead(_turn(number, turn))
    except (OSError, BenchError) as error:
        failures.append(error)
    finally:
        program.close()
