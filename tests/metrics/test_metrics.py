"""The numbers for Prometheus: counted, copied and written, and read back by the library's own parser."""

import io
import math
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import prometheus_client
import pytest
import trio
import trio.testing
from prometheus_client.parser import text_string_to_metric_families

from gatewayd.clock import SystemClock
from gatewayd.http.request_counters import BOUNDS_SECONDS, RequestCounters
from gatewayd.http1.server import Server
from gatewayd.http1.settings import ServerSettings
from gatewayd.logs import make_logger, make_writer
from gatewayd.mail import outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.outbox import NewMail
from gatewayd.metrics.page import exposition_of
from gatewayd.metrics.page import page as page_of
from gatewayd.metrics.snapshot import HOLDERS_TOLD, READINGS, Snapshot, Watched, snapshot
from gatewayd.oauth.storage_budget import StorageBudget
from gatewayd.parsing.engine import ParseCounts
from gatewayd.shares import Shares
from gatewayd.webhooks.dispatch.backlog import (
    BACKLOG_READ_SECONDS,
    SUBSCRIPTIONS_TOLD,
    UNKNOWN,
    Backlog,
    Queue,
    read_backlog,
)
from gatewayd.webhooks.dispatch.delivery_report import Counts
from gatewayd.webhooks.dispatch.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.sender import AttemptResult, Headers
from gatewayd.webhooks.settings import WebhookSettings
from tests.http.conftest import OpenProbes
from tests.http.test_health import ask
from tests.http1.peers import FixedClock, RecordingLog, refuse
from tests.support.store import MemoryStore
from tests.support.subscribing import add_queues

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


class NoPoster:
    """A sender that nothing is given to."""

    async def post(self, url: str, headers: Headers, body: bytes, *, pool_key: str) -> AttemptResult:
        raise AssertionError(url)

    def sweep(self) -> None:
        return

    def close_idle(self, pool_key: str) -> None:
        raise AssertionError(pool_key)


@dataclass(frozen=True)
class FakeTally:
    """What the dispatcher knows of one subscription."""

    succeeded: int = 0
    failed: int = 0
    exhausted: int = 0
    seconds_sum: float = 0.0


@dataclass
class FakeDispatcher:
    """One that has made these attempts."""

    subscription_counts: Mapping[str, FakeTally]
    running: bool = True
    in_flight: int = 3
    counts: Counts = field(default_factory=Counts)


@dataclass
class FakeParsing:
    """An engine that has read documents."""

    under_way: int = 1
    waiting: float = math.nan
    counts: ParseCounts = field(default_factory=lambda: ParseCounts(succeeded=5, failed=2, skipped=1, seconds=2.5))

    async def count_waiting(self) -> None:
        self.waiting = 7


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


def written(tallies: RequestCounters) -> bytes:
    """The page of these requests and no other numbers."""
    return exposition_of(Snapshot(tallies.copy(), [0.0] * len(READINGS), {}, {}, {}, UNKNOWN, complete=False))


@asynccontextmanager
async def watching(open_probes: OpenProbes) -> AsyncIterator[Watched]:
    """The parts of a daemon that nobody uses."""
    stream = io.StringIO()
    async with open_probes() as api:
        log = make_logger("json", "info", stream)
        parts = DispatcherParts(
            store=api.store, sender=NoPoster(), clock=SystemClock(), settings=WebhookSettings(), log=log
        )
        settings = ServerSettings(bind=("127.0.0.1:0",))
        yield Watched(
            requests=RequestCounters(),
            server=Server(api.api, settings, refuse=refuse, log=RecordingLog(), clock=FixedClock()),
            storage=StorageBudget(),
            store=api.store,
            dispatcher=Dispatcher(parts),
            parsing=FakeParsing(),
            attempts_limit=64,
            idle_connections=lambda: 5,
            log_writer=make_writer("json", stream),
            reload_failed=lambda: False,
            is_ready=lambda: True,
        )


# -- requests


def test_requests_are_counted_by_operation_and_status() -> None:
    tallies = RequestCounters()
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
    tallies = RequestCounters()
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
    tallies = RequestCounters()
    for operation in ("a.read", "b.write", "b.write"):
        tallies.note(operation, 429, 0.0)
    assert value(written(tallies), "gatewayd_requests_rate_limited_total") == 3


