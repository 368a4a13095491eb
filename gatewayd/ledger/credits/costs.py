"""What work costs, by date. Owns the table `credit_costs`, which is of the instance.

Of one operation and unit the days of two costs never overlap: a new one ends the one before it.
"""

from typing import Final

from gatewayd.clock import days_after
from gatewayd.errors import Problem, invalid_field
from gatewayd.ledger.credits.shapes import CostRow
from gatewayd.store import Columns, ReadTx, WriteTx

MOST: Final = 1000
"""Chosen: costs of one instance, former ones among them."""
COSTS: Final = Columns(CostRow)
_SELECT = f"SELECT {COSTS.sql} FROM credit_costs"
_SELECT_ON = f"""
{_SELECT} WHERE effective_from <= :date AND (effective_to IS NULL OR effective_to >= :date)
ORDER BY operation, unit LIMIT :count
"""
_SELECT_PRICE = """
SELECT credits FROM credit_costs WHERE operation = :operation AND unit = :unit AND effective_from <= :date
  AND (effective_to IS NULL OR effective_to >= :date) ORDER BY effective_from DESC LIMIT 1
"""
_SELECT_PRICED = "SELECT DISTINCT operation FROM credit_costs WHERE unit = 'call' AND credits > 0 LIMIT :count"
_COUNT = "SELECT count(*) FROM credit_costs"
_SELECT_LASTING = """
SELECT effective_from FROM credit_costs
WHERE operation = :operation AND unit = :unit AND (effective_to IS NULL OR effective_to >= :date) LIMIT 1
"""
_SELECT_OF_DAY = """
SELECT credits FROM credit_costs WHERE operation = :operation AND unit = :unit AND effective_from = :date
"""
_SELECT_NEXT = """
SELECT min(effective_from) FROM credit_costs
WHERE operation = :operation AND unit = :unit AND effective_from > :date
"""
_END_BEFORE = """
UPDATE credit_costs SET effective_to = :last
WHERE operation = :operation AND unit = :unit AND effective_from < :date
  AND (effective_to IS NULL OR effective_to >= :date)
"""
_DELETE_FROM = "DELETE FROM credit_costs WHERE operation = :operation AND unit = :unit AND effective_from >= :date"
_VALUES = ", ".join(f":{name}" for name in COSTS.names)
_PUT = f"""
INSERT INTO credit_costs ({COSTS.sql}, created_at) VALUES ({_VALUES}, :now)
ON CONFLICT (operation, unit, effective_from) DO UPDATE SET
  credits = excluded.credits, effective_to = excluded.effective_to, description = excluded.description
"""


def price(tx: ReadTx, operation: str, unit: str) -> int:
    """What one unit of work costs today, in millionths; 0: nothing."""
    cost: int | None = tx.value(_SELECT_PRICE, operation=operation, unit=unit, date=tx.today)
    return cost or 0


def priced_by_call(tx: ReadTx) -> frozenset[str]:
    """Whatever costs something by the call, on any day."""
    return frozenset(str(name) for (name,) in tx.rows(_SELECT_PRICED, count=MOST))


def on(tx: ReadTx, date: str) -> list[CostRow]:
    """The costs of a day, by operation and unit."""
    return [COSTS.load(values) for values in tx.rows(_SELECT_ON, date=date, count=MOST)]


def put(tx: WriteTx, cost: CostRow) -> CostRow:
    """Let work cost this from a day on, until the day before the next cost that is known.

    Raises `Problem`: `validation_failed` for a day before today, since what was charged stays; `limit_reached`.
    """
    _require_to_come(tx, cost.effective_from)
    named = {"operation": cost.operation, "unit": cost.unit, "date": cost.effective_from}
    if tx.value(_COUNT) == MOST and tx.row(_SELECT_OF_DAY, **named) is None:
        raise Problem("limit_reached", f"There are {MOST} costs already.")
    following: str | None = tx.value(_SELECT_NEXT, **named)
    row = COSTS.row(
        operation=cost.operation,
        unit=cost.unit,
        credits=cost.credits,
        effective_from=cost.effective_from,
        effective_to=None if following is None else days_after(following, -1),
        description=cost.description,
    )
    tx.run(_END_BEFORE, last=days_after(cost.effective_from, -1), **named)
    tx.run(_PUT, **dict(zip(COSTS.names, COSTS.dump(row), strict=True)))
    return row


def lasts(tx: ReadTx, operation: str, unit: str, date: str) -> bool:
    """Whether a cost of this work is known for a day, or for a later one."""
    return tx.row(_SELECT_LASTING, operation=operation, unit=unit, date=date) is not None


def end(tx: WriteTx, operation: str, unit: str, date: str) -> None:
    """Let work have no cost any more from a day on; what it cost before stays told.

    Raises `Problem` `validation_failed` for a day before today.
    """
    _require_to_come(tx, date)
    named = {"operation": operation, "unit": unit, "date": date}
    tx.run(_DELETE_FROM, **named)
    tx.run(_END_BEFORE, last=days_after(date, -1), **named)


def _require_to_come(tx: ReadTx, date: str) -> None:
    if date < tx.today:
        raise invalid_field("effectiveFrom", "out_of_range", "A cost begins today or later.")
