"""Who was a tenant of a tenancy when (Domain B4). Pure.

Before the first change there are no spans, and the tenants are those of all days: so their first day follows a start
that is corrected. Days are ISO texts.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.landlord.register import tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow, TenantSpan
from gatewayd.areas.landlord.tenancies.shapes import TenancyWarning, UpdateTenancy
from gatewayd.errors import FieldError, invalid_field
from gatewayd.ledger.dates.date_ranges import before as day_before


class Changed(NamedTuple):
    """A tenancy with other tenants, and what there is to say of the day since when."""

    row: TenancyRow
    warnings: Sequence[TenancyWarning] = ()


def of_row(row: TenancyRow) -> list[TenantSpan]:
    """Everybody who was ever a tenant of a tenancy, from when to when: those of today first, the lead first of them."""
    if not row.tenant_spans:
        return [TenantSpan(tenant_id=id_, from_date=row.start_date, to_date=None) for id_ in row.tenant_ids]
    order = {id_: place for place, id_ in enumerate(row.tenant_ids)}
    last = len(order)

    def place(span: TenantSpan) -> tuple[bool, int]:
        return span.to_date is not None, order.get(span.tenant_id, last)

    return sorted(row.tenant_spans, key=place)


def last_days(row: TenancyRow) -> dict[str, str | None]:
    """By tenant, the last day as one; None: the tenancy's own last day."""
    last: dict[str, str | None] = {}
    for span in of_row(row):
        known = last.get(span.tenant_id, "")
        last[span.tenant_id] = None if None in (known, span.to_date) else max(known or "", span.to_date or "")
    return last


def with_tenants(row: TenancyRow, before: TenancyRow, request: UpdateTenancy, today: str) -> Changed:
    """The tenancy with the tenants that the request names, from its day on; on the days before they stay.

    Raises `Problem` `validation_failed` where a tenancy that has ended has others since a day that nobody said.
    """
    named = request.tenants_from_date
    if request.tenant_ids is UNSET or (set(row.tenant_ids) == set(before.tenant_ids) and named is UNSET):
        if named is not UNSET:
            message = "This field is required: who are the tenants from that day on?"
            raise invalid_field("tenantIds", "required", message)
        return Changed(row)
    if named is not UNSET:
        day = named.isoformat()
        _refuse_day(row, day, today)
        return Changed(_with_tenants_from(row, before, day))
    if tenancy_states.status_of(before, today) == "ended":
        message = f"This field is required: since when? For all of its days give the first one, {row.start_date}."
        raise invalid_field("tenantsFromDate", "required", message)
    day = max(row.start_date, today)
    return Changed(_with_tenants_from(row, before, day), [_day_supposed_warning(day)] if day > row.start_date else [])


def from_start(row: TenancyRow, start: str) -> list[TenantSpan]:
    """The tenants by their days, where the tenancy began on another day: who was there from the start on still was."""
    return [replace(span, from_date=start) if span.from_date == row.start_date else span for span in row.tenant_spans]


def mistakes(row: TenancyRow) -> Iterator[FieldError]:
    """What is wrong with the dates of a tenancy, by who was a tenant of it when."""
    end = tenancy_states.last_day(row)
    if any(span.to_date is not None and span.to_date < row.start_date for span in row.tenant_spans):
        yield FieldError("startDate", "date_order", "Somebody was a tenant before that day, and is none any more.")
    if end is not None and any(end < span.from_date for span in row.tenant_spans):
        yield FieldError("endDate", "date_order", "Somebody is a tenant from a later day on.")


def _refuse_day(row: TenancyRow, day: str, today: str) -> None:
    last = min(tenancy_states.last_day(row) or today, max(today, row.start_date))
    if not row.start_date <= day <= last:
        message = f"Give a day from {row.start_date} to {last}: what is to come is entered when it has."
        raise invalid_field("tenantsFromDate", "out_of_range", message)


def _with_tenants_from(row: TenancyRow, before: TenancyRow, day: str) -> TenancyRow:
    """The tenancy with its tenants from a day on. `before` says who they were."""
    if day == row.start_date:
        return replace(row, tenant_spans=[])
    eve = day_before(day)
    kept = [
        span if span.to_date is not None and span.to_date <= eve else replace(span, to_date=eve)
        for span in of_row(replace(row, tenant_ids=before.tenant_ids))
        if span.from_date < day
    ]
    for id_ in row.tenant_ids:
        place = next((i for i, span in enumerate(kept) if (span.tenant_id, span.to_date) == (id_, eve)), None)
        if place is None:
            kept.append(TenantSpan(tenant_id=id_, from_date=day, to_date=None))
        else:
            kept[place] = replace(kept[place], to_date=None)
    return replace(row, tenant_spans=kept)


def _day_supposed_warning(day: str) -> TenancyWarning:
    message = f"Nobody said since when: these are the tenants from {day} on. `tenantsFromDate` says another day."
    return TenancyWarning(code="tenants_day_supposed", message=message)
