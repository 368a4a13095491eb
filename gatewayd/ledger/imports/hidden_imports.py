"""Imports whose rows are being moved in or out: nobody sees these rows. Owns the table `hidden_imports`.

A large import is written in many short transactions, and its rows appear, or are gone, all at once: with the row that
is kept here for so long. Every statement that reads bank transactions says `VISIBLE`, by whatever it finds them.
"""

from typing import Final

from gatewayd.store import ReadTx, WriteTx

VISIBLE: Final = (
    "NOT EXISTS (SELECT 1 FROM hidden_imports AS hidden"
    " WHERE hidden.org_id = :org_id AND hidden.import_id = bank_transactions.import_id)"
)
"""The condition on `bank_transactions`."""

VISIBLE_LINES: Final = VISIBLE.replace("bank_transactions.", "lines.")
"""The same on `bank_transactions AS lines`."""

_INSERT = "INSERT INTO hidden_imports (org_id, import_id) VALUES (:org_id, :import_id)"
_SELECT = "SELECT 1 FROM hidden_imports WHERE org_id = :org_id AND import_id = :import_id"
_DELETE = "DELETE FROM hidden_imports WHERE org_id = :org_id AND import_id = :import_id"


def hide(tx: WriteTx, import_id: str) -> None:
    """Hide what the import brought and will bring."""
    tx.run(_INSERT, import_id=import_id)


def is_hidden(tx: ReadTx, import_id: str) -> bool:
    """Whether it is hidden."""
    return tx.row(_SELECT, import_id=import_id) is not None


def show(tx: WriteTx, import_id: str) -> None:
    """Show it, all at once."""
    tx.run(_DELETE, import_id=import_id)
