"""A bank transaction as what its money is for sees it: its account's owner, and how much of it is allocated.

The rows are the banking area's; `allocated` alone is written here, by `ledger/allocations`.
"""

from typing import NamedTuple

import msgspec

from gatewayd.errors import not_found
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row, WriteTx

COLUMNS = (
    "lines.id, account_id, date, amount, allocated, lines.currency, lines.status, description, match_key, reference,"
    " counterparty_name, lines.type, import_id, legal_entity_id, business_ids"
)
"""Of `bank_transactions AS lines` joined with `bank_accounts AS accounts`, in the order of `BankLine`."""
_SELECT_ONE = f"""
SELECT {COLUMNS}
FROM bank_transactions AS lines JOIN bank_accounts AS accounts ON accounts.org_id = :org_id AND accounts.id = account_id
WHERE lines.org_id = :org_id AND lines.id = :id
"""
_UPDATE_ALLOCATED = """
UPDATE bank_transactions SET allocated = :allocated, updated_at = :updated_at, version = version + 1
WHERE org_id = :org_id AND id = :id
"""

_names = msgspec.json.Decoder(list[str])


class BankLine(NamedTuple):
    """A bank transaction. `amount` and `allocated` are minor units, + in and - out; `date` is ISO.

    `legal_entity_id` and `business_ids` are its account's; None: the account names nobody.
    """

    id: str
    account_id: str
    date: str
    amount: int
    allocated: int
    currency: str
    status: str
    description: str
    match_key: str
    reference: str | None
    counterparty_name: str | None
    type: str
    import_id: str | None
    legal_entity_id: str | None
    business_ids: tuple[str, ...]

    @property
    def unallocated(self) -> int:
        """What nothing is known of, signed as the amount is."""
        return self.amount - self.allocated

    @property
    def rest(self) -> Money:
        """The same without its sign."""
        return Money(abs(self.unallocated), self.currency)


def of_row(row: Row) -> BankLine:
    """The line of a row that was selected with `COLUMNS`."""
    return BankLine._make((*row[:-1], tuple(_names.decode(row[-1]))))


def find(tx: ReadTx, line_id: str) -> BankLine | None:
    """The line; None where the organization has no such one."""
    row = tx.row(_SELECT_ONE, id=line_id)
    return None if row is None else of_row(row)


def get(tx: ReadTx, line_id: str) -> BankLine:
    """The line. Raises `Problem` `not_found`."""
    line = find(tx, line_id)
    if line is None:
        raise not_found("bank transaction")
    return line


def set_allocated(tx: WriteTx, line: BankLine, allocated: int) -> BankLine:
    """Keep the sum of a line's allocations, signed minor units, as a change of the line that syncing clients see."""
    tx.run(_UPDATE_ALLOCATED, id=line.id, allocated=allocated, updated_at=tx.updated_at)
    return line._replace(allocated=allocated)
