"""Whose a resource is: the legal entity that its id leads to, by one look-up. Reads only.

A property, and what belongs to it, is whose business it belongs to, whoever else owns a part of it.
"""

from collections.abc import Mapping
from typing import Final

from gatewayd.contract.holding import OwnedKind
from gatewayd.store import ReadTx

_OF_LEGAL_ENTITY = "SELECT id FROM legal_entities WHERE org_id = :org_id AND id = :id"
_OF_BUSINESS = "SELECT legal_entity_id FROM businesses WHERE org_id = :org_id AND id = :id"
_OF_PERIOD = "SELECT legal_entity_id FROM periods WHERE org_id = :org_id AND id = :id"
_OF_OBLIGATION = "SELECT legal_entity_id FROM obligations WHERE org_id = :org_id AND id = :id"
_OF_INVOICE = "SELECT legal_entity_id FROM invoices WHERE org_id = :org_id AND id = :id"
_OF_BILL = "SELECT legal_entity_id FROM bills WHERE org_id = :org_id AND id = :id"
_OF_QUOTE = "SELECT legal_entity_id FROM quotes WHERE org_id = :org_id AND id = :id"
_OF_RECURRING = "SELECT legal_entity_id FROM recurring_invoices WHERE org_id = :org_id AND id = :id"
_OF_ALLOCATION = "SELECT legal_entity_id FROM allocations WHERE org_id = :org_id AND id = :id"
_OF_BANK_ACCOUNT = "SELECT legal_entity_id FROM bank_accounts WHERE org_id = :org_id AND id = :id"
_OF_BANK_TRANSACTION = """
SELECT a.legal_entity_id FROM bank_transactions t JOIN bank_accounts a ON a.org_id = t.org_id AND a.id = t.account_id
WHERE t.org_id = :org_id AND t.id = :id
"""
_OF_PORTFOLIO = "SELECT legal_entity_id FROM asset_portfolios WHERE org_id = :org_id AND id = :id"
_OF_ASSET_ACCOUNT = "SELECT legal_entity_id FROM asset_accounts WHERE org_id = :org_id AND id = :id"
_OF_ASSET_TRANSACTION = "SELECT legal_entity_id FROM asset_transactions WHERE org_id = :org_id AND id = :id"
_OF_PROPERTY = """
SELECT b.legal_entity_id FROM properties p JOIN businesses b ON b.org_id = p.org_id AND b.id = p.business_id
WHERE p.org_id = :org_id AND p.id = :id
"""
_BY_PROPERTY = """o
JOIN properties p ON p.org_id = o.org_id AND p.id = o.property_id
JOIN businesses b ON b.org_id = p.org_id AND b.id = p.business_id
WHERE o.org_id = :org_id AND o.id = :id
"""
_OF_TENANCY = f"SELECT b.legal_entity_id FROM tenancies {_BY_PROPERTY}"
_OF_UNIT = f"SELECT b.legal_entity_id FROM property_units {_BY_PROPERTY}"
_OF_VALUATION = f"SELECT b.legal_entity_id FROM property_valuations {_BY_PROPERTY}"
_OF_MORTGAGE = f"SELECT b.legal_entity_id FROM mortgages {_BY_PROPERTY}"
_OF_CERTIFICATE = f"SELECT b.legal_entity_id FROM certificates {_BY_PROPERTY}"

_OF: Final[Mapping[OwnedKind, str]] = {
    "allocation": _OF_ALLOCATION,
    "asset_account": _OF_ASSET_ACCOUNT,
    "asset_transaction": _OF_ASSET_TRANSACTION,
    "bank_account": _OF_BANK_ACCOUNT,
    "bank_transaction": _OF_BANK_TRANSACTION,
    "bill": _OF_BILL,
    "business": _OF_BUSINESS,
    "certificate": _OF_CERTIFICATE,
    "invoice": _OF_INVOICE,
    "legal_entity": _OF_LEGAL_ENTITY,
    "mortgage": _OF_MORTGAGE,
    "obligation": _OF_OBLIGATION,
    "period": _OF_PERIOD,
    "portfolio": _OF_PORTFOLIO,
    "property": _OF_PROPERTY,
    "quote": _OF_QUOTE,
    "recurring_invoice": _OF_RECURRING,
    "tenancy": _OF_TENANCY,
    "unit": _OF_UNIT,
    "valuation": _OF_VALUATION,
}


def owner_of(tx: ReadTx, kind: OwnedKind, id_: str) -> str | None:
    """The id of the legal entity whose it is. None: there is no such thing, or it is the organization's."""
    owner: str | None = tx.value(_OF[kind], id=id_)
    return owner
