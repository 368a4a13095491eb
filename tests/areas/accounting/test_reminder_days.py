"""On which days reminders are written: by hand, and over five years against a reckoning of its own."""

import datetime
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gatewayd.areas.accounting.invoices import moves
from gatewayd.areas.accounting.reminders import rules
from gatewayd.areas.accounting.reminders.rules import Rung
from gatewayd.clock import from_wire
from gatewayd.store import WriteTx
from tests.areas.accounting.books import RANDOM_BOOKS
from tests.areas.accounting.reminding import EMAIL, RemindingBooks
from tests.support.store import DatabaseImage, MemoryStore

ALWAYS = "2000-01-01"
DUE = "2027-01-29"
SENT = "2027-01-01"


def rungs(*days: int, since: str = ALWAYS) -> list[Rung]:
    return [Rung(each, since) for each in days]


# -- the rule, by hand


@pytest.mark.parametrize(
    ("today", "skipped", "written"),
    [
        ("2027-01-21", [], None),
        ("2027-01-22", [], -7),
        ("2027-01-29", [(-7, "overtaken")], 0),
        ("2027-01-30", [(-7, "past_due")], 0),
        ("2027-02-28", [(-7, "past_due"), (0, "overtaken")], 30),  # thirty days after the 29th of January
        ("2027-12-31", [(-7, "past_due"), (0, "overtaken"), (30, "overtaken")], 60),
    ],
)
def test_the_latest_is_written_and_those_before_it_left_out(
    today: str, skipped: list[tuple[int, str]], written: int | None
) -> None:
    assert rules.plan(rungs(60, 0, 30, -7), DUE, SENT, (), today) == (skipped, written)


def test_what_is_done_is_not_done_again() -> None:
    assert rules.plan(rungs(-7, 0, 30), DUE, SENT, {-7, 0}, "2027-01-31") == ([], None)


def test_a_day_before_it_was_sent_or_of_that_day_is_left_out() -> None:
    assert rules.plan(rungs(-7, 0), DUE, "2027-01-22", (), "2027-01-22") == ([(-7, "before_sending")], None)
    assert rules.plan(rungs(-7, 0), DUE, "2027-01-21", (), "2027-01-22") == ([], -7)


def test_a_rung_of_before_it_was_set_is_none() -> None:
    assert rules.plan(rungs(0, since="2027-01-30"), DUE, SENT, (), "2027-02-15") == ([], None)
    assert rules.plan(rungs(0, since=DUE), DUE, SENT, (), "2027-02-15") == ([], 0)


@pytest.mark.parametrize(
    ("today", "next_day"),
    [
        ("2027-01-10", "2027-01-22"),  # a Friday
        ("2027-01-22", "2027-01-22"),
        ("2027-01-30", "2027-02-01"),  # that of the due date, on Monday for this is a Saturday
    ],
)
def test_the_next_day(today: str, next_day: str | None) -> None:
    assert rules.next_day(rungs(-7, 0), DUE, SENT, (), today) == next_day


def test_no_next_day_comes_once_all_are_done() -> None:
    assert rules.next_day(rungs(-7, 0), DUE, SENT, {-7, 0}, "2027-01-30") is None


@pytest.mark.parametrize(
    ("moment", "writes"),
    [
        ("2027-03-26T07:59:00Z", False),  # a Friday in winter
        ("2027-03-26T08:00:00Z", True),
        ("2027-03-28T12:00:00Z", False),  # the Sunday on which clocks go forward
        ("2027-03-29T07:00:00Z", True),  # and the Monday after it
        ("2027-03-29T16:59:00Z", True),
        ("2027-03-29T17:00:00Z", False),
        ("2027-10-29T07:00:00Z", True),  # the Friday before they go back
        ("2027-11-01T07:00:00Z", False),
        ("2027-11-01T17:59:00Z", True),
    ],
)
def test_hours_follow_the_clocks_of_london(moment: str, writes: bool) -> None:
    assert rules.is_hour(from_wire(moment)) is writes


