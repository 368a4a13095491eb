"""What transactions of an account look like (Domain B3): only ever added to."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.assets.books.instruments import Ratio
from gatewayd.areas.assets.books.transactions import AssetTransaction, TransactionSource, TransactionType
from gatewayd.areas.assets.instruments.shapes import InlineInstrument
from gatewayd.contract.pages import LongLimit, SyncRequest
from gatewayd.contract.wire import AmountText, Currency, Date, DecimalText, ExternalId, Id, Request, Response

TradeTime = Annotated[
    str,
    Meta(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$",
        description="For people: all trades of a day count together.",
        examples=["14:05:30"],
    ),
]
Notes = Annotated[str, Meta(max_length=2000)]


TransactionWarningCode = Literal["distribution_value_unknown", "stock_dividend_unknown"]


class TransactionWarning(Response, frozen=True, kw_only=True):
    """What the gain or the income depends on, and nobody has said."""

    code: TransactionWarningCode
    message: str


class EnteredTransaction(AssetTransaction, frozen=True, kw_only=True):
    """A transaction as it was entered, and what of it was supposed."""

    warnings: list[TransactionWarning]


class CreateTransaction(Request, frozen=True, kw_only=True):
    """A new transaction. The type gives the direction: quantities and amounts have no sign.

    `fxRate` is the portfolio's base currency for 1 of `currency`. Where it is left out the latest rate counts that was
    recorded for the day or the week before, else what HMRC published for the month; the answer tells which. Of a
    spin-off or merger the instrument is the new one, and `fromInstrumentId` what it comes out of. A return of capital,
    and what a merger pays in cash, is a disposal of a part unless it is small: `remainingValue` is what the shares are
    worth after it, of a merger the new ones, and `smallDistribution` says what it is where HMRC's figures do not settle
    it. `taxedAsDividend` is of a stock dividend: where it is not given, that of a company in the United Kingdom is, and
    that of another is not.
    """

    account_id: Id
    type: TransactionType
    trade_date: Date
    instrument_id: Id | None = None
    instrument: InlineInstrument | None = None
    quantity: DecimalText | None = None
    unit_price: DecimalText | None = None
    gross_amount: AmountText | None = None
    fees: AmountText | None = None
    taxes: AmountText | None = None
    currency: Currency | None = None
    fx_rate: DecimalText | None = None
    settlement_date: Date | None = None
    ex_date: Date | None = None
    trade_time: TradeTime | None = None
    split_ratio: Ratio | None = None
    from_instrument_id: Id | None = None
    from_quantity: DecimalText | None = None
    cost_share: DecimalText | None = None
    remaining_value: AmountText | None = None
    small_distribution: bool | None = None
    taxed_as_dividend: bool | None = None
    counter_account_id: Id | None = None
    spouse_transfer: bool = False
    reverses_transaction_id: Id | None = None
    notes: Notes | None = None
    external_id: ExternalId | None = None


class ListAssetTransactions(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list: latest trade first, or in the order of change with `updatedSince`."""

    account_id: Id | None = None
    portfolio_id: Id | None = None
    legal_entity_id: Id | None = None
    instrument_id: Id | None = None
    type: list[TransactionType] | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    source: TransactionSource | None = None
    include_reversed: bool = False
    external_id: ExternalId | None = None
    limit: LongLimit = 50
