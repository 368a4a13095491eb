"""What a document seems to be, from its text alone: kind, date, total, sender, numbers, what a certificate says.

It runs in the child process on text of strangers: it looks at a bounded part of it (`lines`), and each pattern at one
short line at a time.
"""

import datetime
import re
from collections.abc import Sequence
from typing import Final

from gatewayd.extraction.facts.certificates import certificate_of
from gatewayd.extraction.facts.confidence import confidence
from gatewayd.extraction.facts.dates import issue_date, read_dates
from gatewayd.extraction.facts.identifiers import postcodes, vat_number
from gatewayd.extraction.facts.kinds import kind_of
from gatewayd.extraction.facts.lines import LINE_CHARS, Line, lines_of
from gatewayd.extraction.facts.parties import counterparty
from gatewayd.extraction.facts.references import reference_of
from gatewayd.extraction.facts.totals import Total, total_of
from gatewayd.extraction.shapes import CertificateFacts, DocumentKind, Facts

__all__ = ["find_facts"]

_WITH_TOTAL: Final = frozenset({"invoice", "receipt", "letter", "other"})
"""Chosen: what asks for money or tells of it. A statement has balances, a certificate a price at most."""
_UNLABELLED: Final = 0.5
_JOINS = re.compile(r"[_()\[\]]|\.(?=[A-Za-z]{2,5}$)")


def find_facts(pages: Sequence[str], name: str, today: datetime.date) -> Facts:
    """What the texts of a document's pages say, and where they have no date, its file's name.

    No document was issued more than a month after `today`. A long text takes no longer than one of some pages.
    """
    lines = lines_of(pages)
    kind, strength = kind_of(lines)
    issued, total = issue_date(lines, today), _total(lines, kind)
    sender, reference = counterparty(lines), reference_of(lines, kind)
    date = _date_in(name, today) if issued is None else issued.value
    certificate = certificate_of(lines, date, reference, sender) if kind == "certificate" else None
    if certificate is not None:
        sender, reference = certificate.issuer, certificate.reference
    number = vat_number(lines)
    sureness = {
        "date": 0.0 if issued is None else _UNLABELLED if issued.label is None else 1.0,
        "total": _sureness(total),
        "counterparty": float(sender is not None),
        "reference": float(reference is not None),
        "vat_number": float(number is not None),
        **_of_certificate(certificate),
    }
    return Facts(
        kind=kind,
        date=None if date is None else date.isoformat(),
        total=None if total is None else str(total.amount),
        currency=None if total is None else total.currency or _currency(lines, number),
        counterparty=sender,
        vat_number=number,
        reference=reference,
        confidence=confidence(kind, strength, sureness),
        certificate=certificate,
    )


def _total(lines: Sequence[Line], kind: DocumentKind) -> Total | None:
    """What it comes to. A letter that tells of payments asks for none, unless it says what is due."""
    total = total_of(lines) if kind in _WITH_TOTAL else None
    is_told = kind == "letter" and total is not None and not (total.is_sum or total.is_labelled)
    return None if is_told else total


def _date_in(name: str, today: datetime.date) -> datetime.date | None:
    """The date that a file's name has, as `2026-03-12 boiler.pdf` does."""
    dates = [value.value for value in read_dates(_JOINS.sub(" ", name[:LINE_CHARS])) if value.value <= today]
    return dates[0] if len(dates) == 1 else None


def _sureness(total: Total | None) -> float:
    if total is None:
        return 0.0
    return 1.0 if total.is_sum or total.is_labelled else _UNLABELLED


def _of_certificate(certificate: CertificateFacts | None) -> dict[str, float]:
    if certificate is None:
        return {}
    return {"expiry": float(certificate.expiry_date is not None), "postcode": float(certificate.postcode is not None)}


def _currency(lines: Sequence[Line], vat_number: str | None) -> str | None:
    """The currency of amounts beside which none stands. Chosen: pounds, where the sender is British."""
    is_british = (vat_number or "").startswith("GB") or any(postcodes(line.text) for line in lines)
    return "GBP" if is_british else None