def test_placeholders() -> None:
    assert rules.unknown_placeholders("{number} {client} {balance} {dueDate} {link}") == []
    assert rules.unknown_placeholders("{total} and {") == ["{total}", "{"]
    assert rules.unknown_placeholders("{{number}}") == ["{", "}"]
    assert rules.filled("{client}: {balance}", {"client": "{balance}", "balance": "1.00 GBP"}) == "{balance}: 1.00 GBP"


# -- five years, reckoned in a plain way

BEGIN = datetime.datetime(2026, 11, 20, 9, 30)
YEARS = datetime.timedelta(days=5 * 365 + 1)
Written = dict[int, tuple[str, str | None, str]]
"""By days: status, reason, and the ISO date."""


def last_sunday(year: int, month: int) -> datetime.datetime:
    """The instant on it at which clocks change, UTC."""
    day = datetime.datetime(year, month, 31, 1)
    while day.weekday() != 6:
        day -= datetime.timedelta(days=1)
    return day


def london(moment: datetime.datetime) -> datetime.datetime:
    """The wall clock of an instant."""
    summer = last_sunday(moment.year, 3) <= moment < last_sunday(moment.year, 10)
    return moment + datetime.timedelta(hours=1 if summer else 0)


@dataclass
class Owed:
    """An invoice as the reckoning knows it."""

    id: str
    due: datetime.date
    sent: datetime.date
    open: bool = True
    stopped: bool = False
    mailed: list[datetime.date] = field(default_factory=list)
    done: Written = field(default_factory=dict)


@dataclass
class Reckoning:
    """What is to be written, by the rule as docs/domain.md has it."""

    now: datetime.datetime = BEGIN
    since: dict[int, datetime.date] = field(default_factory=dict)
    invoices: list[Owed] = field(default_factory=list)

    @property
    def today(self) -> datetime.date:
        return london(self.now).date()

    def set(self, days: list[int]) -> None:
        self.since = {each: self.since.get(each, self.today) for each in days}

    def round(self) -> None:
        clock = london(self.now)
        if clock.isoweekday() in (6, 7) or clock.hour not in range(8, 18):
            return
        for owed in self.invoices:
            if owed.open and self.today not in owed.mailed:
                self._remind(owed)

    def _remind(self, owed: Owed) -> None:
        last: int | None = None
        for days in range(120, -31, -1):  # the latest first
            day = owed.due + datetime.timedelta(days=days)
            if days not in self.since or days in owed.done or day > self.today or day < self.since[days]:
                continue
            if day <= owed.sent:
                why = "before_sending"
            elif days < 0 and owed.due < self.today:
                why = "past_due"
            elif last is not None:
                why = "overtaken"
            else:
                last = days
                continue
            owed.done[days] = ("skipped", why, self.today.isoformat())
        if last is not None and owed.stopped:
            owed.done[last] = ("skipped", "stopped", self.today.isoformat())
        elif last is not None:
            owed.done[last] = ("written", None, self.today.isoformat())
            owed.mailed.append(self.today)


class Played:
    """The same steps, taken by the books and by the reckoning."""

    def __init__(self, image: bytes) -> None:
        self.books = RemindingBooks(MemoryStore(image))
        self.reckoning = Reckoning()
        self.client = self.books.client(email=EMAIL)

    def wait(self, minutes: int) -> None:
        self.reckoning.now += datetime.timedelta(minutes=minutes)
        self.books.at(f"{self.reckoning.now.isoformat()}Z")

    def schedule(self, days: list[int]) -> None:
        self.books.remind(*days)
        self.reckoning.set(days)

    def send(self, back: int, terms: int) -> None:
        today = self.reckoning.today
        issued = today - datetime.timedelta(days=back)
        due = issued + datetime.timedelta(days=terms)
        dates = {"issueDate": issued.isoformat(), "dueDate": due.isoformat()}
        invoice = self.books.invoice(clientId=self.client, **dates)
        self.books.store.write(lambda tx: moves.mark_sent(tx, invoice["id"]), self.books.org_id)
        self.reckoning.invoices.append(Owed(invoice["id"], due, today))

    def settle(self, which: int) -> None:
        """Pay one, or let its payment bounce."""
        owed = self.reckoning.invoices[which % len(self.reckoning.invoices)]
        if owed.open:
            self.books.post("recordPayment", invoiceId=owed.id, amount="100.00", date=self.reckoning.today.isoformat())
        else:
            self.books.post("removePayment", invoiceId=owed.id, position=1)
        owed.open = not owed.open

    def stop(self, which: int) -> None:
        """Stop one, or let it go on."""
        owed = self.reckoning.invoices[which % len(self.reckoning.invoices)]
        owed.stopped = not owed.stopped
        self.books.post("updateInvoiceReminders", invoiceId=owed.id, enabled=not owed.stopped)

    def round(self, kills: list[str]) -> None:
        """A round of the daemon; where it was killed, the next one at once. Then all mail is sent."""
        for kill in (kills, []):
            if self.books.round(kill):
                break
        self.reckoning.round()
        self.books.store.write(_send_all)

    def compare(self) -> None:
        mails = self.books.mails()
        of_each = dict(self.books.store.read(lambda tx: tx.rows("SELECT id, about FROM mails")))
        for owed in self.reckoning.invoices:
            done = {days: rest for days, *rest in self.books.done({"id": owed.id})}
            assert done == {days: list(rest) for days, rest in owed.done.items()}
            dates = [london(_moment(mail.created_at)).date() for mail in mails if of_each[mail.id] == owed.id]
            assert dates == owed.mailed
            assert len(set(dates)) == len(dates), "two on one day"


