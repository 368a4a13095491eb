"""What the endpoints share, and what one of them is."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from gatewayd.http1.asgi import Receive
from gatewayd.http1.log import Log
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.identity.signing.signing_keys import SigningKeys
from gatewayd.identity.tokens.authentication import Authenticate
from gatewayd.identity.tokens.dpop import PUSHED_MAX, PUSHED_PER_KEY_MAX, ReplayCache
from gatewayd.oauth.client_documents import ClientDocuments
from gatewayd.oauth.storage_budget import StorageBudget
from gatewayd.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthParts:
    """What the door is made of. `issuer` is `server.public_url`: the origin, without a slash; `resources` is
    `oauth.resources`: whom tokens may be for beside the API.

    `storage` is charged for every row that somebody leaves without a credential.
    `replays` are the proofs used for tokens and with them, `pushed_replays` those of pushed requests.
    `session_cookies` are the names under which the console keeps a browser's session.
    """

    store: Store
    keys: SigningKeys
    issuer: str
    authenticate: Authenticate
    replays: ReplayCache
    documents: ClientDocuments
    log: Log
    pushed_replays: ReplayCache = field(default_factory=lambda: ReplayCache(PUSHED_PER_KEY_MAX, PUSHED_MAX))
    storage: StorageBudget = field(default_factory=StorageBudget)
    resources: tuple[str, ...] = ()
    refresh_grace_seconds: int = 120
    session_cookies: tuple[str, ...] = ("__Host-session", "session")

    @property
    def audiences(self) -> Audiences:
        """Whom tokens may be for."""
        return Audiences(self.issuer, self.resources)


Respond = Callable[[OAuthParts, Request, Receive], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address. `for_browsers`: people are sent there, so errors are pages, and no page of another origin may call.

    Otherwise programs call it, pages of any origin among them (RFC 9700 §2.6 keeps that from the former).
    `rate_limited`: anybody may leave something in the database there.
    """

    methods: tuple[str, ...]
    respond: Respond
    for_browsers: bool = False
    rate_limited: bool = False
