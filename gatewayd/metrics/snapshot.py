"""The numbers of one moment: what is read of each part of the daemon, and copied on the event loop."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, NamedTuple, Protocol, get_args

from gatewayd.clock import SECOND
from gatewayd.http.request_counters import OperationCounts, RequestCounters
from gatewayd.http1.certificates import Leaf
from gatewayd.http1.server import Server
from gatewayd.logs import LogWriter
from gatewayd.mail.outbox import Outcome, Waiting
from gatewayd.oauth.storage_budget import StorageBudget
from gatewayd.parsing.engine import ParseCounts
from gatewayd.shares import Holder, Shares
from gatewayd.store import Store
from gatewayd.webhooks.dispatch.backlog import SUBSCRIPTIONS_TOLD, UNKNOWN, Backlog
from gatewayd.webhooks.dispatch.delivery_report import Counts, SubscriptionCounts

OUTCOMES: Final = ("succeeded", "retried", "exhausted", "interrupted", "failed_here")
"""The fields of the dispatcher's counts that say how an attempt ended."""
HOLDERS_TOLD: Final = 5  # Chosen: organizations that are named for each thing, so that the page stays short
MAIL_OUTCOMES: Final = get_args(Outcome)
PARSE_OUTCOMES: Final = ("succeeded", "failed", "skipped", "interrupted")
"""The fields of the reading engine's counts that say how an attempt ended."""


class Delivering(Protocol):
    """What is told of the dispatcher. `subscription_counts` by id, the one that was sent to last at the end."""

    @property
    def running(self) -> bool: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def subscription_counts(self) -> Mapping[str, SubscriptionCounts]: ...


class SendingMail(Protocol):
    """What is told of what sends mail: its attempts that have ended since the start, by outcome."""

    @property
    def in_flight(self) -> int: ...
    @property
    def counts(self) -> Mapping[str, int]: ...


