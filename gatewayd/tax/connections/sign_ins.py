"""Sign-ins at the tax authority that somebody has begun and not come back from. Owns the table `authority_sign_ins`.

The browser comes back with the state that it was sent away with (RFC 6749 §10.12), to whichever daemon: that counts
once, for the session and the organization it began with, and only within ten minutes.
"""

from typing import Final, NamedTuple

from gatewayd.clock import MINUTE, Instant
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import WriteTx

LIFE: Final = 10 * MINUTE  # HMRC, Authorisation: as long as a code
PER_SESSION_MAX: Final = 10  # Chosen: past it the oldest goes
SKEW: Final = MINUTE  # Chosen: how far clocks of daemons are apart at most
SWEEP_ROWS: Final = 500  # of one transaction

_BEGIN = """
INSERT INTO authority_sign_ins (state_hash, session_id, org_id, legal_entity_id, replaces, begun_at)
VALUES (:state_hash, :session_id, :org_id, :legal_entity_id, :replaces, :now)
"""
_FORGET_OLDEST_ANY_ORG = """
DELETE FROM authority_sign_ins WHERE session_id = :session_id AND state_hash NOT IN (
    SELECT state_hash FROM authority_sign_ins WHERE session_id = :session_id
    ORDER BY begun_at DESC, state_hash LIMIT :kept
)
"""
_END_ANY_ORG = """
DELETE FROM authority_sign_ins WHERE state_hash = :state_hash AND session_id = :session_id
RETURNING org_id, legal_entity_id, replaces, begun_at
"""
_SWEEP_ANY_ORG = """
DELETE FROM authority_sign_ins WHERE state_hash IN (
    SELECT state_hash FROM authority_sign_ins WHERE begun_at < :before LIMIT :count
)
"""


class Connecting(NamedTuple):
    """What somebody who signs in at the authority wants to connect.

    `legal_entity_id` None: the organization as a whole. `replaces` is the `since` of the connection that they agreed to
    lose, None: there was none.
    """

    org_id: str
    legal_entity_id: str | None = None
    replaces: Instant | None = None


def begin(tx: WriteTx, session_id: str, connecting: Connecting) -> str:
    """The state that goes along, which is not stored."""
    state = make_token()
    tx.bind(connecting.org_id)
    tx.run(
        _BEGIN,
        state_hash=hash_token(state),
        session_id=session_id,
        legal_entity_id=connecting.legal_entity_id,
        replaces=connecting.replaces,
    )
    tx.run(_FORGET_OLDEST_ANY_ORG, session_id=session_id, kept=PER_SESSION_MAX)
    return state


def end(tx: WriteTx, state: str, session_id: str) -> Connecting | None:
    """What was to be connected, once; None where this session began no such sign-in, or too long ago."""
    row = tx.row(_END_ANY_ORG, state_hash=hash_token(state), session_id=session_id)
    if row is None:
        return None
    org_id, legal_entity_id, replaces, begun_at = row
    if tx.now - begun_at > LIFE:
        return None
    return Connecting(org_id, legal_entity_id, None if replaces is None else Instant(replaces))


def sweep(tx: WriteTx) -> int:
    """Forget at most `SWEEP_ROWS` that are too old by every daemon's clock; returns how many."""
    return tx.run(_SWEEP_ANY_ORG, before=tx.now - LIFE - SKEW, count=SWEEP_ROWS)