def test_a_copy_stands_still() -> None:
    tallies = RequestCounters()
    tallies.note("a.read", 200, 1.0)
    taken = tallies.copy()
    tallies.note("a.read", 500, 1.0)
    assert (taken["a.read"].statuses, sum(taken["a.read"].buckets), taken["a.read"].seconds) == ({200: 1}, 1, 1.0)


# -- the rest of the daemon


def given(of: Watched) -> Iterator[tuple[str, float]]:
    """Give each source a number of its own; answers the samples that must tell it."""
    counters = of.server.counters
    for number, (name, owner, attribute) in enumerate(
        [
            ("connections_accepted_total", counters, "connections"),
            ("connections_failed_total", counters, "connection_errors"),
            ("connections_limit", of.server.places, "limit"),
            ("connections_ended_for_others_total", of.server.places, "ended"),
            ("connections_turned_away_total", of.server.places, "turned_away"),
            ("connections_handshake_failed_total", counters, "failed_handshakes"),
            ("accept_shortages_total", counters, "accept_shortages"),
            ("requests_refused_total", counters, "refused"),
            ("requests_failed_total", counters, "app_errors"),
            ("oauth_stored_bytes_total", of.storage, "stored"),
            ("oauth_storage_refused_total", of.storage, "refused"),
            ("store_long_reads_total", of.store, "long_reads"),
            ("webhook_store_failures_total", of.dispatcher.counts, "store_failures"),
        ],
        start=101,
    ):
        setattr(cast(Any, owner), attribute, number)
        yield f"gatewayd_{name}", float(number)


PARSED = {"succeeded": 5.0, "failed": 2.0, "skipped": 1.0, "interrupted": 0.0}
PLACES_HELD = "gatewayd_places_held"
FREE_BYTES = 12_000_000_000.0


