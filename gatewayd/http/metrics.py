"""The daemon's numbers for Prometheus: counted plainly where requests pass, put into words when somebody asks.

A request costs two look-ups and three additions. A scrape copies the numbers on the event loop and writes the text on a
thread. What waits in the queues is read from the store on a thread too, at most every few seconds, and counted up to a
bound. The library is loaded when the page is made, so that a daemon without `metrics.bind` goes without it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, get_args

import trio

import gatewayd
from gatewayd.clock import SECOND
from gatewayd.http.documents import ALLOW_READING, READING, not_allowed, nothing, responding
from gatewayd.http.router import Router
from gatewayd.http1.header_fields import Headers
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.http1.server import Server
from gatewayd.logs import AccessLog
from gatewayd.store import ReadTx, Store, StoreFailure
from gatewayd.webhooks.delivery_report import Counts
from gatewayd.webhooks.subscription_shapes import DisabledReason

if TYPE_CHECKING:
    from prometheus_client.core import Metric

PATH: Final = "/metrics"
NO_OPERATION: Final = "none"
"""The label of requests that found no operation, whatever they asked for."""
BOUNDS_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # Chosen
OUTCOMES: Final = ("succeeded", "retried", "exhausted", "interrupted", "failed_here")
"""The fields of the dispatcher's counts that say how an attempt ended."""
SUBSCRIPTIONS_TOLD: Final = 1_000  # Chosen: time series that one page may add
COUNTED_PER_QUEUE: Final = 100_000  # Chosen: deliveries
COUNTED_IN_ALL: Final = 1_000_000  # Chosen: deliveries; a tenth of a second's work
BACKLOG_SECONDS: Final = 5.0  # Chosen: how old the numbers of the queues may be
BACKLOG_READ_SECONDS: Final = 2.0  # Chosen: then the page goes without them
TOO_MANY_REQUESTS: Final = 429
_HEADERS: Final[Headers] = (  # of the text format that every Prometheus reads
    (b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),
    (b"cache-control", b"no-store"),
)
_LABELS: Final = [f"{bound:g}" for bound in BOUNDS_SECONDS] + ["+Inf"]


@dataclass(slots=True)
class Tally:
    """One operation's requests: by status, by duration (a bucket per bound and one beyond), and seconds in all."""

    statuses: dict[int, int]
    buckets: list[int]
    seconds: float


