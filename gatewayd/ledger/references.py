"""References between resources: does an id that a body names exist in the caller's organization?

Another organization's id looks like one that does not exist (domain model §0.2).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from gatewayd.errors import FieldError
from gatewayd.store import ReadTx

Kind = Literal[
    "legal_entity",
    "client",
    "business",
    "property",
    "unit",
    "tenant",
    "tenancy",
    "mortgage",
    "certificate",
    "invoice",
    "bill",
    "folder",
    "document",
    "bank_account",
    "bank_transaction",
    "rule",
    "portfolio",
    "asset_account",
    "instrument",
    "seal",
]

_SELECT_LEGAL_ENTITY = "SELECT 1 FROM legal_entities WHERE org_id = :org_id AND id = :id"
_SELECT_BUSINESS = "SELECT 1 FROM businesses WHERE org_id = :org_id AND id = :id"
_SELECT_CLIENT = "SELECT 1 FROM clients WHERE org_id = :org_id AND id = :id"
_SELECT_BANK_ACCOUNT = "SELECT 1 FROM bank_accounts WHERE org_id = :org_id AND id = :id"
_SELECT_PROPERTY = "SELECT 1 FROM properties WHERE org_id = :org_id AND id = :id"
_SELECT_UNIT = "SELECT 1 FROM property_units WHERE org_id = :org_id AND id = :id"
_SELECT_TENANT = "SELECT 1 FROM tenants WHERE org_id = :org_id AND id = :id"
_SELECT_TENANCY = "SELECT 1 FROM tenancies WHERE org_id = :org_id AND id = :id"
_SELECT_MORTGAGE = "SELECT 1 FROM mortgages WHERE org_id = :org_id AND id = :id"
_SELECT_CERTIFICATE = "SELECT 1 FROM certificates WHERE org_id = :org_id AND id = :id"
_SELECT_INVOICE = "SELECT 1 FROM invoices WHERE org_id = :org_id AND id = :id"
_SELECT_BILL = "SELECT 1 FROM bills WHERE org_id = :org_id AND id = :id"
_SELECT_BANK_TRANSACTION = "SELECT 1 FROM bank_transactions WHERE org_id = :org_id AND id = :id"
_SELECT_FOLDER = "SELECT 1 FROM vault_folders WHERE org_id = :org_id AND id = :id"
_SELECT_DOCUMENT = "SELECT 1 FROM vault_documents WHERE org_id = :org_id AND id = :id AND status = 'uploaded'"
_SELECT_PORTFOLIO = "SELECT 1 FROM asset_portfolios WHERE org_id = :org_id AND id = :id"
_SELECT_ASSET_ACCOUNT = "SELECT 1 FROM asset_accounts WHERE org_id = :org_id AND id = :id"
_SELECT_INSTRUMENT = "SELECT 1 FROM instruments WHERE org_id = :org_id AND id = :id"

_SELECTS: Mapping[str, str] = {
    "legal_entity": _SELECT_LEGAL_ENTITY,
    "client": _SELECT_CLIENT,
    "business": _SELECT_BUSINESS,
    "bank_account": _SELECT_BANK_ACCOUNT,
    "property": _SELECT_PROPERTY,
    "unit": _SELECT_UNIT,
    "tenant": _SELECT_TENANT,
    "tenancy": _SELECT_TENANCY,
    "mortgage": _SELECT_MORTGAGE,
    "certificate": _SELECT_CERTIFICATE,
    "invoice": _SELECT_INVOICE,
    "bill": _SELECT_BILL,
    "bank_transaction": _SELECT_BANK_TRANSACTION,
    "folder": _SELECT_FOLDER,
    "document": _SELECT_DOCUMENT,
    "portfolio": _SELECT_PORTFOLIO,
    "asset_account": _SELECT_ASSET_ACCOUNT,
    "instrument": _SELECT_INSTRUMENT,
}
"""The statement for each kind. A kind without one has no resources yet, so that every id of it is unknown."""
_LISTS: Mapping[str, str] = {
    "legal_entity": "legalEntity.getLegalEntities",
    "client": "accounting.listClients",
    "business": "businesses.list",
    "bank_account": "banking.listAccounts",
    "property": "landlord.listProperties",
    "unit": "landlord.listPropertyUnits",
    "tenant": "landlord.listTenants",
    "tenancy": "landlord.listTenancies",
    "mortgage": "landlord.listMortgages",
    "certificate": "landlord.listCertificates",
    "invoice": "accounting.listInvoices",
    "bill": "accounting.listBills",
    "bank_transaction": "banking.listTransactions",
    "rule": "banking.listRules",
    "folder": "vault.getFolders",
    "document": "vault.listDocuments",
    "portfolio": "assets.listPortfolios",
    "asset_account": "assets.listAccounts",
    "instrument": "assets.listInstruments",
}
"""The operation that lists each kind, for whoever named one that there is not."""


class Reference(NamedTuple):
    """One field of a body that names a resource. `id` None is a field that was left out."""

    path: str
    kind: Kind
    id: str | None


def exists(tx: ReadTx, kind: Kind, id_: str) -> bool:
    """True where the caller's organization has a resource of this kind and id."""
    select = _SELECTS.get(kind)
    return select is not None and tx.row(select, id=id_) is not None


def unknown(tx: ReadTx, references: Iterable[Reference]) -> Iterator[FieldError]:
    """An `unknown_reference` for each reference that leads nowhere."""
    for reference in references:
        if reference.id is not None and not exists(tx, reference.kind, reference.id):
            yield unknown_reference(reference.path, reference.kind)


def unknown_reference(path: str, kind: Kind) -> FieldError:
    """The error of one field that names a resource which does not exist."""
    known = f": `{_LISTS[kind]}` lists those there are" if kind in _LISTS else ""
    return FieldError(path, "unknown_reference", f"There is no such {kind.replace('_', ' ')}{known}.")
