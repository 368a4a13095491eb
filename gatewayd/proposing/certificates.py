"""Of which property a certificate is that was read (Domain F.6), and what `landlord.createCertificate` would be given.

Properties are found by postcode, and told apart by number or name. A certificate that is kept already, by
its document, its day or its number, is not proposed.
"""

import datetime
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeVar, get_args

import msgspec

from gatewayd.areas.landlord.certificates import rows as certificates
from gatewayd.areas.landlord.register import properties
from gatewayd.areas.landlord.register.properties import StoredProperty
from gatewayd.areas.landlord.units import rows as units
from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.proposals.shapes import ProposedCertificate
from gatewayd.contract.wire import DateText, Name
from gatewayd.extraction.shapes import CertificateFacts
from gatewayd.ledger.certificate_shapes import CertificateNumber, CertificateResult, EpcRating, Registration
from gatewayd.ledger.certificate_shapes import Score as EpcScore
from gatewayd.store import ReadTx

SAME, NAMED, OF_PART, UNREAD = 95, 85, 55, 45  # Chosen
_UNIT: Final = 92
_FEWEST_LETTERS: Final = 3

_TOKEN = re.compile(r"[a-z0-9]+(?:'s)?")
_DESIGNATED = re.compile(r"\b(?:flat|apartment|apt|unit|room|studio|suite|floor)\s+([a-z])\b")
_FLOORS: Final = frozenset(
    {"basement", "garden", "lower", "ground", "first", "second", "third", "upper", "top", "ff", "gff", "tff"}
)
_IN_FLATS = re.compile(r"\b(?:flat|floor|apartment|maisonette)\b|\b[gft]ff\b")
_MOST: Final = 5
_NEIGHBOURS: Final = 50  # Chosen: properties of one postcode, the oldest
_RESULTS: Final[dict[str | None, CertificateResult]] = {"pass": "satisfactory", "fail": "unsatisfactory"}
_BANDS: Final[tuple[EpcRating, ...]] = get_args(EpcRating)

T = TypeVar("T")


class Fit(NamedTuple):
    """How sure it is, of 100, that two addresses are one, and why. `unit`: which of the units it is."""

    score: int
    reason: str
    unit: int | None = None


class Home(NamedTuple):
    """The address of a property without its postcode, and the names of its units."""

    address: str
    units: tuple[str, ...]


def fit_of(read: str | None, home: Home, *, is_alone: bool) -> Fit | None:
    """How a property's address fits one that was read with its postcode; None: it does not, or nobody can tell.

    `read` None: the postcode alone was read, which is enough where the property `is_alone` with it.
    """
    if read is None:
        return Fit(UNREAD, "It is the only property with the postcode.") if is_alone else None
    own, read_marks = _marks(home.address), _marks(read)
    if not own:
        return _by_name(read, home)
    if own == read_marks:
        return Fit(SAME, "It has the postcode and the number.")
    if not own < read_marks:
        return None
    for place, name in enumerate(home.units):
        marks = _marks(name)
        if marks and own | marks == read_marks:
            return Fit(_UNIT, "It has the postcode and the number, and a unit of that name.", place)
    return Fit(OF_PART, "It has the postcode and the number; the certificate is of a part of it.")


def _by_name(read: str, home: Home) -> Fit | None:
    """A house without a number is told by the words of the first line of its address."""
    words = {word for word in _words(home.address.partition(",")[0]) if len(word) >= _FEWEST_LETTERS}
    if words and words <= _words(read):
        return Fit(NAMED, "It has the postcode and the name of the house.")
    return None


def _marks(address: str) -> frozenset[str]:
    """What tells homes of a postcode apart: `{"2", "14a"}` for "Flat 2, 14A High Street"."""
    text = address.casefold()
    numbers = {word for word in _TOKEN.findall(text) if any(c.isdigit() for c in word)}
    floors = _words(text) & _FLOORS if _IN_FLATS.search(text) else frozenset()
    return frozenset(numbers | set(_DESIGNATED.findall(text)) | floors)


def _words(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text.casefold()))


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
    return sorted(_candidates(tx, facts, issued), key=lambda match: -match.score)[:_MOST]


def _candidates(tx: ReadTx, facts: CertificateFacts, issued: datetime.date | None) -> Iterator[CertificateMatch]:
    neighbours = properties.of_postcode(tx, facts.postcode or "", _NEIGHBOURS)
    for owned in neighbours:
        parts = units.of_property(tx, owned.id)
        home = Home(_address(owned), tuple(unit.name for unit in parts))
        fit = fit_of(_read_address(facts), home, is_alone=len(neighbours) == 1)
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
