"""What the rows of a statement file look like (domain model E)."""

from gatewayd.contract.wire import Amount, DateText, Id, Response
from gatewayd.ledger.imports.import_shapes import Action


class ImportRow(Response, frozen=True, kw_only=True):
    """A row of a file.

    `transactionId` is its id where it is added, `existingTransactionId` of the transaction that it is or replaces.
    """

    position: int
    line: int
    action: Action
    reason: str | None
    transaction_id: Id
    existing_transaction_id: Id | None
    booking_date: DateText | None
    value_date: DateText | None
    amount: Amount
    currency: str
    description: str
    counterparty_name: str | None
    reference: str | None
    balance_after: Amount | None
