"""Links that work once: to sign in without a password, or to set a new one. Owns the table `one_time_links`.

The operator makes a link and hands it over, or where mail is sent a person has one mailed to themselves.
"""

from typing import Literal

from gatewayd.clock import DAY, HOUR, MINUTE
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, WriteTx

Purpose = Literal["sign_in", "reset_password"]
LIFETIMES = {"sign_in": 30 * MINUTE, "reset_password": 24 * HOUR}  # Chosen
RETENTION = DAY  # Chosen: for so long a used link is told from an unknown one
SWEEP_ROWS = 500  # of one transaction

_INSERT = """
INSERT INTO one_time_links (hash, user_id, purpose, expires_at, created_at)
VALUES (:hash, :user_id, :purpose, :expires_at, :now)
"""
_FIND = """
SELECT user_id FROM one_time_links
WHERE hash = :hash AND purpose = :purpose AND used_at IS NULL AND expires_at > :now
"""
_USE = """
UPDATE one_time_links SET used_at = :now
WHERE hash = :hash AND purpose = :purpose AND used_at IS NULL AND expires_at > :now RETURNING user_id
"""
_VOID = """
UPDATE one_time_links SET used_at = :now WHERE user_id = :user_id AND used_at IS NULL AND expires_at > :now
"""
_SWEEP = """
DELETE FROM one_time_links WHERE hash IN (
    SELECT hash FROM one_time_links WHERE expires_at < :before LIMIT :count
)
"""


def make(tx: WriteTx, user_id: str, purpose: Purpose, lifetime: int | None = None) -> str:
    """Make a link for a user; returns the token that stands in it, which is not stored.

    `lifetime` in microseconds; None: that of its purpose.
    """
    token = make_token()
    values = {"hash": hash_token(token), "user_id": user_id, "purpose": purpose}
    tx.run(_INSERT, **values, expires_at=tx.now + (lifetime or LIFETIMES[purpose]))
    return token


def find(tx: ReadTx, token: str, purpose: Purpose) -> str | None:
    """Whose link it is, without using it; None when it is unknown, used or past its time."""
    user_id = tx.value(_FIND, hash=hash_token(token), purpose=purpose)
    return None if user_id is None else str(user_id)


def use(tx: WriteTx, token: str, purpose: Purpose) -> str | None:
    """Use a link up; returns whose it was, None when it is unknown, used or past its time."""
    user_id = tx.value(_USE, hash=hash_token(token), purpose=purpose)
    return None if user_id is None else str(user_id)


def void(tx: WriteTx, user_id: str) -> int:
    """Use up every link of a user, as after a change of password; answers how many worked."""
    return tx.run(_VOID, user_id=user_id)


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` old links; returns how many."""
    return tx.run(_SWEEP, before=tx.now - RETENTION, count=SWEEP_ROWS)
