"""What the audit log says of who signs in and out, from where and by what, and of who could not.

Failures at an account are as many as `throttling` lets be tried: those that a lock refuses are not recorded. What was
typed as the address is kept for nobody who has no account: people type passwords there.
"""

from typing import Final

from gatewayd.clock import to_wire
from gatewayd.identity import audit
from gatewayd.identity.audit import Act, Detail
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import throttling
from gatewayd.identity.sign_in.sessions import Session, Visitor, printable
from gatewayd.store import WriteTx

NO_ADDRESS: Final = "local"
"""The subject where a stranger has no address: a unix socket."""


def signed_in(tx: WriteTx, session: Session, visitor: Visitor, *, known_device: bool) -> None:
    """Somebody has signed in; `known_device`: in a browser in which they had before."""
    detail: Detail = {
        **_from(visitor),
        "methods": list(session.methods),
        "session": session.id,
        "device": "known" if known_device else "new",
    }
    user_id = session.user_id
    audit.record(tx, Act(actor=user_id, action="user.signed_in", subject=user_id, org_id=None, detail=detail))


def signed_out(tx: WriteTx, user_id: str, session_id: str) -> None:
    """Somebody has ended a session of theirs."""
    detail: Detail = {"session": session_id}
    audit.record(tx, Act(actor=user_id, action="user.signed_out", subject=user_id, org_id=None, detail=detail))


def failed(tx: WriteTx, user_id: str | None, visitor: Visitor, method: str, reason: str) -> None:
    """Somebody could not sign in. `user_id` None: at no account, which costs as much time, and is kept for less long.

    `method` is a value of RFC 8176. Both ways are one insert, so that nobody learns from the time which it was.
    """
    detail: Detail = {**_from(visitor), "method": method, "reason": reason}
    if user_id is None:
        subject = visitor.address or NO_ADDRESS
        act = Act(actor=audit.NOBODY, action="network.sign_in_failed", subject=subject, org_id=None, detail=detail)
        audit.record_stranger(tx, act)
        return
    until = throttling.locked_until(tx, users.get(tx, user_id).email)
    if until is not None:
        detail["lockedUntil"] = to_wire(until)
    act = Act(actor=audit.NOBODY, action="user.sign_in_failed", subject=user_id, org_id=None, detail=detail)
    audit.record(tx, act)
    audit.drop_strangers(tx)


def reset_asked(tx: WriteTx, user_id: str | None, visitor: Visitor) -> None:
    """Somebody asked for a link that sets a new password. `user_id` None: of no account, or of one that has had enough.

    Both ways are one insert, as in `failed`.
    """
    detail = _from(visitor)
    subject = user_id or visitor.address or NO_ADDRESS
    action: audit.Action = "network.reset_asked" if user_id is None else "user.reset_asked"
    audit.record_stranger(tx, Act(actor=audit.NOBODY, action=action, subject=subject, org_id=None, detail=detail))


def _from(visitor: Visitor) -> Detail:
    return {"address": visitor.address, "userAgent": printable(visitor.user_agent)}
