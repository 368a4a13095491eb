"""The rules that the terms of a tenancy follow (Domain B4). Pure."""

import datetime
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.landlord.register import tenancy_states
from gatewayd.areas.landlord.register.properties import Jurisdiction, StoredProperty
from gatewayd.areas.landlord.register.tenancy_shapes import RentFrequency, TenancyRow, TenancyType
from gatewayd.areas.landlord.tenancies import notice_law
from gatewayd.clock import months_later
from gatewayd.errors import FieldError, invalid_field
from gatewayd.ledger.rents import stored_terms
from gatewayd.money import Money, exponent

_EARLIEST: Final = "1900-01-01"  # Chosen: each rent since the start is counted
_HORIZON_YEARS: Final = 100  # Chosen: leases with steps of rent run for decades
BY_WEEKS: Final = frozenset[RentFrequency]({"weekly", "fortnightly", "four_weekly"})

_BY_JURISDICTION: Final[Mapping[Jurisdiction, TenancyType]] = {
    "england": "assured_periodic",
    "wales": "occupation_contract",
    "scotland": "private_residential_tenancy",
    "northern_ireland": "private_tenancy_ni",
    "other": "other",
}
_ONLY_IN: Final[Mapping[TenancyType, Jurisdiction]] = {
    "assured_shorthold": "england",
    # Chosen: what was assured elsewhere has become something else, or is `other`
    **{type_: place for place, type_ in _BY_JURISDICTION.items() if type_ != "other"},
}
_MOST_DIGITS: Final = 9  # Chosen: whole ones, so that what a century of weeks comes to is an amount as well


def default_type(let: StoredProperty, start_date: str, *, companies: bool) -> TenancyType:
    """The type of a tenancy by default. `companies`: all of its tenants are companies."""
    if let.use == "commercial_let":
        return "commercial_lease"
    if companies:
        return "company_let"
    if let.use == "rent_a_room":
        return "lodger"
    if let.use == "holiday_let":  # Chosen: a holiday makes nobody an assured tenant
        return "other"
    if let.jurisdiction == "england" and start_date < tenancy_states.PERIODIC_FROM:
        return "assured_shorthold"
    return _BY_JURISDICTION[let.jurisdiction]


def default_due_day(start_date: str, frequency: RentFrequency) -> int:
    """The first day of the tenancy, of the month or of the week."""
    start = datetime.date.fromisoformat(start_date)
    return start.isoweekday() if frequency in BY_WEEKS else start.day


def takes_no_term(row: TenancyRow) -> bool:
    """Whether the law undoes the term of a tenancy (Domain 0.1, B4).

    It undoes the term of an assured tenancy in England that reaches 2026-05-01, and any term of a private residential
    tenancy. The term of an assured_shorthold counts up to that day, and is kept.
    """
    if row.term_end_date is None:
        return False
    if row.type == "private_residential_tenancy":
        return True
    return row.type in ("assured_periodic", "assured_shorthold") and row.term_end_date >= tenancy_states.PERIODIC_FROM


def without_term(row: TenancyRow) -> TenancyRow:
    """The tenancy without its term, where the law undoes that and nothing depends on it any more."""
    kept = row.type == "assured_shorthold" or not takes_no_term(row)
    return row if kept else replace(row, term_end_date=None)


def only_place(type_: str) -> Jurisdiction | None:
    """Where alone there are tenancies of a type; None: anywhere."""
    return next((place for name, place in _ONLY_IN.items() if name == type_), None)


def type_mistakes(row: TenancyRow, jurisdiction: Jurisdiction) -> Iterator[FieldError]:
    """What is wrong with the type of a tenancy, for where it lies and when it begins."""
    only_in = only_place(row.type)
    if only_in is not None and only_in != jurisdiction:
        message = (
            f"It is a type of {only_in}, and the property lies in {jurisdiction}: expected"
            f" {_BY_JURISDICTION[jurisdiction]}."
        )
        yield FieldError("type", "conflict", message)
    if row.type == "assured_shorthold" and row.start_date >= tenancy_states.PERIODIC_FROM:
        message = f"Since {tenancy_states.PERIODIC_FROM} no assured shorthold begins: expected assured_periodic."
        yield FieldError("type", "conflict", message)


