"""Reversals: a transaction that was wrong is taken back by one of the opposite effect on the same date (Domain B3)."""

from msgspec.structs import replace

from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction
from gatewayd.areas.assets.pools import recording
from gatewayd.areas.assets.transactions import rules
from gatewayd.areas.assets.transactions.entering import Origin, place_of, refuse_places
from gatewayd.areas.assets.transactions.shapes import CreateTransaction
from gatewayd.errors import FieldError, invalid, invalid_state
from gatewayd.ledger.references import unknown_reference
from gatewayd.money import Money
from gatewayd.store import WriteTx


def reverse(tx: WriteTx, request: CreateTransaction, origin: Origin) -> AssetTransaction:
    """Reverse a transaction, and the other half of a transfer with it; answers the reversal that was asked for.

    Raises `Problem`: `validation_failed`, `invalid_state` where it is reversed already or a reversal itself,
    `period_closed`, `already_exists`, and `insufficient_quantity` where what it brought has been sold since.
    """
    original = _original(tx, request)
    originals = [original]
    if original.linked_transaction_id is not None:
        originals.append(TRANSACTIONS.get(tx, original.linked_transaction_id))
    places = [place for row in originals if (place := place_of(tx, row.account_id)) is not None]
    refuse_places(tx, places, original.trade_date)
    reversals = [_reversal(tx, row, origin) for row in originals]
    reversals[0] = replace(reversals[0], external_id=request.external_id, notes=request.notes)
    if len(reversals) == 2:
        first, other = reversals
        reversals = [replace(first, linked_transaction_id=other.id), replace(other, linked_transaction_id=first.id)]
    stored = [TRANSACTIONS.insert(tx, row) for row in reversals]
    for row, reversal in zip(originals, stored, strict=True):
        TRANSACTIONS.update(tx, replace(row, reversed_by_id=reversal.id))
    recording.take_back(tx, originals)
    return stored[0]


def _original(tx: WriteTx, request: CreateTransaction) -> AssetTransaction:
    """What is to be reversed. Raises `Problem`: `validation_failed`, `invalid_state`."""
    errors = list(rules.field_errors(request, tx.today))
    original = None
    if request.reverses_transaction_id is not None:
        original = TRANSACTIONS.find(tx, request.reverses_transaction_id)
        if original is None:
            message = "There is no such transaction: `assets.listTransactions` lists those there are."
            errors.append(FieldError("reversesTransactionId", "unknown_reference", message))
    place = place_of(tx, request.account_id)
    if place is None:
        errors.append(unknown_reference("accountId", "asset_account"))
    if original is not None:
        if place is not None and original.account_id != request.account_id:
            message = f"It happened in another account: expected {original.account_id}."
            errors.append(FieldError("accountId", "conflict", message))
        if original.trade_date != request.trade_date.isoformat():
            message = f"A reversal has the date of what it reverses: expected {original.trade_date}."
            errors.append(FieldError("tradeDate", "conflict", message))
    if errors:
        raise invalid(*errors)
    assert original is not None
    if original.type == "reversal":
        message = f"It is a reversal, and is not reversed itself: enter {original.reverses_transaction_id} anew."
        raise invalid_state(message, "reversal", ())
    if original.reversed_by_id is not None:
        message = f"It is reversed already, by {original.reversed_by_id}: to have it again, enter it anew."
        raise invalid_state(message, "reversed", ())
    return original


def _reversal(tx: WriteTx, original: AssetTransaction, origin: Origin) -> AssetTransaction:
    """The reversal of a transaction: what that says, with the opposite effect on cash."""
    cash = original.net_amount
    return replace(
        original,
        id=tx.new_id("txn"),
        external_id=None,
        type="reversal",
        net_amount=Money(-cash.minor, cash.currency),
        linked_transaction_id=None,
        reverses_transaction_id=original.id,
        reversed_by_id=None,
        source=origin.source,
        import_id=origin.import_id,
        notes=None,
        created_at=tx.now,
        updated_at=tx.updated_at,
        version=1,
    )
