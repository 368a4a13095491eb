"""Users: the people who sign in. What they may do in an organization stands in their membership, and what only
administrators of the instance may do."""

import unicodedata
from itertools import islice

import msgspec

from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.wire import Email, Response, Timestamp
from gatewayd.errors import Problem, invalid_field, not_found
from gatewayd.identity import audit
from gatewayd.identity.clients import grants
from gatewayd.identity.people.organizations import LAST, validate_name
from gatewayd.store import ReadTx, Row, WriteTx

LIST_LIMIT = 10_000  # Chosen

_COLUMNS = "id, email, name, instance_admin, disabled_at, created_at"
_INSERT = """
INSERT INTO users (id, email, email_folded, name, password_hash, instance_admin, created_at, updated_at)
VALUES (:id, :email, :email_folded, :name, :password_hash, :instance_admin, :now, :now)
ON CONFLICT (email_folded) DO NOTHING
"""
_GET = f"SELECT {_COLUMNS} FROM users WHERE id = :id"
_FIND = f"SELECT {_COLUMNS} FROM users WHERE email_folded = :email_folded"
_LIST = f"SELECT {_COLUMNS} FROM users ORDER BY id LIMIT :limit"
_LIST_BEFORE = f"SELECT {_COLUMNS} FROM users WHERE id < :before ORDER BY id DESC LIMIT :limit"
_LIST_IDS = "SELECT id FROM users ORDER BY id"
_CREDENTIALS = "SELECT id, password_hash FROM users WHERE email_folded = :email_folded"
_SET_PASSWORD = "UPDATE users SET password_hash = :password_hash, updated_at = :now WHERE id = :id"
_REMOVE_PASSWORD = "UPDATE users SET password_hash = NULL, updated_at = :now WHERE id = :id"
_IS_ENABLED = "SELECT 1 FROM users WHERE id = :id AND disabled_at IS NULL"
_DISABLE = "UPDATE users SET disabled_at = :now, updated_at = :now WHERE id = :id AND disabled_at IS NULL"
_ENABLE = "UPDATE users SET disabled_at = NULL, updated_at = :now WHERE id = :id AND disabled_at IS NOT NULL"

_END_ADDRESSES = "UPDATE users SET addresses_since = :now WHERE id = :id"
_ADDRESSES_SINCE = "SELECT addresses_since FROM users WHERE id = :id"


class User(Response, frozen=True, kw_only=True):
    """One person. `disabled_at` None: not disabled."""

    id: str
    email: str
    name: str
    instance_admin: bool
    disabled_at: Timestamp | None
    created_at: Timestamp


class NewUser(msgspec.Struct, frozen=True, kw_only=True):
    """A user to be inserted. Without `password_hash` they cannot sign in with a password. `id` None: a new one."""

    email: str
    name: str
    password_hash: str | None = None
    instance_admin: bool = False
    id: str | None = None

    def __repr__(self) -> str:
        return f"NewUser(email={self.email!r})"


class Credentials(msgspec.Struct, frozen=True):
    """What a password is verified against; `password_hash` is None where no password was set."""

    user_id: str
    password_hash: str | None

    def __repr__(self) -> str:
        return f"Credentials(user_id={self.user_id!r})"


def create(tx: WriteTx, new: NewUser, actor: str) -> User:
    """Make a user. Raises `Problem` `validation_failed`, or `already_exists` where the address has an account."""
    email, name = validate_email(new.email), validate_name("name", new.name)
    user_id = new.id or tx.new_id("usr")
    inserted = tx.run(
        _INSERT,
        id=user_id,
        email=email,
        email_folded=fold_email(email),
        name=name,
        password_hash=new.password_hash,
        instance_admin=int(new.instance_admin),
    )
    if not inserted:
        raise Problem("already_exists", f"There is a user with the address {email} already.")
    detail: audit.Detail = {"email": email, "instanceAdmin": "yes" if new.instance_admin else "no"}
    audit.record(tx, audit.Act(actor=actor, action="user.created", subject=user_id, org_id=None, detail=detail))
    return get(tx, user_id)


def get(tx: ReadTx, user_id: str) -> User:
    """One user. Raises `Problem` `not_found`."""
    user = find_by_id(tx, user_id)
    if user is None:
        raise not_found("user")
    return user


def find_by_id(tx: ReadTx, user_id: str) -> User | None:
    """The user with this id."""
    row = tx.row(_GET, id=user_id)
    return None if row is None else _user(row)


def find(tx: ReadTx, email: str) -> User | None:
    """The user with this address, in any letter case."""
    row = tx.row(_FIND, email_folded=fold_email(email))
    return None if row is None else _user(row)


def list_all(tx: ReadTx) -> list[User]:
    """Every user of the instance, oldest first."""
    return [_user(row) for row in tx.rows(_LIST, limit=LIST_LIMIT)]


