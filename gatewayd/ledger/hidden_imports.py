"""Imports whose rows are being moved in or out: nobody sees these rows. Owns the table `hidden_imports`.

A large import is written in many short transactions, and its rows appear, or are gone, all at once: with the row that
is kept here for so long. Every statement that reads bank transactions of an account or an organization says `VISIBLE`;
one by the id of a line may leave it out, since nobody was told the id.
"""

from typing import Final

from gatewayd.store import WriteTx

VISIBLE: Final = (
    "NOT EXISTS (SELECT 1 FROM hidden_imports AS hidden"
    " WHERE hidden.org_id = :org_id AND hidden.import_id = bank_transactions.import_id)"
)
"""The condition on `bank_transactions`."""

_INSERT = "INSERT INTO hidden_imports (org_id, import_id) VALUES (:org_id, :import_id)"
_DELETE = "DELETE FROM hidden_imports WHERE org_id = :org_id AND import_id = :import_id"


def hide(tx: WriteTx, import_id: str) -> None:
    """Hide what the import brought and will bring."""
    tx.run(_INSERT, import_id=import_id)


def show(tx: WriteTx, import_id: str) -> None:
    """Show it, all at once."""
    tx.run(_DELETE, import_id=import_id)
