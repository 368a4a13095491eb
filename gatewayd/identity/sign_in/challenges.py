"""Challenges for passkeys (WebAuthn Level 3 §13.4.3). Owns the table `used_challenges`.

    nonce 16 bytes | given at, 8 bytes | HMAC-SHA256 of both and of what it is for

Whoever opens the page is given one, so that nothing is stored then: a challenge says itself when it was given, and its
signature, by the instance's key, that it was given here and for what. Stored is that it was answered, with what the
answer brings about: of two answers to one challenge at once, whichever daemons are asked, one counts. An answer that
is refused uses nothing up.
"""

import hmac
import secrets
from typing import Final

from gatewayd.clock import MINUTE, Instant
from gatewayd.store import ReadTx, WriteTx

LIFE: Final = 5 * MINUTE  # Chosen
NONCE_BYTES: Final = 16  # §13.4.3
SKEW: Final = MINUTE  # Chosen: how far clocks of daemons are apart at most
SWEEP_ROWS: Final = 500  # of one transaction
SIGN_IN: Final = "sign in"
"""What a challenge is for that anybody may answer who has a passkey."""
_CONTEXT: Final = "passkeys.challenge"
_INSTANT_BYTES: Final = 8

_USE = """
INSERT INTO used_challenges (nonce, ends_at) VALUES (:nonce, :ends_at) ON CONFLICT (nonce) DO NOTHING
"""
_SWEEP = """
DELETE FROM used_challenges WHERE nonce IN (
    SELECT nonce FROM used_challenges WHERE ends_at < :before LIMIT :count
)
"""


class PasskeyError(Exception):
    """The browser's response was not accepted. The text is for the log, not for the person."""


def registration_of(user_id: str) -> str:
    """What a challenge is for that one person answers with a new passkey."""
    return f"register {user_id}"


def give(tx: ReadTx, purpose: str) -> bytes:
    """A new challenge for that purpose."""
    text = secrets.token_bytes(NONCE_BYTES) + tx.now.to_bytes(_INSTANT_BYTES, "big")
    return text + _signature(tx, text, purpose)


def use(tx: WriteTx, challenge: bytes, purpose: str) -> None:
    """Use a challenge up, by the transaction that writes what its answer brings about.

    Raises `PasskeyError` where it was not given here for that purpose, or too long ago, or was used.
    """
    text, signature = challenge[: NONCE_BYTES + _INSTANT_BYTES], challenge[NONCE_BYTES + _INSTANT_BYTES :]
    if not hmac.compare_digest(signature, _signature(tx, text, purpose)):
        raise PasskeyError("the challenge is not one that was given out for this")
    ends_at = Instant(int.from_bytes(text[NONCE_BYTES:], "big") + LIFE)
    if tx.now > ends_at:
        raise PasskeyError("the challenge was given out too long ago")
    if tx.run(_USE, nonce=text[:NONCE_BYTES], ends_at=ends_at) == 0:
        raise PasskeyError("the challenge was answered before")


def sweep(tx: WriteTx) -> int:
    """Forget at most `SWEEP_ROWS` that are too old by every daemon's clock; returns how many."""
    return tx.run(_SWEEP, before=tx.now - SKEW, count=SWEEP_ROWS)


def _signature(tx: ReadTx, text: bytes, purpose: str) -> bytes:
    return tx.sign(f"{text.hex()} {purpose}", _CONTEXT)
