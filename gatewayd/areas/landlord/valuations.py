"""What properties were valued at (Spec §4, Domain A4 and B4). Owns the table `property_valuations`.

They are ordered by their day, latest first. Of one day the last that was entered counts, so that a mistake is put right
by another valuation of that day.
"""

from collections.abc import Iterator
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from gatewayd.areas.landlord.register import properties, whose
from gatewayd.areas.landlord.register.properties import PROPERTIES
from gatewayd.clock import LAST_DATE
from gatewayd.contract.caller import Caller
from gatewayd.contract.faults import made_of
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, SyncPage, SyncRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    Currency,
    Date,
    DateText,
    ExternalId,
    Id,
    Request,
    Response,
    Timestamp,
    encode,
)
from gatewayd.errors import FieldError, gathered, invalid
from gatewayd.ledger import references
from gatewayd.ledger.lists import table_page
from gatewayd.ledger.references import Reference
from gatewayd.store import ReadTx, Table, WriteTx

Method = Literal["purchase", "surveyor", "agent", "automated", "house_price_index", "owner_estimate", "tribunal"]
Confidence = Literal["low", "medium", "high"]
Source = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S", examples=["Harbour Surveyors"])]
ValuationNotes = Annotated[str, Meta(max_length=2000)]


class PropertyValuation(Response, frozen=True, kw_only=True):
    """What a property was worth on a day."""

    id: Id
    external_id: str | None
    property_id: Id
    """The property that was valued."""
    valuation_date: DateText
    """The day on which it was worth that."""
    amount: Amount
    """What all of the property was worth, whatever part is one's own."""
    currency: str
    """The property's currency."""
    method: Method
    """How the value was found; `house_price_index`: an earlier value by how prices have moved; `tribunal`: it was
    decided."""
    source: str | None
    """Who valued it, or where the figure comes from. Null: not entered."""
    confidence: Confidence | None
    """How sure the figure is. Null: nobody said."""
    document_id: str | None
    """The document in the vault that shows it. Null: there is none."""
    notes: str | None
    """Whatever people want to remember of it. Null: nothing."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class ListPropertyValuations(SyncRequest, frozen=True, kw_only=True):
    """The valuations of a property, or of all."""

    property_id: Id | None = None
    """The property that was valued. Left out: all of them."""
    business_id: Id | None = None
    """Only those of this business's properties."""
    legal_entity_id: Id | None = None
    """Only those of the properties of this legal entity's businesses."""
    from_date: Date | None = None
    """The first day of valuations, inclusive."""
    to_date: Date | None = None
    """The last day of valuations, inclusive."""
    method: Method | None = None
    document_id: Id | None = None
    """Only those that this document in the vault shows."""
    external_id: ExternalId | None = None


class GetPropertyValuation(Request, frozen=True, kw_only=True):
    """Which valuation."""

    id: Id


class CreatePropertyValuation(Request, frozen=True, kw_only=True):
    """A new valuation."""

    property_id: Id
    valuation_date: Date
    """The day on which it was worth that, not one to come."""
    amount: AmountText
    """What all of the property was worth, above 0, whatever part is one's own."""
    currency: Currency | None = None
    """The property's currency, by default; another one is refused."""
    method: Method
    source: Source | None = None
    confidence: Confidence | None = None
    document_id: Id | None = None
    notes: ValuationNotes | None = None
    external_id: ExternalId | None = None


MOST_INCLUDED: Final = 200  # Chosen: beside the property itself; the list has all

VALUATIONS = Table("property_valuations", PropertyValuation, kind="valuation", prefix="val")
_WHOSE = whose.by_property("property_valuations")
_SELECT_OF_PROPERTY = f"{VALUATIONS.select} AND property_id = :property_id"
_BEHIND = " AND (valuation_date, id) < (:before_date, :before_id) ORDER BY valuation_date DESC, id DESC LIMIT :count"


class Place(NamedTuple):
    """Where a page begins: behind the valuation of this day and id."""

    date: str = LAST_DATE
    id: str = MAX_KEY


def of_property(tx: ReadTx, property_id: str, count: int = MOST_INCLUDED) -> list[PropertyValuation]:
    """The valuations of a property, latest first."""
    return list(_read_valuations(tx, _SELECT_OF_PROPERTY, Place(), {"property_id": property_id, "count": count}))


def latest(tx: ReadTx, property_id: str) -> PropertyValuation | None:
    """The valuation that a property is shown with; None: it has none."""
    return next(iter(of_property(tx, property_id, 1)), None)


def latest_first(tx: ReadTx, request: ListPropertyValuations, place: Place | None) -> Iterator[PropertyValuation]:
    """What a page may hold, and one more; None: from the latest on."""
    in_force = {condition: value for condition, value in _filters(request).items() if value is not None}
    values = {condition.rpartition(":")[2].rstrip(")"): value for condition, value in in_force.items()}
    if place is None:
        place = Place() if request.to_date is None else Place(date=request.to_date.isoformat())
    sql = " AND ".join([VALUATIONS.select, *in_force])
    return _read_valuations(tx, sql, place, {**values, "count": request.limit + 1})


