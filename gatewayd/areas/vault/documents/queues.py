"""How many documents wait to be read and to be indexed, by organization: within bounds, for who runs the instance."""

from typing import Final, NamedTuple

from gatewayd.store import ReadTx

ORGANIZATIONS: Final = 50  # Chosen: a page of them; those with nothing are not told
MOST: Final = 1_000  # Chosen: documents that are counted of each, so that all of it takes some milliseconds

_SELECT_ANY_ORG = """
SELECT o.name,
    (SELECT COUNT(*) FROM (
        SELECT p.document_id FROM vault_parses p WHERE p.org_id = o.id AND p.due_at IS NOT NULL LIMIT :most
    ) AS to_read),
    (SELECT COUNT(*) FROM (
        SELECT p.document_id FROM vault_parses p WHERE p.org_id = o.id AND p.status = 'running' LIMIT :most
    ) AS under_way),
    (SELECT COUNT(*) FROM (
        SELECT q.document_id FROM vault_index_queue q WHERE q.org_id = o.id LIMIT :most
    ) AS to_index)
FROM organizations o
WHERE EXISTS (SELECT 1 FROM vault_parses p WHERE p.org_id = o.id AND p.due_at IS NOT NULL)
    OR EXISTS (SELECT 1 FROM vault_parses p WHERE p.org_id = o.id AND p.status = 'running')
    OR EXISTS (SELECT 1 FROM vault_index_queue q WHERE q.org_id = o.id)
ORDER BY o.id LIMIT :count
"""


class Queues(NamedTuple):
    """Of one organization. `more`: one of them is longer than was counted."""

    organization: str
    to_read: int
    under_way: int
    to_index: int
    more: bool


def by_organization(tx: ReadTx) -> list[Queues]:
    """Of those with anything, by name; one statement, whatever their number."""
    rows = tx.rows(_SELECT_ANY_ORG, most=MOST, count=ORGANIZATIONS)
    return sorted(Queues(name, read, way, index, MOST in (read, way, index)) for name, read, way, index in rows)
