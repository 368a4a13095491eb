"""The rules that the fields of a certificate follow, and its state (Domain B4). Pure.

The state follows from its dates, so that no job can be late.
"""

import datetime
from collections.abc import Iterator
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from gatewayd.areas.landlord.certificates.kinds import KINDS
from gatewayd.areas.landlord.certificates.shapes import StoredCertificate
from gatewayd.clock import days_after
from gatewayd.errors import FieldError, invalid_field
from gatewayd.ledger.certificate_shapes import CertificateStatus

EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2199, 12, 31)  # Chosen: what lies beyond is a slip
REMEDIAL_DAYS: Final = 28
"""Chosen: how long faults of wiring may last where the report names no day, everywhere as in England (SI 2020/312)."""

_DATES = {
    "issuedDate": "issued_date",
    "expiryDate": "expiry_date",
    "remedialDueDate": "remedial_due_date",
    "remedialDoneDate": "remedial_done_date",
    "servedDate": "served_date",
}
_PAST = frozenset({"issuedDate", "remedialDoneDate", "servedDate"})
NEVER: Final = "9999-12-31"
"""The last day of what has no end."""


def issuer(name: str | UnsetType | None, short: str | UnsetType | None) -> str | UnsetType | None:
    """Who issued it, by `issuerName` or `issuer`; None or UNSET: the request has no such field.

    Raises `Problem` `validation_failed` where it has both.
    """
    if name not in (None, UNSET) and short not in (None, UNSET):
        raise invalid_field("issuer", "conflict", "Give issuerName or issuer, not both.")
    return name if short is UNSET or (short is None and name is not UNSET) else short


def with_remedy(row: StoredCertificate) -> StoredCertificate:
    """The certificate with the day by which its faults are to be mended, where it names none."""
    if row.type != "eicr" or row.result != "unsatisfactory" or row.remedial_due_date is not None:
        return row
    return replace(row, remedial_due_date=days_after(row.issued_date, REMEDIAL_DAYS))


def chain_of(row: StoredCertificate) -> str:
    """What certificates of one property and type have in common where each takes the place of the one before it.

    They are of the same unit, of the same tenancy where each tenancy has its own, and of the same title where a
    property may have several at once.
    """
    kind = KINDS[row.type]
    tenancy = row.tenancy_id if kind.of_tenancy else None
    title = row.title if kind.by_title else None
    return f"{row.unit_id or ''}\n{tenancy or ''}\n{' '.join((title or '').casefold().split())}"


def mistakes(row: StoredCertificate, today: str) -> Iterator[FieldError]:
    """What is wrong with a certificate, as requests call its fields. `today` is ISO."""
    if row.type == "other" and row.title is None:
        yield FieldError("title", "required", "This field is required of the type other: what is it?")
    for path, value in (("rating", row.rating), ("score", row.score)):
        if value is not None and row.type != "epc":
            yield FieldError(path, "conflict", "Only the type epc has it: leave this out.")
    if row.cost is not None and row.cost.minor < 0:
        yield FieldError("cost", "out_of_range", "Expected 0 or more.")
    yield from _date_mistakes(row, today)


def _date_mistakes(row: StoredCertificate, today: str) -> Iterator[FieldError]:
    for path, name in _DATES.items():
        date = getattr(row, name)
        if date is None:
            continue
        if not EARLIEST.isoformat() <= date <= LATEST.isoformat():
            yield FieldError(path, "out_of_range", f"Expected a date from {EARLIEST} to {LATEST}.")
        elif date > today and path in _PAST:
            yield FieldError(path, "out_of_range", "The day is still to come: expected today or an earlier one.")
        elif date < row.issued_date:
            yield FieldError(path, "date_order", "It is before issuedDate: expected that day or a later one.")


def is_unsafe(row: StoredCertificate) -> bool:
    """Whether it found faults that nobody has mended: an electrical report that does not help."""
    return row.type == "eicr" and row.result == "unsatisfactory" and row.remedial_done_date is None


def valid_until(row: StoredCertificate) -> str:
    """The last day on which it helps, as an ISO date: `NEVER` without an end, and empty for what is unsafe."""
    if is_unsafe(row):
        return ""
    return row.expiry_date or NEVER


def status_of(row: StoredCertificate, day: str, window_days: int) -> CertificateStatus:
    """The state on an ISO date; what ends at most `window_days` later is expiring."""
    if row.superseded_date is not None and row.superseded_date <= day:
        return "superseded"
    until = valid_until(row)
    if until < day:
        return "expired"
    return "expiring" if until <= days_after(day, window_days) else "valid"
