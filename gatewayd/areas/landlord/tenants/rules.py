"""The rules that the fields of a tenant follow. Pure."""

import datetime
from collections.abc import Iterator
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from gatewayd.areas.landlord.tenants.shapes import CreateTenant, RightToRent, Tenant, UpdateTenant
from gatewayd.clock import months_later
from gatewayd.errors import FieldError

RETENTION_YEARS: Final = 6
"""What a contract gave rise to can be sued for that long (Limitation Act 1980 s5; Domain B4)."""
ERASED_NAME: Final = "Erased tenant"
UNCHECKED: Final = RightToRent()


def name_of(row: Tenant) -> str:
    """The whole name. A company goes by its own."""
    parts = (row.company_name,) if row.kind == "company" else (row.first_name, row.last_name)
    return " ".join(part for part in parts if part)


def named(row: Tenant, name: str | UnsetType | None) -> Tenant:
    """The tenant with the parts of a whole name: of a person's the last word is `last_name`."""
    if name is UNSET or not name:
        return row
    if row.kind == "company":
        return replace(row, company_name=name.strip())
    first, _, last = " ".join(name.split()).rpartition(" ")
    return replace(row, first_name=first or None, last_name=last)


def mistakes(row: Tenant, today: str) -> Iterator[FieldError]:
    """What is wrong with a tenant."""
    if not name_of(row):
        yield FieldError("name", "required", f"Give the name of the {row.kind}.")
    if row.kind == "person":
        for path, value in (("companyName", row.company_name), ("companyNumber", row.company_number)):
            if value is not None:
                yield FieldError(path, "conflict", "It is for a tenant of kind company: leave this out.")
    yield from _check_mistakes(row.right_to_rent, today)


def name_mistakes(request: CreateTenant | UpdateTenant) -> Iterator[FieldError]:
    """What is wrong with a whole name beside its parts."""
    parts = (request.first_name, request.last_name, request.company_name)
    if request.name and any(part for part in parts if part is not UNSET):
        yield FieldError("name", "conflict", "Give the whole name or its parts, and not both.")


def _check_mistakes(check: RightToRent, today: str) -> Iterator[FieldError]:
    checked, expiry = check.checked_date, check.expiry_date
    if check.status == "time_limited" and expiry is None:
        message = "This field is required, as the right is limited in time: when does it end?"
        yield FieldError("rightToRent.expiryDate", "required", message)
    if check.status == "not_checked":
        for path, value in (("checkedDate", checked), ("expiryDate", expiry)):
            if value is not None:
                yield FieldError(f"rightToRent.{path}", "conflict", "Nothing was checked: give a status.")
    elif checked is not None and checked.isoformat() > today:
        yield FieldError(
            "rightToRent.checkedDate", "out_of_range", "The day is still to come: expected today or an earlier one."
        )
    elif checked is not None and expiry is not None and expiry < checked:
        message = "It ends before the day of the check: expected that day or a later one."
        yield FieldError("rightToRent.expiryDate", "date_order", message)


def kept_until(last_day: str) -> str:
    """The last day on which the records of a tenancy that ended are to be kept."""
    return months_later(datetime.date.fromisoformat(last_day), 12 * RETENTION_YEARS).isoformat()


def erased(row: Tenant) -> Tenant:
    """The tenant without anything that tells who it was. Its own id, `external_id` and tenancies stay."""
    company = row.kind == "company"
    return replace(
        row,
        first_name=None,
        last_name=None if company else ERASED_NAME,
        company_name=ERASED_NAME if company else None,
        company_number=None,
        email=None,
        phone=None,
        correspondence_address=None,
        right_to_rent=UNCHECKED,
        guarantor=None,
        notes=None,
    )
