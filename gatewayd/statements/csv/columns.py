"""Columns of a CSV by number, and whether their numbers bear each other out."""

from collections.abc import Sequence

from gatewayd.statements.amounts import parse_amount
from gatewayd.statements.csv.balances import Movements
from gatewayd.statements.shapes import Column, Mapping


def is_borne_out(mapping: Mapping, body: Sequence[Sequence[str]]) -> bool:
    """Whether the balances of these rows follow from their amounts, as they are or turned round."""
    if mapping.balance is None:
        return False
    movements = Movements()
    for row in body:
        try:
            amount = _amount(mapping, row)
            text = cell_at(row, mapping.balance)
            balance = parse_amount(text, "GBP", decimal_comma=mapping.decimal_comma) if text else None
        except ValueError:
            return False
        movements.add(0, amount, balance)
    fits = [movements.fit(sign) for sign in (1, -1)]
    return any(fit.steps > 0 and fit.fits == fit.steps for fit in fits)


def _amount(mapping: Mapping, row: Sequence[str]) -> int:
    """What a row moved; raises `ValueError` for what is no amount, and where money came in and went out."""
    comma = mapping.decimal_comma
    if mapping.amount is not None:
        return parse_amount(cell_at(row, mapping.amount), "GBP", decimal_comma=comma)
    paid_in, paid_out = cell_at(row, mapping.paid_in), cell_at(row, mapping.paid_out)
    if bool(paid_in) is bool(paid_out):
        raise ValueError("both, or neither")
    minor = abs(parse_amount(paid_in or paid_out, "GBP", decimal_comma=comma))
    return minor if paid_in else -minor


def cell_at(row: Sequence[str], at: Column | None) -> str:
    """What stands there without outer spaces; "" where nothing does."""
    return row[at].strip() if isinstance(at, int) and at < len(row) else ""
