"""Browser sessions: who is signed in, how and since when. Owns the table `sessions`.

The cookie holds a random token; the database knows its hash. A session ends by itself after `IDLE` without a visit
and after `LIFETIME` in any case.
"""

import hmac
from collections.abc import Iterable

import msgspec

from gatewayd.clock import DAY, MINUTE, Instant
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, Row, WriteTx

IDLE = 14 * DAY  # Chosen
LIFETIME = 90 * DAY  # Chosen
SEEN_EVERY = 5 * MINUTE  # Chosen: how finely a visit is recorded
SWEEP_ROWS = 500  # of one transaction
RETENTION = 30 * DAY  # Chosen: how long an ended session is shown in the list of past ones
LIST_LIMIT = 100
USER_AGENT_CHARACTERS = 300

_COLUMNS = "id, user_id, methods, authenticated_at, user_agent, address, last_seen_at, expires_at, created_at"
_INSERT = """
INSERT INTO sessions (id, hash, user_id, methods, authenticated_at, user_agent, address, last_seen_at, expires_at,
    created_at)
VALUES (:id, :hash, :user_id, :methods, :now, :user_agent, :address, :now, :expires_at, :now)
"""
_FIND = f"""
SELECT {_COLUMNS} FROM sessions WHERE hash = :hash AND ended_at IS NULL AND expires_at > :now
"""
_OF_USER = f"""
SELECT {_COLUMNS} FROM sessions WHERE user_id = :user_id AND ended_at IS NULL AND expires_at > :now
ORDER BY id DESC LIMIT :count
"""
_SEEN = "UPDATE sessions SET last_seen_at = :now, expires_at = :expires_at WHERE id = :id AND ended_at IS NULL"
_REAUTHENTICATE = """
UPDATE sessions SET authenticated_at = :now, methods = :methods WHERE id = :id AND ended_at IS NULL
"""
_REPLACE_TOKEN = "UPDATE sessions SET hash = :hash WHERE id = :id AND ended_at IS NULL"
_END = "UPDATE sessions SET ended_at = :now WHERE id = :id AND user_id = :user_id AND ended_at IS NULL"
_LIVES = "ended_at IS NULL AND expires_at > :now"
_END_ALL = f"UPDATE sessions SET ended_at = :now WHERE user_id = :user_id AND id <> :kept AND {_LIVES}"
_LAST_SEEN = "SELECT max(last_seen_at) FROM sessions WHERE user_id = :user_id"
_COUNT = "SELECT count(*) FROM sessions WHERE ended_at IS NULL AND expires_at > :at"
# Grants name the session they were given in (`sid`): as long as one does, the row stays.
_SWEEP_ANY_ORG = """
DELETE FROM sessions WHERE id IN (
    SELECT s.id FROM sessions s WHERE s.expires_at < :before
        AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.session_id = s.id)
        AND NOT EXISTS (SELECT 1 FROM authorization_requests r WHERE r.session_id = s.id)
    LIMIT :count
)
"""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One browser in which one person is signed in. `methods` are values of RFC 8176, in the order they were used."""

    id: str
    user_id: str
    methods: tuple[str, ...]
    authenticated_at: Instant
    user_agent: str
    address: str
    last_seen_at: Instant
    expires_at: Instant
    created_at: Instant


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """The browser as its request shows it. `address` is empty where it has none (a unix socket).

    `device` is the token by which a browser is known in which somebody signed in before; empty: it has none.
    """

    user_agent: str
    address: str
    device: str = ""

    def __repr__(self) -> str:
        return f"Visitor(user_agent={self.user_agent!r}, address={self.address!r})"


def start(tx: WriteTx, user_id: str, methods: Iterable[str], visitor: Visitor) -> tuple[str, Session]:
    """Sign somebody in; returns the cookie's token, which is not stored, and the session."""
    token = make_token()
    session_id = tx.new_id("ses")
    tx.run(
        _INSERT,
        id=session_id,
        hash=hash_token(token),
        user_id=user_id,
        methods=" ".join(methods),
        user_agent=printable(visitor.user_agent),
        address=visitor.address,
        expires_at=tx.now + IDLE,
    )
    session = find(tx, token)
    assert session is not None
    return token, session


