"""A business, a source of income: facts about it on which money that is allocated to it depends. Reads only."""

from typing import NamedTuple

from gatewayd.store import ReadTx

_SELECT_ONE = """
SELECT id, legal_entity_id, type, currency, archived_at IS NOT NULL FROM businesses
WHERE org_id = :org_id AND id = :id
"""


class Business(NamedTuple):
    """A business of the caller's organization."""

    id: str
    legal_entity_id: str
    type: str
    currency: str
    archived: bool


def find(tx: ReadTx, business_id: str) -> Business | None:
    """The business, archived or not; None where the organization has no such one."""
    row = tx.row(_SELECT_ONE, id=business_id)
    if row is None:
        return None
    id_, legal_entity_id, type_, currency, archived = row
    return Business(id_, legal_entity_id, type_, currency, bool(archived))
