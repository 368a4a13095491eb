"""What a document seems to be, from its text alone: kind, date, total, sender, numbers, what a certificate says.

It runs in the child process on text of strangers: it looks at a bounded part of it (`lines`), and each pattern at one
short line at a time.
"""

import datetime
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from gatewayd.extraction.facts.certificates import certificate_of
from gatewayd.extraction.facts.confidence import confidence
from gatewayd.extraction.facts.dates import due_date, issue_date, read_dates
from gatewayd.extraction.facts.identifiers import bank_accounts, postcodes, vat_number, vat_numbers
from gatewayd.extraction.facts.kinds import kind_of
from gatewayd.extraction.facts.lines import LINE_CHARS, Line, lines_of
from gatewayd.extraction.facts.parties import senders
from gatewayd.extraction.facts.references import reference_of
from gatewayd.extraction.facts.told import told_in
from gatewayd.extraction.facts.totals import NO_SUMS, Sums, Total, sums_of
from gatewayd.extraction.shapes import CertificateFacts, Confidences, DocumentKind, Facts

__all__ = ["find_facts"]

_WITH_TOTAL: Final = frozenset({"invoice", "receipt", "letter", "other"})
"""Chosen: what asks for money or tells of it. A statement has balances, a certificate a price at most."""
_BILLS: Final = frozenset({"invoice", "receipt"})
_UNLABELLED: Final = 0.5
_LABELLED: Final = 0.8
_OF_SPLIT: Final = (None, 0.6, 0.75, 0.85, 0.85, 0.95)
"""How far net and VAT are to be trusted, by what speaks for them (`totals.Split`)."""
_SENDERS: Final = 8
_JOINS = re.compile(r"[_()\[\]]|\.(?=[A-Za-z]{2,5}$)")


def find_facts(pages: Sequence[str], name: str, today: datetime.date) -> Facts:
    """What the texts of a document's pages say, and where they have no date, its file's name.

    No document was issued more than a month after `today`. A long text takes no longer than one of some pages.
    """
    lines = lines_of(pages)
    kind, strength = kind_of(lines)
    issued, sums = issue_date(lines, today), _sums(lines, kind)
    names, reference, total = senders(lines), reference_of(lines, kind), sums.total
    sender = names[0] if names else None
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
    facts = Facts(
        kind=kind,
        date=None if date is None else date.isoformat(),
        total=_text(None if total is None else total.amount),
        currency=None if total is None else total.currency or _currency(lines, number),
        counterparty=sender,
        vat_number=number,
        reference=reference,
        confidence=confidence(kind, strength, sureness),
        certificate=certificate,
        senders=names[:_SENDERS],
        vat_numbers=vat_numbers(lines),
        bank_accounts=bank_accounts(lines),
    )
    facts = _with_sums(facts, lines, sums)
    return replace(facts, confidences=_confidences(facts, sums, sureness))


def _sums(lines: Sequence[Line], kind: DocumentKind) -> Sums:
    """What it comes to. A letter that tells of payments asks for none, unless it says what is due."""
    sums = sums_of(lines) if kind in _WITH_TOTAL else NO_SUMS
    total = sums.total
    is_told = kind == "letter" and total is not None and not (total.is_sum or total.is_labelled)
    return NO_SUMS if is_told else sums


def _with_sums(facts: Facts, lines: Sequence[Line], sums: Sums) -> Facts:
    """The facts with what a bill alone has."""
    if facts.kind not in _WITH_TOTAL:
        return facts
    issued = None if facts.date is None else datetime.date.fromisoformat(facts.date)
    due = due_date(lines, issued) if facts.kind != "receipt" and facts.total is not None else None
    return replace(
        facts,
        due_date=None if due is None else due.isoformat(),
        net=_text(sums.split.net),
        vat=_text(sums.split.vat),
        amount_due=_text(sums.due),
        told=told_in(lines) if facts.kind in _BILLS else [],
    )


def _confidences(facts: Facts, sums: Sums, sureness: Mapping[str, float]) -> Confidences:
    """How far each fact is to be trusted. Chosen: what its label alone says for 0.8, net and VAT by what agrees."""
    of_split = _OF_SPLIT[sums.split.strength]
    of_total = 0.0 if sums.total is None else max(of_split or 0.0, _LABELLED if sums.total.is_labelled else _UNLABELLED)
    of_date = _LABELLED + 0.1 if sureness["date"] == 1.0 else _UNLABELLED
    by_mark = 0.9 if sums.total is not None and sums.total.currency is not None else _UNLABELLED
    sure = {"date": of_date, "total": of_total, "net": of_split, "vat": of_split, "currency": by_mark}
    sure |= {"due_date": _LABELLED, "counterparty": 0.7, "vat_number": 0.95, "reference": _LABELLED}
    return Confidences(
        **{name: sure[name] for name in Confidences.__struct_fields__ if getattr(facts, name) is not None}
    )


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


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
