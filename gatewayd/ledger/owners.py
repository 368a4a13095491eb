"""The owner of a resource: facts about a legal entity on which its resources depend. Reads only."""

from typing import NamedTuple

from gatewayd.store import ReadTx

_SELECT_ONE = """
SELECT id, type, base_currency, archived_at IS NOT NULL FROM legal_entities WHERE org_id = :org_id AND id = :id
"""
PERSONS = frozenset({"individual", "sole_trader"})
INCORPORATED = frozenset({"limited_company", "llp"})


class Owner(NamedTuple):
    """A legal entity of the caller's organization."""

    id: str
    type: str
    base_currency: str
    archived: bool

    @property
    def is_person(self) -> bool:
        """True where Income Tax is its own."""
        return self.type in PERSONS

    @property
    def is_incorporated(self) -> bool:
        """True for companies and limited liability partnerships."""
        return self.type in INCORPORATED


def find(tx: ReadTx, legal_entity_id: str) -> Owner | None:
    """The legal entity, archived or not; None where the organization has no such one."""
    row = tx.row(_SELECT_ONE, id=legal_entity_id)
    if row is None:
        return None
    id_, type_, base_currency, archived = row
    return Owner(id_, type_, base_currency, bool(archived))
