"""What properties were valued at (Spec §4, Domain A4 and B4): operations."""

from collections.abc import Iterator

from gatewayd.areas.landlord.register import properties
from gatewayd.areas.landlord.register.properties import PROPERTIES
from gatewayd.areas.landlord.valuations import rows
from gatewayd.areas.landlord.valuations.rows import VALUATIONS, Place
from gatewayd.areas.landlord.valuations.shapes import CreatePropertyValuation, ListPropertyValuations, PropertyValuation
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger import references
from gatewayd.ledger.references import Reference
from gatewayd.store import ReadTx, WriteTx


def list_property_valuations(tx: ReadTx, caller: Caller, request: ListPropertyValuations) -> Listing[PropertyValuation]:
    """List the valuations of a property, latest day first."""
    errors = [*references.unknown(tx, [Reference("propertyId", "property", request.property_id)])]
    if request.from_date and request.to_date and request.to_date < request.from_date:
        errors.append(FieldError("toDate", "date_order", "It lies before fromDate."))
    if errors:
        raise invalid(*errors)
    items: list[bytes] = []

    def size(row: PropertyValuation) -> int:
        items.append(encode(row))
        return len(items[-1])

    key = cursor_key(request, str, str)
    found = rows.latest_first(tx, request, None if key is None else Place(str(key[0]), str(key[1])))
    taken, more = fill(found, request.limit, size)
    cursor = next_cursor(request, (taken[-1].valuation_date, taken[-1].id)) if more else None
    return Listing.of(items[: len(taken)], cursor)


def create_property_valuation(tx: WriteTx, caller: Caller, request: CreatePropertyValuation) -> PropertyValuation:
    """Create a valuation: what all of a property was worth on a day, today at the latest.

    The latest of a property is its `currentValue`; of one day the last that was created counts.
    """
    owner = properties.in_use(tx, request.property_id)
    if request.currency not in (None, owner.currency):
        raise invalid_field("currency", "currency_mismatch", f"The property is kept in {owner.currency}.")
    row = VALUATIONS.new(tx, request, currency=owner.currency)
    errors = [*_mistakes(row, tx.today)]
    errors += references.unknown(tx, [Reference("documentId", "document", row.document_id)])
    if errors:
        raise invalid(*errors)
    row = VALUATIONS.insert(tx, row)
    if rows.latest(tx, owner.id) == row:
        PROPERTIES.save(tx, owner)  # Chosen: who follows changes learns of its value, and nobody has edited it
    return row


def _mistakes(row: PropertyValuation, today: str) -> Iterator[FieldError]:
    if row.amount.minor <= 0:
        yield FieldError("amount", "out_of_range", "Expected more than 0.")
    if row.valuation_date > today:
        yield FieldError("valuationDate", "out_of_range", "The day is still to come.")


OPERATIONS = (
    Operation(
        id="landlord.listPropertyValuations",
        kind="read",
        method="GET",
        path="/landlord/listPropertyValuations",
        scopes=("accounting:read",),
        request=ListPropertyValuations,
        response=Page[PropertyValuation],
        handler=list_property_valuations,
        errors=("date_order", "unknown_reference"),
        example={"propertyId": "prop_01k0000000000000000000000a", "fromDate": "2024-01-01", "limit": 20},
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
            "valuationDate": "2026-09-30",
            "amount": "262500.00",
            "method": "agent",
            "source": "Harbour Estates",
        },
    ),
)
