"""What is held, as it was stored last: for whoever asks whether, and not how it came about. Reads only."""

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
