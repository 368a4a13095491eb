"""What follows from properties and certificates: renewals, and reports of disposals, as obligations (Domain B9, F.9).

    certificate    due on the day it expires; met by the certificate that supersedes it
    disposal       Capital Gains Tax on a home is reported and paid within 60 days of completion

Nothing is due of a property that is sold or archived, but for the report of its sale.
"""

from typing import Final

from gatewayd.areas.landlord.certificates.shapes import StoredCertificate
from gatewayd.areas.landlord.properties.rows import PROPERTIES
from gatewayd.areas.landlord.properties.shapes import StoredProperty, Use
from gatewayd.clock import days_after
from gatewayd.ledger import resource_obligations
from gatewayd.ledger.resource_obligations import Following
from gatewayd.ledger.taxpayers import businesses, owners
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.store import WriteTx

KEPT: Final = frozenset({"active", "under_offer"})
REPORT_DAYS: Final = 60
"""Days after completion, for completions since `REPORTED_FROM` (Domain B9)."""
REPORTED_FROM: Final = "2021-10-27"
_NO_HOMES: Final[frozenset[Use]] = frozenset({"commercial_let"})
_ACRONYMS: Final = frozenset({"eicr", "epc", "hmo", "pat", "prs", "mees"})
_COUNTRIES: Final = frozenset({"england", "wales", "scotland", "northern_ireland"})


def of_certificate(tx: WriteTx, row: StoredCertificate, of: StoredProperty | None = None) -> None:
    """Settle what follows from a certificate. `of` is its property, where that is known."""
    of = of or PROPERTIES.get(tx, row.property_id)
    business = businesses.find(tx, of.business_id)
    assert business is not None, "a foreign key"
    following = None
    if row.expiry_date is not None and of.status in KEPT:
        following = Following(
            kind="certificate_renewal",
            name=f"{_title(row)}: {of.name}",
            legal_entity_id=business.legal_entity_id,
            business_id=business.id,
            start=row.issued_date,
            end=row.expiry_date,
            due=row.expiry_date,
            met_on=row.superseded_date,
        )
    resource_obligations.settle(tx, row.id, following)


def without_certificate(tx: WriteTx, certificate_id: str) -> None:
    """Settle what followed from a certificate that is deleted."""
    resource_obligations.settle(tx, certificate_id, None)


def of_disposal(tx: WriteTx, of: StoredProperty) -> None:
    """Settle what follows from a property being sold.

    Chosen: it is expected of every home that a person sells, since nobody here knows whether tax is due; who needs no
    report dismisses it.
    """
    business = businesses.find(tx, of.business_id)
    assert business is not None, "a foreign key"
    owner = owners.find(tx, business.legal_entity_id)
    sold = of.disposal_date if of.status == "sold" and of.jurisdiction in _COUNTRIES else None
    following = None
    if sold is not None and sold >= REPORTED_FROM and of.use not in _NO_HOMES and not _is_company(owner):
        following = Following(
            kind="cgt_property_report",
            name=f"Capital Gains Tax on {of.name}",
            legal_entity_id=business.legal_entity_id,
            business_id=business.id,
            start=sold,
            end=sold,
            due=days_after(sold, REPORT_DAYS),
        )
    resource_obligations.settle(tx, of.id, following)


def _is_company(owner: Owner | None) -> bool:
    return owner is not None and owner.is_incorporated


def _title(row: StoredCertificate) -> str:
    """What people call it: `Gas safety`, `EPC`."""
    if row.title is not None:
        return row.title
    words = [word.upper() if word in _ACRONYMS else word for word in row.type.split("_")]
    return " ".join([words[0] if words[0].isupper() else words[0].capitalize(), *words[1:]])