class ReadingDocuments(Protocol):
    """What is told of the engine that reads documents. `waiting` NaN: it is not known."""

    @property
    def under_way(self) -> int: ...
    @property
    def waiting(self) -> float: ...
    @property
    def counts(self) -> ParseCounts: ...
    async def count_waiting(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Whose numbers are told.

    `server` is the API's, `storage` the identity provider's; `is_ready` says what `/readyz` says. `attempts_limit`:
    webhook attempts at a time; `idle_connections`: to receivers, kept for the next attempt. `reload_failed` says
    whether the last reload was refused. `shares` are the limited things that organizations share. `mail` None: no mail
    is sent.
    """

    requests: RequestCounters
    server: Server
    storage: StorageBudget
    store: Store
    dispatcher: Delivering
    parsing: ReadingDocuments
    attempts_limit: int
    idle_connections: Callable[[], int]
    log_writer: LogWriter
    reload_failed: Callable[[], bool]
    is_ready: Callable[[], bool]
    shares: Sequence[Shares] = ()
    mail: SendingMail | None = None


class Reading(NamedTuple):
    """One number without labels, and where it is read."""

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    read: Callable[[Watched], float]


def _expiry(leaf: Leaf | None) -> float:
    return math.nan if leaf is None else leaf.ends_at / SECOND


READINGS: Final = (
    Reading("ready", "gauge", "1 while the daemon is ready, as /readyz says.", lambda of: of.is_ready()),
    Reading(
        "last_reload_succeeded",
        "gauge",
        "0 while the settings or the certificate's files are others than those in use, because they are no good.",
        lambda of: not of.reload_failed(),
    ),
    Reading(
        "certificate_expiry_timestamp_seconds",
        "gauge",
        "When the certificate that is served ends, in seconds since 1970; NaN without TLS.",
        lambda of: _expiry(of.server.leaf),
    ),
    Reading("connections_open", "gauge", "Connections to the API open now.", lambda of: of.server.open_connections),
    Reading("connections_accepted", "counter", "Connections accepted.", lambda of: of.server.counters.connections),
    Reading("connections_limit", "gauge", "Connections allowed at a time.", lambda of: of.server.places.limit),
    Reading(
        "connections_ended_for_others",
        "counter",
        "Connections ended to make room for a new one: of who held most, or had its share.",
        lambda of: of.server.places.ended,
    ),
    Reading(
        "connections_turned_away",
        "counter",
        "Connections closed unheard: their network had its share, and used all of it.",
        lambda of: of.server.places.turned_away,
    ),
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
    Reading(
        "oauth_stored_bytes",
        "counter",
        "Bytes stored for who shows no credential: clients that register, their documents, requests that wait.",
        lambda of: of.storage.stored,
    ),
    Reading(
        "oauth_storage_refused",
        "counter",
        "Times that such bytes were refused, because the day's were used up.",
        lambda of: of.storage.refused,
    ),
    Reading("store_commits", "counter", "Transactions committed.", lambda of: of.store.commits),
    Reading(
        "store_long_reads",
        "counter",
        "Reads that ran on a thread because they are long, or turned out to be.",
        lambda of: of.store.long_reads,
    ),
    Reading("store_writable", "gauge", "1 while the store takes writes.", lambda of: of.store.writable),
    Reading("store_log_bytes", "gauge", "Length of the database's write-ahead log.", lambda of: of.store.log_bytes),
    Reading("store_free_bytes", "gauge", "Bytes free for the data directory.", lambda of: of.store.free_bytes),
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
    Reading(
        "parse_queue_documents",
        "gauge",
        "Documents that wait to be read, those that are tried again later among them; counted up to 100,000.",
        lambda of: of.parsing.waiting,
    ),
    Reading("parse_attempts_under_way", "gauge", "Documents that are being read.", lambda of: of.parsing.under_way),
    Reading(
        "parse_attempt_seconds",
        "counter",
        "Time that attempts at reading documents took.",
        lambda of: of.parsing.counts.seconds,
    ),
    Reading("webhook_dispatcher_running", "gauge", "1 while webhooks are delivered.", lambda of: of.dispatcher.running),
    Reading(
        "log_lines_dropped",
        "counter",
        "Lines of the log that were lost, because standard error was full, closed, or not read.",
        lambda of: of.log_writer.dropped,
    ),
)


class Attempts(NamedTuple):
    """The attempts of one subscription, as they were at one moment."""

    succeeded: int
    failed: int
    exhausted: int
    seconds: float


class SharedThing(NamedTuple):
    """A limited thing at one moment, with the organizations that hold most of its places."""

    thing: str
    limit: int
    waiting: int
    refused: int
    holders: Sequence[Holder]


class MailNumbers(NamedTuple):
    """Of mail. `queued` and `oldest_due_seconds` NaN: the store did not tell. `attempts` that ended, by outcome."""

    queued: float
    oldest_due_seconds: float
    in_flight: int
    attempts: Mapping[str, int]


class Snapshot(NamedTuple):
    """The numbers of one moment. `values` are those of `READINGS`, in their order.

    `subscriptions` are those that were sent to last; `complete` is False where there are more, or the backlog is not.
    """

    operations: Mapping[str, OperationCounts]
    values: Sequence[float]
    attempts: Mapping[str, int]
    parse_attempts: Mapping[str, int]
    subscriptions: Mapping[str, Attempts]
    backlog: Backlog
    complete: bool
    shared: Sequence[SharedThing] = ()
    mail: MailNumbers | None = None


def snapshot(of: Watched, backlog: Backlog = UNKNOWN, waiting: Waiting | None = None) -> Snapshot:
    """Copy the numbers. On the event loop's thread."""
    counts = of.dispatcher.subscription_counts
    told = islice(reversed(list(counts.items())), SUBSCRIPTIONS_TOLD)
    return Snapshot(
        operations=of.requests.copy(),
        values=[float(reading.read(of)) for reading in READINGS],
        attempts={name: getattr(of.dispatcher.counts, name) for name in OUTCOMES},
        parse_attempts={name: getattr(of.parsing.counts, name) for name in PARSE_OUTCOMES},
        subscriptions={name: Attempts(t.succeeded, t.failed, t.exhausted, t.seconds_sum) for name, t in told},
        backlog=backlog,
        complete=backlog.complete and len(counts) <= SUBSCRIPTIONS_TOLD,
        shared=[
            SharedThing(place.thing, place.count.limit, place.waiting, place.refused, place.holders(HOLDERS_TOLD))
            for place in of.shares
        ],
        mail=None if of.mail is None else _mail(of.mail, waiting, of.store.now()),
    )


def _mail(mail: SendingMail, waiting: Waiting | None, now: int) -> MailNumbers:
    attempts = {name: mail.counts.get(name, 0) for name in MAIL_OUTCOMES}
    if waiting is None:
        return MailNumbers(math.nan, math.nan, mail.in_flight, attempts)
    overdue = 0.0 if waiting.first_due is None else max(0.0, (now - waiting.first_due) / SECOND)
    return MailNumbers(waiting.mails, overdue, mail.in_flight, attempts)
