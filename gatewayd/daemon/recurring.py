"""Makes what is due of recurring invoices, in turns of the organizations."""

from functools import partial
from typing import Final

from gatewayd.areas.accounting.recurring import making, rows
from gatewayd.areas.accounting.recurring.rows import Due
from gatewayd.errors import Problem
from gatewayd.mail.notices import Mailing
from gatewayd.store import Store

PICKED_AT_ONCE: Final = 50  # Chosen
MADE_IN_A_ROUND: Final = 2000  # Chosen: what is left waits for the next round


async def make_due(store: Store, mailing: Mailing | None = None) -> None:
    """Make what is due, one in a transaction, behind what somebody waits for. `mailing` None: no mail is sent.

    Raises `StoreFailure`.
    """
    left = MADE_IN_A_ROUND
    while left > 0:
        picked = await store.read(partial(rows.due, count=min(left, PICKED_AT_ONCE)))
        if not picked:
            return
        for each in picked:
            await _make(store, each, mailing)
        left -= len(picked)


async def _make(store: Store, each: Due, mailing: Mailing | None) -> None:
    try:
        await store.write_behind(partial(making.make, recurring_id=each.id, mailing=mailing), each.org_id)
    except Problem as problem:
        await store.write_behind(
            partial(making.halt, recurring_id=each.id, date=each.date, problem=problem), each.org_id
        )
