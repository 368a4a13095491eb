"""Setting a new password for somebody who does not know the present one: all other access ends."""

from gatewayd.errors import invalid_state
from gatewayd.identity import audit
from gatewayd.identity.people import users
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import known_devices, one_time_links, sessions, throttling
from gatewayd.store import WriteTx


def reset(tx: WriteTx, user_id: str, password_hash: str, actor: str) -> None:
    """Set the password, sign the user out everywhere, end their connected apps, links and lock; passkeys stay.

    Raises `Problem` `not_found`.
    """
    users.reset_password(tx, user_id, password_hash, actor)
    one_time_links.void(tx, user_id)
    sessions.end_all(tx, user_id)
    known_devices.forget(tx, user_id)
    throttling.unlock(tx, users.get(tx, user_id).email)


def make_link(tx: WriteTx, user: User, actor: str) -> str:
    """A link that sets a new password, once; those before it stop working. Answers its token, which is not stored.

    Raises `Problem` `invalid_state` for who is disabled.
    """
    if user.disabled_at is not None:
        raise invalid_state(f"{user.email} is disabled: enable them first.", "disabled", ("enabled",))
    one_time_links.void(tx, user.id)
    token = one_time_links.make(tx, user.id, "reset_password")
    audit.record(tx, audit.Act(actor=actor, action="user.reset_link_made", subject=user.id, org_id=None))
    return token
