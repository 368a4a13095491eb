"""Pages of rents due: by property, tenancy and due date. What is after a cursor is counted anew from the terms."""

import datetime
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.landlord.rents.shapes import ListRentsDue, RentDue, RentStatus
from gatewayd.clock import days_after
from gatewayd.contract.pages import PAGE_BYTES, Listing, cursor_key, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, Problem, invalid
from gatewayd.ledger import references
from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.references import Kind, Reference
from gatewayd.ledger.rents import ladder, schedule, stored_terms
from gatewayd.ledger.rents.ladder import Rung
from gatewayd.ledger.rents.schedule import Terms
from gatewayd.money import Money
from gatewayd.store import ReadTx

AHEAD_DAYS: Final = 31  # Chosen: the next rent of the month is among them
LOOKED_AT: Final = 200  # Chosen: tenancies for a page, however few of their rents have the status that is asked for

_OWED: Final[frozenset[RentStatus]] = frozenset({"part_paid", "due", "late"})
_FIRST_DATE: Final = "0001-01-01"
_SELECT: Final = f"""
SELECT tenancies.id, tenancies.property_id, unit_id, {stored_terms.COLUMNS}
FROM properties CROSS JOIN tenancies
WHERE properties.org_id = :org_id AND tenancies.org_id = :org_id AND tenancies.property_id = properties.id
    AND cancelled_at IS NULL AND start_date <= :last AND (last_day IS NULL OR last_day >= :first)
    AND (properties.id, start_date, tenancies.id) >= (:after_property, :after_start, :after_tenancy)
    AND {{whose}}
ORDER BY properties.id, start_date, tenancies.id LIMIT :count
"""
_PROPERTY_OF_TENANCY = "SELECT property_id FROM tenancies AS its WHERE its.org_id = :org_id AND its.id = :id"
_OF_TENANCY = _SELECT.format(whose=f"tenancies.id = :id AND properties.id = ({_PROPERTY_OF_TENANCY})")
_OF_PROPERTY = _SELECT.format(whose="properties.id = :id")
_OF_BUSINESS = _SELECT.format(whose="properties.business_id = :id AND properties.id >= :after_property")
_OF_LEGAL_ENTITY = _SELECT.format(
    whose="properties.id >= :after_property AND properties.id IN (SELECT o.id FROM businesses b CROSS JOIN properties o"
    " WHERE b.org_id = :org_id AND b.legal_entity_id = :id AND o.org_id = :org_id AND o.business_id = b.id)"
)


class _Place(NamedTuple):
    """Where a rent stands in the list: after `due_date` comes what is due later of the same tenancy."""

    property_id: str = ""
    start_date: str = ""
    tenancy_id: str = ""
    due_date: str = ""


class _Filter(NamedTuple):
    """Whose rents, and those due from one ISO date to another. `today` decides what is late.

    `owed_alone`: those that have fallen due and are not wholly paid.
    """

    sql: str
    id: str
    first: str
    last: str
    today: str
    owed_alone: bool


class _Let(NamedTuple):
    """A tenancy whose rents are listed."""

    id: str
    property_id: str
    unit_id: str | None
    currency: str
    terms: Terms


def page(tx: ReadTx, request: ListRentsDue) -> Listing[RentDue]:
    """One page. Raises `Problem`: `invalid_cursor`, `validation_failed`."""
    filter_ = _filter_of(tx, request)
    after = _page_start(request)
    items: list[bytes] = []
    place, room, looked = after, PAGE_BYTES, 0
    for let in _lets(tx, filter_, after):
        if looked == LOOKED_AT:
            return Listing.of(items, next_cursor(request, place))
        looked += let.id != after.tenancy_id
        for rent in _rents(tx, let, filter_, after):
            if request.status and rent.status not in request.status:
                continue
            item = encode(rent)
            room -= len(item) + 1
            if len(items) == request.limit or (room < 0 and items):
                return Listing.of(items, next_cursor(request, place))
            items.append(item)
            place = _Place(let.property_id, let.terms.start, let.id, rent.due_date)
        place = _Place(let.property_id, let.terms.start, let.id, filter_.last)
    return Listing.of(items, None)


