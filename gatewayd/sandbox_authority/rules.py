"""What the sandbox authority's operations share: a call, its faults, the rules for its parameters, derived values.

Codes and messages are the authority's own, published with each of its interfaces (domain model §D3); they differ from
one interface to the next and are written beside the operations that use them. Everything here is pure.
"""

import datetime
import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from gatewayd.clock import Instant
from gatewayd.http1.header_fields import Headers

Document = Mapping[str, object]

ENCODER: Final = msgspec.json.Encoder(decimal_format="number")  # amounts keep their two places: 1000.10

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_VRN: Final = re.compile(r"[0-9]{9}")
_TAX_YEAR: Final = re.compile(r"2([0-9]{3})-([0-9]{2})")
_BUSINESS_ID: Final = re.compile(r"X[a-zA-Z0-9]IS[0-9]{11}")
_NINO: Final = re.compile(  # HMRC NIM39110: which pairs of letters are given out; the suffix may be a space
    r"(?!BG|GB|NK|KN|TN|NT|ZZ)[ABCEGHJ-PRSTW-Z][ABCEGHJ-NPRSTW-Z][0-9]{6}[A-D ]"
)
APRIL_6: Final = (4, 6)


class AuthorityFault(Exception):
    """The authority refuses, with a status and a document that says why."""

    def __init__(self, status: int, document: Document) -> None:
        super().__init__(status)
        self.status = status
        self.document = document


class Call(Struct, frozen=True, kw_only=True):
    """One call of an operation. `parameters` join those of the path and of the query; `today` is London's date.

    `scenario` is "" where none was asked for. `fraud_headers` are the fraud-prevention headers, by their names in lower
    case.
    """

    parameters: Mapping[str, str]
    fraud_headers: Mapping[str, str]
    scenario: str
    today: datetime.date
    now: Instant


Handler = Callable[[Call], Document]
"""What an endpoint does: answers with 200, or raises `AuthorityFault`."""


def field_value(headers: Headers, name: bytes) -> str:
    """The first value of a header field, named in lower case; empty where it is not there."""
    return next((value.decode("latin-1").strip(" \t") for key, value in headers if key.lower() == name), "")


# -- faults


def fault(status: int, code: str, message: str) -> AuthorityFault:
    """A refusal of the usual shape, `{"code", "message"}`."""
    return AuthorityFault(status, error(code, message))


def error(code: str, message: str) -> Document:
    """One error, as it stands alone and in `errors`."""
    return {"code": code, "message": message}


def refuse(errors: list[Document]) -> None:
    """Raises what a validation found: one error alone, several under `INVALID_REQUEST` (§D3)."""
    if len(errors) == 1:
        raise AuthorityFault(400, errors[0])
    if errors:
        raise AuthorityFault(400, {**error("INVALID_REQUEST", "Invalid request"), "errors": errors})


def known_scenario(call: Call, scenarios: Collection[str]) -> None:
    """Refuses a test scenario that the operation does not document."""
    if call.scenario and call.scenario not in scenarios:
        raise unknown_scenario()


def unknown_scenario() -> AuthorityFault:
    """The refusal of a test scenario that nobody documents."""
    return fault(400, "RULE_INCORRECT_GOV_TEST_SCENARIO", "The supplied Gov-Test-Scenario is not valid")


def insolvent(status: int) -> AuthorityFault:
    """The refusal of an insolvent trader: 403 for VAT, 400 for Income Tax (§D3)."""
    return fault(status, "RULE_INSOLVENT_TRADER", "The remote endpoint has indicated that the Trader is insolvent")


def not_found() -> AuthorityFault:
    """Income Tax: there is nothing of the kind."""
    return fault(404, "MATCHING_RESOURCE_NOT_FOUND", "Matching resource not found")


# -- formats


def is_vrn(text: str) -> bool:
    """Nine digits; the authority checks no more."""
    return _VRN.fullmatch(text) is not None


def is_nino(text: str) -> bool:
    """A National Insurance number that could have been given out."""
    return _NINO.fullmatch(text) is not None


def is_business_id(text: str) -> bool:
    """The authority's id of an income source, such as `XAIS12345678901`."""
    return _BUSINESS_ID.fullmatch(text) is not None


def date_of(text: str | None) -> datetime.date | None:
    """The date that `YYYY-MM-DD` names; None for anything else."""
    if text is None or not _DATE.fullmatch(text):
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def year_of(text: str) -> int | None:
    """The calendar year in which the tax year `YYYY-YY` starts; None where it is no tax year of the 2000s."""
    parts = _TAX_YEAR.fullmatch(text)
    return None if parts is None else 2000 + int(parts[1])


def nino_error(call: Call) -> list[Document]:
    """What is wrong with the National Insurance number, as a list of none or one."""
    return [] if is_nino(call.parameters["nino"]) else [error("FORMAT_NINO", "The provided NINO is invalid")]


def tax_year_error(text: str, minimum: int | None = None) -> list[Document]:
    """What is wrong with a tax year, as a list of none or one. `minimum` is the first calendar year supported."""
    year = year_of(text)
    if year is None:
        return [error("FORMAT_TAX_YEAR", "The provided tax year is invalid")]
    if int(text[-2:]) != (year + 1) % 100:
        return [error("RULE_TAX_YEAR_RANGE_INVALID", "A tax year range of one year is required")]
    if minimum is not None and year < minimum:
        return [error("RULE_TAX_YEAR_NOT_SUPPORTED", "The tax year specified does not lie within the supported range")]
    return []


# -- the tax year


def tax_year(year: int) -> str:
    """`2026-27`, for the tax year that starts in 2026."""
    return f"{year}-{(year + 1) % 100:02d}"


def tax_year_on(day: datetime.date) -> int:
    """The calendar year in which the tax year of a day starts (domain model §C6)."""
    return day.year - ((day.month, day.day) < APRIL_6)


# -- values derived from what was asked, so that every daemon answers alike


def digest(*parts: object) -> bytes:
    """32 bytes that depend on the parts alone; any text may stand in them, also one that is no Unicode."""
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).digest()


def derived_number(below: int, *parts: object) -> int:
    """A whole number from 0 up to `below`, not included."""
    return int.from_bytes(digest(*parts)[:8], "big") % below


def derived_uuid(*parts: object) -> str:
    """A UUID of the form that the authority gives out."""
    octets = bytearray(digest(*parts)[:16])
    octets[6] = octets[6] & 0x0F | 0x40
    octets[8] = octets[8] & 0x3F | 0x80
    text = octets.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
