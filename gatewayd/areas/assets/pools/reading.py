"""What others read of holdings: today's, those of a past day, and the gains of a range of days."""

from fractions import Fraction

from gatewayd.areas.assets.pools import day_rows, holding_rows, splits
from gatewayd.areas.assets.pools.day_rows import Key
from gatewayd.areas.assets.pools.exact import quantity_of
from gatewayd.clock import days_after
from gatewayd.store import ReadTx

_SELECT_OPEN = """
SELECT instrument_id FROM asset_holdings
WHERE org_id = :org_id AND scope_id = :scope_id AND is_open = 1 ORDER BY instrument_id LIMIT 1
"""
_SELECT_SHORT = """
SELECT instrument_id FROM asset_holdings
WHERE org_id = :org_id AND scope_id = :scope_id AND is_open = 1 AND substr(quantity, 1, 1) = '-'
ORDER BY instrument_id LIMIT 1
"""


def open_position(tx: ReadTx, account_id: str) -> str | None:
    """The id of an instrument that the account holds, or owes; None where it is empty."""
    found: str | None = tx.value(_SELECT_OPEN, scope_id=account_id)
    return found


def short_position(tx: ReadTx, account_id: str) -> str | None:
    """The id of an instrument of which the account has sold more than it held; None where there is none."""
    found: str | None = tx.value(_SELECT_SHORT, scope_id=account_id)
    return found


def quantity_held(tx: ReadTx, account_id: str, instrument_id: str, date: str) -> Fraction:
    """What an account holds of an instrument at the end of an ISO date."""
    last = next(day_rows.backwards(tx, Key(account_id, instrument_id), days_after(date, 1)), None)
    if last is None:
        return Fraction(0)
    facts = splits.of_instrument(tx, instrument_id)
    return quantity_of(holding_rows.quantity_after(last[1], last[0], facts, date))
