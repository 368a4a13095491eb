"""Throttling of sign-in: what bounds guessing, and spares who does not guess. Owns the table `sign_in_failures`.

account   `attempts` failures in a row lock it, for a minute, which doubles with each further one up to an hour. An
          account that does not exist is counted as one that does: the responses are alike.
device    one in which the person signed in before is not kept out by that lock: it has `attempts` failures of its
          own, and then it is as any other (`known_devices`).
network   after `NETWORK_FACTOR` times as many failures it is slow: from there an account that has failures is tried
          once a minute. One without any is tried at once, so that nobody pays for a neighbour. The count halves every
          hour. Loopback and trusted proxies are no network: everybody may stand behind them.

All is counted in the database, so that a restart changes nothing, and before a try is verified, so that a thousand at
once are no more than a thousand in a row. With 10 attempts, strangers have at most 38 tries of an account on the first
day and 24 on each day after, whatever their number; `attempts` more where somebody copied the cookie of a device; and
`attempts` more whenever the person signs in on a new device, which forgets the failures. Passkeys, which cannot be
guessed, are not throttled.
"""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

import msgspec

from gatewayd.clock import DAY, HOUR, MINUTE, Instant
from gatewayd.http1.networks import address_of, network_of
from gatewayd.identity import audit
from gatewayd.identity.people.users import User, fold_email
from gatewayd.identity.sign_in import known_devices
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.store import ReadTx, WriteTx

FIRST_LOCK = MINUTE  # Chosen: doubles with every failure after it
LONGEST_LOCK = HOUR  # Chosen: who keeps others locked out has to go on trying; their devices and passkeys stay open
FORGET_AFTER = DAY  # Chosen: an account whose last failure is so old has none
NETWORK_FACTOR = 20  # Chosen: many people, and whole assistants, stand behind one address
HALVED_EVERY = HOUR  # Chosen: of a network's failures
SLOW_PAUSE = MINUTE  # Chosen: after an account's last failure, where the network is slow
SWEEP_ROWS = 500  # of one transaction

Network = IPv4Network | IPv6Network
_ACCOUNT: Final = "account:"
_NETWORK: Final = "network:"
_ASKING: Final = "asking:"

_GET = "SELECT failures, first_at, last_at, locked_until FROM sign_in_failures WHERE subject = :subject"
_NOTE = """
INSERT INTO sign_in_failures (subject, failures, first_at, last_at, locked_until)
VALUES (:subject, :failures, :first_at, :now, :locked_until)
ON CONFLICT (subject) DO UPDATE SET
    failures = :failures, first_at = :first_at, last_at = :now, locked_until = :locked_until
"""
_ONE_LESS = """
UPDATE sign_in_failures SET failures = failures - 1, locked_until = NULL WHERE subject = :subject AND failures > 1
"""
_FORGET = "DELETE FROM sign_in_failures WHERE subject = :subject"
_NETWORKS = """
SELECT subject FROM sign_in_failures WHERE subject >= 'network:' AND subject < 'network;'
"""
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


class Limits(msgspec.Struct, frozen=True):
    """`attempts` is `limits.sign_in_attempts`, `proxies` is `server.trusted_proxies`."""

    attempts: int
    proxies: tuple[Network, ...] = ()


class Try(msgspec.Struct, frozen=True, kw_only=True):
    """A try that was counted as a failure, and where: against a known device of `user_id`, or account and network."""

    subjects: tuple[str, ...]
    user_id: str | None
    device: str

    def __repr__(self) -> str:
        return f"Try(subjects={self.subjects!r})"


class _Count(msgspec.Struct, frozen=True):
    """Failures that count now. `since`: of a network, when they were last halved."""

    failures: int
    since: Instant
    last: Instant
    locked_until: Instant


def note_try(tx: WriteTx, email: str, visitor: Visitor, limits: Limits) -> Try:
    """Count a try as a failure, before it is verified.

    Raises `Locked` where it must not be verified; then nothing is counted.
    """
    user_id = known_devices.charge(tx, email, visitor.device, limits.attempts)
    if user_id is not None:
        return Try(subjects=(), user_id=user_id, device=visitor.device)
    subject, network = f"{_ACCOUNT}{fold_email(email)}", _network(visitor.address, limits.proxies)
    account = _account_count(tx, subject)
    behind = None if network is None else _network_count(tx, network)
    until = account.locked_until
    if behind is not None and behind.failures >= limits.attempts * NETWORK_FACTOR and account.failures:
        until = max(until, Instant(account.last + SLOW_PAUSE))
    if until > tx.now:
        raise Locked(until)
    failures = account.failures + 1
    _note(tx, subject, failures, account.since, _lock(tx.now, failures - limits.attempts))
    if network is None or behind is None:
        return Try(subjects=(subject,), user_id=None, device="")
    _note(tx, network, behind.failures + 1, behind.since, None)
    return Try(subjects=(subject, network), user_id=None, device="")


