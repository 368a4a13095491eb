"""What is let, and to whom: facts on which a tenancy depends. Reads only."""

from collections.abc import Iterator, Sequence

from gatewayd.areas.landlord.register.properties import StoredProperty
from gatewayd.areas.landlord.tenants import rows as tenants
from gatewayd.errors import FieldError
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import businesses
from gatewayd.store import ReadTx

_SELECT_UNIT = """
SELECT property_id, archived_at IS NOT NULL FROM property_units WHERE org_id = :org_id AND id = :id
"""


def property_mistakes(tx: ReadTx, let: StoredProperty | None) -> Iterator[FieldError]:
    """What is wrong with the property of a new tenancy; None: there is no such one."""
    if let is None:
        yield unknown_reference("propertyId", "property")
        return
    if let.status in ("sold", "archived"):
        yield FieldError("propertyId", "conflict", f"The property is {let.status}.")
    business = businesses.find(tx, let.business_id)
    if business is not None and business.archived:
        yield FieldError("propertyId", "conflict", "The business of the property is archived.")


def unit_mistakes(tx: ReadTx, unit_id: str | None, property_id: str) -> Iterator[FieldError]:
    """What is wrong with the unit of a new tenancy; None: it is of the whole property."""
    if unit_id is None:
        return
    found = tx.row(_SELECT_UNIT, id=unit_id)
    if found is None:
        yield unknown_reference("unitId", "unit")
    elif found[0] != property_id:
        yield FieldError("unitId", "conflict", "The unit is one of another property.")
    elif found[1]:
        yield FieldError("unitId", "conflict", "The unit is archived.")


def tenant_mistakes(tx: ReadTx, ids: Sequence[str]) -> Iterator[FieldError]:
    """What is wrong with the tenants of a tenancy."""
    for index, id_ in enumerate(ids):
        path, standing = f"tenantIds[{index}]", tenants.standing(tx, id_)
        if id_ in ids[:index]:
            yield FieldError(path, "conflict", "The tenant is named twice.")
        elif standing is None:
            yield unknown_reference(path, "tenant")
        elif standing.erased:
            yield FieldError(path, "conflict", "The tenant was erased.")


def are_companies(tx: ReadTx, ids: Sequence[str]) -> bool:
    """Whether all of these tenants are companies."""
    found = [tenants.standing(tx, id_) for id_ in ids]
    return all(standing is not None and standing.kind == "company" for standing in found)
