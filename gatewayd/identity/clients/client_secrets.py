"""Secrets of OAuth clients that the operator registered. Owns `oauth_client_secrets`.

Each is 256 random bits, kept as its SHA-256 and shown once. A rotation lets the ones before go on for a while.
"""

from typing import Final

from gatewayd.clock import HOUR
from gatewayd.errors import Problem
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, WriteTx

PREFIX: Final = "gwcs_"
"""Tells people and scanners what it is."""
OVERLAP: Final = 24 * HOUR  # Chosen: as for API keys and webhook secrets
LIVE_MAX: Final = 5  # Chosen: of one client, the newest included

_INSERT = """
INSERT INTO oauth_client_secrets (hash, client_id, ends_at, created_at) VALUES (:hash, :client_id, NULL, :now)
"""
_MATCHES = """
SELECT 1 FROM oauth_client_secrets
WHERE hash = :hash AND client_id = :client_id AND (ends_at IS NULL OR ends_at > :at)
"""
_END = """
UPDATE oauth_client_secrets SET ends_at = :ends_at
WHERE client_id = :client_id AND (ends_at IS NULL OR ends_at > :ends_at)
"""
_FORGET = "DELETE FROM oauth_client_secrets WHERE client_id = :client_id"
_FORGET_ENDED = "DELETE FROM oauth_client_secrets WHERE client_id = :client_id AND ends_at <= :now"
_COUNT = "SELECT count(*) FROM oauth_client_secrets WHERE client_id = :client_id"


def add(tx: WriteTx, client_id: str) -> str:
    """A new secret, which serves at once."""
    secret = make_token(PREFIX)
    tx.run(_INSERT, hash=hash_token(secret), client_id=client_id)
    return secret


def rotate(tx: WriteTx, client_id: str, overlap: int) -> str:
    """A new secret; those before serve `overlap` microseconds more at most, and none longer than it would have.

    Raises `Problem` `limit_reached` where `LIVE_MAX` serve already.
    """
    tx.run(_END, client_id=client_id, ends_at=tx.now + overlap)
    tx.run(_FORGET_ENDED, client_id=client_id)
    if tx.value(_COUNT, client_id=client_id) >= LIVE_MAX:
        message = f"The client has {LIVE_MAX} secrets that serve: rotate without an overlap, or wait until one ends."
        raise Problem("limit_reached", message)
    return add(tx, client_id)


def matches(tx: ReadTx, client_id: str, secret: str) -> bool:
    """Whether it is a secret of the client that serves: looked up by its hash, which tells nothing by its time."""
    return tx.row(_MATCHES, hash=hash_token(secret), client_id=client_id, at=tx.now) is not None


def forget(tx: WriteTx, client_id: str) -> None:
    """End all of a client, now."""
    tx.run(_FORGET, client_id=client_id)