async def test_each_number_is_told_under_its_name(open_probes: OpenProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with watching(open_probes) as of:
        of.log_writer.close(0)
        of.log_writer.write("lost")
        monkeypatch.setattr(type(of.store), "free_bytes", FREE_BYTES)  # else it changes while the test runs
        expected = {
            **dict(given(of)),
            "gatewayd_log_lines_dropped_total": 1.0,
            "gatewayd_ready": 1.0,
            "gatewayd_last_reload_succeeded": 1.0,
            "gatewayd_store_writable": 1.0,
            "gatewayd_store_commits_total": float(of.store.commits),
            "gatewayd_store_log_bytes": float(of.store.log_bytes),
            "gatewayd_store_free_bytes": FREE_BYTES,
            "gatewayd_connections_open": 0.0,
            "gatewayd_webhook_attempts_in_flight": 0.0,
            "gatewayd_webhook_attempts_limit": 64.0,
            "gatewayd_webhook_connections_idle": 5.0,
            "gatewayd_webhook_subscriptions_complete": 0.0,
            "gatewayd_webhook_dispatcher_running": 0.0,
            "gatewayd_parse_queue_documents": 7.0,
            "gatewayd_parse_attempts_under_way": 1.0,
            "gatewayd_parse_attempt_seconds_total": 2.5,
            "gatewayd_requests_rate_limited_total": 0.0,
        }
        await of.parsing.count_waiting()
        of.dispatcher.counts.exhausted = 7
        of.dispatcher.counts.failed_here = 8
        page = exposition_of(snapshot(of))
    told = {
        name: number
        for (name, labels), number in parsed(page).items()
        if not labels and not name.startswith("gatewayd_process_")
    }
    assert math.isnan(told.pop("gatewayd_certificate_expiry_timestamp_seconds"))  # no TLS
    assert told == expected
    assert value(page, "gatewayd_webhook_attempts_total", outcome="exhausted") == 7
    assert value(page, "gatewayd_webhook_attempts_total", outcome="failed_here") == 8
    assert value(page, "gatewayd_webhook_attempts_total", outcome="succeeded") == 0
    told_of_parsing = {outcome: value(page, "gatewayd_parse_attempts_total", outcome=outcome) for outcome in PARSED}
    assert told_of_parsing == PARSED


async def test_who_holds_places_is_told_of_those_who_hold_most(open_probes: OpenProbes) -> None:
    shares = Shares("imports", 20, share=9)
    for number in range(HOLDERS_TOLD):
        shares.count.held[f"org_{number}"] = number + 2
    shares.count.held |= {"": 9, "org_last": 1}
    shares.refused = 4
    async with watching(open_probes) as of:
        page = exposition_of(snapshot(replace(of, shares=[shares])))
    held = {dict(labels)["organization"]: n for (name, labels), n in parsed(page).items() if name == PLACES_HELD}
    assert held == {"none": 9, "org_4": 6, "org_3": 5, "org_2": 4, "org_1": 3}
    assert value(page, "gatewayd_places_limit", thing="imports") == 20
    assert value(page, "gatewayd_places_waiting", thing="imports") == 0
    assert value(page, "gatewayd_places_refused_total", thing="imports") == 4


async def test_what_is_not_well_is_told(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        delivering = FakeDispatcher({})
        page = exposition_of(snapshot(replace(of, dispatcher=delivering, is_ready=lambda: False)))
    assert value(page, "gatewayd_ready") == 0
    assert value(page, "gatewayd_webhook_dispatcher_running") == 1
    closed = exposition_of(snapshot(of))
    assert (value(closed, "gatewayd_ready"), value(closed, "gatewayd_store_writable")) == (1, 0)


async def test_every_name_is_ours_and_has_one_type(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        page = exposition_of(snapshot(of)).decode()
    types = [line.split()[2] for line in page.splitlines() if line.startswith("# TYPE")]
    assert len(types) == len(set(types)) > 20
    assert {name.partition("_")[0] for name in types} == {"gatewayd"}
    assert "gatewayd_process_resident_memory_bytes" in types


async def test_the_page_is_the_only_path(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        of.requests.note("a.read", 200, 0.001)
        app = cast(Any, page_of(of))
        with trio.fail_after(120):
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
    one, two = RequestCounters(), RequestCounters()
    one.note("a.read", 200, 0.001)
    assert b'operation="a.read"' in written(one)
    assert b'operation="a.read"' not in written(two)
    assert b"gatewayd_" not in prometheus_client.generate_latest()


# -- webhooks by subscription


def told(tallies: Mapping[str, FakeTally], backlog: Backlog, of: Watched) -> bytes:
    return exposition_of(snapshot(replace(of, dispatcher=FakeDispatcher(tallies)), backlog))


def by_label(page: bytes, name: str, label: str = "subscription") -> dict[str, float]:
    return {dict(labels)[label]: number for (found, labels), number in parsed(page).items() if found == name}


async def test_attempts_are_told_by_subscription_and_outcome(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        page = told({"wsub_a": FakeTally(5, 2, 1, 2.5), "wsub_b": FakeTally(failed=4, seconds_sum=40.0)}, UNKNOWN, of)
    name = "gatewayd_webhook_subscription_attempts_total"
    assert {labels: number for (found, labels), number in parsed(page).items() if found == name} == {
        (("outcome", outcome), ("subscription", subscription)): number
        for subscription, outcome, number in [
            ("wsub_a", "succeeded", 5),
            ("wsub_a", "failed", 2),
            ("wsub_a", "exhausted", 1),
            ("wsub_b", "succeeded", 0),
            ("wsub_b", "failed", 4),
            ("wsub_b", "exhausted", 0),
        ]
    }
    seconds = by_label(page, "gatewayd_webhook_subscription_attempt_seconds_total")
    assert seconds == {"wsub_a": 2.5, "wsub_b": 40.0}
    assert value(page, "gatewayd_webhook_attempts_in_flight") == 3


async def test_the_backlog_is_told_by_subscription(open_probes: OpenProbes) -> None:
    backlog = Backlog({"wsub_a": Queue(7, 12.5), "wsub_b": Queue(9, None)}, {"caller": 1, "failing": 0}, complete=True)
    async with watching(open_probes) as of:
        page = told({}, backlog, of)
    assert by_label(page, "gatewayd_webhook_subscription_pending") == {"wsub_a": 7, "wsub_b": 9}
    assert by_label(page, "gatewayd_webhook_subscription_oldest_due_seconds") == {"wsub_a": 12.5}
    assert by_label(page, "gatewayd_webhook_subscriptions_disabled", "reason") == {"caller": 1, "failing": 0}
    assert value(page, "gatewayd_webhook_subscriptions_complete") == 1


async def test_of_too_many_subscriptions_those_that_were_sent_to_last_are_told(open_probes: OpenProbes) -> None:
    tallies = {f"wsub_{number}": FakeTally(succeeded=number) for number in range(SUBSCRIPTIONS_TOLD + 3)}
    async with watching(open_probes) as of:
        page = told(tallies, Backlog({}, {}, complete=True), of)
    seconds = by_label(page, "gatewayd_webhook_subscription_attempt_seconds_total")
    assert seconds.keys() == tallies.keys() - {"wsub_0", "wsub_1", "wsub_2"}
    assert value(page, "gatewayd_webhook_subscriptions_complete") == 0


async def test_a_label_is_escaped(open_probes: OpenProbes) -> None:
    odd = 'a"b\\c\nd}e,f="g ü'
    async with watching(open_probes) as of:
        page = told({odd: FakeTally(seconds_sum=1.0)}, UNKNOWN, of)
    assert by_label(page, "gatewayd_webhook_subscription_attempt_seconds_total") == {odd: 1.0}


# -- the backlog, from the store


async def test_a_store_that_does_not_answer_in_time_costs_the_page_these_numbers_alone(
    open_probes: OpenProbes, mock_clock: trio.testing.MockClock
) -> None:
    async with watching(open_probes) as of, trio.open_nursery() as nursery:
        go_on = threading.Event()
        for _ in range(2):  # as many as there are threads
            nursery.start_soon(of.store.read_later, lambda tx: go_on.wait(30), None)
        await trio.testing.wait_all_tasks_blocked()
        page: list[bytes] = []

        async def scrape() -> None:
            page.append((await ask(cast(Any, page_of(of)), path="/metrics")).body)

        async with trio.open_nursery() as scraping:
            scraping.start_soon(scrape)
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(BACKLOG_READ_SECONDS)
        go_on.set()
    assert value(page[0], "gatewayd_webhook_subscriptions_complete") == 0
    assert value(page[0], "gatewayd_ready") == 1
    assert by_label(page[0], "gatewayd_webhook_subscriptions_disabled", "reason") == {}


async def test_a_store_that_fails_costs_the_page_these_numbers_alone(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        app = cast(Any, page_of(of))
        assert value((await ask(app, path="/metrics")).body, "gatewayd_webhook_subscriptions_complete") == 1
        pass_by = cast(Any, page_of(of))
    assert value((await ask(pass_by, path="/metrics")).body, "gatewayd_webhook_subscriptions_complete") == 0


async def test_neither_urls_nor_secrets_are_told(store: MemoryStore, open_probes: OpenProbes) -> None:
    (subscription,) = add_queues(store, 1)
    async with watching(open_probes) as of:
        page = told({subscription: FakeTally(succeeded=1)}, store.read(read_backlog), of).decode()
    assert subscription in page
    assert "secret-receiver" not in page
    assert "whsec" not in page
    assert "://" not in page


# -- mail


class FakeMail:
    """What sends mail, with what it counted."""

    in_flight = 2
    counts: ClassVar[Mapping[str, int]] = {"sent": 7, "bounced": 1}


async def test_mail_is_told_where_it_is_sent(open_probes: OpenProbes) -> None:
    letter = Letter(subject="x", paragraphs=("x",), reason="x")
    async with watching(open_probes) as of:
        assert b"gatewayd_mail" not in (await ask(cast(Any, page_of(of)), path="/metrics")).body
        of = replace(of, mail=FakeMail())
        for number in range(3):
            mail = NewMail("password_reset", None, f"{number}@example.com", letter)
            await of.store.write(lambda tx, mail=mail: outbox.queue(tx, mail))
        page = (await ask(cast(Any, page_of(of)), path="/metrics")).body
    assert value(page, "gatewayd_mail_queued") == 3
    assert value(page, "gatewayd_mail_attempts_in_flight") == 2
    assert value(page, "gatewayd_mail_oldest_due_seconds") >= 0
    assert by_label(page, "gatewayd_mail_attempts_total", "outcome") == {
        "sent": 7,
        "retried": 0,
        "failed": 0,
        "bounced": 1,
        "interrupted": 0,
    }
    assert b"@example.com" not in page


async def test_a_store_that_fails_costs_the_page_what_waits_of_mail_alone(open_probes: OpenProbes) -> None:
    async with watching(open_probes) as of:
        of = replace(of, mail=FakeMail())
    page = (await ask(cast(Any, page_of(of)), path="/metrics")).body
    assert math.isnan(value(page, "gatewayd_mail_queued"))
    assert by_label(page, "gatewayd_mail_attempts_total", "outcome")["sent"] == 7
