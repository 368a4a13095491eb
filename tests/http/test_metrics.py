"""The numbers for Prometheus: counted, copied and written, and read back by the library's own parser."""

import io
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import prometheus_client
import pytest
import trio
from prometheus_client.parser import text_string_to_metric_families

from gatewayd.clock import SystemClock
from gatewayd.http import metrics
from gatewayd.http.door import App
from gatewayd.http.metrics import BOUNDS_SECONDS, READINGS, RequestTallies, Snapshot, Watched
from gatewayd.http.server import DoorSettings, Server
from gatewayd.logs import AccessLog, make_logger
from gatewayd.webhooks.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.sender import AttemptResult, Headers
from gatewayd.webhooks.settings import WebhookSettings
from tests.http.conftest import OpenProbes
from tests.http.knocking import FixedClock, RecordingLog, refuse
from tests.http.test_health import ask

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


class NoPoster:
    """A sender that nothing is given to."""

    async def post(self, url: str, headers: Headers, body: bytes, *, slot_key: str) -> AttemptResult:
        raise AssertionError(url)

    def sweep(self) -> None:
        return

    def forget(self, slot_key: str) -> None:
        raise AssertionError(slot_key)


def parsed(page: bytes) -> Samples:
    """Every sample by its name and labels; a sample that is there twice fails."""
    found: Samples = {}
    for family in text_string_to_metric_families(page.decode()):
        assert family.documentation, family.name
        for sample in family.samples:
            name = sample.name, tuple(sorted(sample.labels.items()))
            assert name not in found
            found[name] = sample.value
    return found


def value(page: bytes, name: str, **labels: str) -> float:
    return parsed(page)[name, tuple(sorted(labels.items()))]


def written(tallies: RequestTallies) -> bytes:
    """The page of these requests and no other numbers."""
    return metrics.text(Snapshot(tallies.copied(), [0.0] * len(READINGS), {}))


@asynccontextmanager
async def watching(open_probes: OpenProbes) -> AsyncIterator[Watched]:
    """The parts of a daemon that nobody uses."""
    stream = io.StringIO()
    async with open_probes() as api:
        log = make_logger("json", "info", stream)
        parts = DispatcherParts(
            store=api.store, sender=NoPoster(), clock=SystemClock(), settings=WebhookSettings(), log=log
        )
        settings = DoorSettings(bind=("127.0.0.1:0",))
        yield Watched(
            requests=RequestTallies(),
            server=Server(cast(App, api.api), settings, refuse=refuse, log=RecordingLog(), clock=FixedClock()),
            store=api.store,
            dispatcher=Dispatcher(parts),
            access_log=AccessLog("json", stream),
            is_ready=lambda: True,
        )


# -- requests


def test_requests_are_counted_by_operation_and_status() -> None:
    tallies = RequestTallies()
    for operation, status in [("a.read", 200), ("a.read", 200), ("a.read", 404), ("b.write", 200), ("none", 404)]:
        tallies.note(operation, status, 0.001)
    page = written(tallies)
    counted = {labels: count for (name, labels), count in parsed(page).items() if name == "gatewayd_requests_total"}
    assert counted == {
        (("operation", "a.read"), ("status", "200")): 2,
        (("operation", "a.read"), ("status", "404")): 1,
        (("operation", "b.write"), ("status", "200")): 1,
        (("operation", "none"), ("status", "404")): 1,
    }


def test_durations_fall_into_the_bucket_that_reaches_them() -> None:
    tallies = RequestTallies()
    for seconds in (0.0, 0.005, 0.00501, 10.0, 11.0):
        tallies.note("a.read", 200, seconds)
    page, name = written(tallies), "gatewayd_request_duration_seconds"

    def up_to(bound: str) -> float:
        return value(page, f"{name}_bucket", operation="a.read", le=bound)

    bounds = ("0.0005", "0.0025", "0.005", "0.01", "5", "10")
    assert [up_to(bound) for bound in bounds] == [1, 1, 2, 3, 3, 4]
    assert up_to("+Inf") == value(page, f"{name}_count", operation="a.read") == 5
    assert value(page, f"{name}_sum", operation="a.read") == pytest.approx(21.01001)
    assert list(BOUNDS_SECONDS) == sorted(BOUNDS_SECONDS)


def test_requests_over_the_rate_limit_are_told_together() -> None:
    tallies = RequestTallies()
    for operation in ("a.read", "b.write", "b.write"):
        tallies.note(operation, 429, 0.0)
    assert value(written(tallies), "gatewayd_requests_rate_limited_total") == 3


