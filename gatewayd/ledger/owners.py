"""The owner of a resource: facts about a legal entity on which its resources depend. Reads only."""

from typing import NamedTuple

from gatewayd.store import ReadTx

_SELECT_ONE = """
SELECT id, type, base_currency, archived_at IS NOT NULL, country_code
FROM legal_entities WHERE org_id = :org_id AND id = :id
"""
_SELECT_LIVE_BUSINESS = """
SELECT id FROM businesses
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND archived_at IS NULL AND status <> 'ceased'
ORDER BY id LIMIT 1
"""
_SELECT_LIVE_TYPES = """
SELECT type FROM businesses
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND archived_at IS NULL AND status <> 'ceased'
"""

_SELECT_BUSINESS = """
SELECT 1 FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND id = :id
"""

PERSONS = frozenset({"individual", "sole_trader"})
INCORPORATED = frozenset({"limited_company", "llp"})
POOLING = PERSONS | {"trust", "partnership"}


class Owner(NamedTuple):
    """A legal entity of the caller's organization."""

    id: str
    type: str
    base_currency: str
    archived: bool
    country_code: str

    @property
    def is_person(self) -> bool:
        """True where Income Tax is its own."""
        return self.type in PERSONS

    @property
    def is_incorporated(self) -> bool:
        """True for companies and limited liability partnerships."""
        return self.type in INCORPORATED

    @property
    def has_pools(self) -> bool:
        """True where section 104 holdings are: of individuals, trusts and partnerships (Domain C5)."""
        return self.type in POOLING


def find(tx: ReadTx, legal_entity_id: str) -> Owner | None:
    """The legal entity, archived or not; None where the organization has no such one."""
    row = tx.row(_SELECT_ONE, id=legal_entity_id)
    if row is None:
        return None
    id_, type_, base_currency, archived, country_code = row
    return Owner(id_, type_, base_currency, bool(archived), country_code)


def live_types(tx: ReadTx, legal_entity_id: str) -> list[str]:
    """The type of each business of the legal entity that is neither ceased nor archived."""
    return [row[0] for row in tx.rows(_SELECT_LIVE_TYPES, legal_entity_id=legal_entity_id)]


def live_business(tx: ReadTx, legal_entity_id: str) -> str | None:
    """The id of a business of the legal entity that is neither ceased nor archived, if there is one."""
    found: str | None = tx.value(_SELECT_LIVE_BUSINESS, legal_entity_id=legal_entity_id)
    return found


def has_business(tx: ReadTx, legal_entity_id: str, business_id: str) -> bool:
    """True where the business is the legal entity's, archived or not."""
    return tx.row(_SELECT_BUSINESS, legal_entity_id=legal_entity_id, id=business_id) is not None
