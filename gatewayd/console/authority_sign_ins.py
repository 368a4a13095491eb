"""Sign-ins at the tax authority that began here and have not come back (RFC 6749 §10.12: what `state` is for).

They live in memory: one daemon began them, and a restart costs a second try.
"""

from collections import OrderedDict
from typing import Final, NamedTuple

from gatewayd.clock import MINUTE, Instant
from gatewayd.identity.random_tokens import make_token

LIFE: Final = 10 * MINUTE  # HMRC, Authorisation: as long as a code
KEPT_MAX: Final = 1_000  # Chosen: past it the oldest goes


class Connecting(NamedTuple):
    """What somebody who signs in at the authority wants to connect.

    `legal_entity_id` None: the organization as a whole. `replaces` is the `since` of the connection that they agreed to
    lose, None: there was none.
    """

    org_id: str
    legal_entity_id: str | None = None
    replaces: Instant | None = None


class _Begun(NamedTuple):
    session_id: str
    connecting: Connecting
    at: Instant


class AuthoritySignIns:
    """Each by its state: who began it, and for what."""

    def __init__(self) -> None:
        self._begun: OrderedDict[str, _Begun] = OrderedDict()

    def begin(self, session_id: str, connecting: Connecting, now: Instant) -> str:
        """The state that goes along."""
        state = make_token()
        self._begun[state] = _Begun(session_id, connecting, now)
        while len(self._begun) > KEPT_MAX:
            self._begun.popitem(last=False)
        return state

    def end(self, state: str, session_id: str, now: Instant) -> Connecting | None:
        """What was to be connected, once; None where this session began no such sign-in, or too long ago."""
        begun = self._begun.get(state)
        if begun is None or begun.session_id != session_id:
            return None
        del self._begun[state]
        return begun.connecting if now - begun.at <= LIFE else None