def test_a_copy_stands_still() -> None:
    tallies = RequestTallies()
    tallies.note("a.read", 200, 1.0)
    taken = tallies.copied()
    tallies.note("a.read", 500, 1.0)
    assert (taken["a.read"].statuses, sum(taken["a.read"].buckets), taken["a.read"].seconds) == ({200: 1}, 1, 1.0)


# -- the rest of the daemon


def given(of: Watched) -> Iterator[tuple[str, float]]:
    """Give each source a number of its own; answers the samples that must tell it."""
    counters, counts = of.server.counters, of.dispatcher.counts
    for number, (name, owner, attribute) in enumerate(
        [
            ("connections_accepted_total", counters, "connections"),
            ("connections_failed_total", counters, "connection_errors"),
            ("connections_handshake_failed_total", counters, "failed_handshakes"),
            ("accept_shortages_total", counters, "accept_shortages"),
            ("requests_refused_total", counters, "refused"),
            ("requests_failed_total", counters, "app_errors"),
            ("store_long_reads_total", of.store, "long_reads"),
            ("webhook_store_failures_total", counts, "store_failures"),
            ("access_log_lines_dropped_total", of.access_log, "dropped"),
        ],
        start=101,
    ):
        setattr(cast(Any, owner), attribute, number)
        yield f"gatewayd_{name}", float(number)


async def test_each_number_is_told_under_its_name(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        expected = {
            **dict(given(of)),
            "gatewayd_ready": 1.0,
            "gatewayd_store_writable": 1.0,
            "gatewayd_store_commits_total": float(of.store.commits),
            "gatewayd_connections_open": 0.0,
            "gatewayd_webhook_attempts_in_flight": 0.0,
            "gatewayd_webhook_dispatcher_running": 0.0,
            "gatewayd_requests_rate_limited_total": 0.0,
        }
        of.dispatcher.counts.exhausted = 7
        of.dispatcher.counts.failed_here = 8
        page = metrics.text(metrics.snapshot(of))
    told = {
        name: number
        for (name, labels), number in parsed(page).items()
        if not labels and not name.startswith("gatewayd_process_")
    }
    assert told == expected
    assert value(page, "gatewayd_webhook_attempts_total", outcome="exhausted") == 7
    assert value(page, "gatewayd_webhook_attempts_total", outcome="failed_here") == 8
    assert value(page, "gatewayd_webhook_attempts_total", outcome="succeeded") == 0


async def test_what_is_not_well_is_told(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        of.dispatcher.running = True
        page = metrics.text(metrics.snapshot(replace(of, is_ready=lambda: False)))
    assert value(page, "gatewayd_ready") == 0
    assert value(page, "gatewayd_webhook_dispatcher_running") == 1
    closed = metrics.text(metrics.snapshot(of))
    assert (value(closed, "gatewayd_ready"), value(closed, "gatewayd_store_writable")) == (1, 0)


async def test_every_name_is_ours_and_has_one_type(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        page = metrics.text(metrics.snapshot(of)).decode()
    types = [line.split()[2] for line in page.splitlines() if line.startswith("# TYPE")]
    assert len(types) == len(set(types)) > 20
    assert {name.partition("_")[0] for name in types} == {"gatewayd"}
    assert "gatewayd_process_resident_memory_bytes" in types


async def test_the_page_is_the_only_path(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        of.requests.note("a.read", 200, 0.001)
        app = cast(Any, metrics.page(of))
        with trio.fail_after(10):
            got = await ask(app, path="/metrics")
            head = await ask(app, "HEAD", "/metrics")
            posted = await ask(app, "POST", "/metrics")
            others = [await ask(app, path=path) for path in ("/", "/metrics/", "/healthz", "/api/rpc/clients")]
    assert (got.status, got["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert value(got.body, "gatewayd_requests_total", operation="a.read", status="200") == 1
    assert (head.status, head.body) == (200, b"")
    assert (posted.status, posted["allow"]) == (405, "GET, HEAD")
    assert [(other.status, other.code) for other in others] == [(404, "not_found")] * 4


def test_two_pages_share_nothing_not_even_the_library_s_own_registry() -> None:
    one, two = RequestTallies(), RequestTallies()
    one.note("a.read", 200, 0.001)
    assert b'operation="a.read"' in written(one)
    assert b'operation="a.read"' not in written(two)
    assert b"gatewayd_" not in prometheus_client.generate_latest()
