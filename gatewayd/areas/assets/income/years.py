"""What accounts earned, summed by tax year. Owns the table `asset_income_years`.

Transactions enter it and leave it with what they do to holdings and cash. Who asks for other days than whole years
takes away what the years hold on both sides of them. Sums of no events are rows too.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from gatewayd.areas.assets.income.rules import income_date
from gatewayd.areas.assets.transactions.shapes import AssetTransaction
from gatewayd.ledger.tax_calendar import first_year_of
from gatewayd.store import WriteTx

_ADD = """
INSERT INTO asset_income_years (org_id, account_id, year, instrument_id, type, currency, base_currency, withheld,
    events, gross, gross_base, taxes)
VALUES (:org_id, :account_id, :year, :instrument_id, :type, :currency, :base_currency, :withheld,
    :events, :gross, :gross_base, :taxes)
ON CONFLICT (org_id, account_id, year, instrument_id, type, currency, base_currency, withheld) DO UPDATE SET
    events = asset_income_years.events + excluded.events, gross = asset_income_years.gross + excluded.gross,
    gross_base = asset_income_years.gross_base + excluded.gross_base, taxes = asset_income_years.taxes + excluded.taxes
"""


class _Key(NamedTuple):
    account_id: str
    year: int
    instrument_id: str
    type: str
    currency: str
    base_currency: str
    withheld: int


def add(tx: WriteTx, rows: Iterable[AssetTransaction], sign: int) -> None:
    """Let transactions count as income, those that are any, or no more where `sign` is -1."""
    sums: dict[_Key, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for row in rows:
        pay_date = income_date(row.type, row.trade_date)
        if pay_date is None:
            continue
        assert row.gross_amount is not None
        assert row.gross_base is not None
        found = sums[_key(row, pay_date)]
        for index, value in enumerate((1, row.gross_amount.minor, row.gross_base.minor, row.taxes.minor)):
            found[index] += sign * value
    if sums:
        tx.run_each(_ADD, [(tx.org_id, *key, *values) for key, values in sums.items()])


def _key(row: AssetTransaction, pay_date: str) -> _Key:
    return _Key(
        account_id=row.account_id,
        year=first_year_of(pay_date),
        instrument_id=row.instrument_id or "",
        type=row.type,
        currency=row.currency,
        base_currency=row.base_currency,
        withheld=int(row.taxes.minor > 0),
    )
