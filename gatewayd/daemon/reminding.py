"""Writes the reminders that are due, organization by organization, in the hours of the day."""

from functools import partial
from typing import Final

from gatewayd.areas.accounting.reminders import rows, rules, writing
from gatewayd.clock import Instant
from gatewayd.store import Store

WRITTEN_IN_A_ROUND: Final = 100  # Chosen: of one organization; what is left waits for the next round, a minute later


async def remind_due(store: Store, issuer: str) -> None:
    """Write what is due, one invoice in a transaction, behind what somebody waits for. Raises `StoreFailure`.

    `issuer` is the public URL, to which links lead.
    """
    if not rules.is_hour(Instant(store.now())):
        return
    for org_id in await store.read(rows.organizations):
        for invoice_id in await store.read(partial(rows.due, count=WRITTEN_IN_A_ROUND), org_id):
            await store.write_behind(partial(writing.remind, issuer=issuer, invoice_id=invoice_id), org_id)
