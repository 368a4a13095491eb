"""Browsers in which somebody signed in before, known by a cookie. Owns the table `known_devices`.

The cookie holds a random token, and the database its hash beside each person who signed in there. It opens nothing: it
lets a browser try a password or a code while the account is locked for strangers, on a budget of its own. With every
sign-in the token is replaced, so that a copy of the cookie is good for one budget at most, for the people it is of.
"""

from gatewayd.clock import DAY
from gatewayd.identity.people.users import fold_email
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, WriteTx

LIFETIME = 180 * DAY  # Chosen: from the last sign-in
PER_USER = 20  # Chosen: the one that was used longest ago makes room
SWEEP_ROWS = 500  # of one transaction

_CHARGE = """
UPDATE known_devices SET failures = failures + 1
WHERE hash = :hash AND failures < :attempts AND last_used_at > :since
    AND user_id = (SELECT id FROM users WHERE email_folded = :email_folded)
RETURNING user_id
"""
_GIVE_BACK = """
UPDATE known_devices SET failures = failures - 1 WHERE hash = :hash AND user_id = :user_id AND failures > 0
"""
_REPLACE_TOKEN = "UPDATE known_devices SET hash = :hash WHERE hash = :replaced"
_REMEMBER = """
INSERT INTO known_devices (hash, user_id, failures, last_used_at, created_at) VALUES (:hash, :user_id, 0, :now, :now)
ON CONFLICT (hash, user_id) DO UPDATE SET failures = 0, last_used_at = :now
"""
_MAKE_ROOM = """
DELETE FROM known_devices WHERE user_id = :user_id AND hash IN (
    SELECT hash FROM known_devices WHERE user_id = :user_id ORDER BY last_used_at DESC, hash LIMIT :count OFFSET :kept
)
"""
_FORGET = "DELETE FROM known_devices WHERE user_id = :user_id AND hash <> :kept"
_COUNT = "SELECT count(*) FROM known_devices WHERE user_id = :user_id"
_IS_KNOWN = "SELECT 1 FROM known_devices WHERE hash = :hash AND user_id = :user_id AND last_used_at > :since"
_SWEEP = """
DELETE FROM known_devices WHERE hash IN (
    SELECT hash FROM known_devices WHERE last_used_at <= :before ORDER BY last_used_at LIMIT :count
) AND last_used_at <= :before
"""


def charge(tx: WriteTx, email: str, token: str, attempts: int) -> str | None:
    """Count a failure against the browser that holds `token`; the id of its user.

    None, and nothing is counted: nobody of this address signed in there lately, or `attempts` failures have followed.
    """
    if not token:
        return None
    since = tx.now - LIFETIME
    user_id = tx.value(_CHARGE, hash=hash_token(token), email_folded=fold_email(email), attempts=attempts, since=since)
    return None if user_id is None else str(user_id)


def give_back(tx: WriteTx, user_id: str, token: str) -> None:
    """One failure less."""
    tx.run(_GIVE_BACK, hash=hash_token(token), user_id=user_id)


def remember(tx: WriteTx, user_id: str, token: str) -> str:
    """Somebody has signed in with the browser that held `token` (empty: none); returns its new one."""
    replacement = make_token()
    if token:
        tx.run(_REPLACE_TOKEN, hash=hash_token(replacement), replaced=hash_token(token))
    tx.run(_REMEMBER, hash=hash_token(replacement), user_id=user_id)
    tx.run(_MAKE_ROOM, user_id=user_id, kept=PER_USER, count=SWEEP_ROWS)
    return replacement


def forget(tx: WriteTx, user_id: str, kept: str = "") -> None:
    """Every browser of a user is a stranger's again, but for the one that holds the token `kept`."""
    tx.run(_FORGET, user_id=user_id, kept=hash_token(kept))


def is_known(tx: ReadTx, user_id: str, token: str) -> bool:
    """Whether a user signed in with the browser that holds `token` (empty: none) not too long ago."""
    since = tx.now - LIFETIME
    return bool(token) and tx.row(_IS_KNOWN, hash=hash_token(token), user_id=user_id, since=since) is not None


def count(tx: ReadTx, user_id: str) -> int:
    """How many browsers are known of a user."""
    return int(tx.value(_COUNT, user_id=user_id))


def sweep(tx: WriteTx) -> int:
    """Delete at most about `SWEEP_ROWS` browsers that nobody has used for long; returns how many."""
    return tx.run(_SWEEP, before=tx.now - LIFETIME, count=SWEEP_ROWS)
