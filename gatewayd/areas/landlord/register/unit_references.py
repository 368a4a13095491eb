"""Units as a tenancy or a certificate names them beside its property. Reads only."""

from collections.abc import Iterator

from gatewayd.errors import FieldError
from gatewayd.ledger.references import unknown_reference
from gatewayd.store import ReadTx

_SELECT_UNIT = """
SELECT property_id, archived_at IS NOT NULL FROM property_units WHERE org_id = :org_id AND id = :id
"""


def mistakes(tx: ReadTx, unit_id: str | None, property_id: str) -> Iterator[FieldError]:
    """What is wrong with the `unitId` of something that is new on a property; None: it is of the whole property."""
    if unit_id is None:
        return
    unit = tx.row(_SELECT_UNIT, id=unit_id)
    if unit is None:
        yield unknown_reference("unitId", "unit")
    elif unit[0] != property_id:
        message = f"The unit is one of another property, {unit[0]}: expected one of {property_id}."
        yield FieldError("unitId", "conflict", message)
    elif unit[1]:
        yield FieldError("unitId", "conflict", "The unit is archived: bring it back first, or choose another.")
