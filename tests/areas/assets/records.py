"""Rows that a test puts into the books itself: transactions and holdings as they are stored."""

from gatewayd.store import WriteTx

_ADD_TRANSACTION = """
INSERT INTO asset_transactions (id, org_id, account_id, portfolio_id, legal_entity_id, instrument_id, type, trade_date,
    quantity, gross_amount, fees, taxes, net_amount, currency, fx_rate, base_currency, gross_base, spouse_transfer,
    source, created_at, updated_at, version)
SELECT :id, :org_id, id, portfolio_id, legal_entity_id, :instrument_id, :type, :date, :quantity, :gross, 0, 0, :net,
    :currency, :rate, 'GBP', :gross_base, 0, 'api', :now, :now, 1
FROM asset_accounts WHERE org_id = :org_id AND id = :account_id
"""
_ADD_HOLDING = """
INSERT INTO asset_holdings (org_id, scope_id, instrument_id, legal_entity_id, portfolio_id, quantity, is_open, cost,
    currency, fifo_cost, first_acquired_date, last_date)
SELECT :org_id, id, :instrument_id, legal_entity_id, portfolio_id, :quantity, :is_open, '100', 'GBP', '100',
    '2026-01-05', '2026-01-05'
FROM asset_accounts WHERE org_id = :org_id AND id = :account_id
"""


def transaction(tx: WriteTx, account_id: str, **given: object) -> str:
    """A transaction that has no effect on what is held: a deposit of 100.00 but for what `given` says."""
    id_ = tx.new_id("txn")
    values: dict[str, object] = {
        "instrument_id": None,
        "type": "deposit",
        "date": "2026-01-05",
        "quantity": None,
        "gross": 10_000,
        "net": 10_000,
        "currency": "GBP",
        "rate": "1",
        "gross_base": 10_000,
    }
    assert tx.run(_ADD_TRANSACTION, id=id_, account_id=account_id, **{**values, **given}) == 1
    return id_


def holding(tx: WriteTx, account_id: str, instrument_id: str, quantity: str) -> None:
    """What an account holds, by itself."""
    tx.run(
        _ADD_HOLDING,
        account_id=account_id,
        instrument_id=instrument_id,
        quantity=quantity,
        is_open=quantity != "0",
    )
