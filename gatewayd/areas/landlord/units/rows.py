"""Units as they are stored, and whether they are let. Owns the table `property_units`.

Who occupies a unit follows from the dates of its tenancies, and of those of the whole property, on the day that asks:
nothing is stored that a day could make untrue. `let_until` is the last day of them all, to the end of time where one
goes on, empty where there is none: by it a list passes over the many that are let, or are not.
"""

from collections.abc import Mapping
from typing import Final

from gatewayd.areas.landlord.register import whose
from gatewayd.areas.landlord.units.shapes import Occupancy, PropertyUnit, StoredUnit, UnitFilter
from gatewayd.clock import LAST_DATE, days_after
from gatewayd.contract.wire import project
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, Row, Table, WriteTx

MOST_INCLUDED: Final = 200  # Chosen: beside the property itself; the list has all
ENDING_DAYS: Final = 60  # Chosen: as far ahead as the dashboard looks (Domain C3)


def _name_key(row: StoredUnit) -> str:
    return name_key(row.name)


def name_key(name: str) -> str:
    """What two names of a property must not share: letter case and spaces make no other name."""
    return " ".join(name.split()).casefold()


UNITS = Table("property_units", StoredUnit, kind="unit", prefix="unit", written={"name_key": _name_key})
WHOSE: Final = whose.by_property("property_units")
# 2 where a tenancy goes on, 1 where all that run are ending, NULL where none runs; read from an index alone
_LET = """(
    SELECT max(CASE WHEN (t.notice_served_date IS NULL OR t.notice_served_date > :today)
        AND (t.last_day IS NULL OR t.last_day > :ending_by) THEN 2 ELSE 1 END)
    FROM tenancies t
    WHERE t.org_id = property_units.org_id AND t.property_id = property_units.property_id
        AND (t.unit_id IS NULL OR t.unit_id = property_units.id) AND t.cancelled_at IS NULL
        AND t.start_date <= :today AND (t.last_day IS NULL OR t.last_day >= :today)
)"""
_OCCUPANCIES: Final[Mapping[int | None, Occupancy]] = {None: "vacant", 1: "ending", 2: "let"}
# few: those with a day to come on which a tenancy ends, or begins, or with a notice that ends nothing; CROSS: SQLite
# starts from these days
_SOME = """id IN (
    SELECT u.id FROM tenancies s CROSS JOIN property_units u
    WHERE s.org_id = :org_id AND {day} AND u.org_id = :org_id AND u.property_id = s.property_id
        AND (s.unit_id IS NULL OR s.unit_id = u.id)
)"""
_WITH_AN_END, _WITH_A_START = _SOME.format(day="s.last_day >= :today"), _SOME.format(day="s.start_date > :today")
_NOTICED = _SOME.format(day="s.notice_served_date <= :today AND s.last_day IS NULL AND s.cancelled_at IS NULL")
OF_STATUS: Final[Mapping[UnitFilter, tuple[str, ...]]] = {
    "vacant": (
        f" AND let_until < '{LAST_DATE}' AND {_LET} IS NULL",
        f" AND let_until = '{LAST_DATE}' AND {_WITH_A_START} AND {_LET} IS NULL",
    ),
    "ending": (
        f" AND {_WITH_AN_END} AND {_LET} = 1",
        f" AND let_until = '{LAST_DATE}' AND {_NOTICED} AND NOT {_WITH_AN_END} AND {_LET} = 1",
    ),
    "let": (
        f" AND let_until = '{LAST_DATE}' AND {_LET} = 2",
        f" AND let_until < '{LAST_DATE}' AND {_WITH_AN_END} AND {_LET} = 2",
    ),
}
"""The conditions of a list by occupancy, of which a unit meets one at most."""
_LET_UNTIL = f"""coalesce((
    SELECT max(coalesce(t.last_day, '{LAST_DATE}')) FROM tenancies t
    WHERE t.org_id = property_units.org_id AND t.property_id = property_units.property_id
        AND (t.unit_id IS NULL OR t.unit_id = property_units.id) AND t.cancelled_at IS NULL
), '')"""
_KEEP_UNTIL = f"""
UPDATE property_units SET let_until = {_LET_UNTIL}, updated_at = :updated_at
WHERE org_id = :org_id AND property_id = :property_id
    AND (CAST(:unit_id AS TEXT) IS NULL OR id = :unit_id)
"""
SELECT_SHOWN = f"SELECT {UNITS.sql}, {_LET} FROM property_units WHERE org_id = :org_id"
_SELECT_ONE = f"{SELECT_SHOWN} AND id = :id"
_SELECT_OF_PROPERTY = f"""
{SELECT_SHOWN} AND property_id = :property_id AND archived_at IS NULL ORDER BY id LIMIT :count
"""
_SELECT_NAMED = """
SELECT id FROM property_units
WHERE org_id = :org_id AND property_id = :property_id AND name_key = :name_key AND id <> :id
"""


def note_tenancies(tx: WriteTx, property_id: str, unit_id: str | None) -> None:
    """Keep true until when a unit is let; None: all units of the property. Who follows changes learns of it."""
    tx.run(_KEEP_UNTIL, property_id=property_id, unit_id=unit_id, updated_at=tx.updated_at)


def days(tx: ReadTx) -> dict[str, object]:
    """The days that `SELECT_SHOWN` names."""
    return {"today": tx.today, "ending_by": days_after(tx.today, ENDING_DAYS)}


def shown(values: Row) -> PropertyUnit:
    """The unit of a row of `SELECT_SHOWN`."""
    *stored, let = values
    return project(UNITS.load(tuple(stored)), PropertyUnit, occupancy=_OCCUPANCIES[let])


def of_property(tx: ReadTx, property_id: str) -> list[PropertyUnit]:
    """The units of a property that are not archived, oldest first: at most `MOST_INCLUDED`."""
    rows = tx.rows(_SELECT_OF_PROPERTY, property_id=property_id, count=MOST_INCLUDED, **days(tx))
    return [shown(row) for row in rows]


def get_shown(tx: ReadTx, unit_id: str) -> PropertyUnit:
    """A unit that is there, as it is today."""
    values = tx.row(_SELECT_ONE, id=unit_id, **days(tx))
    assert values is not None
    return shown(values)


def refuse_taken_name(tx: ReadTx, row: StoredUnit) -> None:
    """Raises `Problem` `already_exists` where another unit of the property has the name, archived or not."""
    taken = tx.value(_SELECT_NAMED, property_id=row.property_id, name_key=name_key(row.name), id=row.id)
    if taken is not None:
        message = f"The property has a unit of this name, {taken}: give another name."
        raise Problem("already_exists", message, extra={"existingId": taken, "field": "name"})
