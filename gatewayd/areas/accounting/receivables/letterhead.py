"""Whose letterhead a statement of account has, and how a letter names the statement that goes with it."""

from typing import Final

import msgspec

from gatewayd.areas.accounting.receivables.shapes import GetStatement
from gatewayd.errors import invalid_field
from gatewayd.ledger.vat import sellers
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.store import ReadTx

_HEAD: Final = "statement "
_SELECT_SELLERS = """
SELECT DISTINCT legal_entity_id FROM invoices
WHERE org_id = :org_id AND client_id = :client_id AND number IS NOT NULL AND legal_entity_id IS NOT NULL LIMIT 2
"""


def seller_of(tx: ReadTx, client_id: str, legal_entity_id: str | None) -> Seller:
    """Whose letterhead it has: also that of one that is archived, to whom something may be owed.

    Where none is named it is the only one there is, else the only one that made anything out to the client. Raises
    `Problem` `validation_failed` where neither is.
    """
    found = sellers.find_only(tx) if legal_entity_id is None else sellers.find(tx, legal_entity_id)
    if found is None and legal_entity_id is None:
        of_client = [row[0] for row in tx.rows(_SELECT_SELLERS, client_id=client_id)]
        found = sellers.find(tx, of_client[0]) if len(of_client) == 1 else None
    if found is None:
        message = "Several legal entities of the organization made invoices out to this client: whose account is it?"
        raise invalid_field("legalEntityId", "required", message)
    return found


def named(request: GetStatement) -> str:
    """A statement as `Letter.paper` names it: all that it takes to make it."""
    return _HEAD + msgspec.json.encode(request).decode()


def statement_named(paper: str) -> GetStatement | None:
    """The statement that a letter names. None: it names an invoice or a quote."""
    return msgspec.json.decode(paper.removeprefix(_HEAD), type=GetStatement) if paper.startswith(_HEAD) else None
