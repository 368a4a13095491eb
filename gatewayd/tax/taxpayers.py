"""Whose taxes are asked for: the numbers of a legal entity of the caller's organization. Reads only."""

from typing import NamedTuple

from gatewayd.areas.legal_entities.rows import opened_nino
from gatewayd.errors import invalid_field
from gatewayd.store import ReadTx, Row

_SELECT_ONE = "SELECT id, vat_number, nino_sealed FROM legal_entities WHERE org_id = :org_id AND id = :id"
_SELECT_ACTIVE = """
SELECT id, vat_number, nino_sealed FROM legal_entities
WHERE org_id = :org_id AND archived_at IS NULL ORDER BY id LIMIT 2
"""


class Taxpayer(NamedTuple):
    """The numbers that the authority knows an entity by; None where the entity has none."""

    vrn: str | None = None
    nino: str | None = None


NOBODY = Taxpayer()


def of_entity(tx: ReadTx, legal_entity_id: str) -> Taxpayer:
    """The taxpayer that an entity of the transaction's organization is.

    Raises `Problem` `validation_failed` with `unknown_reference` where there is no such entity.
    """
    row = tx.row(_SELECT_ONE, id=legal_entity_id)
    if row is None:
        raise invalid_field("legalEntityId", "unknown_reference", "There is no such legal entity.")
    return _taxpayer(tx, row)


def of_only_entity(tx: ReadTx) -> Taxpayer | None:
    """The taxpayer where there is no choice; None where the organization has several entities, `NOBODY` without any."""
    rows = tx.rows(_SELECT_ACTIVE)
    if not rows:
        return NOBODY
    return _taxpayer(tx, rows[0]) if len(rows) == 1 else None


def _taxpayer(tx: ReadTx, row: Row) -> Taxpayer:
    entity_id, vat_number, nino_sealed = row
    return Taxpayer(vat_number, opened_nino(tx, entity_id, nino_sealed))
