"""Tells when credits run low under a plan: `credits.low`, with the entries that made it so."""

from collections.abc import Sequence

from gatewayd import events
from gatewayd.ledger.credits import balances, plans
from gatewayd.ledger.credits.shapes import EntryRow
from gatewayd.money import credits_text
from gatewayd.store import WriteTx


def tell(tx: WriteTx, booked: Sequence[EntryRow]) -> None:
    """Fire `credits.low` where what was entered just now took the balance below what is low for the plan.

    So it is told once for each time. Chosen: by the balance and not by what is available, or each piece of work under
    way would tell it; what has fallen due counts, so that a month that ends tells nothing where the next one begins;
    and entries of another ledger tell nothing, as they are of the past.
    """
    if not booked or booked[0].import_id is not None or (plan := plans.included(tx)) is None:
        return
    plan_id, included = plan
    before, after = booked[0].balance_after - booked[0].amount, booked[-1].balance_after
    if balances.is_low(before, included) or not balances.is_low(after, included):
        return
    left = balances.present(tx, tx.now).balance
    if balances.is_low(left, included):
        data = {"balance": credits_text(left), "included_credits": credits_text(included)}
        events.append(tx, "credits.low", {"plan_id": plan_id, **data})
