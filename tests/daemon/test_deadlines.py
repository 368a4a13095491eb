"""Deadlines of a daemon that serves: calendars that read them, and what is told of them across kills and midnights."""

import datetime
import io
import signal
from pathlib import Path

import trio
import trio.testing
from icalendar import Calendar
from trio.testing import MockClock

from gatewayd.areas import periods
from gatewayd.cli.context import Context
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.clock import Clock, SettableClock, SystemClock, from_wire, london_date
from gatewayd.config import load
from gatewayd.daemon.daemon import Daemon, Surroundings
from gatewayd.store import ReadTx
from tests.daemon.instance import Firm, Instance, serving, until

HOUR = 3600.0


def due(instance: Instance, firm: Firm, day: str, clock: Clock) -> str:
    """A deadline of the firm's entity, entered as the operator."""
    context = Context(str(instance.config), {}, clock)
    entity = instance.read(lambda tx: tx.value("SELECT id FROM legal_entities WHERE org_id = :org_id"), firm.org_id)
    values = {"legalEntityId": entity, "name": "Insurance", "dueDate": day}
    row = operation_of(periods.AREA, "obligations.create")
    return str(run_operation(context, row, firm.org_id, values)["id"])


def told(instance: Instance, firm: Firm, obligation_id: str) -> list[str]:
    """The kinds of events of an obligation."""

    def work(tx: ReadTx) -> list[str]:
        rows = tx.rows("SELECT kind, data FROM events WHERE org_id = :org_id ORDER BY id")
        return [kind for kind, data in rows if obligation_id in data.decode()]

    return instance.read(work, firm.org_id)


def test_a_calendar_reads_what_is_due_until_its_address_is_revoked(tmp_path: Path) -> None:
    """And a deadline that is near is told once, though the daemon is killed and started again."""
    instance = Instance(tmp_path)
    firm = instance.firm()
    clock = SystemClock()
    day = datetime.date.fromisoformat(london_date(clock.now())) + datetime.timedelta(days=3)
    obligation_id = due(instance, firm, day.isoformat(), clock)
    with serving(instance) as daemon:
        until(lambda: told(instance, firm, obligation_id))
        made = daemon.call(firm.key, "POST", "/api/rpc/obligations/createFeed", {"name": "Phone"}).json()
        path = "/calendar/" + made["url"].rpartition("/")[2]
        assert made["url"] == f"http://127.0.0.1:8080{path}"
        answered = daemon.client.get(path)
        assert (answered.status_code, answered.headers["content-type"]) == (200, "text/calendar; charset=utf-8")
        events = Calendar.from_ical(answered.content).walk("VEVENT")
        assert [event.decoded("DTSTART") for event in events if obligation_id in event["UID"]] == [day]
        same = daemon.client.get(path, headers={"If-None-Match": answered.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")
        assert daemon.client.head(path).headers["content-length"] == str(len(answered.content))
        daemon.terminate(signal.SIGKILL)
        daemon.process.wait()
    with serving(instance) as daemon:
        assert daemon.client.get(path).status_code == 200
        revoked = daemon.call(firm.key, "POST", "/api/rpc/obligations/revokeFeed", {"id": made["id"]})
        assert revoked.status_code == 200
        gone, unknown = daemon.client.get(path), daemon.client.get("/calendar/gwd_cal_unknown.ics")
        assert (gone.status_code, unknown.status_code) == (404, 404)
        assert gone.json()["message"] == unknown.json()["message"]
        until(
            lambda: [line for line in daemon.lines() if line.get("operation") == "calendar" and line["status"] == 404]
        )
        token = path.removeprefix("/calendar/").removesuffix(".ics")
        assert token not in daemon.log.read_text()
        assert told(instance, firm, obligation_id) == ["obligation.due_soon"]


async def test_what_is_due_is_overdue_when_londons_next_day_begins(tmp_path: Path, mock_clock: MockClock) -> None:
    """On a summer evening, half an hour before midnight in London."""
    instance = Instance(tmp_path)
    firm = await trio.to_thread.run_sync(instance.firm)
    clock = SettableClock(from_wire("2027-08-07T22:30:00Z"), mock_clock.current_time)
    obligation_id = await trio.to_thread.run_sync(due, instance, firm, "2027-08-07", clock)
    daemon = Daemon(load(instance.config, {}), Surroundings(log_stream=io.StringIO(), clock=clock))

    def kinds() -> list[str]:
        return told(instance, firm, obligation_id)

    async with trio.open_nursery() as nursery:
        await nursery.start(daemon.run)
        assert await trio.to_thread.run_sync(until, kinds) == ["obligation.due_soon"]
        await trio.testing.wait_all_tasks_blocked(0.5)  # the round ends after it has told, then waits
        mock_clock.jump(HOUR)
        await trio.to_thread.run_sync(until, lambda: len(kinds()) == 2)
        assert await trio.to_thread.run_sync(kinds) == ["obligation.due_soon", "obligation.overdue"]
        daemon.stop()
