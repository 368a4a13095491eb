"""A small CRM: the leads and opportunities whose changes the webhooks tell (Spec §6). An extension of the API."""

from gatewayd.areas.crm import leads, opportunities
from gatewayd.contract.operation import Area

AREA = Area("crm", "CRM", leads.OPERATIONS + opportunities.OPERATIONS)
