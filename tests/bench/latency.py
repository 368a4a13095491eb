"""From a commit to its receipt: one event at a time, through the API of a daemon that has nothing else to do."""

import json
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection

from tests.bench import outbox as outboxes
from tests.bench.outbox import Outbox, Sink
from tests.bench.processes import BenchError
from tests.bench.report import Figure, Report, at_most, percentile
from tests.bench.servers import Bench
from tests.support.sink import Arrival, arrivals, path_of

WARM_UP = 10
PAUSE_SECONDS = 0.02  # between two events: the daemon is idle again
LOOK_SECONDS = 0.0005
MILLISECONDS = 5
_EVENTS = "SELECT json_extract(CAST(data AS TEXT), '$.lead_id'), created_at FROM events"


@dataclass(frozen=True, slots=True)
class MadeLead:
    """A lead that was made; CLOCK_MONOTONIC in nanoseconds."""

    lead: str
    sent: int
    answered: int


class Program:
    """A customer's program on one kept connection."""

    def __init__(self, address: tuple[str, int], keys: Iterable[str]) -> None:
        self._connection = HTTPConnection(*address, timeout=10)
        self._headers = [{"Authorization": f"Bearer {key}", "Content-Type": "application/json"} for key in keys]

    def make_lead(self, tenant: int = 0) -> MadeLead:
        """Raises `BenchError` for any other answer."""
        sent = time.monotonic_ns()
        self._connection.request("POST", "/api/rpc/crm/createLead", b'{"source":"fair"}', self._headers[tenant])
        answer = self._connection.getresponse()
        body = answer.read()
        answered = time.monotonic_ns()
        if answer.status != 200:
            raise BenchError(f"createLead answered {answer.status}: {body[:300].decode()}")
        return MadeLead(json.loads(body)["id"], sent, answered)

    def close(self) -> None:
        self._connection.close()


def recorded_at(outbox: Outbox) -> dict[str, int]:
    """When the transaction of each lead's event began, before its fsync: CLOCK_MONOTONIC in nanoseconds."""
    ahead = time.time_ns() - time.monotonic_ns()
    with closing(sqlite3.connect(f"file:{outbox.database}?mode=ro", uri=True, timeout=5)) as connection:
        rows = connection.execute(_EVENTS).fetchall()
    return {lead: created_at * 1000 - ahead for lead, created_at in rows}


def taken_ms(received: Iterable[Arrival], since: dict[str, int]) -> list[float]:
    """Milliseconds from each lead's instant in `since` to the receipt of its event."""
    return [(arrival.at - since[arrival.lead]) / 1e6 for arrival in received if arrival.lead in since]


def measure_latency(bench: Bench, events: int, report: Report) -> None:
    """The first few are not counted: connections are made."""
    with outboxes.receiving(bench) as sink:
        outbox = outboxes.make_outbox(bench.scratch / "latency", [[sink.url + path_of(0)]])
        with outboxes.delivering(bench, outbox) as server:
            program = Program(server.address, [outbox.tenants[0].key])
            asked = [_one_by_one(program, sink) for _ in range(events + WARM_UP)][WARM_UP:]
            program.close()
        received = arrivals(sink.file)
    committing = recorded_at(outbox)
    counted = {one.lead: committing[one.lead] for one in asked}
    from_commit = taken_ms(received, counted)
    figures = [
        Figure("from the transaction, its fsync included, to the receipt", from_commit, at_most(MILLISECONDS), "ms"),
        Figure("its p99", [percentile(from_commit, 99)], None, "ms"),
        Figure("from the answer of the API to the receipt", _since(received, asked, "answered"), None, "ms"),
        Figure("from the request to the receipt", _since(received, asked, "sent"), None, "ms"),
    ]
    report.add(f"Latency of a delivery on an idle daemon: {events} events", {}, figures)


def _since(received: Iterable[Arrival], asked: Iterable[MadeLead], moment: str) -> list[float]:
    return taken_ms(received, {one.lead: getattr(one, moment) for one in asked})


def _one_by_one(program: Program, sink: Sink) -> MadeLead:
    before = sink.arrived()
    asked = program.make_lead()
    deadline = time.monotonic() + outboxes.STALLED_SECONDS
    while sink.arrived() == before:
        if time.monotonic() > deadline:
            raise BenchError("an event did not arrive")
        time.sleep(LOOK_SECONDS)
    time.sleep(PAUSE_SECONDS)
    return asked
