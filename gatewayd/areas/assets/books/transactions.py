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
    """What happened in an account on a day."""

    id: Id
    external_id: str | None
    account_id: Id
    """The account in which it happened."""
    portfolio_id: Id
    """The portfolio of the account."""
    legal_entity_id: Id
    """The legal entity whose account it is."""
    instrument_id: Id | None
    """The instrument that it is about; of a spin-off or merger the new one. Null: it is about cash alone."""
    type: TransactionType
    """What happened, which also says which way units and cash go. A `notional_distribution` is income that a fund
    keeps, an `equalisation` capital in a fund's first distribution, `excess_reportable_income` what an offshore fund
    reports and does not pay; an `opening_position` was held when the books begin, and a `reversal` takes another
    transaction back."""
    trade_date: DateText
    """The day that counts for gains, income and holdings; of excess reportable income the end of the fund's period, of
    a reversal that of what it reverses."""
    settlement_date: DateText | None
    """The day on which units and cash changed hands, for people. Null: not known."""
    ex_date: DateText | None
    """The first day on which a buyer no longer gets what is paid. Null: not known."""
    trade_time: str | None
    """When it was done, as the broker tells it, for people: all trades of a day count together. Null: not known."""
    quantity: CanonicalDecimal | None
    """How many units, above 0: `type` gives the direction. Null: none are told."""
    unit_price: CanonicalDecimal | None
    """The price of one unit in `currency`, before fees and taxes. Null: not given."""
    gross_amount: Amount | None
    """The amount in `currency` before fees and taxes: as given, else quantity times unit price. Null: it has none, such
    as a split."""
    fees: Amount
    """Commission and other charges, paid in cash: part of what was bought costs, taken off what a sale brings."""
    taxes: Amount
    """Stamp duty, levies, and of income what was withheld, paid in cash: part of what was bought costs, taken off what
    a sale brings."""
    net_amount: Amount
    """The effect on cash in `currency`, below 0 where it goes out: fees and taxes are in it."""
    currency: str
    """The currency of its amounts; the portfolio's where it has none."""
    fx_rate: CanonicalDecimal
    """What 1 of `currency` is in `baseCurrency`."""
    fx_rate_source: FxRateSource | None
    """Where the rate is from: `given` with the transaction, `recorded` before, or published by `hmrc` for its month.
    Null: the rate is 1."""
    fx_rate_date: DateText | None
    """The day of the recorded rate, or the first of HMRC's month. Null: the rate was given, or is 1."""
    base_currency: str
    """The base currency of the portfolio."""
    gross_base: Annotated[Amount | None, Meta(extra={"currency": "base_currency"})]
    """The gross amount in `baseCurrency`. Null: it has none."""
    split_ratio: Ratio | None
    """Of a split, the new units for old ones. Null: it is no split."""
    from_instrument_id: Id | None
    """Of a spin-off or merger, the instrument that the new one comes out of. Null: it is neither."""
    from_quantity: CanonicalDecimal | None
    """Of a merger, how many old units it took. Null: all that the account held."""
    cost_share: CanonicalDecimal | None
    """Of a spin-off, the part of the old shares' cost that goes to the new ones, from 0 to 1. Null: `grossAmount` is
    that part, or it is no spin-off."""
    remaining_value: Amount | None
    """What the shares are worth after a return of capital, of a merger with cash what the new ones are, in `currency`.
    Null: not known."""
    small_distribution: bool | None
    """Whether the money of a return of capital or merger is small and comes off the cost, rather than being a disposal
    of a part. Null: that goes by the amounts."""
    taxed_as_dividend: bool | None
    """Whether a stock dividend is income, whose amount is then what the shares cost. Null: nobody said of a foreign
    company, and it counts as a bonus issue; or it is no stock dividend."""
    counter_account_id: Id | None
    """Of a transfer, the other account kept here. Null: it came from elsewhere or went there, or it is no transfer."""
    linked_transaction_id: Id | None
    """The other half of a transfer between two accounts kept here; of a reversal, that of the other half. Null: there
    is none."""
    spouse_transfer: bool
    """Whether a transfer is to or from a spouse or civil partner, and so at cost without a gain or loss."""
    reverses_transaction_id: Id | None
    """Of a reversal, the transaction that it takes back. Null: it is none."""
    reversed_by_id: Id | None
    """The reversal that took it back. Null: it counts."""
    source: TransactionSource
    """Where it was entered: by the `api`, by an `import`, or by a person at the command line (`manual`)."""
    import_id: Id | None
    """The import that brought it. Null: none did."""
    notes: str | None
    """Notes of people; of an import, the broker's description. Null: none."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


def counted_type(type_: TransactionType, taxed_as_dividend: bool | None) -> TransactionType:
    """The type as which a transaction counts: a stock dividend that is taxed is a dividend of its cash value."""
    return "dividend" if type_ == "stock_dividend" and taxed_as_dividend else type_


def income_date(type_: TransactionType, trade_date: str) -> str | None:
    """The ISO date on which a transaction counts as income: its pay date; None: it is no income.

    The trade date of excess reportable income is the end of the fund's period, and it counts 6 months later.
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
    trade_date: str | None = tx.value(_SELECT_REVERSED, import_id=import_id)
    return trade_date


def first_within(tx: ReadTx, import_id: str, ranges: Iterable[tuple[str, str]]) -> str | None:
    """The day of a transaction of an import that lies in one of the ranges; None: none does."""
    for first, last in ranges:
        trade_date: str | None = tx.value(_SELECT_IN_RANGE, import_id=import_id, first=first, last=last)
        if trade_date is not None:
            return trade_date
    return None


def shared_instruments(tx: ReadTx, import_id: str) -> list[str]:
    """The instruments of an import that other transactions name too."""
    return sorted(row[0] for row in tx.rows(_SELECT_SHARED, import_id=import_id))


def of_import_and_instrument(tx: ReadTx, import_id: str, instrument_id: str) -> list[AssetTransaction]:
    """What an import brought of an instrument."""
    rows = tx.rows(_SELECT_OF_INSTRUMENT, import_id=import_id, instrument_id=instrument_id)
    return [TRANSACTIONS.read(tx, row) for row in rows]


def delete(tx: WriteTx, ids: Sequence[str]) -> None:
    """Delete transactions that an import brought and that is undone: nobody else deletes any."""
    for id_ in ids:
        TRANSACTIONS.delete(tx, id_)
