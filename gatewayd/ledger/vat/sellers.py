"""The seller of an invoice: facts about a legal entity that it prints and is taxed by. Reads only.

An organization that has no legal entity sells in its own name and is not registered for VAT. Its first legal entity
takes its sequences of invoice numbers over (Chosen: one firm has each number once); others count apart.
"""

from typing import Literal, NamedTuple

from gatewayd.store import ReadTx, Row

_COLUMNS = (
    "entities.id, entities.name, legal_name, company_number, vat_number, vat_status, vat_effective_date,"
    " vat_deregistration_date, base_currency, address, cis_subcontractor, cis_verified_rate, archived_at IS NOT NULL,"
    " numbered_as_organization, entities.org_id"
)
_SELECT_ONE = f"""
SELECT {_COLUMNS} FROM legal_entities AS entities WHERE org_id = :org_id AND id = :id
"""
_SELECT_ACTIVE = f"""
SELECT organizations.name, {_COLUMNS}
FROM organizations LEFT JOIN legal_entities AS entities ON entities.org_id = :org_id AND archived_at IS NULL
WHERE organizations.id = :org_id LIMIT 2
"""
_SELECT_ORGANIZATION = "SELECT name FROM organizations WHERE id = :org_id"

CisRate = Literal[0, 20, 30]
"""What a contractor withholds, percent of labour."""

UNVERIFIED_CIS_RATE: CisRate = 30  # percent: a subcontractor whom HMRC could not verify (CIS340 §3.10)


class Seller(NamedTuple):
    """`legal_entity_id` is None where the organization itself sells; dates are ISO, `address` is JSON text.

    `key` is whose numbers are used: the legal entity's, or the organization's own. `cis_rate` None is a seller who is
    no subcontractor.
    """

    legal_entity_id: str | None
    key: str
    name: str
    company_number: str | None
    vat_number: str | None
    vat_status: str
    vat_effective_date: str | None
    vat_deregistration_date: str | None
    base_currency: str
    address: str | None
    cis_rate: CisRate | None
    archived: bool

    def registered_on(self, date: str) -> bool:
        """True where the seller is registered for VAT on the ISO date.

        While an application is pending, no VAT may be charged (Notice 700/1 §5.1). The registration ends with
        the day before its deregistration date.
        """
        if self.vat_effective_date is not None and date < self.vat_effective_date:
            return False
        if self.vat_status == "registered":
            return self.vat_deregistration_date is None or date < self.vat_deregistration_date
        if self.vat_status == "deregistered":
            return self.vat_deregistration_date is not None and date < self.vat_deregistration_date
        return False


def find(tx: ReadTx, legal_entity_id: str) -> Seller | None:
    """The seller that a legal entity of the caller's organization is, archived or not."""
    row = tx.row(_SELECT_ONE, id=legal_entity_id)
    return None if row is None else _seller(row)


def find_only(tx: ReadTx) -> Seller | None:
    """The seller where there is no choice: the one active legal entity, or the organization where it has none.

    None where there are several, so that one must be named.
    """
    rows = tx.rows(_SELECT_ACTIVE)
    if len(rows) > 1:
        return None
    ((name, *columns),) = rows
    return _organization(tx.org_id, name) if columns[0] is None else _seller(tuple(columns))


def organization(tx: ReadTx) -> Seller:
    """The organization as a seller in its own name."""
    return _organization(tx.org_id, tx.value(_SELECT_ORGANIZATION))


def _organization(org_id: str, name: str) -> Seller:
    return Seller(
        legal_entity_id=None,
        key=org_id,
        name=name,
        company_number=None,
        vat_number=None,
        vat_status="not_registered",
        vat_effective_date=None,
        vat_deregistration_date=None,
        base_currency="GBP",  # Chosen: the service is for books kept in the United Kingdom
        address=None,
        cis_rate=None,
        archived=False,
    )


def _seller(row: Row) -> Seller:
    (
        id_,
        name,
        legal_name,
        company_number,
        vat_number,
        vat_status,
        effective_date,
        deregistration_date,
        base_currency,
        address,
        subcontractor,
        verified_rate,
        archived,
        numbered_as_organization,
        org_id,
    ) = row
    cis_rate = UNVERIFIED_CIS_RATE if verified_rate is None else verified_rate
    return Seller(
        legal_entity_id=id_,
        key=org_id if numbered_as_organization else id_,
        name=legal_name or name,
        company_number=company_number,
        vat_number=vat_number,
        vat_status=vat_status,
        vat_effective_date=effective_date,
        vat_deregistration_date=deregistration_date,
        base_currency=base_currency,
        address=address,
        cis_rate=cis_rate if subcontractor else None,
        archived=bool(archived),
    )
