"""The owner of a resource: facts about a legal entity on which its resources depend. Reads only."""

from collections.abc import Iterator
from typing import NamedTuple

from gatewayd.errors import FieldError
from gatewayd.ledger.references import unknown_reference
from gatewayd.store import ReadTx

_SELECT_ONE = """
SELECT id, type, base_currency, archived_at IS NOT NULL, country_code
FROM legal_entities WHERE org_id = :org_id AND id = :id
"""
_SELECT_NAMES = "SELECT id, name FROM legal_entities WHERE org_id = :org_id ORDER BY id LIMIT :limit"
NAMES_MAX = 500  # Chosen: more than a small firm's accountant has
PERSONS = frozenset({"individual", "sole_trader"})
INCORPORATED = frozenset({"limited_company", "llp"})
POOLING = PERSONS | {"trust", "partnership"}
TAXED_AS_PERSONS = POOLING | {"llp"}


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
    def is_taxed_as_persons(self) -> bool:
        """True where Income Tax is due on what it lets: by itself, or by its partners (ITTOIA 2005 s272A)."""
        return self.type in TAXED_AS_PERSONS

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


def names(tx: ReadTx) -> dict[str, str]:
    """What the organization's legal entities are called, archived or not, by id, the oldest first."""
    return {str(id_): str(name) for id_, name in tx.rows(_SELECT_NAMES, limit=NAMES_MAX)}


def mistakes(owner: Owner | None) -> Iterator[FieldError]:
    """What is wrong with the `legalEntityId` of something that is to be its own. None: there is no such one."""
    if owner is None:
        yield unknown_reference("legalEntityId", "legal_entity")
    elif owner.archived:
        yield FieldError(
            "legalEntityId", "conflict", "The legal entity is archived: bring it back first, or choose another."
        )
