"""Accounting: quotes, invoices, recurring ones, journeys, billing clients and what they owe (Spec §4)."""

from functools import partial

from gatewayd.areas.accounting import mails, paper_settings, sending, statement_sending
from gatewayd.areas.accounting.bills import operations as bills
from gatewayd.areas.accounting.clients import operations as clients
from gatewayd.areas.accounting.invoices import numbering, papers
from gatewayd.areas.accounting.invoices import operations as invoices
from gatewayd.areas.accounting.journeys import operations as journeys
from gatewayd.areas.accounting.owed import operations as owed
from gatewayd.areas.accounting.owed import write_offs
from gatewayd.areas.accounting.quotes import operations as quotes
from gatewayd.areas.accounting.receivables import operations as receivables
from gatewayd.areas.accounting.recurring import operations as recurring
from gatewayd.areas.accounting.reminders import operations as reminders
from gatewayd.contract.operation import Area, Handlers
from gatewayd.mail.notices import Mailing

AREA = Area(
    "accounting",
    "Accounting",
    (
        *bills.OPERATIONS,
        *bills.BY_ENGINE,
        *invoices.OPERATIONS,
        *numbering.OPERATIONS,
        *paper_settings.OPERATIONS,
        *papers.OPERATIONS,
        *owed.OPERATIONS,
        *write_offs.OPERATIONS,
        *quotes.OPERATIONS,
        *recurring.OPERATIONS,
        *reminders.OPERATIONS,
        *sending.OPERATIONS,
        *mails.OPERATIONS,
        *journeys.OPERATIONS,
        *clients.OPERATIONS,
        *receivables.OPERATIONS,
        *statement_sending.OPERATIONS,
    ),
)


def handlers(issuer: str, mailing: Mailing | None) -> Handlers:
    """The handlers of a daemon that clients reach at `issuer`. `mailing` None: no mail is sent."""
    sends_mail = mailing is not None
    return {
        "accounting.sendInvoice": partial(sending.send_invoice, mailing=mailing),
        "accounting.sendQuote": partial(sending.send_quote, mailing=mailing),
        "accounting.sendStatement": partial(statement_sending.send_statement, mailing=mailing),
        "accounting.resendMail": partial(mails.resend_mail, mailing=mailing),
        "accounting.createRecurring": partial(recurring.create_recurring, mailing=mailing),
        "accounting.updateRecurring": partial(recurring.update_recurring, mailing=mailing),
        "accounting.getSending": partial(sending.get_sending, issuer=issuer),
        "accounting.makeLink": partial(sending.make_link, issuer=issuer),
        "accounting.getReminderSchedule": partial(reminders.get_reminder_schedule, sends_mail=sends_mail),
        "accounting.setReminderSchedule": partial(reminders.set_reminder_schedule, sends_mail=sends_mail),
    }
