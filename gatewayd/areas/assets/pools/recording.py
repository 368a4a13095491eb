"""What transactions do to cash and holdings. Owns `asset_cash`."""

from collections.abc import Sequence
from fractions import Fraction

from gatewayd.areas.assets.accounts.rows import ACCOUNTS
from gatewayd.areas.assets.transactions.rows import TRANSACTIONS
from gatewayd.areas.assets.transactions.shapes import AssetTransaction
from gatewayd.errors import Problem
from gatewayd.store import WriteTx

_ADD_CASH = """
INSERT INTO asset_cash (org_id, account_id, currency, balance)
VALUES (:org_id, :account_id, :currency, :amount)
ON CONFLICT (org_id, account_id, currency) DO UPDATE SET balance = asset_cash.balance + :amount
"""
_OF_ACCOUNT = f"""
{TRANSACTIONS.select} AND account_id = :account_id AND reversed_by_id IS NULL AND reverses_transaction_id IS NULL
ORDER BY trade_date, id
"""
_IN = frozenset(
    {"buy", "opening_position", "stock_dividend", "bonus_issue", "rights_issue", "transfer_in", "spin_off", "merger"}
)
_OUT = frozenset({"sell", "transfer_out"})


def record(tx: WriteTx, rows: Sequence[AssetTransaction]) -> None:
    """Enter stored transactions."""
    _apply(tx, rows, 1)


def take_back(tx: WriteTx, rows: Sequence[AssetTransaction]) -> None:
    """Take the effect of transactions out again."""
    _apply(tx, rows, -1)


def _apply(tx: WriteTx, rows: Sequence[AssetTransaction], sign: int) -> None:
    for row in rows:
        cash = row.net_amount
        tx.run(_ADD_CASH, account_id=row.account_id, currency=row.currency, amount=sign * cash.minor)
    for account_id in dict.fromkeys(row.account_id for row in rows):
        for instrument_id in {i for r in rows for i in (r.instrument_id, r.from_instrument_id) if i is not None}:
            _check(tx, account_id, instrument_id, rows[0].id)


def _check(tx: WriteTx, account_id: str, instrument_id: str, first_id: str) -> None:
    held = Fraction(0)
    if ACCOUNTS.get(tx, account_id).allow_short:
        return
    days: dict[str, list[AssetTransaction]] = {}
    for values in tx.rows(_OF_ACCOUNT, account_id=account_id):
        row = TRANSACTIONS.read(tx, values)
        days.setdefault(row.trade_date, []).append(row)
    for date, day in days.items():
        before = held
        for row in sorted(day, key=lambda one: one.type != "split"):
            held = _after(held, row, instrument_id)
        if held < 0:
            raise Problem(
                "insufficient_quantity",
                f"On {date} {before} of {instrument_id} were held in {account_id}.",
                extra={"transactionId": first_id, "accountId": account_id, "instrumentId": instrument_id, "date": date},
            )


def _after(held: Fraction, row: AssetTransaction, instrument_id: str) -> Fraction:
    if row.type == "merger" and row.from_instrument_id == instrument_id:
        return held - (held if row.from_quantity is None else Fraction(row.from_quantity))
    if row.instrument_id != instrument_id or row.type == "reversal":
        return held
    if row.type == "split" and row.split_ratio is not None:
        return held * Fraction(row.split_ratio.numerator, row.split_ratio.denominator)
    quantity = Fraction(row.quantity or 0)
    return held + (quantity if row.type in _IN else -quantity if row.type in _OUT else 0)
