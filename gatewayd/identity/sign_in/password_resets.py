"""Setting a new password for somebody who does not know the present one: all other access ends."""

from gatewayd.identity.people import users
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