def _filters(request: ListPropertyValuations) -> dict[str, object]:
    """Each condition with the value of the parameter that it ends with; None: it is not asked for."""
    return {
        "property_id = :property_id": request.property_id,
        **_WHOSE.filters(request),
        "valuation_date >= :from_date": request.from_date and request.from_date.isoformat(),
        "method = :method": request.method,
        "document_id = :document_id": request.document_id,
        "external_id = :external_id": request.external_id,
    }


def _read_valuations(tx: ReadTx, sql: str, place: Place, values: dict[str, object]) -> Iterator[PropertyValuation]:
    rows = tx.each(sql + _BEHIND, before_date=place.date, before_id=place.id, **values)
    return (VALUATIONS.read(tx, row) for row in rows)


def list_property_valuations(tx: ReadTx, caller: Caller, request: ListPropertyValuations) -> Listing[PropertyValuation]:
    """List the valuations of a property, or of all, latest day first, or in the order of change with `updatedSince`."""
    named = [
        Reference("propertyId", "property", request.property_id),
        Reference("businessId", "business", request.business_id),
        Reference("legalEntityId", "legal_entity", request.legal_entity_id),
    ]
    errors = [*references.unknown(tx, named)]
    if request.from_date and request.to_date and request.to_date < request.from_date:
        errors.append(FieldError("toDate", "date_order", "It is before fromDate: expected that day or a later one."))
    if errors:
        raise invalid(*errors)
    if request.updated_since is not None:
        until = request.to_date and request.to_date.isoformat()
        return table_page(tx, request, VALUATIONS, {**_filters(request), "valuation_date <= :to_date": until})
    items: list[bytes] = []

    def size(row: PropertyValuation) -> int:
        items.append(encode(row))
        return len(items[-1])

    key = cursor_key(request, str, str)
    valuations = latest_first(tx, request, None if key is None else Place(str(key[0]), str(key[1])))
    taken, more = fill(valuations, request.limit, size)
    cursor = next_cursor(request, (taken[-1].valuation_date, taken[-1].id)) if more else None
    return Listing.of(items[: len(taken)], cursor)


def get_property_valuation(tx: ReadTx, caller: Caller, request: GetPropertyValuation) -> PropertyValuation:
    """Get one valuation of a property."""
    return VALUATIONS.get(tx, request.id)


def create_property_valuation(tx: WriteTx, caller: Caller, request: CreatePropertyValuation) -> PropertyValuation:
    """Create a valuation: what all of a property was worth on a day, today at the latest.

    The latest of a property is its `currentValue`; of one day the last that was created counts.
    """
    errors: list[FieldError] = []
    owner = gathered(errors, properties.in_use, tx, request.property_id)
    if owner is not None and request.currency not in (None, owner.currency):
        message = f"The property is kept in {owner.currency}: expected that, or leave this out."
        errors.append(FieldError("currency", "currency_mismatch", message))
    currency = request.currency or ("GBP" if owner is None else owner.currency)
    untold = [] if owner is None and request.currency is None else errors
    row = made_of(untold, lambda asked: VALUATIONS.new(tx, asked, currency=currency), request)
    errors += _mistakes(row, tx.today)
    errors += references.unknown(tx, [Reference("documentId", "document", row.document_id)])
    if errors or owner is None:
        raise invalid(*errors)
    row = VALUATIONS.insert(tx, row)
    if latest(tx, owner.id) == row:
        PROPERTIES.save(tx, owner)  # Chosen: who follows changes learns of its value, and nobody has edited it
    return row


def _mistakes(row: PropertyValuation, today: str) -> Iterator[FieldError]:
    if row.amount.minor <= 0:
        yield FieldError("amount", "out_of_range", "Expected more than 0.")
    if row.valuation_date > today:
        yield FieldError("valuationDate", "out_of_range", "The day is still to come: expected today or an earlier one.")


OPERATIONS = (
    Operation(
        id="landlord.listPropertyValuations",
        kind="read",
        method="GET",
        path="/landlord/listPropertyValuations",
        scopes=("accounting:read",),
        request=ListPropertyValuations,
        response=SyncPage[PropertyValuation],
        handler=list_property_valuations,
        held=HeldBy(
            entity="legal_entity_id", leads={"property_id": "property", "business_id": "business"}, days=Days()
        ),
        errors=("date_order", "unknown_reference"),
        example={"propertyId": "prop_01k0000000000000000000000b", "fromDate": "2024-01-01", "limit": 20},
    ),
    Operation(
        id="landlord.getPropertyValuation",
        kind="read",
        method="GET",
        path="/landlord/getPropertyValuation",
        scopes=("accounting:read",),
        request=GetPropertyValuation,
        response=PropertyValuation,
        handler=get_property_valuation,
        held=HeldBy(leads={"id": "valuation"}, day_of=("valuationDate",)),
        extension=True,
        example={"id": "val_01k0000000000000000000000a"},
    ),
    Operation(
        id="landlord.createPropertyValuation",
        kind="write",
        method="POST",
        path="/landlord/createPropertyValuation",
        scopes=("accounting:write",),
        request=CreatePropertyValuation,
        response=PropertyValuation,
        handler=create_property_valuation,
        errors=("already_exists", "invalid_state"),
        example={
            "propertyId": "prop_01k0000000000000000000000a",
            "valuationDate": "2026-11-16",
            "amount": "236000.00",
            "method": "agent",
            "source": "Wharfe Valuations",
        },
    ),
)
