"""Of which property a certificate is that was read (Domain F.6), and what `landlord.createCertificate` would be given.

Properties are found by postcode, and told apart by number or name (`places`). A certificate that is kept already, by
its document, its day or its number, is not proposed.
"""

import datetime
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeVar, get_args

import msgspec

from gatewayd.areas.landlord.certificates import rows as certificates
from gatewayd.areas.landlord.certificates.shapes import CertificateNumber, Registration
from gatewayd.areas.landlord.certificates.shapes import Score as EpcScore
from gatewayd.areas.landlord.properties import rows as properties
from gatewayd.areas.landlord.properties.shapes import StoredProperty
from gatewayd.areas.landlord.units import rows as units
from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.proposals.shapes import ProposedCertificate
from gatewayd.contract.wire import DateText, Name
from gatewayd.extraction.shapes import CertificateFacts
from gatewayd.ledger.certificate_shapes import CertificateResult, EpcRating
from gatewayd.proposing import places
from gatewayd.proposing.places import Home
from gatewayd.store import ReadTx

_MOST: Final = 5
_NEIGHBOURS: Final = 50  # Chosen: properties of one postcode, the oldest
_RESULTS: Final[dict[str | None, CertificateResult]] = {"pass": "satisfactory", "fail": "unsatisfactory"}
_BANDS: Final[tuple[EpcRating, ...]] = get_args(EpcRating)

T = TypeVar("T")


class CertificateMatch(NamedTuple):
    """A property that a certificate may be of, how sure that is of 100, and why."""

    score: int
    reason: str
    certificate: ProposedCertificate


def matches(tx: ReadTx, document: Document) -> list[CertificateMatch]:
    """The properties that a document may be a certificate of, the surest first; none: it is none, or is kept already.

    A person who has dated the document goes before what was read in it.
    """
    facts = parses.certificate_of(tx, document.id)
    if facts is None or facts.type == "other" or facts.postcode is None:
        return []
    if certificates.of_document(tx, document.id) is not None:
        return []
    issued = _date(document.document_date) or _date(facts.issued_date)
    return sorted(_found(tx, facts, issued), key=lambda match: -match.score)[:_MOST]


def _found(tx: ReadTx, facts: CertificateFacts, issued: datetime.date | None) -> Iterator[CertificateMatch]:
    neighbours = properties.of_postcode(tx, facts.postcode or "", _NEIGHBOURS)
    for owned in neighbours:
        parts = units.of_property(tx, owned.id)
        home = Home(_address(owned), tuple(unit.name for unit in parts))
        fit = places.fit(_read_address(facts), home, is_alone=len(neighbours) == 1)
        if fit is None:
            continue
        unit_id = None if fit.unit is None else parts[fit.unit].id
        proposed = _proposed(facts, issued, owned, unit_id)
        known = {"type": proposed.type, "issued_date": proposed.issued_date, "reference": proposed.reference}
        if not certificates.is_kept(tx, owned.id, unit_id, known):
            yield CertificateMatch(fit.score, fit.reason, proposed)


def _proposed(
    facts: CertificateFacts, issued: datetime.date | None, owned: StoredProperty, unit_id: str | None
) -> ProposedCertificate:
    """What was read, as far as a certificate may have it: a stranger's file says what it likes."""
    assert facts.type != "other", "it is of no type that landlords keep"
    expiry, is_epc = _date(facts.expiry_date), facts.type == "epc"
    is_in_order = expiry is not None and (issued is None or expiry >= issued)
    return ProposedCertificate(
        property_id=owned.id,
        property_name=owned.name,
        unit_id=unit_id,
        type=facts.type,
        issued_date=None if issued is None else DateText(issued.isoformat()),
        expiry_date=DateText(expiry.isoformat()) if expiry is not None and is_in_order else None,
        reference=_fitting(facts.reference, CertificateNumber),
        issuer_name=_fitting(facts.issuer, Name),
        issuer_registration=_fitting(facts.issuer_registration, Registration),
        result=_RESULTS.get(facts.result),
        rating=next((band for band in _BANDS if is_epc and band == facts.rating), None),
        score=_fitting(facts.score, EpcScore) if is_epc else None,
        address=facts.address,
    )


def _read_address(facts: CertificateFacts) -> str | None:
    """The address that was read without its postcode; None: no more than that was."""
    if facts.address is None or facts.postcode is None:
        return None
    postcode = r"\s*".join(map(re.escape, facts.postcode.replace(" ", "")))
    rest = re.sub(postcode, " ", facts.address, flags=re.IGNORECASE)
    return rest if any(c.isalnum() for c in rest) else None


def _address(owned: StoredProperty) -> str:
    address = owned.address
    return "" if address is None else ", ".join(line for line in (address.line1, address.line2) if line)


def _date(text: str | None) -> datetime.date | None:
    try:
        return None if text is None else datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _fitting(value: object, kind: type[T]) -> T | None:
    """The value where it is of the kind, with its bounds; else None."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None
