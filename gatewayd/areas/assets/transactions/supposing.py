"""What was supposed of a transaction because nobody told it: the warnings of its answer. Reads only."""

from collections.abc import Iterator
from typing import Final

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.assets.pools import unsettled
from gatewayd.areas.assets.transactions.shapes import TransactionWarning
from gatewayd.ledger import owners
from gatewayd.store import ReadTx

_DISTRIBUTION: Final = TransactionWarning(
    code="distribution_value_unknown",
    message="It comes off the cost, as if it were small. By its amount it is not (CG57835): unless it is 5 % or less of"
    " what the shares were worth, it is a disposal of a part, which needs remainingValue.",
)
_STOCK_DIVIDEND: Final = TransactionWarning(
    code="stock_dividend_unknown",
    message="Of a company outside the United Kingdom it counts as a bonus issue, without income and without cost"
    " (CG51823). Where it was paid as a dividend, enter it with taxedAsDividend.",
)
_OF_NOTHING: Final = TransactionWarning(
    code="stock_dividend_unknown",
    message="It is taxed on the cash that it replaces, which is its cost too: here both are 0.",
)


def warnings(tx: ReadTx, row: AssetTransaction) -> Iterator[TransactionWarning]:
    """Those of a transaction that was entered just now. What is in a wrapper has no gain and no income to tell."""
    if row.type in ("return_of_capital", "merger") and ACCOUNTS.get(tx, row.account_id).is_pooled:
        of_day = (row.legal_entity_id, row.trade_date, row.trade_date)
        is_told = row.remaining_value is not None or row.small_distribution is not None
        if row.gross_amount and not is_told:
            paid_on = row.from_instrument_id or row.instrument_id
            if paid_on in unsettled.distributions(tx, *of_day):
                yield _DISTRIBUTION
    elif row.type == "stock_dividend" and ACCOUNTS.get(tx, row.account_id).is_pooled:
        owner = owners.find(tx, row.legal_entity_id)
        if owner is None or not owner.is_taxed_as_persons:
            return
        if row.taxed_as_dividend is None:
            yield _STOCK_DIVIDEND
        elif row.taxed_as_dividend and not row.gross_amount:
            yield _OF_NOTHING
