"""What a legal entity is made of, and the rules its fields keep with one another. Pure."""

import calendar
import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gatewayd.areas.legal_entities import identifiers
from gatewayd.contract.wire import Address, CountryCode, Currency, Date, DecimalText, Email, ExternalId, Name, Part
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.owners import INCORPORATED, PERSONS

EntityType = Literal[
    "individual", "sole_trader", "limited_company", "llp", "partnership", "trust", "charity", "club", "other"
]
TaxResidency = Literal["england_ni", "scotland", "wales", "non_uk"]
VatStatus = Literal["not_registered", "registered", "deregistered", "pending"]
VatScheme = Literal["standard", "cash", "flat_rate", "annual"]
ReturnFrequency = Literal["monthly", "quarterly", "annual"]
VatNumber = Annotated[str, Meta(max_length=20, description="VAT registration number; GB may precede it.")]
CompanyNumber = Annotated[str, Meta(max_length=12, description="Companies House number.", examples=["01234567"])]
Utr = Annotated[str, Meta(max_length=16, description="Unique Taxpayer Reference, ten digits.")]
Nino = Annotated[str, Meta(max_length=16, description="National Insurance number; persons only.")]
Month = Annotated[int, Meta(ge=1, le=12)]
FlatRateCategory = Annotated[str, Meta(pattern=r"^(0[0-4]\d|05[0-5]|999)$", description="HMRC's frsCategory.")]
Phone = Annotated[str, Meta(max_length=32)]
Website = Annotated[str, Meta(max_length=254)]


class Vat(Part, frozen=True, kw_only=True):
    """VAT registration."""

    status: VatStatus = "not_registered"
    effective_date: Date | None = None
    deregistration_date: Date | None = None
    scheme: VatScheme | None = None
    return_frequency: ReturnFrequency | None = None
    stagger_group: Annotated[int, Meta(ge=1, le=3)] | None = None
    period_end_month: Month | None = None
    flat_rate_category: FlatRateCategory | None = None
    flat_rate_percent: DecimalText | None = None
    flat_rate_start_date: Date | None = None


class YearEnd(Part, frozen=True, kw_only=True):
    """The last day of the accounting year."""

    month: Month
    day: Annotated[int, Meta(ge=1, le=31)]


class Cis(Part, frozen=True, kw_only=True):
    """Standing in the Construction Industry Scheme. `verifiedRate` is the percentage contractors deduct."""

    contractor: bool = False
    subcontractor: bool = False
    verified_rate: Literal[0, 20, 30] | None = None


class Fields(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about an entity that its owner may set, in the form it is kept."""

    name: Name
    type: EntityType
    legal_name: Name | None = None
    external_id: ExternalId | None = None
    company_number: str | None = None
    utr: str | None = None
    nino: str | None = None
    vat_number: str | None = None
    vat: Vat
    accounting_year_end: YearEnd
    base_currency: Currency = "GBP"
    country_code: CountryCode = "GB"
    tax_residency: TaxResidency | None = None
    address: Address | None = None
    email: Email | None = None
    phone: Phone | None = None
    website: Website | None = None
    cis: Cis


def default_year_end(entity_type: EntityType) -> YearEnd:
    """5 April for persons; 31 March for the others (Chosen: the financial year of corporation tax)."""
    return YearEnd(month=4, day=5) if entity_type in PERSONS else YearEnd(month=3, day=31)


def settled(fields: Fields) -> Fields:
    """The fields with identifiers in their kept form.

    Raises `Problem` `validation_failed` naming every field that breaks a rule.
    """
    errors = [*_identifier_errors(fields), *_vat_errors(fields), *_other_errors(fields)]
    if errors:
        raise invalid(*errors)
    return msgspec.structs.replace(
        fields,
        vat_number=fields.vat_number and identifiers.vat_number(fields.vat_number),
        utr=fields.utr and identifiers.utr(fields.utr),
        nino=fields.nino and identifiers.nino(fields.nino),
        company_number=_kept_company_number(fields),
    )


def _kept_company_number(fields: Fields) -> str | None:
    """Only the register of GB has a form that we know; other countries' numbers are kept as they are written."""
    if fields.company_number is None or fields.country_code != "GB":
        return fields.company_number
    return identifiers.company_number(fields.company_number)


def _identifier_errors(fields: Fields) -> Iterator[FieldError]:
    if fields.vat_number is not None and identifiers.vat_number(fields.vat_number) is None:
        yield FieldError("vatNumber", "invalid_vrn", "This is not a VAT registration number: check its digits.")
    if fields.utr is not None and identifiers.utr(fields.utr) is None:
        yield FieldError("utr", "invalid_utr", "This is not a Unique Taxpayer Reference: check its digits.")
    if fields.nino is not None:
        if identifiers.nino(fields.nino) is None:
            yield FieldError("nino", "invalid_nino", "This is not a National Insurance number.")
        elif fields.type not in PERSONS:
            yield FieldError("nino", "conflict", "Only a person has a National Insurance number.")
    if fields.company_number is not None and fields.country_code == "GB":
        if identifiers.company_number(fields.company_number) is None:
            yield FieldError("companyNumber", "invalid_company_number", "Expected 8 digits, or 2 letters and 6 digits.")
    elif fields.company_number is None and fields.type in INCORPORATED and fields.country_code == "GB":
        yield FieldError("companyNumber", "required", f"A {fields.type.replace('_', ' ')} in GB has a company number.")


def _vat_errors(fields: Fields) -> Iterator[FieldError]:
    vat = fields.vat
    if vat.status == "registered" and fields.vat_number is None:
        yield FieldError("vatNumber", "required", "A registered entity has a VAT registration number.")
    if vat.status == "deregistered" and vat.deregistration_date is None:
        yield FieldError("vat.deregistrationDate", "required", "When did the registration end?")
    if _before(vat.deregistration_date, vat.effective_date):
        yield FieldError("vat.deregistrationDate", "date_order", "It is before the effective date.")
    if vat.scheme != "flat_rate":
        for name in ("flat_rate_category", "flat_rate_percent", "flat_rate_start_date"):
            if getattr(vat, name) is not None:
                yield FieldError(f"vat.{_camel(name)}", "conflict", "Only the flat_rate scheme has this.")
    elif vat.flat_rate_percent is not None and not 0 <= Decimal(vat.flat_rate_percent) <= 100:
        yield FieldError("vat.flatRatePercent", "out_of_range", "Expected a percentage from 0 to 100.")


def _other_errors(fields: Fields) -> Iterator[FieldError]:
    end = fields.accounting_year_end
    if end.day > calendar.monthrange(2024, end.month)[1]:  # a leap year: 29 February is a year end
        yield FieldError("accountingYearEnd.day", "out_of_range", "The month has no such day.")
    if fields.cis.verified_rate is not None and not fields.cis.subcontractor:
        yield FieldError("cis.verifiedRate", "conflict", "Only a subcontractor has a verified rate.")


def _before(later: datetime.date | None, earlier: datetime.date | None) -> bool:
    return later is not None and earlier is not None and later < earlier


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(map(str.capitalize, tail))
