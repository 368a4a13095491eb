"""The rules that the fields of a legal entity follow, and the form of its identifiers. Pure."""

import calendar
import datetime
import re
from collections.abc import Iterator
from decimal import Decimal

from msgspec.structs import replace

from gatewayd import check_digits
from gatewayd.areas.legal_entities.shapes import EntityRow, EntityType, YearEnd
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.taxpayers.owners import INCORPORATED, PERSONS

_COMPANY_NUMBER = re.compile(r"\d{8}|[A-Z]{2}\d{6}", re.ASCII)
_NINO = re.compile(r"[A-Z]{2}\d{6}[A-D]", re.ASCII)
VRN_DIGITS = 9  # not the forms of branches, departments and health authorities, which file no returns of their own
_NINO_NEVER_ISSUED = frozenset({"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"})  # HMRC NIM39110
_NINO_NEVER_FIRST = frozenset("DFIQUV")
_NINO_NEVER_SECOND = frozenset("DFIQUVO")


def default_year_end(entity_type: EntityType) -> YearEnd:
    """5 April for persons; 31 March for the others (Chosen: the financial year of corporation tax)."""
    return YearEnd(month=4, day=5) if entity_type in PERSONS else YearEnd(month=3, day=31)


def checked(entity: EntityRow) -> EntityRow:
    """The entity with identifiers in their canonical form.

    Raises `Problem` `validation_failed` naming every field that breaks a rule.
    """
    errors = [*_identifier_errors(entity), *_vat_errors(entity), *_other_errors(entity)]
    if errors:
        raise invalid(*errors)
    return replace(
        entity,
        vat_number=entity.vat_number and vat_number(entity.vat_number),
        utr=entity.utr and check_digits.utr(entity.utr),
        nino=entity.nino and nino(entity.nino),
        company_number=_company_number(entity),
    )


def _company_number(entity: EntityRow) -> str | None:
    """Only the register of GB has a form that we know; other countries' numbers are stored as they are written."""
    if entity.company_number is None or entity.country_code != "GB":
        return entity.company_number
    return company_number(entity.company_number)


def _identifier_errors(entity: EntityRow) -> Iterator[FieldError]:
    if entity.vat_number is not None and vat_number(entity.vat_number) is None:
        message = "This is not a VAT registration number, such as GB123456782: check its digits."
        yield FieldError("vatNumber", "invalid_vrn", message)
    if entity.utr is not None and check_digits.utr(entity.utr) is None:
        yield FieldError("utr", "invalid_utr", "This is not a Unique Taxpayer Reference of ten digits: check them.")
    if entity.nino is not None:
        if nino(entity.nino) is None:
            yield FieldError(
                "nino", "invalid_nino", "This is not a National Insurance number: expected one such as QQ123456C."
            )
        elif entity.type not in PERSONS:
            yield FieldError("nino", "conflict", "Only a person has a National Insurance number: leave this out.")
    if entity.company_number is not None and entity.country_code == "GB":
        if company_number(entity.company_number) is None:
            message = "Expected 8 digits, or 2 letters and 6 digits, such as SC123456."
            yield FieldError("companyNumber", "invalid_company_number", message)
    elif entity.company_number is None and entity.type in INCORPORATED and entity.country_code == "GB":
        message = (
            f"This field is required: a {entity.type.replace('_', ' ')} in GB has a company number, such as 01234567."
        )
        yield FieldError("companyNumber", "required", message)


def _vat_errors(entity: EntityRow) -> Iterator[FieldError]:
    vat = entity.vat
    if vat.status == "registered" and entity.vat_number is None:
        message = "This field is required: an entity that is registered for VAT has its number, such as GB123456782."
        yield FieldError("vatNumber", "required", message)
    if vat.status == "deregistered" and vat.deregistration_date is None:
        yield FieldError("vat.deregistrationDate", "required", "This field is required: when did the registration end?")
    if _before(vat.deregistration_date, vat.effective_date):
        message = "It is before `effectiveDate`: expected that day or a later one."
        yield FieldError("vat.deregistrationDate", "date_order", message)
    if vat.scheme != "flat_rate":
        for name in ("flat_rate_category", "flat_rate_percent", "flat_rate_start_date"):
            if getattr(vat, name) is not None:
                yield FieldError(f"vat.{_camel(name)}", "conflict", "Only the flat_rate scheme has this: leave it out.")
    elif vat.flat_rate_percent is not None and not 0 <= Decimal(vat.flat_rate_percent) <= 100:
        yield FieldError("vat.flatRatePercent", "out_of_range", "Expected a percentage from 0 to 100.")


def _other_errors(entity: EntityRow) -> Iterator[FieldError]:
    end = entity.accounting_year_end
    if end.day > calendar.monthrange(2024, end.month)[1]:  # a leap year: 29 February is a year end
        message = f"The month has no such day: expected 1 to {calendar.monthrange(2024, end.month)[1]}."
        yield FieldError("accountingYearEnd.day", "out_of_range", message)
    if entity.cis.verified_rate is not None and not entity.cis.subcontractor:
        message = "Only a subcontractor has a verified rate: give `cis.subcontractor` true, or leave this out."
        yield FieldError("cis.verifiedRate", "conflict", message)


def _before(later: datetime.date | None, earlier: datetime.date | None) -> bool:
    return later is not None and earlier is not None and later < earlier


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(map(str.capitalize, tail))


def vat_number(text: str) -> str | None:
    """The nine digits of a valid VAT registration number, without GB; None if it is not one."""
    digits = check_digits.british_vat(text)
    return digits if digits is not None and len(digits) == VRN_DIGITS else None


def nino(text: str) -> str | None:
    """A National Insurance number in upper case without spaces; None if it is not one."""
    compact = text.replace(" ", "").upper()
    if not _NINO.fullmatch(compact) or compact[:2] in _NINO_NEVER_ISSUED:
        return None
    if compact[0] in _NINO_NEVER_FIRST or compact[1] in _NINO_NEVER_SECOND:
        return None
    return compact


def company_number(text: str) -> str | None:
    """A company number of eight characters; leading zeros are restored. None if it is not one."""
    compact = text.replace(" ", "").upper()
    if compact.isdigit():
        compact = compact.rjust(8, "0")
    return compact if _COMPANY_NUMBER.fullmatch(compact) else None
