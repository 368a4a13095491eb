"""Throttling of sign-in: wrong passwords and codes in a row lock an account for a while, and a network much later.

Counted in the database, so that a restart changes nothing. A lock ends by itself, grows with every further failure,
and is lifted by `gatewayd user unlock`. An account that does not exist is counted as one that does: the responses are
alike. Networks get a generous limit: many people, and whole assistants, stand behind one address.
"""

from ipaddress import IPv4Address, ip_address, ip_network

from gatewayd.clock import DAY, HOUR, MINUTE, Instant
from gatewayd.identity.users import fold_email
from gatewayd.store import ReadTx, WriteTx

FIRST_LOCK = MINUTE  # Chosen: doubles with every failure after it
LONGEST_LOCK = HOUR  # Chosen: who keeps others locked out has to go on trying, and passkeys stay open
FORGET_AFTER = DAY  # Chosen: failures this old no longer count
NETWORK_FACTOR = 20  # Chosen: a network may fail this many times as often as an account
IPV6_PREFIX = 64  # what one subscriber has
SWEEP_ROWS = 500  # of one transaction

_GET = "SELECT failures, last_at, locked_until FROM sign_in_failures WHERE subject = :subject"
_NOTE = """
INSERT INTO sign_in_failures (subject, failures, first_at, last_at, locked_until)
VALUES (:subject, :failures, :now, :now, :locked_until)
ON CONFLICT (subject) DO UPDATE SET failures = :failures, last_at = :now, locked_until = :locked_until,
    first_at = CASE WHEN excluded.failures = 1 THEN excluded.first_at ELSE sign_in_failures.first_at END
"""
_ONE_LESS = """
UPDATE sign_in_failures SET failures = failures - 1, locked_until = NULL WHERE subject = :subject AND failures > 1
"""
_FORGET = "DELETE FROM sign_in_failures WHERE subject = :subject"
_SWEEP = """
DELETE FROM sign_in_failures WHERE subject IN (
    SELECT subject FROM sign_in_failures WHERE last_at < :before LIMIT :count
)
"""


class Locked(Exception):
    """Too many failures. `until` is when the next try is verified."""

    def __init__(self, until: Instant) -> None:
        super().__init__(f"locked until {until}")
        self.until = until


def note_try(tx: WriteTx, email: str, address: str, attempts: int) -> None:
    """Count a try as a failure, before it is verified; the account locks when `attempts` in a row are reached.

    Raises `Locked` where it must not be verified; then nothing is counted.
    """
    until = max(_locked_until(tx, subject) for subject in _subjects(email, address))
    if until > tx.now:
        raise Locked(until)
    for subject, allowed in zip(_subjects(email, address), (attempts, attempts * NETWORK_FACTOR), strict=False):
        row = tx.row(_GET, subject=subject)
        failures = 1 if row is None or tx.now - row[1] > FORGET_AFTER else row[0] + 1
        tx.run(_NOTE, subject=subject, failures=failures, locked_until=_lock(tx.now, failures - allowed))


def take_back(tx: WriteTx, email: str, address: str) -> None:
    """The try was right, and another step follows: one failure less. Earlier ones stay, or codes could be guessed."""
    for subject in _subjects(email, address):
        if not tx.run(_ONE_LESS, subject=subject):
            tx.run(_FORGET, subject=subject)


def note_success(tx: WriteTx, email: str, address: str) -> None:
    """Somebody proved to be who they are: the account starts anew, and the network has one failure less."""
    take_back(tx, email, address)
    tx.run(_FORGET, subject=_account(email))


def unlock(tx: WriteTx, email: str) -> bool:
    """Lift the lock of an account; False when there were no failures."""
    return tx.run(_FORGET, subject=_account(email)) == 1


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` counts that no longer matter; returns how many."""
    return tx.run(_SWEEP, before=tx.now - FORGET_AFTER, count=SWEEP_ROWS)


def _locked_until(tx: ReadTx, subject: str) -> Instant:
    row = tx.row(_GET, subject=subject)
    return Instant(0) if row is None or row[2] is None else Instant(row[2])


def _lock(now: Instant, beyond: int) -> Instant | None:
    """When a lock ends that `beyond` failures more than allowed have caused; None: no lock yet."""
    if beyond < 0:
        return None
    doublings = min(beyond, 16)  # the longest lock is reached long before
    return Instant(now + min(FIRST_LOCK << doublings, LONGEST_LOCK))


def _subjects(email: str, address: str) -> tuple[str, ...]:
    network = _network(address)
    return (_account(email),) if network is None else (_account(email), network)


def _account(email: str) -> str:
    return f"account:{fold_email(email)}"


def _network(address: str) -> str | None:
    """The network that is counted for an address; None on a unix socket."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    mapped = getattr(parsed, "ipv4_mapped", None)
    if mapped is not None:
        parsed = mapped
    prefix = 32 if isinstance(parsed, IPv4Address) else IPV6_PREFIX
    return f"network:{ip_network((parsed, prefix), strict=False)}"
