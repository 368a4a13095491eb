"""Transactions as they are stored, and when they count as income. Owns the table `asset_transactions`."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.areas.assets.books.instruments import Ratio
from gatewayd.clock import months_later
from gatewayd.contract.wire import Amount, CanonicalDecimal, DateText, Id, Response, Timestamp
from gatewayd.ledger.exchange.exchange_rates import FxRateSource
from gatewayd.store import ReadTx, RemovableTable, WriteTx

TransactionType = Literal[
    "buy",
    "sell",
    "transfer_in",
    "transfer_out",
    "deposit",
    "withdrawal",
    "dividend",
    "interest",
    "distribution",
    "notional_distribution",
    "equalisation",
    "return_of_capital",
    "fee",
    "tax",
    "split",
    "bonus_issue",
    "rights_issue",
    "spin_off",
    "merger",
    "stock_dividend",
    "excess_reportable_income",
    "opening_position",
    "reversal",
]
TransactionSource = Literal["api", "import", "manual"]
EARLIEST: Final = datetime.date(1900, 1, 1)  # Chosen: nothing that somebody holds was bought before

IncomeKind = Literal[
    "dividend",
    "interest",
    "distribution",
    "notional_distribution",
    "excess_reportable_income",
    "return_of_capital",
]
INCOME_KINDS: Final[Mapping[TransactionType, IncomeKind]] = {
    "dividend": "dividend",
    "interest": "interest",
    "distribution": "distribution",
    "notional_distribution": "notional_distribution",
    "excess_reportable_income": "excess_reportable_income",
    "return_of_capital": "return_of_capital",
    "stock_dividend": "dividend",
}
"""The types of transactions that are income, and of what kind."""


class AssetTransaction(Response, frozen=True, kw_only=True):
    """What happened in an account on a day. `netAmount` is its effect on cash."""

    id: Id
    external_id: str | None
    account_id: Id
    portfolio_id: Id
    legal_entity_id: Id
    instrument_id: Id | None
    type: TransactionType
    trade_date: DateText
    settlement_date: DateText | None
    ex_date: DateText | None
    trade_time: str | None
    quantity: CanonicalDecimal | None
    unit_price: CanonicalDecimal | None
    gross_amount: Amount | None
    fees: Amount
    taxes: Amount
    net_amount: Amount
    currency: str
    fx_rate: CanonicalDecimal
    fx_rate_source: Annotated[
        FxRateSource | None,
        Meta(description="`given` with it, `recorded` before, or published by `hmrc` for its month. Null: it is 1."),
    ]
    fx_rate_date: Annotated[
        DateText | None,
        Meta(
            description="Of which day the rate is that was recorded, or the first of HMRC's month. Null: given, or 1."
        ),
    ]
    base_currency: str
    gross_base: Annotated[Amount | None, Meta(extra={"currency": "base_currency"})]
    split_ratio: Ratio | None
    from_instrument_id: Id | None
    from_quantity: CanonicalDecimal | None
    cost_share: CanonicalDecimal | None
    remaining_value: Amount | None
    small_distribution: bool | None
    taxed_as_dividend: bool | None
    counter_account_id: Id | None
    linked_transaction_id: Id | None
    spouse_transfer: bool
    reverses_transaction_id: Id | None
    reversed_by_id: Id | None
    source: TransactionSource
    import_id: Id | None
    notes: str | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


def counted_type(type_: TransactionType, taxed_as_dividend: bool | None) -> TransactionType:
    """As what it counts: shares in the place of a dividend that are taxed as one are one, of their cash value."""
    return "dividend" if type_ == "stock_dividend" and taxed_as_dividend else type_


def income_date(type_: TransactionType, trade_date: str) -> str | None:
    """The ISO date on which it counts: the pay date; None for what is no income.

    Excess reportable income is told with the end of the fund's period as its date, and counts 6 months later.
    """
    if type_ not in INCOME_KINDS:
        return None
    if type_ != "excess_reportable_income":
        return trade_date
    return months_later(datetime.date.fromisoformat(trade_date), 6).isoformat()


def _income_date(row: AssetTransaction) -> str | None:
    return income_date(row.type, row.trade_date)


TRANSACTIONS = RemovableTable(
    "asset_transactions",
    AssetTransaction,
    kind="transaction",
    prefix="txn",
    written={"income_date": _income_date},
)

_SELECT_LAST = f"{TRANSACTIONS.select} AND import_id = :import_id ORDER BY id DESC LIMIT :count"
_SELECT_REVERSED = """
SELECT trade_date FROM asset_transactions
WHERE org_id = :org_id AND import_id = :import_id AND reversed_by_id IS NOT NULL ORDER BY id LIMIT 1
"""
_SELECT_IN_RANGE = """
SELECT trade_date FROM asset_transactions
WHERE org_id = :org_id AND import_id = :import_id AND trade_date >= :first AND trade_date <= :last
ORDER BY trade_date LIMIT 1
"""
_SELECT_SHARED = """
SELECT named.instrument_id FROM (
    SELECT DISTINCT ours.instrument_id FROM asset_transactions AS ours
    WHERE ours.org_id = :org_id AND ours.import_id = :import_id AND ours.instrument_id IS NOT NULL
) AS named
WHERE EXISTS (
    SELECT 1 FROM asset_transactions AS others
    WHERE others.org_id = :org_id AND others.instrument_id = named.instrument_id
        AND (others.import_id IS NULL OR others.import_id <> :import_id)
)
"""
_SELECT_OF_INSTRUMENT = f"{TRANSACTIONS.select} AND import_id = :import_id AND instrument_id = :instrument_id"


# -- what imports brought


def last_of_import(tx: ReadTx, import_id: str, count: int) -> list[AssetTransaction]:
    """What an import brought last, latest first."""
    return [TRANSACTIONS.read(tx, row) for row in tx.rows(_SELECT_LAST, import_id=import_id, count=count)]


def reversed_of_import(tx: ReadTx, import_id: str) -> str | None:
    """The day of a transaction of an import that was reversed since; None: none was."""
    found: str | None = tx.value(_SELECT_REVERSED, import_id=import_id)
    return found


def first_within(tx: ReadTx, import_id: str, ranges: Iterable[tuple[str, str]]) -> str | None:
    """The day of a transaction of an import that lies in one of the ranges; None: none does."""
    for first, last in ranges:
        found: str | None = tx.value(_SELECT_IN_RANGE, import_id=import_id, first=first, last=last)
        if found is not None:
            return found
    return None


def shared_instruments(tx: ReadTx, import_id: str) -> list[str]:
    """The instruments of an import of which there are other transactions too."""
    return sorted(row[0] for row in tx.rows(_SELECT_SHARED, import_id=import_id))


def of_import_and_instrument(tx: ReadTx, import_id: str, instrument_id: str) -> list[AssetTransaction]:
    """What an import brought of an instrument."""
    found = tx.rows(_SELECT_OF_INSTRUMENT, import_id=import_id, instrument_id=instrument_id)
    return [TRANSACTIONS.read(tx, row) for row in found]


def delete(tx: WriteTx, ids: Sequence[str]) -> None:
    """Delete transactions that an import brought and that is undone: nobody else deletes any."""
    for id_ in ids:
        TRANSACTIONS.delete(tx, id_)
