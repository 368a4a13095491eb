"""The daemon's numbers for Prometheus: counted plainly where requests pass, put into words when somebody asks.

A request costs two look-ups and three additions. A scrape copies the numbers on the event loop and writes the text on a
thread. The library is loaded when the page is made, so that a daemon without `metrics.bind` goes without it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import trio

import gatewayd
from gatewayd.http import front
from gatewayd.http.dispatch import Receive, Scope, Send
from gatewayd.http.render import Answer
from gatewayd.http.server import Server
from gatewayd.logs import AccessLog
from gatewayd.store import Store
from gatewayd.webhooks.dispatcher import Dispatcher

if TYPE_CHECKING:
    from prometheus_client.core import Metric

PATH: Final = "/metrics"
NO_OPERATION: Final = "none"
"""The label of requests that found no operation, whatever they asked for."""
BOUNDS_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # Chosen
OUTCOMES: Final = ("succeeded", "retried", "exhausted", "interrupted", "failed_here")
"""The fields of the dispatcher's counts that say how an attempt ended."""
TOO_MANY_REQUESTS: Final = 429
_HEADERS: Final = (  # of the text format that every Prometheus reads
    (b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),
    (b"cache-control", b"no-store"),
)
_ALLOW: Final = (b"allow", b"GET, HEAD")
_LABELS: Final = [f"{bound:g}" for bound in BOUNDS_SECONDS] + ["+Inf"]


@dataclass(slots=True)
class Tally:
    """One operation's requests: by status, by duration (a bucket per bound and one beyond), and seconds in all."""

    statuses: dict[int, int]
    buckets: list[int]
    seconds: float


class RequestTallies:
    """What the API answered since the start. Belongs to the event loop's thread."""

    def __init__(self) -> None:
        self._by_operation: dict[str, Tally] = {}

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count one answer. `operation`: an id of the catalogue or `none`, never what a client sent."""
        tally = self._by_operation.get(operation)
        if tally is None:
            tally = self._by_operation[operation] = Tally({}, [0] * len(_LABELS), 0.0)
        tally.statuses[status] = tally.statuses.get(status, 0) + 1
        tally.buckets[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        tally.seconds += seconds

    def copied(self) -> dict[str, Tally]:
        """The tallies by operation, as they are now."""
        return {
            operation: replace(tally, statuses=dict(tally.statuses), buckets=list(tally.buckets))
            for operation, tally in self._by_operation.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Whose numbers are told. `server` is the API's door; `is_ready` says what `/readyz` says."""

    requests: RequestTallies
    server: Server
    store: Store
    dispatcher: Dispatcher
    access_log: AccessLog
    is_ready: Callable[[], bool]


class Reading(NamedTuple):
    """One number without labels, and where it is read."""

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    read: Callable[[Watched], float]


READINGS: Final = (
    Reading("ready", "gauge", "1 while the daemon is ready, as /readyz says.", lambda of: of.is_ready()),
    Reading("connections_open", "gauge", "Connections to the API open now.", lambda of: of.server.open_connections),
    Reading("connections_accepted", "counter", "Connections accepted.", lambda of: of.server.counters.connections),
    Reading(
        "connections_failed",
        "counter",
        "Connections that ended by a fault of the daemon's own; the log has each.",
        lambda of: of.server.counters.connection_errors,
    ),
    Reading(
        "connections_handshake_failed",
        "counter",
        "Connections that ended before their TLS handshake did.",
        lambda of: of.server.counters.failed_handshakes,
    ),
    Reading(
        "accept_shortages",
        "counter",
        "Times that a connection had to wait for file descriptors or memory.",
        lambda of: of.server.counters.accept_shortages,
    ),
    Reading(
        "requests_refused",
        "counter",
        "Requests refused before they reached an operation: malformed, too large or too slow.",
        lambda of: of.server.counters.refused,
    ),
    Reading(
        "requests_failed",
        "counter",
        "Requests that broke off by a fault of the daemon's own; the log has each.",
        lambda of: of.server.counters.app_errors,
    ),
    Reading("store_commits", "counter", "Transactions committed.", lambda of: of.store.commits),
    Reading(
        "store_long_reads",
        "counter",
        "Reads that ran on a thread because they are long, or turned out to be.",
        lambda of: of.store.long_reads,
    ),
    Reading("store_writable", "gauge", "1 while the store takes writes.", lambda of: of.store.writable),
    Reading(
        "webhook_attempts_in_flight",
        "gauge",
        "Webhook attempts under way.",
        lambda of: of.dispatcher.in_flight,
    ),
    Reading(
        "webhook_store_failures",
        "counter",
        "Times that the dispatcher could not use the store.",
        lambda of: of.dispatcher.counts.store_failures,
    ),
    Reading("webhook_dispatcher_running", "gauge", "1 while webhooks are delivered.", lambda of: of.dispatcher.running),
    Reading(
        "access_log_lines_dropped",
        "counter",
        "Requests whose log line was lost, because standard error was full or closed.",
        lambda of: of.access_log.dropped,
    ),
)


