"""Tenancies as they are stored. Owns the table `tenancies`.

last_day        when the tenancy ends, whichever day asks; NULL: it goes on. See `tenancy_states.last_day`
expected_end    the same, else when a notice expires or its term is over. See `tenancy_states.expected_end`
rent_total      all that is ever due of one that has a last day
last_rent       the last of its rents, minor units, from when on it is asked for, and how often
last_rent_from
last_rent_frequency
"""

from gatewayd.areas.landlord.register import rent_terms, tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.store import ReadTx, Table, WriteTx

TENANCIES = Table(
    "tenancies",
    TenancyRow,
    kind="tenancy",
    prefix="tcy",
    written={
        "last_day": tenancy_states.last_day,
        "expected_end": tenancy_states.expected_end,
        "rent_total": rent_terms.total,
        "last_rent": lambda row: rent_terms.last_rent(row).amount,
        "last_rent_from": lambda row: rent_terms.last_rent(row).first,
        "last_rent_frequency": lambda row: rent_terms.last_rent(row).frequency,
    },
)
# Chosen: that something was told is no change that a caller's `expectedVersion` could run into.
_MARK_ENDING = "UPDATE tenancies SET ending_told_for = expected_end WHERE org_id = :org_id AND id = :id"
_MARK_LOOKED_AT = """
UPDATE tenancies SET rent_looked_at_on = :today, rent_told_for = :told_for WHERE org_id = :org_id AND id = :id
"""
_TOUCH_OF_PROPERTY = """
UPDATE tenancies SET updated_at = :updated_at
WHERE org_id = :org_id AND property_id = :property_id AND cancelled_at IS NULL
"""
_SELECT_LASTING = """
SELECT id FROM tenancies
WHERE org_id = :org_id AND property_id = :property_id AND cancelled_at IS NULL
    AND (last_day IS NULL OR last_day >= :day)
LIMIT 1
"""
_SELECT_LASTING_OF_UNIT = """
SELECT id FROM tenancies
WHERE org_id = :org_id AND property_id = :property_id AND unit_id = :unit_id AND cancelled_at IS NULL
    AND (last_day IS NULL OR last_day >= :day)
LIMIT 1
"""
_SELECT_LASTING_TYPES = """
SELECT id, type FROM tenancies
WHERE org_id = :org_id AND property_id = :property_id AND cancelled_at IS NULL
    AND (last_day IS NULL OR last_day >= :day)
ORDER BY id
"""


def mark_ending_told(tx: WriteTx, tenancy_id: str) -> None:
    """Note that it was told when it ends."""
    tx.run(_MARK_ENDING, id=tenancy_id)


def mark_rent_looked_at(tx: WriteTx, tenancy_id: str, told_for: str | None) -> None:
    """Note that its rent was looked at today, and the ISO due date that was told of last; None: none was."""
    tx.run(_MARK_LOOKED_AT, id=tenancy_id, told_for=told_for, today=tx.today)


def touch(tx: WriteTx, tenancy_id: str) -> None:
    """Let who follows changes learn that something else was paid of its rent."""
    TENANCIES.touch(tx, tenancy_id)


def touch_all(tx: WriteTx, property_id: str) -> None:
    """Let who follows changes learn that there is something else to warn of in the tenancies of a property."""
    tx.run(_TOUCH_OF_PROPERTY, property_id=property_id, updated_at=tx.updated_at)


def lasting(tx: ReadTx, property_id: str, day: str) -> str | None:
    """The id of a tenancy that has not ended before an ISO date, begun or not; None: there is none."""
    tenancy_id: str | None = tx.value(_SELECT_LASTING, property_id=property_id, day=day)
    return tenancy_id


def lasting_types(tx: ReadTx, property_id: str, day: str) -> list[tuple[str, str]]:
    """The ids and types of tenancies that have not ended before an ISO date, begun or not."""
    return [(id_, type_) for id_, type_ in tx.rows(_SELECT_LASTING_TYPES, property_id=property_id, day=day)]


def lasting_of_unit(tx: ReadTx, property_id: str, unit_id: str, day: str) -> str | None:
    """The same, of tenancies of a unit alone."""
    tenancy_id: str | None = tx.value(_SELECT_LASTING_OF_UNIT, property_id=property_id, unit_id=unit_id, day=day)
    return tenancy_id