def list_page(tx: ReadTx, text: str | None, before: str | None, count: int) -> list[User]:
    """The newest users whose address or name has this text in it, in any letter case, behind the id `before`.

    None: all. They are looked at one by one, as organizations are.
    """
    sought = (text or "").casefold()
    every = (_user(row) for row in tx.each(_LIST_BEFORE, before=before or LAST, limit=LIST_LIMIT))
    return list(islice((each for each in every if sought in f"{each.email} {each.name}".casefold()), count))


def list_ids(tx: ReadTx) -> list[str]:
    """The id of every user of the instance, however many there are."""
    return [row[0] for row in tx.rows(_LIST_IDS)]


def credentials(tx: ReadTx, email: str) -> Credentials | None:
    """What sign-in verifies a password against; None where the address has no account."""
    row = tx.row(_CREDENTIALS, email_folded=fold_email(email))
    return None if row is None else Credentials(*row)


def is_enabled(tx: ReadTx, user_id: str) -> bool:
    """Whether there is such a user, and they are not disabled: they may sign in."""
    return tx.value(_IS_ENABLED, id=user_id) is not None


def disable(tx: WriteTx, user_id: str, actor: str) -> bool:
    """Let the user in no more; False where they were disabled already. What they hold is the caller's to end."""
    return _switch(tx, _DISABLE, user_id, "user.disabled", actor)


def enable(tx: WriteTx, user_id: str, actor: str) -> bool:
    """Let the user in again, with the password they had; False where they were not disabled."""
    return _switch(tx, _ENABLE, user_id, "user.enabled", actor)


def end_addresses(tx: WriteTx, user_id: str) -> None:
    """Let no address be good that the user was given until now, such as a download URL."""
    tx.run(_END_ADDRESSES, id=user_id)


def addresses_since(tx: ReadTx, user_id: str) -> Instant | None:
    """Since when addresses of the user are good; None: there is no such user."""
    at = tx.value(_ADDRESSES_SINCE, id=user_id)
    return None if at is None else Instant(at)


def reset_password(tx: WriteTx, user_id: str, password_hash: str, actor: str) -> None:
    """Replace the password, end the user's grants and record who did. Raises `Problem` `not_found`."""
    rehash_password(tx, user_id, password_hash)
    audit.record(tx, audit.Act(actor=actor, action="user.password_reset", subject=user_id, org_id=None))
    grants.revoke_user(tx, user_id, "password_changed", actor)


def remove_password(tx: WriteTx, user_id: str, actor: str) -> None:
    """Leave the user without a password until one is set, and record who did."""
    tx.run(_REMOVE_PASSWORD, id=user_id)
    audit.record(tx, audit.Act(actor=actor, action="user.password_removed", subject=user_id, org_id=None))


def change_password(tx: WriteTx, user_id: str, password_hash: str) -> None:
    """The same by the user. Raises `Problem` `not_found`."""
    rehash_password(tx, user_id, password_hash)
    audit.record(tx, audit.Act(actor=user_id, action="user.password_changed", subject=user_id, org_id=None))
    grants.revoke_user(tx, user_id, "password_changed", user_id)


def rehash_password(tx: WriteTx, user_id: str, password_hash: str) -> None:
    """Store the same password hashed with today's parameters. Raises `Problem` `not_found`."""
    if not tx.run(_SET_PASSWORD, id=user_id, password_hash=password_hash):
        raise not_found("user")


def validate_email(email: str) -> str:
    """The address without spaces around it. Raises `Problem` `validation_failed`."""
    try:
        return msgspec.convert(unicodedata.normalize("NFC", email.strip()), Email)
    except msgspec.ValidationError:
        raise invalid_field("email", "invalid_format", "Expected an address such as name@example.com.") from None


def fold_email(email: str) -> str:
    """The form by which addresses are compared."""
    return unicodedata.normalize("NFC", email.strip()).lower()


def _switch(tx: WriteTx, statement: str, user_id: str, action: audit.Action, actor: str) -> bool:
    if not tx.run(statement, id=user_id):
        return False
    audit.record(tx, audit.Act(actor=actor, action=action, subject=user_id, org_id=None))
    return True


def _user(row: Row) -> User:
    user_id, email, name, instance_admin, disabled_at, created_at = row
    return User(
        id=user_id,
        email=email,
        name=name,
        instance_admin=bool(instance_admin),
        disabled_at=None if disabled_at is None else Instant(disabled_at),
        created_at=Instant(created_at),
    )


def require_administrator(tx: ReadTx, caller: Caller) -> None:
    """Let administrators of the instance through, and the command line on the machine. Raises `Problem` `forbidden`."""
    if caller.kind == "operator":
        return
    user = None if caller.user_id is None else get(tx, caller.user_id)
    if user is None or not user.instance_admin or user.disabled_at is not None:
        raise Problem("forbidden", "Only an administrator of the instance can do this.")
