"""What an update makes of a tenancy: its end, its notice, its rents, and what was entered wrongly. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.landlord.register import rent_terms, tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import RentFrequency, RentNotice, RentStep, TenancyRow
from gatewayd.areas.landlord.tenancies import deposits, notice_law, rules, spans
from gatewayd.areas.landlord.tenancies.rules import amount_of
from gatewayd.areas.landlord.tenancies.shapes import RentChange, UpdateTenancy
from gatewayd.errors import FieldError, Problem, gathered, invalid, invalid_field

TERMS = (
    *("end_date", "ended_date", "term_end_date", "notice_served_date", "notice_expiry_date"),
    *("notice_by", "notice_kind", "notice_grounds"),
    *("rent", "tenant_ids", "tenants_from_date", "type", "start_date", "rent_frequency", "rent_due_day"),
    *("rent_quarter_days", "bills_included"),
)
"""What is fixed once a tenancy was called off: all but its deposit, `notes` and `external_id`."""
_MAX_STEPS: Final = 200  # Chosen: all of a tenancy are looked at together


def changes_terms(request: UpdateTenancy) -> bool:
    """Whether the request gives anything that a tenancy which was called off does not have any more."""
    return any(getattr(request, name) is not UNSET for name in TERMS)


def with_start(row: TenancyRow, before: TenancyRow, request: UpdateTenancy) -> TenancyRow:
    """The tenancy from the day that it begins on after all, with its first rent and tenants from that day on."""
    if request.start_date is UNSET:
        return row
    start = request.start_date.isoformat()
    first, *others = row.rent_history
    rents = [replace(first, from_date=start), *others]
    return replace(row, start_date=start, rent_history=rents, tenant_spans=spans.from_start(before, start))


def with_due_day(row: TenancyRow, before: TenancyRow, request: UpdateTenancy) -> TenancyRow:
    """The tenancy with a day of the week or of the month on which rent is due, as its frequency asks for.

    Another frequency than a quarter has no quarter days, unless the request gives some, which is then refused.
    """
    if request.rent_frequency not in (UNSET, "quarterly") and request.rent_quarter_days is UNSET:
        row = replace(row, rent_quarter_days=None)
    by_weeks = rules.BY_WEEKS
    if request.rent_due_day is not UNSET or (row.rent_frequency in by_weeks) == (before.rent_frequency in by_weeks):
        return row
    return replace(row, rent_due_day=rules.default_due_day(row.start_date, row.rent_frequency))


def with_notice(row: TenancyRow, before: TenancyRow, request: UpdateTenancy) -> TenancyRow:
    """The tenancy with the notice that the request gives, or without one that it takes back.

    Another day of expiry goes before an end that was said earlier, where the notice ends the tenancy. The kind of a
    notice says whose it is where nobody did, and another kind has other grounds.
    """
    if request.notice_served_date is None:
        unsaid = UNSET, None
        return replace(
            row,
            notice_served_date=None,
            notice_by=None if request.notice_by in unsaid else row.notice_by,
            notice_kind=None if request.notice_kind in unsaid else row.notice_kind,
            notice_grounds=[] if request.notice_grounds is UNSET else row.notice_grounds,
            notice_expiry_date=None if request.notice_expiry_date in unsaid else row.notice_expiry_date,
        )
    if row.notice_kind != before.notice_kind and request.notice_grounds is UNSET:
        row = replace(row, notice_grounds=[])
    if request.notice_by is UNSET and row.notice_by is None:
        row = replace(row, notice_by=notice_law.whose(row.notice_kind))
    moved = row.notice_expiry_date not in (None, before.notice_expiry_date)
    return replace(row, end_date=None) if moved and tenancy_states.ends_by_notice(row) else row


def with_end(row: TenancyRow, request: UpdateTenancy, today: str) -> TenancyRow:
    """The tenancy with the end that the request gives; None: it goes on until a notice expires.

    Chosen: `endDate` of an assured shorthold is the term that is agreed, as long as there are terms and no notice was
    served. Raises `Problem` `validation_failed` where both of its names are given.
    """
    if request.ended_date is not UNSET:
        if request.end_date is not UNSET:
            raise invalid_field("endDate", "conflict", "It is `endedDate` by another name: give one of them.")
        return replace(row, end_date=None if request.ended_date is None else request.ended_date.isoformat())
    if request.end_date is UNSET:
        return row
    if request.end_date is None:
        return replace(row, end_date=None, term_end_date=None)
    end = request.end_date.isoformat()
    if row.type == "assured_shorthold" and today < tenancy_states.PERIODIC_FROM and row.notice_served_date is None:
        return replace(row, end_date=None, term_end_date=end)
    return replace(row, end_date=end)


def ends_of(row: TenancyRow, request: UpdateTenancy) -> dict[str, str | None]:
    """The ends of a changed tenancy, by the fields that say what is wrong with them."""
    if request.end_date is not UNSET:
        return {"endDate": row.end_date or row.term_end_date}
    return {"endedDate": row.end_date, "termEndDate": row.term_end_date}


def with_rent(row: TenancyRow, change: RentChange, today: str) -> TenancyRow:
    """The tenancy with a new rent from a day on, or without the one that was entered for that day.

    Raises `Problem`: `limit_reached`, `validation_failed`.
    """
    if change.amount is None:
        return _without_rent(row, change)
    errors = [*_rent_mistakes(row, change, today)]
    amount = gathered(errors, amount_of, "rent.amount", change.amount, row.currency)
    if errors:
        raise invalid(*errors)
    from_date, monthly_since = change.from_date.isoformat(), rent_terms.monthly_since(row)
    by_month = monthly_since is not None and from_date >= monthly_since
    frequency: RentFrequency | None = "monthly" if by_month else None
    step = RentStep(from_date=from_date, amount=str(amount), notice=change.notice, frequency=frequency)
    history = _with_step(row.rent_history, step)
    if len(history) > _MAX_STEPS:
        raise Problem("limit_reached", f"A tenancy has at most {_MAX_STEPS} rents.", extra={"limit": _MAX_STEPS})
    return replace(row, rent_history=history)


def _without_rent(row: TenancyRow, change: RentChange) -> TenancyRow:
    """The tenancy without the rent of a day: the one before it goes on."""
    day, starts = change.from_date.isoformat(), [step.from_date for step in row.rent_history]
    if change.notice is not None:
        raise invalid_field("rent.notice", "conflict", "A rent that is taken out has no notice: leave this out.")
    if day == starts[0]:
        message = "The first rent cannot be taken out: give another amount from that day on."
        raise invalid_field("rent.fromDate", "conflict", message)
    if day not in starts:
        raise invalid_field("rent.fromDate", "unknown_reference", f"No rent begins on {day}.")
    return replace(row, rent_history=_without_step(row.rent_history, day))


def _rent_mistakes(row: TenancyRow, change: RentChange, today: str) -> Iterator[FieldError]:
    from_date, end, horizon = change.from_date.isoformat(), tenancy_states.last_day(row), rules.horizon(today)
    if from_date < row.start_date:
        message = f"The tenancy begins on {row.start_date}: expected that day or a later one."
        yield FieldError("rent.fromDate", "date_order", message)
    if end is not None and end < from_date:
        message = f"The tenancy ends on {end}: expected that day or an earlier one."
        yield FieldError("rent.fromDate", "date_order", message)
    notice = change.notice or RentNotice()
    dates = {"fromDate": change.from_date, "notice.servedDate": notice.served_date}
    for name, date in {**dates, "notice.effectiveDate": notice.effective_date}.items():
        if date is not None and date.isoformat() > horizon:
            yield FieldError(f"rent.{name}", "out_of_range", f"Give a day up to {horizon}.")


def with_deposit(row: TenancyRow, request: UpdateTenancy) -> TenancyRow:
    """The tenancy with the deposit that the request gives. Raises `Problem` `validation_failed`."""
    if request.deposit is UNSET:
        return row
    return replace(row, **deposits.columns_of(request.deposit, row.currency))


def _without_step(history: Sequence[RentStep], day: str) -> list[RentStep]:
    """The history without the step of a day; all of it where that day has none."""
    return [step for step in history if step.from_date != day]


def _with_step(history: Sequence[RentStep], step: RentStep) -> list[RentStep]:
    """The history with one step more, in the place of one from the same day."""
    return sorted([*_without_step(history, step.from_date), step], key=lambda other: other.from_date)
