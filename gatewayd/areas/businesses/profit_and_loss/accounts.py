"""How a report counts: on which basis, by which standing towards VAT."""

from gatewayd.areas.businesses.shapes import BusinessRow
from gatewayd.ledger.results.allocated_money import Account, Basis
from gatewayd.ledger.vat import vat_standing
from gatewayd.store import ReadTx


def account_of(tx: ReadTx, row: BusinessRow, basis: Basis | None) -> Account:
    """The business's account on a basis; None: on its own."""
    standing = vat_standing.of_entity(tx, row.legal_entity_id)
    return Account(row.id, row.type, row.currency, basis or row.accounting_basis, standing)
