"""What the pages are made of, and what one of them knows of its visitor."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from gatewayd.clock import Clock
from gatewayd.http1.log import Log
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in.passkeys import RelyingParty
from gatewayd.identity.sign_in.passwords import Passwords
from gatewayd.identity.sign_in.sessions import Session
from gatewayd.identity.sign_in.sign_in import SignIn
from gatewayd.store import Store
from gatewayd.tax.settings import TaxSettings

PRODUCT = "gatewayd"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleParts:
    """What the pages are made of. `issuer` is `server.public_url`: the origin, without a slash; `tax` is `[tax]`."""

    store: Store
    sign_in: SignIn
    passwords: Passwords
    issuer: str
    tax: TaxSettings
    clock: Clock
    log: Log

    @property
    def secure(self) -> bool:
        """Whether browsers come by https."""
        return self.issuer.startswith("https://")

    @property
    def passkeys_work(self) -> bool:
        """Whether browsers make passkeys for the public address: never for an IP address, for they are made for a
        domain (WebAuthn Level 3), and by plain http for localhost alone, which is a secure context without https.
        """
        host = urlsplit(self.issuer).hostname or ""
        try:
            ip_address(host)
        except ValueError:
            return self.secure or host == "localhost" or host.endswith(".localhost")
        return False

    @property
    def party(self) -> RelyingParty:
        """Whom passkeys are made for: the host of the public address."""
        return RelyingParty(id=urlsplit(self.issuer).hostname or "", origin=self.issuer, name=PRODUCT)


@dataclass(slots=True)
class Visit:
    """One request of a browser. `token` is what its forms are bound to: the session's, or a passing one before it."""

    token: str
    session: Session | None = None
    user: User | None = None