def note_asked(tx: WriteTx, visitor: Visitor, limits: Limits) -> None:
    """Count that somebody asks for a link, at whichever account; raises `Locked` where their network asked too often.

    Chosen: as often as a network may fail before it is slow, halved every hour as its failures are.
    """
    network = _network(visitor.address, limits.proxies)
    if network is None:
        return
    subject = f"{_ASKING}{network.removeprefix(_NETWORK)}"
    asked = _network_count(tx, subject)
    if asked.failures >= limits.attempts * NETWORK_FACTOR:
        raise Locked(Instant(asked.since + HALVED_EVERY))
    _note(tx, subject, asked.failures + 1, asked.since, None)


def take_back(tx: WriteTx, counted: Try) -> None:
    """The try was right, and another step follows: one failure less. Earlier ones stay, or codes could be guessed."""
    if counted.user_id is not None:
        known_devices.give_back(tx, counted.user_id, counted.device)
    for subject in counted.subjects:
        if not tx.run(_ONE_LESS, subject=subject):
            tx.run(_FORGET, subject=subject)


def note_success(tx: WriteTx, counted: Try) -> None:
    """Somebody proved to be who they are: their account starts anew, and the network has one failure less.

    What strangers failed at stays counted where a known device signed in: its person need not pay for them, nor they
    gain by it.
    """
    take_back(tx, counted)
    for subject in counted.subjects[:1]:
        tx.run(_FORGET, subject=subject)


def locked_until(tx: ReadTx, email: str) -> Instant | None:
    """Until when strangers are kept from an account; None: they are not."""
    until = _account_count(tx, f"{_ACCOUNT}{fold_email(email)}").locked_until
    return until if until > tx.now else None


def unlock(tx: WriteTx, email: str) -> bool:
    """Lift the lock of an account; False when there were no failures."""
    return tx.run(_FORGET, subject=f"{_ACCOUNT}{fold_email(email)}") == 1


def unlock_user(tx: WriteTx, user: User, actor: str) -> bool:
    """The same for somebody, with a line in the audit log where there was something to lift."""
    unlocked = unlock(tx, user.email)
    if unlocked:
        audit.record(tx, audit.Act(actor=actor, action="user.unlocked", subject=user.id, org_id=None))
    return unlocked


def unlock_network(tx: WriteTx, network: Network) -> list[str]:
    """Forget the failures of a network, and of each that is counted within it; returns which these were."""
    counted = [str(subject) for (subject,) in tx.rows(_NETWORKS)]
    inside = [subject for subject in counted if _overlaps(ip_network(subject.removeprefix(_NETWORK)), network)]
    for subject in inside:
        tx.run(_FORGET, subject=subject)
    return [subject.removeprefix(_NETWORK) for subject in inside]


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` counts that no longer matter; returns how many."""
    return tx.run(_SWEEP, before=tx.now - FORGET_AFTER, count=SWEEP_ROWS)


def _account_count(tx: ReadTx, subject: str) -> _Count:
    row = tx.row(_GET, subject=subject)
    if row is None or tx.now - row[2] > FORGET_AFTER:
        return _Count(0, tx.now, tx.now, Instant(0))
    failures, first, last, locked_until = row
    return _Count(failures, Instant(first), Instant(last), Instant(locked_until or 0))


def _network_count(tx: ReadTx, subject: str) -> _Count:
    """Halved for each whole hour that has passed since it last was. A clock that was set back halves nothing."""
    row = tx.row(_GET, subject=subject)
    if row is None:
        return _Count(0, tx.now, tx.now, Instant(0))
    failures, since, last, _ = row
    halvings = max(0, (tx.now - since) // HALVED_EVERY)
    return _Count(failures >> min(halvings, 63), Instant(since + halvings * HALVED_EVERY), Instant(last), Instant(0))


def _note(tx: WriteTx, subject: str, failures: int, first_at: Instant, locked_until: Instant | None) -> None:
    tx.run(_NOTE, subject=subject, failures=failures, first_at=first_at, locked_until=locked_until)


def _lock(now: Instant, beyond: int) -> Instant | None:
    """When a lock ends that `beyond` failures more than allowed have caused; None: no lock yet."""
    if beyond < 0:
        return None
    doublings = min(beyond, 16)  # the longest lock is reached long before
    return Instant(now + min(FIRST_LOCK << doublings, LONGEST_LOCK))


def _network(address: str, proxies: tuple[Network, ...]) -> str | None:
    """The network that is counted for an address; None where everybody may come from there."""
    try:
        parsed = address_of(address)
    except ValueError:  # a unix socket
        return None
    if parsed.is_loopback or any(parsed in proxy for proxy in proxies):
        return None
    return f"{_NETWORK}{ip_network(network_of(address))}"


def _overlaps(counted: Network, network: Network) -> bool:
    """Also where `given` is one address of the network that is counted."""
    return counted.version == network.version and counted.overlaps(network)
