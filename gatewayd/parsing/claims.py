"""Claims: which documents are read next, in turns of the organizations.

Each scan goes on behind the organization where the last one stopped, and gives every one a document before any gets a
second, so that ten thousand documents of one keep another's waiting for one alone. Nor has one all the places: scans
that take minutes keep nobody else's waiting.
"""

from dataclasses import dataclass, field
from typing import Final

from gatewayd.areas.vault.documents.rows import DOCUMENTS, UPLOADED
from gatewayd.areas.vault.parses import rows
from gatewayd.areas.vault.parses.rows import Head
from gatewayd.clock import Instant
from gatewayd.leases.holder import Holder
from gatewayd.ledger.credits.charging import HeldWork
from gatewayd.parsing import metering
from gatewayd.shares import Count
from gatewayd.store import ReadTx, WriteTx

FIRST: Final = ""  # sorts before every id


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An attempt that is on record as running and now has to be made. `retries`: those before it in this row.

    `held` are credits, where reading costs any.
    """

    org_id: str
    document_id: str
    attempt: int
    retries: int
    name: str
    mime_type: str
    sha256: str
    size_bytes: int
    wants_thumbnail: bool
    held: HeldWork


@dataclass(slots=True)
class Claimed:
    """What one scan began, and where it stopped. `next_due`: when to scan again, where nothing changes before."""

    claims: list[Claim] = field(default_factory=list)
    after: str = FIRST
    next_due: Instant | None = None


def next_due_at(tx: ReadTx, places: Count) -> Instant | None:
    """When something is due of who may have a place; None: only a change makes anything due.

    A step for each organization with a queue.
    """
    heads = [head for head in _heads(tx, FIRST) if places.allows(head.org_id)]
    return min((Instant(tx.now) if rows.is_due(tx, head.due_at) else head.due_at for head in heads), default=None)


def claim_due(tx: WriteTx, places: Count, after: str, holder: Holder) -> Claimed:
    """Begin as many attempts as there are places for, each under a lease of the holder's.

    A scan costs a step for each organization with a queue.
    """
    places = places.copy()
    claimed = Claimed(after=after)
    while _one_turn(tx, places, claimed, holder):
        pass
    return claimed


def _one_turn(tx: WriteTx, places: Count, claimed: Claimed, holder: Holder) -> bool:
    """A document of each organization that has a place for it; False where none had one that is due."""
    before = len(claimed.claims)
    for head in _heads(tx, claimed.after):
        if not places.allows(head.org_id):
            continue
        tx.bind(head.org_id)
        claim = _next_of(tx, head.org_id)
        if claim is not None:
            holder.take_in(tx, rows.lease_subject(claim.document_id))
            places.take(head.org_id)
            claimed.claims.append(claim)
            claimed.after = head.org_id
    return len(claimed.claims) > before


def _heads(tx: ReadTx, after: str) -> list[Head]:
    """What is due first in every organization, from the one behind `after` round to itself."""
    heads: list[Head] = []
    position = FIRST
    while (head := rows.next_head(tx, position)) is not None:
        heads.append(head)
        position = head.org_id
    return [head for head in heads if head.org_id > after] + [head for head in heads if head.org_id <= after]


def _next_of(tx: WriteTx, org_id: str) -> Claim | None:
    """The attempt at the organization's first document that is due; one that went into the trash meanwhile is none."""
    while due := rows.due(tx, 1):
        document = DOCUMENTS.get(tx, due[0])
        if document.status != UPLOADED or document.sha256 is None:
            rows.withdraw(tx, document.id)
            continue
        attempt, retries = rows.begin(tx, document.id)
        size = document.size_bytes or 0
        held = metering.begin(tx, document.id, attempt, size)
        if held is None:
            rows.fail(tx, document.id, attempt, retries, metering.NO_CREDITS)
            continue
        return Claim(
            org_id=org_id,
            document_id=document.id,
            attempt=attempt,
            retries=retries,
            name=document.name,
            mime_type=document.mime_type,
            sha256=document.sha256,
            size_bytes=size,
            held=held,
            wants_thumbnail=document.thumbnail_url is None,
        )
    return None
