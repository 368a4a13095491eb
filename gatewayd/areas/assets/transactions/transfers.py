"""Transfers between two accounts that are kept here: which there can be, and the two rows of one (Domain B3, C5).

Between accounts of one person without a wrapper nothing is disposed of; into and out of a wrapper something is, at
what it is worth; to a spouse it goes at cost. Of anybody else each side is entered by itself.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.assets.books.accounts import AssetAccountRow
from gatewayd.areas.assets.books.portfolios import Portfolio
from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction
from gatewayd.areas.assets.transactions.shapes import CreateTransaction
from gatewayd.errors import FieldError
from gatewayd.ledger import owners
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx


class Place(NamedTuple):
    """Where a transaction happens."""

    account: AssetAccountRow
    portfolio: Portfolio


def errors(tx: ReadTx, request: CreateTransaction, place: Place, counter: Place) -> Iterator[FieldError]:
    """Why nothing can be transferred between these two accounts."""
    here, there = place.account, counter.account
    if here.id == there.id:
        yield FieldError("counterAccountId", "conflict", "It is the account itself.")
        return
    if place.portfolio.base_currency != counter.portfolio.base_currency:
        # Chosen: a cost would need a rate of its own on the way
        message = f"Its portfolio is in {counter.portfolio.base_currency}, and not in {place.portfolio.base_currency}."
        yield FieldError("counterAccountId", "currency_mismatch", message)
    if here.legal_entity_id != there.legal_entity_id:
        yield from _errors_of_spouses(tx, request, here, there)
        return
    if request.spouse_transfer:
        yield FieldError("spouseTransfer", "conflict", "Both accounts are of the same person.")
    is_worth_told = request.gross_amount is not None or request.unit_price is not None
    if here.is_pooled != there.is_pooled and not is_worth_told:
        message = "Into and out of a wrapper it is disposed of: at what worth?"
        yield FieldError("grossAmount", "required", message)


def pair(tx: WriteTx, row: AssetTransaction, counter: Place) -> list[AssetTransaction]:
    """The row that was asked for, and the other half of it, which has no costs and no `externalId`."""
    nothing = Money(0, row.currency)
    half = TRANSACTIONS.new(
        tx,
        None,
        **{name: getattr(row, name) for name in _SHARED},
        account_id=counter.account.id,
        portfolio_id=counter.portfolio.id,
        legal_entity_id=counter.account.legal_entity_id,
        type="transfer_in" if row.type == "transfer_out" else "transfer_out",
        fees=nothing,
        taxes=nothing,
        net_amount=nothing,
        counter_account_id=row.account_id,
        linked_transaction_id=row.id,
    )
    return [replace(row, linked_transaction_id=half.id), half]


_SHARED = (
    *("instrument_id", "trade_date", "settlement_date", "trade_time", "quantity", "unit_price", "gross_amount"),
    *(
        "currency",
        "fx_rate",
        "fx_rate_source",
        "fx_rate_date",
        "base_currency",
        "gross_base",
        "spouse_transfer",
        "source",
        "import_id",
        "notes",
    ),
)
"""What both halves have."""


def _errors_of_spouses(
    tx: ReadTx, request: CreateTransaction, here: AssetAccountRow, there: AssetAccountRow
) -> Iterator[FieldError]:
    """Between two legal entities: at cost, and so between spouses alone (TCGA 1992 s58)."""
    if not request.spouse_transfer:
        message = (
            "It is somebody else's account. To a spouse it goes with spouseTransfer; else enter each side by itself."
        )
        yield FieldError("counterAccountId", "conflict", message)
        return
    other = owners.find(tx, there.legal_entity_id)
    if other is None or not other.is_person:
        yield FieldError("counterAccountId", "conflict", "The account is no person's.")
    if not (here.is_pooled and there.is_pooled):
        message = "What is in a wrapper cannot be given away: it leaves the wrapper first, at what it is worth."
        yield FieldError("counterAccountId", "conflict", message)
