"""Accounting: quotes, invoices, recurring ones, journeys, billing clients and what they owe (Spec §4)."""

from gatewayd.areas.accounting import paper_settings
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
from gatewayd.contract.operation import Area

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
        *journeys.OPERATIONS,
        *clients.OPERATIONS,
        *receivables.OPERATIONS,
    ),
)