def status_of(rung: Rung, today: str) -> RentStatus:
    """What has become of a rent by an ISO date."""
    if rung.outstanding == 0:
        return "written_off" if rung.written_off else "paid"
    if today < rung.due.first:
        return "upcoming"
    if rung.received or rung.written_off:
        return "part_paid"
    return "due" if today == rung.due.first else "late"


def _filter_of(tx: ReadTx, request: ListRentsDue) -> _Filter:
    whose: Mapping[tuple[str, Kind, str], str | None] = {
        ("tenancyId", "tenancy", _OF_TENANCY): request.tenancy_id,
        ("propertyId", "property", _OF_PROPERTY): request.property_id,
        ("businessId", "business", _OF_BUSINESS): request.business_id,
        ("legalEntityId", "legal_entity", _OF_LEGAL_ENTITY): request.legal_entity_id,
    }
    named = [(path, kind, sql, id_) for (path, kind, sql), id_ in whose.items() if id_ is not None]
    if len(named) == 1:
        errors = list(references.unknown(tx, (Reference(path, kind, id_) for path, kind, _, id_ in named)))
    else:
        message = "Give one of tenancyId, propertyId, businessId and legalEntityId."
        errors = [FieldError("tenancyId", "required", message)]
    first = _FIRST_DATE if request.from_date is None else request.from_date.isoformat()
    last = days_after(tx.today, AHEAD_DAYS) if request.to_date is None else request.to_date.isoformat()
    if request.from_date is not None and request.to_date is not None and last < first:
        message = "It is before fromDate: expected that day or a later one."
        errors.append(FieldError("toDate", "date_order", message))
    if errors:
        raise invalid(*errors)
    ((_, _, sql, id_),) = named
    return _Filter(sql, id_, first, last, tx.today, bool(request.status) and _OWED.issuperset(request.status or ()))


def _page_start(request: ListRentsDue) -> _Place:
    """Where the page starts. Raises `Problem` `invalid_cursor`."""
    key = cursor_key(request, str, str, str, str)
    if key is None:
        return _Place()
    place = _Place(*map(str, key))
    try:
        datetime.date.fromisoformat(place.due_date)
    except ValueError:
        raise Problem("invalid_cursor", "The cursor is not one of this list: start again without it.") from None
    return place


def _lets(tx: ReadTx, filter_: _Filter, after: _Place) -> Iterator[_Let]:
    rows = tx.each(
        filter_.sql,
        id=filter_.id,
        first=filter_.first,
        last=filter_.last,
        after_property=after.property_id,
        after_start=after.start_date,
        after_tenancy=after.tenancy_id,
        count=LOOKED_AT + 2,  # one may be where the page before ended, and one is behind the page
    )
    for id_, property_id, unit_id, currency, *others in rows:
        yield _Let(id_, property_id, unit_id, currency, stored_terms.terms_of(currency, *others))


def _rents(tx: ReadTx, let: _Let, filter_: _Filter, after: _Place) -> Iterator[RentDue]:
    """The rents of a tenancy that are on the page or behind it."""
    first = filter_.first
    if let.id == after.tenancy_id:
        if after.due_date >= filter_.last:
            return
        first = max(first, days_after(after.due_date, 1))
    before = 0 if first == _FIRST_DATE else schedule.due_until(let.terms, days_after(first, -1))
    payments = rents_received.of_tenancy(tx, let.id, let.currency)
    if filter_.owed_alone and sum(paid.amount for paid in payments) >= schedule.due_until(let.terms, filter_.today):
        return
    for rung in ladder.settle(schedule.dues(let.terms, first, filter_.last), payments, before):
        yield _rent_due(let, rung, filter_.today)


def _rent_due(let: _Let, rung: Rung, today: str) -> RentDue:
    due = rung.due
    late = datetime.date.fromisoformat(today) - datetime.date.fromisoformat(due.first)
    return RentDue(
        tenancy_id=let.id,
        property_id=let.property_id,
        unit_id=let.unit_id,
        due_date=due.first,
        period_start_date=due.first,
        period_end_date=due.last,
        amount=Money(due.amount, let.currency),
        received=Money(rung.received, let.currency),
        written_off=Money(rung.written_off, let.currency),
        outstanding=Money(rung.outstanding, let.currency),
        currency=let.currency,
        status=status_of(rung, today),
        days_late=max(late.days, 0) if rung.outstanding else 0,
        allocation_ids=rung.allocation_ids,
    )
