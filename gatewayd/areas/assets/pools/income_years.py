"""What accounts earned, summed by tax year. Owns the table `asset_income_years`.

Transactions enter it and leave it with what they do to holdings and cash. Who asks for other days than whole years
takes away what the years hold on both sides of them. Sums of no events are rows too.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction, counted_type, income_date
from gatewayd.ledger.dates.tax_calendar import first_year_of
from gatewayd.store import ReadTx, WriteTx

_ADD = """
INSERT INTO asset_income_years (org_id, account_id, year, instrument_id, type, currency, base_currency, withheld,
    events, gross, gross_base, taxes)
VALUES (:org_id, :account_id, :year, :instrument_id, :type, :currency, :base_currency, :withheld,
    :events, :gross, :gross_base, :taxes)
ON CONFLICT (org_id, account_id, year, instrument_id, type, currency, base_currency, withheld) DO UPDATE SET
    events = asset_income_years.events + excluded.events, gross = asset_income_years.gross + excluded.gross,
    gross_base = asset_income_years.gross_base + excluded.gross_base, taxes = asset_income_years.taxes + excluded.taxes
"""
_SELECT = """
SELECT account_id, year, instrument_id, type, currency, base_currency, withheld, events, gross, gross_base, taxes
FROM asset_income_years WHERE org_id = :org_id
"""
_SELECT_COUNTING = f"""
{TRANSACTIONS.select} AND income_date IS NOT NULL AND reversed_by_id IS NULL AND reverses_transaction_id IS NULL
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
    """Count transactions as income, those that are any; where `sign` is -1, no longer."""
    _add_sums(tx, _sums(rows, sign))


def missing(tx: ReadTx) -> list[tuple[str, int]]:
    """The accounts and tax years, by the year in which each begins, whose sums are not those of their transactions."""
    return sorted({(key.account_id, key.year) for key in _missing(tx)})


def add_missing(tx: WriteTx) -> None:
    """Make the sums those of the transactions."""
    _add_sums(tx, _missing(tx))


def _missing(tx: ReadTx) -> dict[_Key, list[int]]:
    """How much more transactions come to than the sums that are stored."""
    sums = _sums((TRANSACTIONS.read(tx, row) for row in tx.each(_SELECT_COUNTING)), 1)
    for row in tx.rows(_SELECT):
        of = sums[_Key(*row[:7])]
        for index, value in enumerate(row[7:]):
            of[index] -= value
    return {key: values for key, values in sums.items() if any(values)}


def _sums(rows: Iterable[AssetTransaction], sign: int) -> dict[_Key, list[int]]:
    """Events, gross, gross in the base currency and taxes."""
    sums: dict[_Key, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for row in rows:
        pay_date = income_date(row.type, row.trade_date)
        if pay_date is None:
            continue
        assert row.gross_amount is not None
        assert row.gross_base is not None
        values = sums[_sum_key(row, pay_date)]
        for index, value in enumerate((1, row.gross_amount.minor, row.gross_base.minor, row.taxes.minor)):
            values[index] += sign * value
    return sums


def _add_sums(tx: WriteTx, sums: Mapping[_Key, Sequence[int]]) -> None:
    if sums:
        tx.run_each(_ADD, [(tx.org_id, *key, *values) for key, values in sums.items()])


def _sum_key(row: AssetTransaction, pay_date: str) -> _Key:
    return _Key(
        account_id=row.account_id,
        year=first_year_of(pay_date),
        instrument_id=row.instrument_id or "",
        type=counted_type(row.type, row.taxed_as_dividend),
        currency=row.currency,
        base_currency=row.base_currency,
        withheld=int(row.taxes.minor > 0),
    )