def find(tx: ReadTx, token: str) -> Session | None:
    """The session of a cookie; None when it is unknown, ended or past its time."""
    row = tx.row(_FIND, hash=hash_token(token))
    return None if row is None else _session(row)


def of_user(tx: ReadTx, user_id: str) -> list[Session]:
    """The sessions in which the user is signed in, newest first."""
    return [_session(row) for row in tx.rows(_OF_USER, user_id=user_id, count=LIST_LIMIT)]


def last_seen(tx: ReadTx, user_id: str) -> Instant | None:
    """When the user last opened a page, to some minutes; None: never, or so long ago that nobody kept it."""
    at = tx.value(_LAST_SEEN, user_id=user_id)
    return None if at is None else Instant(at)


def count(tx: ReadTx) -> int:
    """In how many browsers people are signed in."""
    return int(tx.value(_COUNT, at=tx.now))


def needs_touch(session: Session, now: Instant) -> bool:
    """Whether a visit is worth recording."""
    return now - session.last_seen_at >= SEEN_EVERY


def touch(tx: WriteTx, session: Session) -> None:
    """Record a visit, which puts off the end of the session."""
    tx.run(_SEEN, id=session.id, expires_at=min(tx.now + IDLE, session.created_at + LIFETIME))


def reauthenticate(tx: WriteTx, session: Session, methods: Iterable[str]) -> str:
    """The person has authenticated again; returns a new token for the cookie, and the old one is void."""
    token = make_token()
    tx.run(_REAUTHENTICATE, id=session.id, methods=" ".join(methods))
    tx.run(_REPLACE_TOKEN, id=session.id, hash=hash_token(token))
    return token


def end(tx: WriteTx, user_id: str, session_id: str) -> bool:
    """Sign one browser of a user out; False when it was not signed in."""
    return tx.run(_END, user_id=user_id, id=session_id) == 1


def end_all(tx: WriteTx, user_id: str, kept: str = "") -> int:
    """Sign a user out everywhere but in the session `kept`; returns in how many browsers."""
    return tx.run(_END_ALL, user_id=user_id, kept=kept)


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` sessions that ended long ago; returns how many."""
    return tx.run(_SWEEP_ANY_ORG, before=tx.now - RETENTION, count=SWEEP_ROWS)


def csrf_token(token: str) -> str:
    """What a form of this session carries: derived from the cookie, which other sites can neither read nor set."""
    return hmac.digest(token.encode(), b"form", "sha256").hex()


def bytes_of_form(token: str, *entered: str) -> bytes:
    """32 bytes for a secret that a form makes: sent again in the same session with the same fields, it makes the same.

    One of `entered` is a random text that the form was given, so that no two forms make the same.
    """
    return hmac.digest(token.encode(), b"secret\0" + "\0".join(entered).encode(), "sha256")


def csrf_ok(token: str, form_token: str) -> bool:
    """Whether a form came from a page of this session; compared in constant time."""
    return hmac.compare_digest(csrf_token(token).encode(), form_token.encode("utf-8", "replace"))


def _session(row: Row) -> Session:
    session_id, user_id, methods, *rest = row
    authenticated_at, user_agent, address, last_seen_at, expires_at, created_at = rest
    return Session(
        id=session_id,
        user_id=user_id,
        methods=tuple(methods.split(" ")),
        authenticated_at=authenticated_at,
        user_agent=user_agent,
        address=address,
        last_seen_at=last_seen_at,
        expires_at=expires_at,
        created_at=created_at,
    )


def printable(user_agent: str) -> str:
    """What is kept of a browser's name for itself."""
    return "".join(each for each in user_agent if each.isprintable())[:USER_AGENT_CHARACTERS]
