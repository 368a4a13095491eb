"""What the pages are made of, and what one of them knows of its visitor."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from gatewayd.console.daemon_parts import DaemonParts
from gatewayd.contract.caller import Role
from gatewayd.identity.people.organizations import Organization
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in.passkeys import RelyingParty
from gatewayd.identity.sign_in.passwords import Passwords
from gatewayd.identity.sign_in.sessions import Session
from gatewayd.identity.sign_in.sign_in import SignIn

PRODUCT = "gatewayd"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleParts(DaemonParts):
    """What the pages are made of."""

    sign_in: SignIn
    passwords: Passwords

    @property
    def secure(self) -> bool:
        """Whether browsers come by https."""
        return self.issuer.startswith("https://")

    @property
    def party(self) -> RelyingParty:
        """Whom passkeys are made for: the host of the public address."""
        return RelyingParty(id=urlsplit(self.issuer).hostname or "", origin=self.issuer, name=PRODUCT)


@dataclass(slots=True)
class Visit:
    """One request of a browser. `token` is what its forms are bound to: the session's, or a passing one before it.

    `belongs` are the organizations of who is signed in, oldest first, with their role in each; `chosen` is the one that
    the pages are of, None where there is none.
    """

    token: str
    session: Session | None = None
    user: User | None = None
    belongs: Sequence[tuple[Organization, Role]] = ()
    chosen: Organization | None = None

    @property
    def role(self) -> Role | None:
        """The visitor's role in the chosen organization."""
        return next(
            (role for each, role in self.belongs if self.chosen is not None and each.id == self.chosen.id), None
        )