def mistakes(row: TenancyRow, today: str, ends: Mapping[str, str | None]) -> Iterator[FieldError]:
    """What is wrong with the terms of a tenancy. `ends` are its ends by the fields of the request that give them."""
    yield from _rent_mistakes(row)
    if not _EARLIEST <= row.start_date <= horizon(today):
        yield FieldError("startDate", "out_of_range", f"Give a day from {_EARLIEST} to {horizon(today)}.")
    for path, end in ends.items():
        if end is not None and end < row.start_date:
            message = f"The tenancy begins on {row.start_date}: expected that day or a later one."
            yield FieldError(path, "date_order", message)
    yield from _notice_mistakes(row)


def due_day_mistakes(row: TenancyRow, *, is_requested: bool) -> Iterator[FieldError]:
    """What is wrong with the day on which rent is due. `is_requested`: the request gives one."""
    if is_requested and row.rent_quarter_days is not None:
        message = "Its rent is due on `rentQuarterDays`: give either."
        yield FieldError("rentDueDay", "conflict", message)


def _rent_mistakes(row: TenancyRow) -> Iterator[FieldError]:
    begins_since = row.type == "assured_periodic" and row.start_date >= tenancy_states.PERIODIC_FROM
    if begins_since and row.rent_frequency in stored_terms.LONGER:
        message = "The rent of an assured periodic tenancy is for a month, or for 28 days at most, such as monthly."
        yield FieldError("rentFrequency", "conflict", message)
    if row.rent_frequency in BY_WEEKS and row.rent_due_day > 7:
        message = "Rent by the week is due on a day of the week: expected 1, Monday, to 7, Sunday."
        yield FieldError("rentDueDay", "out_of_range", message)
    if row.rent_quarter_days is not None and row.rent_frequency != "quarterly":
        yield FieldError("rentQuarterDays", "conflict", "Only quarterly rent is due on quarter days: leave this out.")
    first, *later = row.rent_history
    if any(step.from_date <= first.from_date for step in later):
        yield FieldError("startDate", "date_order", "The tenancy has a rent from that day or before it.")


def _notice_mistakes(row: TenancyRow) -> Iterator[FieldError]:
    served, expiry = row.notice_served_date, row.notice_expiry_date
    said = expiry, row.notice_by, row.notice_kind, row.notice_grounds or None
    if served is None and any(value is not None for value in said):
        yield FieldError("noticeServedDate", "required", "This field is required: when was the notice served?")
    elif served is not None and expiry is None:
        yield FieldError("noticeExpiryDate", "required", "This field is required: when does the notice expire?")
    elif served is not None and expiry is not None and expiry < served:
        message = f"The notice is served on {served}: expected that day or a later one."
        yield FieldError("noticeExpiryDate", "date_order", message)
    if expiry is not None and expiry < row.start_date:
        message = f"The tenancy begins on {row.start_date}: expected that day or a later one."
        yield FieldError("noticeExpiryDate", "date_order", message)
    if served is not None:
        yield from notice_law.mistakes(row)


def horizon(today: str) -> str:
    """The last day on which a tenancy may begin, or a rent be served and begin."""
    return months_later(datetime.date.fromisoformat(today), 12 * _HORIZON_YEARS).isoformat()


def amount_of(path: str, text: str, currency: str) -> Money:
    """The amount of a field, 0 or more.

    Raises `Problem` `validation_failed` where the currency has no such amount, or it is not one of a let.
    """
    try:
        amount = Money.of(text, currency)
    except ValueError as error:
        raise invalid_field(path, "invalid_decimal", f"{error}.") from None
    if amount.minor < 0:
        raise invalid_field(path, "out_of_range", "Expected 0 or more.")
    if amount.minor >= 10 ** (_MOST_DIGITS + exponent(currency)):
        raise invalid_field(path, "out_of_range", f"The amount has more than {_MOST_DIGITS} digits before the point.")
    return amount
