"""A daemon that reminds: mail to a real server, at eight in London, once across a restart, and not of what was paid."""

import io
from collections.abc import Callable
from pathlib import Path

import trio
import trio.testing
from trio.testing import MockClock

from gatewayd.areas import accounting
from gatewayd.areas.accounting.invoices import moves
from gatewayd.cli.context import Context
from gatewayd.cli.run_operation import offered_operation, operation_of, run_operation
from gatewayd.clock import SettableClock, from_wire
from gatewayd.config import load
from gatewayd.daemon.daemon import Daemon, Surroundings
from tests.daemon.instance import Firm, Instance, until
from tests.daemon.test_mail import SETTINGS
from tests.mail.serving import MailServer, mail_server

EMAIL = "accounts@birch.example"
LINE = {"description": "Joinery", "unitPrice": "100.00"}
EVENTS = "SELECT kind FROM events WHERE kind LIKE 'invoice.overdue'"


class Firms:
    """A firm as of 1 July 2027, which reminds on the due date; its invoices are due a week later, on a Thursday."""

    def __init__(self, instance: Instance, clock: SettableClock) -> None:
        self.instance = instance
        self.context = Context(str(instance.config), {}, clock)
        self.firm: Firm = instance.firm()

    def do(self, operation_id: str, **values: object) -> dict[str, object]:
        row = operation_of(accounting.AREA, operation_id)
        return run_operation(self.context, row, self.firm.org_id, values)

    def prepare(self) -> list[str]:
        """Two invoices that were sent, by their ids."""
        row = offered_operation(self.context, "accounting.setReminderSchedule")
        run_operation(self.context, row, self.firm.org_id, {"enabled": True, "rungs": [{"days": 0}]})
        self.do("accounting.updateClient", clientId=self.firm.client_id, email=EMAIL)
        return [self.sent() for _ in range(2)]

    def sent(self) -> str:
        of = {"clientId": self.firm.client_id, "issueDate": "2027-07-01", "dueDate": "2027-07-08", "lines": [LINE]}
        made = str(self.do("accounting.createInvoice", status="issued", **of)["id"])
        self.context.write(lambda tx: moves.mark_sent(tx, made), self.firm.org_id)
        return made


def subjects(server: MailServer) -> list[str]:
    return [str(each.message["Subject"]) for each in server.taken() if each.to == EMAIL]


async def test_a_client_is_reminded_at_eight_once_and_not_of_what_was_paid(
    tmp_path: Path, mock_clock: MockClock
) -> None:
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, SETTINGS.format(port=server.port))
        clock = SettableClock(from_wire("2027-07-01T09:00:00Z"), mock_clock.current_time)
        firm = await trio.to_thread.run_sync(Firms, instance, clock)
        owed, paid = await trio.to_thread.run_sync(firm.prepare)
        clock.advance(from_wire("2027-07-08T06:59:30Z") - clock.now())
        pay = {"invoiceId": paid, "amount": "120.00", "date": "2027-07-08"}
        await trio.to_thread.run_sync(lambda: firm.do("accounting.recordPayment", **pay))

        def is_done() -> bool:
            """Each mail is over, and some client got one."""
            return bool(subjects(server)) and not instance.seen("SELECT id FROM mails WHERE due_at IS NOT NULL")

        async def serve(at: str | None, done: Callable[[], object] = is_done) -> None:
            """A daemon, which looks; then, at another moment, looks again, and ends once that is done."""
            daemon = Daemon(load(instance.config, {}), Surroundings(log_stream=io.StringIO(), clock=clock))
            async with trio.open_nursery() as nursery:
                await nursery.start(daemon.run)
                await trio.testing.wait_all_tasks_blocked(0.5)  # the rounds end, then wait
                if at is not None:
                    assert await trio.to_thread.run_sync(subjects, server) == []
                    mock_clock.jump((from_wire(at) - clock.now()) / 1_000_000)
                await trio.to_thread.run_sync(until, done)
                daemon.stop()

        await serve("2027-07-08T07:00:30Z")
        await serve(None)
        (reminder,) = [each for each in server.taken() if each.to == EMAIL]
        found = await trio.to_thread.run_sync(lambda: firm.do("accounting.getInvoiceReminders", invoiceId=owed))
        assert found["reminders"] == [
            {
                "days": 0,
                "status": "written",
                "reason": None,
                "date": "2027-07-08",
                "mails": [{"recipient": EMAIL, "status": "sent"}],
            }
        ]
        assert "£120.00" in reminder.text()
        (paper,) = reminder.message.iter_attachments()
        assert paper.get_content_type() == "application/pdf"
        assert "/i/gwd_i_" in reminder.text()
        assert instance.seen(EVENTS) == []
        mock_clock.jump(24 * 3600.0)
        await serve(None, lambda: instance.seen(EVENTS))
        assert subjects(server) == [str(reminder.message["Subject"])]
        assert instance.seen(EVENTS) == [("invoice.overdue",)]
