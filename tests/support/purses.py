"""Prices, plans and credits as a test sets them, and what was charged. Amounts are millionths of a credit."""

from gatewayd.clock import Instant, days_after
from gatewayd.ledger.credits import booking, costs, entries, grants, holds, plans
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import NewGrant
from gatewayd.ledger.credits.shapes import CostRow, PlanRow, Unit
from gatewayd.money import Credits
from gatewayd.store import ReadTx, WriteTx
from tests.ledger.credits.purses import plan

_MORE_THAN_ANYBODY_HAS = 10**15
_CHARGED = """
SELECT operation, -sum(amount) FROM credit_entries WHERE org_id = :org_id AND type = 'usage'
GROUP BY operation, operation_id ORDER BY min(sequence)
"""
_SUBJECTS = "SELECT subject_type, subject_id FROM credit_entries WHERE org_id = :org_id AND type = 'usage'"


def price(tx: WriteTx, name: str, amount: int, days: int = 0, unit: Unit = "call") -> None:
    """Let a unit of some work cost so much from so many days after today on."""
    cost = CostRow(
        operation=name,
        unit=unit,
        credits=Credits(amount),
        effective_from=days_after(tx.today, days),
        effective_to=None,
        description=None,
    )
    costs.put(tx, cost)


def put_on_plan(tx: WriteTx, **changed: object) -> PlanRow:
    """Give the organization a plan of its own, which includes nothing and refuses what cannot be paid for."""
    made = plans.create(tx, plan(tx, **{"code": tx.new_id("code").lower(), **changed}))
    booking.change_plan(tx, made)
    return made


def grant(tx: WriteTx, amount: int, expires_at: Instant | None = None) -> None:
    """Give the organization credits."""
    new = NewGrant(source="grant", amount=amount, expires_at=expires_at)
    booking.give(tx, new, NewEntry(type="grant", amount=amount))


def leave(tx: WriteTx, amount: int) -> None:
    """Let the organization have so much, whatever it had."""
    grant(tx, amount)
    _, missing = grants.draw(tx, _MORE_THAN_ANYBODY_HAS)
    had = _MORE_THAN_ANYBODY_HAS - missing - amount
    if had:
        booking.take(tx, NewEntry(type="adjustment", amount=-had), beyond=False)


def charged(tx: ReadTx) -> list[tuple[str, int]]:
    """What the organization was charged for, and how much; of however many grants."""
    return [(str(name), int(amount)) for name, amount in tx.rows(_CHARGED)]


def subjects(tx: ReadTx) -> list[tuple[str, str]]:
    """What those charges are said to be about."""
    return [(str(type_), str(id_)) for type_, id_ in tx.rows(_SUBJECTS)]


def held(tx: ReadTx) -> int:
    """What is held for work under way."""
    return holds.held(tx, tx.now)


def balance(tx: ReadTx) -> int:
    """What is left, what is held included."""
    return entries.balance(tx)
