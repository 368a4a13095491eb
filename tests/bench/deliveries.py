"""CPU of a delivery, from committed event to recorded success: beside a bare loop, other queues, and clients."""

import shutil
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.bench import outbox as outboxes
from tests.bench.delivery_peers import Found, Peer, find_peers, versions
from tests.bench.measure import Sample, Samples, ratios
from tests.bench.outbox import Sink
from tests.bench.processes import cpu_time
from tests.bench.report import Figure, Report, at_most
from tests.bench.servers import Bench
from tests.bench.steppers import Place, per_event, redis_server, stepping
from tests.support.sink import path_of

RECEIVERS = 8
BARE, OURS, ENQUEUED = "bare sign and POST", "gatewayd", "gatewayd, enqueueing"
MICROSECONDS = 330


@dataclass(frozen=True, slots=True)
class Turn:
    """One round's place, and what it found out by name."""

    bench: Bench
    sink: Sink
    directory: Path
    taken: dict[str, Sample]


def measure_deliveries(bench: Bench, rounds: int, events: int, report: Report) -> None:
    """Each round: the bare loop, the daemon, then each of the peers."""
    found = find_peers()
    report.settings["delivery_peers"] = dict(versions())
    samples: Samples = {}
    for number in range(rounds):
        directory = bench.scratch / f"deliveries-{number}"
        directory.mkdir()
        with outboxes.receiving(bench) as sink:
            turn = Turn(bench, sink, directory, {})
            _bare(turn, events)
            _ours(turn, events)
            for peer in found.peers:
                _peer(turn, peer, max(RECEIVERS, int(events * peer.share)))
        shutil.rmtree(directory)
        for name, sample in turn.taken.items():
            samples.setdefault(name, []).append(sample)
    report.add("Deliveries: CPU per event", samples, _figures(samples, found), found.notes())


def _figures(samples: Samples, found: Found) -> list[Figure]:
    ours = [sample.cpu_us for sample in samples[OURS]]
    figures = [
        Figure("delivery, commit to recorded success", ours, at_most(MICROSECONDS), "us"),
        Figure(f"the same / {BARE}", ratios(samples, OURS, BARE), at_most(2)),
        Figure(f"enqueueing / {BARE}", ratios(samples, ENQUEUED, BARE)),
    ]
    return figures + [Figure(f"{peer.name} / {OURS}", ratios(samples, peer.name, OURS)) for peer in found.peers]


def _bare(turn: Turn, events: int) -> None:
    directory = turn.directory / "bare"
    directory.mkdir()
    command = (sys.executable, "-m", "tests.bench.bare_sender")
    given = {"url": turn.sink.url, "receivers": RECEIVERS, "count": events}
    before = turn.sink.arrived()
    with stepping(BARE, command, given, Place(core=turn.bench.core, directory=directory)) as stepper:
        spent = stepper.step("deliver")
    turn.sink.wait_for(before + events)
    turn.taken[BARE] = spent.sample(events)


def _ours(turn: Turn, events: int) -> None:
    """Committed while nothing runs; delivered once the subscriptions are switched on."""
    urls = [[turn.sink.url + path_of(number)] for number in range(RECEIVERS)]
    outbox = outboxes.make_outbox(turn.directory / "gatewayd", urls)
    began = time.perf_counter()
    cpu = outboxes.enqueue(outbox, events)
    turn.taken[ENQUEUED] = per_event(cpu, events, time.perf_counter() - began)
    outboxes.switch(outbox, enabled=False)
    before = turn.sink.arrived()
    with outboxes.delivering(turn.bench, outbox) as server:
        time.sleep(outboxes.SETTLE_SECONDS)
        idle, began = cpu_time(server.pid), time.perf_counter()
        outboxes.switch(outbox, enabled=True)
        turn.sink.wait_for(before + events)
        outboxes.wait_until(lambda: outboxes.pending(outbox) == 0, "every delivery recorded")
        spent, seconds = cpu_time(server.pid) - idle, time.perf_counter() - began
    turn.taken[OURS] = per_event(spent, events, seconds)


def _peer(turn: Turn, peer: Peer, events: int) -> None:
    directory = turn.directory / str(len(turn.taken))
    directory.mkdir()
    given = {"url": turn.sink.url, "receivers": RECEIVERS, "count": events, **peer.given}
    before = turn.sink.arrived()
    with ExitStack() as stack:
        program = shutil.which("redis-server") if peer.needs_redis else None
        core = turn.bench.core
        redis = stack.enter_context(redis_server(program, core, directory)) if program else None
        place = Place(core=core, directory=directory, redis=redis)
        stepper = stack.enter_context(stepping(peer.name, peer.command, given, place))
        if peer.queues:
            turn.taken[f"{peer.name}, enqueueing"] = stepper.step("enqueue").sample(events)
        spent = stepper.step("deliver")
    turn.sink.wait_for(before + events)
    turn.taken[peer.name] = spent.sample(events)
    if redis is not None:
        turn.taken[f"{peer.name}: Redis alone"] = spent.redis_sample(events)