def _send_all(tx: WriteTx) -> None:
    tx.run("UPDATE mails SET status = 'sent', due_at = NULL, completed_at = :now WHERE due_at IS NOT NULL")


def _moment(instant: int) -> datetime.datetime:
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=instant)


DAYS = st.lists(st.integers(-30, 120) | st.sampled_from([-7, -1, 0, 1, 7, 14, 30]), min_size=1, max_size=5, unique=True)
MINUTES = st.one_of(
    st.integers(1, 24 * 60), st.integers(1, 60 * 24 * 60), st.sampled_from([1440, 7 * 1440, 30 * 1440, 31 * 1440])
)
KILLS = st.lists(st.sampled_from(["", "before commit", "after commit"]), max_size=3)
STEP = st.one_of(
    st.tuples(st.just("round"), KILLS),
    st.tuples(st.just("round"), KILLS),
    st.tuples(st.just("settle"), st.integers(0, 9)),
    st.tuples(st.just("stop"), st.integers(0, 9)),
    st.tuples(st.just("schedule"), DAYS),
    st.tuples(st.just("send"), st.tuples(st.integers(0, 40), st.integers(0, 60))),
)
STEPS = st.lists(st.tuples(MINUTES, STEP), min_size=60, max_size=160)


@settings(
    max_examples=RANDOM_BOOKS,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(days=DAYS, steps=STEPS)
def test_over_five_years_exactly_the_right_days_are_written_and_none_twice(
    database_image: DatabaseImage, days: list[int], steps: list[tuple[int, Any]]
) -> None:
    """Restarts, kills, clock changes, month ends, payments that come and bounce, and schedules that change."""
    played = Played(database_image)
    played.schedule(days)
    played.send(0, 30)
    for minutes, (act, value) in steps:
        if played.reckoning.now - BEGIN > YEARS:
            break
        played.wait(minutes)
        if act == "send":
            played.send(*value)
        else:
            getattr(played, act)(value)
    played.compare()


def test_a_daemon_that_looks_every_23_hours_for_five_years(database_image: DatabaseImage) -> None:
    """At each hour of the clock in its turn. One invoice a month, of which every other one is paid in time."""
    played = Played(database_image)
    played.schedule([-3, 0, 7, 30])
    invoices, month = played.reckoning.invoices, 0
    while played.reckoning.now - BEGIN < YEARS:
        if played.reckoning.today.month != month:
            month = played.reckoning.today.month
            played.send(0, 27)
        played.wait(23 * 60)
        if len(invoices) % 2 and invoices[-1].open and played.reckoning.today.day in (19, 20):
            played.settle(len(invoices) - 1)
        played.round([])
    played.compare()
    assert {len(owed.mailed) for owed in invoices if not owed.open} == {0}
    reminded = [len(owed.mailed) for owed in invoices if owed.open]
    assert len(reminded) >= 30
    assert min(reminded[:-2]) >= 2
    assert max(reminded) == 4