class RequestTallies:
    """What the daemon answered since the start. Belongs to the event loop's thread."""

    def __init__(self) -> None:
        self._by_operation: dict[str, Tally] = {}

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count one answer. `operation`: an id of the catalogue or another fixed label, never what a client sent."""
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


class SubscriptionTally(Protocol):
    """The attempts of one subscription since the start. `failed`: another one follows; `exhausted`: none does."""

    @property
    def succeeded(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def exhausted(self) -> int: ...
    @property
    def seconds_sum(self) -> float: ...


class Delivering(Protocol):
    """What is told of the dispatcher. `subscription_counts` by id, the one that was sent to last at the end."""

    @property
    def running(self) -> bool: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def subscription_counts(self) -> Mapping[str, SubscriptionTally]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Whose numbers are told.

    `server` is the API's door; `is_ready` says what `/readyz` says. `attempts_limit`: webhook attempts at a time;
    `idle_connections`: to receivers, kept for the next attempt.
    """

    requests: RequestTallies
    server: Server
    store: Store
    dispatcher: Delivering
    attempts_limit: int
    idle_connections: Callable[[], int]
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
    Reading("webhook_attempts_limit", "gauge", "Webhook attempts allowed at a time.", lambda of: of.attempts_limit),
    Reading(
        "webhook_connections_idle",
        "gauge",
        "Connections to webhook receivers kept for the next attempt.",
        lambda of: of.idle_connections(),
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


class Queue(NamedTuple):
    """What waits for one subscription. `overdue` in seconds; None: it is disabled or deleted, so nothing is due."""

    pending: int
    overdue: float | None


class Backlog(NamedTuple):
    """What waits in all. `complete` is False where a bound was met: then it is the least that waits."""

    queues: Mapping[str, Queue]
    disabled: Mapping[str, int]
    complete: bool


class Bounds(NamedTuple):
    """How far the counting goes: subscriptions, deliveries of each, deliveries in all."""

    subscriptions: int = SUBSCRIPTIONS_TOLD
    per_queue: int = COUNTED_PER_QUEUE
    in_all: int = COUNTED_IN_ALL


DEFAULT_BOUNDS: Final = Bounds()
UNKNOWN: Final = Backlog({}, {}, complete=False)

_NEXT_QUEUE_ANY_ORG = """
SELECT subscription_id, due_at FROM deliveries
WHERE due_at IS NOT NULL AND subscription_id > :after ORDER BY subscription_id, due_at, id LIMIT 1
"""
_COUNT_QUEUE_ANY_ORG = """
SELECT COUNT(*) FROM (
    SELECT id FROM deliveries WHERE subscription_id = :subscription_id AND due_at IS NOT NULL LIMIT :count
) AS waiting
"""
_SELECT_ENABLED_ANY_ORG = "SELECT enabled FROM webhook_subscriptions WHERE id = :subscription_id"
_COUNT_DISABLED_ANY_ORG = """
SELECT disabled_reason, COUNT(*) FROM (
    SELECT disabled_reason FROM webhook_subscriptions ORDER BY id LIMIT :count
) AS looked_at GROUP BY disabled_reason
"""


def read_backlog(tx: ReadTx, bounds: Bounds = DEFAULT_BOUNDS) -> Backlog:
    """Count what waits, within the bounds: a step for each subscription with a queue and for each delivery counted."""
    queues: dict[str, Queue] = {}
    left, after, complete = bounds.in_all, "", True
    while (head := tx.row(_NEXT_QUEUE_ANY_ORG, after=after)) is not None:
        if len(queues) == bounds.subscriptions or left <= 0:
            complete = False
            break
        after, due_at = head
        bound = min(bounds.per_queue, left)
        pending = tx.value(_COUNT_QUEUE_ANY_ORG, subscription_id=after, count=bound + 1)
        complete = complete and pending <= bound
        left -= pending
        enabled = tx.value(_SELECT_ENABLED_ANY_ORG, subscription_id=after)
        queues[after] = Queue(min(pending, bound), max(0.0, (tx.now - due_at) / SECOND) if enabled else None)
    by_reason: dict[str | None, int] = dict(tx.rows(_COUNT_DISABLED_ANY_ORG, count=bounds.in_all))
    complete = complete and sum(by_reason.values()) < bounds.in_all
    return Backlog(queues, {reason: by_reason.get(reason, 0) for reason in get_args(DisabledReason)}, complete)


class BacklogReader:
    """Reads the backlog when the last one is too old. Belongs to the event loop's thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._latest = UNKNOWN
        self._fresh_until = 0.0

    async def latest(self) -> Backlog:
        """The backlog of `BACKLOG_SECONDS` ago at most; `UNKNOWN` when the store does not tell it in time."""
        if trio.current_time() < self._fresh_until:
            return self._latest
        with trio.move_on_after(BACKLOG_READ_SECONDS), suppress(StoreFailure):  # the page says that it is not known
            self._latest = await self._store.read_later(read_backlog, None)
            self._fresh_until = trio.current_time() + BACKLOG_SECONDS
            return self._latest
        return UNKNOWN


class Attempts(NamedTuple):
    """The attempts of one subscription, as they were at one moment."""

    succeeded: int
    failed: int
    exhausted: int
    seconds: float


class Snapshot(NamedTuple):
    """The numbers of one moment. `values` are those of `READINGS`, in their order.

    `subscriptions` are those that were sent to last; `complete` is False where there are more, or the backlog is not.
    """

    tallies: Mapping[str, Tally]
    values: Sequence[float]
    attempts: Mapping[str, int]
    subscriptions: Mapping[str, Attempts]
    backlog: Backlog
    complete: bool


def snapshot(of: Watched, backlog: Backlog = UNKNOWN) -> Snapshot:
    """Copy the numbers. On the event loop's thread."""
    tallies = of.dispatcher.subscription_counts
    told = islice(reversed(list(tallies.items())), SUBSCRIPTIONS_TOLD)
    return Snapshot(
        tallies=of.requests.copied(),
        values=[float(reading.read(of)) for reading in READINGS],
        attempts={name: getattr(of.dispatcher.counts, name) for name in OUTCOMES},
        subscriptions={name: Attempts(t.succeeded, t.failed, t.exhausted, t.seconds_sum) for name, t in told},
        backlog=backlog,
        complete=backlog.complete and len(tallies) <= SUBSCRIPTIONS_TOLD,
    )


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
        yield from self._subscriptions()
        yield from self._backlog()

    def _requests(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        answered = CounterMetricFamily(
            "gatewayd_requests",
            "Requests that were answered, pages and sign-in included.",
            labels=["operation", "status"],
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
            "gatewayd_requests_rate_limited", "Requests refused because somebody asks too much.", value=limited
        )

    def _subscriptions(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily

        ended = CounterMetricFamily(
            "gatewayd_webhook_subscription_attempts",
            "Webhook attempts that have ended, by subscription and how.",
            labels=["subscription", "outcome"],
        )
        seconds = CounterMetricFamily(
            "gatewayd_webhook_subscription_attempt_seconds",
            "Time that webhook attempts took, by subscription.",
            labels=["subscription"],
        )
        for subscription, attempts in self._taken.subscriptions.items():
            for outcome in ("succeeded", "failed", "exhausted"):
                ended.add_metric([subscription, outcome], getattr(attempts, outcome))
            seconds.add_metric([subscription], attempts.seconds)
        yield ended
        yield seconds

    def _backlog(self) -> "Iterator[Metric]":
        from prometheus_client.core import GaugeMetricFamily

        queues, disabled, _ = self._taken.backlog
        pending = {name: queue.pending for name, queue in queues.items()}
        overdue = {name: queue.overdue for name, queue in queues.items() if queue.overdue is not None}
        for name, meaning, label, values in (
            ("subscription_pending", "Deliveries that have not ended, also of the disabled.", "subscription", pending),
            ("subscription_oldest_due_seconds", "How long the first one has been due.", "subscription", overdue),
            ("subscriptions_disabled", "Subscriptions that are disabled, by reason.", "reason", disabled),
        ):
            family = GaugeMetricFamily(f"gatewayd_webhook_{name}", meaning, labels=[label])
            for labelled, value in values.items():
                family.add_metric([labelled], value)
            yield family
        yield GaugeMetricFamily(
            "gatewayd_webhook_subscriptions_complete",
            "1 while all subscriptions are told and counted; 0: there are too many, or the store does not answer.",
            value=self._taken.complete,
        )


def text(taken: Snapshot) -> bytes:
    """The page, in the text format 0.0.4, with what the kernel knows of the process."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(taken))
    ProcessCollector(namespace="gatewayd", registry=registry)
    return generate_latest(registry)


def page(of: Watched) -> Router:
    """The application of the metrics' own server: the page, and 404 for any other path."""
    import prometheus_client  # noqa: F401 - now, and not when the first scrape waits for it

    one_at_a_time = trio.CapacityLimiter(1)
    backlog = BacklogReader(of.store)

    async def respond(request: Request) -> Response:
        if request.method not in READING:
            return not_allowed(request, ALLOW_READING)
        async with one_at_a_time:
            taken = snapshot(of, await backlog.latest())
            return Response(200, _HEADERS, await trio.to_thread.run_sync(text, taken))

    return Router({PATH: responding(respond)}, nothing())
