"""The second factor: codes of an authenticator app (RFC 6238), and recovery codes for when the phone is gone.

Owns the tables `totp_secrets` and `recovery_codes`. A secret counts once a first code has confirmed it. Every code
works once.
"""

import secrets
from typing import Final

import pyotp

from gatewayd.clock import MINUTE, SECOND
from gatewayd.identity import audit
from gatewayd.identity.random_tokens import hash_token
from gatewayd.store import ReadTx, WriteTx

STEP_SECONDS: Final = 30  # RFC 6238 §4.1
DIGITS: Final = 6
STEPS_AROUND: Final = 1  # RFC 6238 §5.2: one step of delay either way
PROPOSAL_LIFE: Final = 30 * MINUTE  # Chosen: an app may have to be installed first
RECOVERY_CODES: Final = 10  # Chosen
_RECOVERY_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters that look like digits
_RECOVERY_GROUPS: Final = (5, 5)  # 49 bits: guessing is throttled

_KEEP = """
INSERT INTO totp_secrets (user_id, secret_sealed, confirmed_at, last_step, created_at)
VALUES (:user_id, :secret_sealed, NULL, 0, :now)
ON CONFLICT (user_id) DO UPDATE SET secret_sealed = :secret_sealed, last_step = 0, created_at = :now
    WHERE totp_secrets.confirmed_at IS NULL
"""
_GET = "SELECT secret_sealed, confirmed_at, last_step FROM totp_secrets WHERE user_id = :user_id"
_LAST_USE = "SELECT created_at, last_step FROM totp_secrets WHERE user_id = :user_id"
_PROPOSED = """
SELECT secret_sealed FROM totp_secrets WHERE user_id = :user_id AND confirmed_at IS NULL AND created_at > :since
"""
_CONFIRM = """
UPDATE totp_secrets SET confirmed_at = :now, last_step = :step WHERE user_id = :user_id AND confirmed_at IS NULL
"""
_ADVANCE = """
UPDATE totp_secrets SET last_step = :step
WHERE user_id = :user_id AND confirmed_at IS NOT NULL AND last_step < :step
"""
_REMOVE = "DELETE FROM totp_secrets WHERE user_id = :user_id"
_ADD_RECOVERY = "INSERT INTO recovery_codes (user_id, hash) VALUES (:user_id, :hash)"
_REMOVE_RECOVERY = "DELETE FROM recovery_codes WHERE user_id = :user_id"
_USE_RECOVERY = """
UPDATE recovery_codes SET used_at = :now WHERE user_id = :user_id AND hash = :hash AND used_at IS NULL
"""
_COUNT_RECOVERY = "SELECT count(*) FROM recovery_codes WHERE user_id = :user_id AND used_at IS NULL"


def is_on(tx: ReadTx, user_id: str) -> bool:
    """Whether signing in with a password takes a code as well."""
    row = tx.row(_GET, user_id=user_id)
    return row is not None and row[1] is not None


def last_use(tx: ReadTx, user_id: str) -> str:
    """Another text once a code was used, or another secret set: what was begun before either is not gone on with."""
    row = tx.row(_LAST_USE, user_id=user_id) or (0, 0)
    return f"{row[0]} {row[1]} {recovery_codes_left(tx, user_id)}"


def propose(tx: WriteTx, user_id: str) -> str:
    """A new secret to be shown, base32. It replaces one that was never confirmed; one in use stays."""
    secret = pyotp.random_base32()
    tx.run(_KEEP, user_id=user_id, secret_sealed=tx.seal(secret, _context(user_id)))
    return secret


def provisioning_uri(secret: str, email: str, issuer: str) -> str:
    """What the QR code says (`otpauth://totp/...`)."""
    return pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS).provisioning_uri(name=email, issuer_name=issuer)


def find_proposal(tx: ReadTx, user_id: str) -> str | None:
    """The secret that waits for its first code; None when there is none, or it has waited for `PROPOSAL_LIFE`."""
    sealed = tx.value(_PROPOSED, user_id=user_id, since=tx.now - PROPOSAL_LIFE)
    return None if sealed is None else tx.unseal(sealed, _context(user_id))


def confirm(tx: WriteTx, user_id: str, code: str) -> list[str] | None:
    """Turn the second factor on with a first code; returns the recovery codes, shown this once. None: a wrong code."""
    secret = find_proposal(tx, user_id)
    step = None if secret is None else _matching_step(secret, code, tx.now)
    if step is None:
        return None
    tx.run(_CONFIRM, user_id=user_id, step=step)
    audit.record(tx, audit.Act(actor=user_id, action="user.totp_on", subject=user_id, org_id=None))
    return renew_recovery_codes(tx, user_id)


def remove(tx: WriteTx, user_id: str, actor: str) -> None:
    """Turn the second factor off, recovery codes included."""
    if tx.run(_REMOVE, user_id=user_id):
        audit.record(tx, audit.Act(actor=actor, action="user.totp_off", subject=user_id, org_id=None))
    tx.run(_REMOVE_RECOVERY, user_id=user_id)


def use_code(tx: WriteTx, user_id: str, code: str) -> str | None:
    """Use a code of the app or a recovery code; returns the method (RFC 8176), None for a wrong or used one."""
    typed = "".join(code.split()).replace("-", "").lower()
    if len(typed) == DIGITS and typed.isascii() and typed.isdigit():
        return "otp" if _use_step(tx, user_id, typed) else None
    if not tx.run(_USE_RECOVERY, user_id=user_id, hash=hash_token(typed)):
        return None
    audit.record(tx, audit.Act(actor=user_id, action="user.recovery_code_used", subject=user_id, org_id=None))
    return "kba"  # RFC 8176 has no name for it; knowledge of something handed out is the nearest


def renew_recovery_codes(tx: WriteTx, user_id: str) -> list[str]:
    """New recovery codes in the place of all earlier ones, as they are shown."""
    tx.run(_REMOVE_RECOVERY, user_id=user_id)
    codes = ["-".join(_random(length) for length in _RECOVERY_GROUPS) for _ in range(RECOVERY_CODES)]
    tx.run_each(_ADD_RECOVERY, [(user_id, hash_token(code.replace("-", ""))) for code in codes])
    return codes


def recovery_codes_left(tx: ReadTx, user_id: str) -> int:
    """How many are unused."""
    return int(tx.value(_COUNT_RECOVERY, user_id=user_id))


def _use_step(tx: WriteTx, user_id: str, code: str) -> bool:
    row = tx.row(_GET, user_id=user_id)
    if row is None or row[1] is None:
        return False
    step = _matching_step(tx.unseal(row[0], _context(user_id)), code, tx.now)
    return step is not None and tx.run(_ADVANCE, user_id=user_id, step=step) == 1


def _matching_step(secret: str, code: str, now: int) -> int | None:
    """The time step whose code it is, of those around the present."""
    totp = pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS)
    current = now // SECOND // STEP_SECONDS
    typed = "".join(code.split())
    matching = [
        step
        for step in range(current - STEPS_AROUND, current + STEPS_AROUND + 1)
        if secrets.compare_digest(totp.generate_otp(step).encode(), typed.encode("utf-8", "replace"))
    ]
    return matching[-1] if matching else None


def _random(length: int) -> str:
    return "".join(secrets.choice(_RECOVERY_ALPHABET) for _ in range(length))


def _context(user_id: str) -> str:
    return f"totp_secrets.secret:{user_id}"
