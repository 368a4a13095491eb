"""The page of numbers, at an address of its own.

A scrape copies the numbers on the event loop and writes the text on a thread. The library is loaded when the page is
made, so that a daemon without `metrics.bind` goes without it.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import trio

import gatewayd
from gatewayd.http.documents import ALLOW_READING, READING, app_of, not_allowed, not_found
from gatewayd.http.request_counters import BOUNDS_SECONDS
from gatewayd.http.router import Router
from gatewayd.http1.header_fields import Headers
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.mail import outbox
from gatewayd.mail.outbox import Waiting
from gatewayd.metrics.snapshot import READINGS, Snapshot, Watched, snapshot
from gatewayd.store import StoreFailure
from gatewayd.webhooks.dispatch.backlog import BacklogReader

if TYPE_CHECKING:
    from prometheus_client.core import Metric

TOO_MANY_REQUESTS: Final = 429
MAIL_READ_SECONDS: Final = 2.0  # Chosen: then the page goes without what waits
_LABELS: Final = [f"{bound:g}" for bound in BOUNDS_SECONDS] + ["+Inf"]
PATH: Final = "/metrics"
_HEADERS: Final[Headers] = (
    (b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),
    (b"cache-control", b"no-store"),
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
        yield self._parse_attempts()
        yield from self._shared()
        yield from self._subscriptions()
        yield from self._backlog()
        yield from self._mail()

    def _parse_attempts(self) -> "Metric":
        from prometheus_client.core import CounterMetricFamily

        ended = CounterMetricFamily(
            "gatewayd_parse_attempts", "Attempts at reading documents that have ended, by how.", labels=["outcome"]
        )
        for outcome, count in self._taken.parse_attempts.items():
            ended.add_metric([outcome], count)
        return ended

    def _shared(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        limit = GaugeMetricFamily("gatewayd_places_limit", "Places of what organizations share.", labels=["thing"])
        waiting = GaugeMetricFamily("gatewayd_places_waiting", "Calls that wait for a place.", labels=["thing"])
        refused = CounterMetricFamily(
            "gatewayd_places_refused", "Calls refused because no place came free for them in time.", labels=["thing"]
        )
        held = GaugeMetricFamily(
            "gatewayd_places_held",
            "Places held, by the organizations that hold most of them; none: by the instance itself.",
            labels=["thing", "organization"],
        )
        for place in self._taken.shared:
            for family, value in ((limit, place.limit), (waiting, place.waiting), (refused, place.refused)):
                family.add_metric([place.thing], value)
            for holder in place.holders:
                held.add_metric([place.thing, holder.org_id or "none"], holder.held)
        yield from (limit, waiting, refused, held)

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
        for operation, counts in sorted(self._taken.operations.items()):
            for status, count in sorted(counts.statuses.items()):
                answered.add_metric([operation, str(status)], count)
            reached = accumulate(counts.buckets)
            durations.add_metric([operation], list(zip(_LABELS, reached, strict=True)), counts.seconds)
            limited += counts.statuses.get(TOO_MANY_REQUESTS, 0)
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

    def _mail(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        mail = self._taken.mail
        if mail is None:
            return
        for name, meaning, number in (
            ("queued", "Mails that wait to be sent, or are being sent; counted up to 100,000.", mail.queued),
            ("oldest_due_seconds", "How long the first of them has been due.", mail.oldest_due_seconds),
            ("attempts_in_flight", "Mails that are being sent.", mail.in_flight),
        ):
            yield GaugeMetricFamily(f"gatewayd_mail_{name}", meaning, value=number)
        ended = CounterMetricFamily(
            "gatewayd_mail_attempts", "Attempts at mails that have ended, by how.", labels=["outcome"]
        )
        for outcome, count in mail.attempts.items():
            ended.add_metric([outcome], count)
        yield ended

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
            for key, value in values.items():
                family.add_metric([key], value)
            yield family
        yield GaugeMetricFamily(
            "gatewayd_webhook_subscriptions_complete",
            "1 while all subscriptions are told and counted; 0: there are too many, or the store does not answer.",
            value=self._taken.complete,
        )


async def _mails_waiting(of: Watched) -> Waiting | None:
    """None where no mail is sent, or the store does not tell in time."""
    with trio.move_on_after(MAIL_READ_SECONDS), suppress(StoreFailure):
        return None if of.mail is None else await of.store.read(outbox.waiting)
    return None


def exposition_of(taken: Snapshot) -> bytes:
    """The page, in the text format 0.0.4, with what the kernel knows of the process."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(taken))
    ProcessCollector(namespace="gatewayd", registry=registry)
    return generate_latest(registry)


def page(of: Watched) -> Router:
    """The application of the metrics' own server: the page, and 404 for any other path."""
    import prometheus_client  # noqa: F401 - now, and not when the first scrape waits for it

    one_at_a_time, thread = trio.CapacityLimiter(1), trio.CapacityLimiter(1)
    backlog = BacklogReader(of.store)

    async def respond(request: Request) -> Response:
        if request.method not in READING:
            return not_allowed(request, ALLOW_READING)
        async with one_at_a_time:
            await of.parsing.count_waiting()
            taken = snapshot(of, await backlog.latest(), await _mails_waiting(of))
            return Response(200, _HEADERS, await trio.to_thread.run_sync(exposition_of, taken, limiter=thread))

    return Router({PATH: app_of(respond)}, not_found())
