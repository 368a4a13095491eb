"""The state of a certificate follows from its dates (Domain B4), so that no job can be late. Pure."""

from typing import Final

from gatewayd.areas.landlord.certificates.shapes import StoredCertificate
from gatewayd.clock import days_after
from gatewayd.ledger.certificate_shapes import CertificateStatus

NEVER: Final = "9999-12-31"
"""The last day of what has no end."""


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
