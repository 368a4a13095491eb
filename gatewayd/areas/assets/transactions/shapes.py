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
        extra={"form": "a time of day"},
        description="For people: all trades of a day count together.",
        examples=["14:05:30"],
    ),
]
Notes = Annotated[str, Meta(max_length=2000)]


TransactionWarningCode = Literal["distribution_value_unknown", "stock_dividend_unknown"]


class TransactionWarning(Response, frozen=True, kw_only=True):
    """What the gain or the income depends on, and nobody has said."""

    code: TransactionWarningCode
    """`distribution_value_unknown`: money comes off the cost as if it were small, because nobody said what the shares
    are worth after it. `stock_dividend_unknown`: shares count as a bonus issue because nobody said that they are taxed
    as a dividend, or as a dividend of 0."""
    message: str
    """What was supposed and what would settle it, for people."""


class EnteredTransaction(AssetTransaction, frozen=True, kw_only=True):
    """A transaction as it was entered, and what of it was supposed."""

    warnings: list[TransactionWarning]
    """What was supposed because it was not given."""


class CreateTransaction(Request, frozen=True, kw_only=True):
    """A new transaction. The type says which fields it needs and which way they go: nothing has a sign."""

    account_id: Id
    type: TransactionType
    trade_date: Date
    """The day on which it happened, from 1900 to today; of excess reportable income the end of the fund's period, of a
    reversal the day of what it reverses."""
    instrument_id: Id | None = None
    """The instrument that it is about, of a spin-off or merger the new one; or give `instrument`."""
    instrument: InlineInstrument | None = None
    """The instrument by its identifiers, in the place of `instrumentId`: one that is known, or a new one that is
    made."""
    quantity: DecimalText | None = None
    unit_price: DecimalText | None = None
    gross_amount: AmountText | None = None
    """The amount before fees and taxes. Left out: quantity times unit price; with both given it may differ from that by
    0.5 % or a minor unit."""
    fees: AmountText | None = None
    """Commission and other charges, paid in cash. Left out: none."""
    taxes: AmountText | None = None
    """Stamp duty, levies, and of income what was withheld. Left out: none."""
    currency: Currency | None = None
    """The currency of its amounts. Left out: the instrument's, or the account's where it has none."""
    fx_rate: DecimalText | None = None
    """What 1 of `currency` is in the portfolio's base currency. Left out: the latest rate recorded for the day or the
    week before it, else HMRC's of the month; where neither is known it is asked for."""
    settlement_date: Date | None = None
    ex_date: Date | None = None
    trade_time: TradeTime | None = None
    split_ratio: Ratio | None = None
    from_instrument_id: Id | None = None
    """Of a spin-off or merger, the instrument that the new one comes out of."""
    from_quantity: DecimalText | None = None
    """Of a merger, how many old units it took. Left out: all that the account holds."""
    cost_share: DecimalText | None = None
    """Of a spin-off, the part of the old shares' cost that goes to the new ones, from 0 to 1; or give that part as
    `grossAmount`."""
    remaining_value: AmountText | None = None
    """What the shares are worth after a return of capital, of a merger with cash what the new ones are, in `currency`.
    Without it the money comes off the cost, and where it is more than 3,000 pounds a warning says so."""
    small_distribution: bool | None = None
    """Whether the money of a return of capital or merger is small and comes off the cost; false, a disposal of a part,
    needs `remainingValue`. Left out: it is where it is 3,000 pounds or less, or 5 % or less of what the shares were
    worth before."""
    taxed_as_dividend: bool | None = None
    """Whether a stock dividend is income, whose amount is then what the shares cost. Left out: that of a British
    company is; that of another counts as a bonus issue, with a warning."""
    counter_account_id: Id | None = None
    """Of a transfer, the other account kept here, for which the other half is made. Left out: it comes from elsewhere
    or goes there."""
    spouse_transfer: bool = False
    reverses_transaction_id: Id | None = None
    """Of a reversal, the transaction that it takes back, with the account and the day of that."""
    notes: Notes | None = None
    external_id: ExternalId | None = None


class GetAssetTransaction(Request, frozen=True, kw_only=True):
    """Which transaction."""

    id: Id


class ListAssetTransactions(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list: latest trade first, or in the order of change with `updatedSince`."""

    account_id: Id | None = None
    portfolio_id: Id | None = None
    legal_entity_id: Id | None = None
    instrument_id: Id | None = None
    type: list[TransactionType] | None = None
    """Only these types; may be given again."""
    from_date: Date | None = None
    """Only trades of this day or later."""
    to_date: Date | None = None
    """Only trades of this day or earlier."""
    source: TransactionSource | None = None
    import_id: Id | None = None
    include_reversed: bool = False
    """True: also what was reversed, and the reversals; with `updatedSince` they are always there."""
    external_id: ExternalId | None = None
    limit: LongLimit = 50