class Snapshot(NamedTuple):
    """The numbers of one moment. `values` are those of `READINGS`, in their order."""

    tallies: Mapping[str, Tally]
    values: Sequence[float]
    attempts: Mapping[str, int]


def snapshot(of: Watched) -> Snapshot:
    """Copy the numbers. On the event loop's thread."""
    values = [float(reading.read(of)) for reading in READINGS]
    return Snapshot(of.requests.copied(), values, {name: getattr(of.dispatcher.counts, name) for name in OUTCOMES})


class _Collector:
    """The numbers of a snapshot as the library's metric families."""

    def __init__(self, taken: Snapshot) -> None:
        self._taken = taken

    def collect(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        build = GaugeMetricFamily("gatewayd_build_info", "1, with the version that runs.", labels=["version"])
        build.add_metric([gatewayd.__version__], 1)
        yield build
        yield from self._requests()
        for reading, value in zip(READINGS, self._taken.values, strict=True):
            family = CounterMetricFamily if reading.kind == "counter" else GaugeMetricFamily
            yield family(f"gatewayd_{reading.name}", reading.help, value=value)
        attempts = CounterMetricFamily(
            "gatewayd_webhook_attempts", "Webhook attempts that have ended, by how.", labels=["outcome"]
        )
        for outcome, count in self._taken.attempts.items():
            attempts.add_metric([outcome], count)
        yield attempts

    def _requests(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        answered = CounterMetricFamily(
            "gatewayd_requests", "Requests to the API that were answered.", labels=["operation", "status"]
        )
        durations = HistogramMetricFamily(
            "gatewayd_request_duration_seconds", "Time from a request's headers to its answer.", labels=["operation"]
        )
        limited = 0
        for operation, tally in sorted(self._taken.tallies.items()):
            for status, count in sorted(tally.statuses.items()):
                answered.add_metric([operation, str(status)], count)
            counts = accumulate(tally.buckets)
            durations.add_metric([operation], list(zip(_LABELS, counts, strict=True)), tally.seconds)
            limited += tally.statuses.get(TOO_MANY_REQUESTS, 0)
        yield answered
        yield durations
        yield CounterMetricFamily(
            "gatewayd_requests_rate_limited", "Requests refused because their credential asks too much.", value=limited
        )


def text(taken: Snapshot) -> bytes:
    """The page, in the text format 0.0.4, with what the kernel knows of the process."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(taken))
    ProcessCollector(namespace="gatewayd", registry=registry)
    return generate_latest(registry)


def page(of: Watched) -> front.Front:
    """The application of the metrics' own door: the page, and 404 for any other path."""
    import prometheus_client  # noqa: F401 - now, and not when the first scrape waits for it

    one_at_a_time = trio.CapacityLimiter(1)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await front.respond(scope, send, front.not_allowed(_ALLOW))
            return
        async with one_at_a_time:
            body = await trio.to_thread.run_sync(text, snapshot(of))
        await front.respond(scope, send, Answer(200, body, _HEADERS))

    return front.Front({PATH: app}, front.nothing())
