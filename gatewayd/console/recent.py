"""Whoever changes how an account is entered has authenticated a short while ago."""

from typing import Final

from gatewayd.clock import MINUTE, Clock
from gatewayd.console.browser import SignInNeeded, signed_in
from gatewayd.identity.sessions import Session
from gatewayd.identity.users import User

RECENT: Final = 15 * MINUTE  # Chosen


def recently_signed_in(clock: Clock) -> tuple[Session, User]:
    """Who is there, having authenticated within `RECENT`. Raises `SignInNeeded`."""
    session, user = signed_in()
    if clock.now() - session.authenticated_at > RECENT:
        raise SignInNeeded(again=True)
    return session, user
