"""Valuations as they are stored. Owns the table `property_valuations`.

They are ordered by their day, latest first. Of one day the last that was entered counts, so that a mistake is put right
by another valuation of that day.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gatewayd.areas.landlord.valuations.shapes import ListPropertyValuations, PropertyValuation
from gatewayd.clock import LAST_DATE
from gatewayd.contract.pages import MAX_KEY
from gatewayd.store import ReadTx, Table

MOST_INCLUDED: Final = 200  # Chosen: beside the property itself; the list has all

VALUATIONS = Table("property_valuations", PropertyValuation, kind="valuation", prefix="val")
_SELECT_OF_PROPERTY = f"{VALUATIONS.select} AND property_id = :property_id"
_BEHIND = " AND (valuation_date, id) < (:before_date, :before_id) ORDER BY valuation_date DESC, id DESC LIMIT :count"


class Place(NamedTuple):
    """Where a page begins: behind the valuation of this day and id."""

    date: str = LAST_DATE
    id: str = MAX_KEY


def of_property(tx: ReadTx, property_id: str, count: int = MOST_INCLUDED) -> list[PropertyValuation]:
    """The valuations of a property, latest first."""
    return list(_read(tx, _SELECT_OF_PROPERTY, Place(), {"property_id": property_id, "count": count}))


def latest(tx: ReadTx, property_id: str) -> PropertyValuation | None:
    """The valuation that a property is shown with; None: it has none."""
    return next(iter(of_property(tx, property_id, 1)), None)


def latest_first(tx: ReadTx, request: ListPropertyValuations, place: Place | None) -> Iterator[PropertyValuation]:
    """What a page may hold, and one more; None: from the latest on."""
    named = {
        "valuation_date >= :from_date": request.from_date and request.from_date.isoformat(),
        "external_id = :external_id": request.external_id,
    }
    given = {condition: value for condition, value in named.items() if value is not None}
    values = {condition.rpartition(":")[2]: value for condition, value in given.items()}
    if place is None:
        place = Place() if request.to_date is None else Place(date=request.to_date.isoformat())
    sql = " AND ".join([_SELECT_OF_PROPERTY, *given])
    return _read(tx, sql, place, {**values, "property_id": request.property_id, "count": request.limit + 1})


def _read(tx: ReadTx, sql: str, place: Place, values: dict[str, object]) -> Iterator[PropertyValuation]:
    found = tx.each(sql + _BEHIND, before_date=place.date, before_id=place.id, **values)
    return (VALUATIONS.read(tx, row) for row in found)
