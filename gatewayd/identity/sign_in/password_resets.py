"""Setting a new password for somebody who does not know the present one: all other access ends.

The operator hands a link over. Where mail is sent, people ask for one themselves: what the page answers, and about how
long that takes, is the same whether anybody has that address or not.
"""

from typing import Final

from gatewayd.clock import HOUR, Instant
from gatewayd.errors import invalid_state
from gatewayd.identity import audit
from gatewayd.identity.people import users
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import known_devices, one_time_links, sessions, sign_in_records, throttling
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.store import ReadTx, WriteTx

OWN_LIFETIME: Final = HOUR  # Chosen: of a link that goes by mail


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


def who_may_ask(tx: ReadTx, email: str) -> User | None:
    """Whose password may be set by a link that is mailed to an address; None: nobody's.

    Chosen: not of who has none. A passkey would be worth no more than the mailbox.
    """
    user = users.find(tx, email)
    if user is None or user.disabled_at is not None:
        return None
    known = users.credentials(tx, user.email)
    return None if known is None or known.password_hash is None else user


def ask(tx: WriteTx, user: User | None, visitor: Visitor) -> tuple[str, Instant] | None:
    """Somebody asks for a link at the sign-in page: its token, which is not stored, and when it ends; None: for nobody.

    Links that were made before go on: who asks may be anybody.
    """
    sign_in_records.reset_asked(tx, None if user is None else user.id, visitor)
    if user is None:
        return None
    token = one_time_links.make(tx, user.id, "reset_password", OWN_LIFETIME)
    return token, Instant(tx.now + OWN_LIFETIME)
