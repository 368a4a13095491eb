"""A sign-out that a client requests (OpenID Connect RP-Initiated Logout 1.0).

The endpoint validates it before it sends the browser to the page where the person confirms, and the page validates it
again: anybody may have put together the address.
"""

import msgspec

from gatewayd.http1.redirects import with_parameters
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.identity.clients.oauth_parameters import Raw, single_value
from gatewayd.store import ReadTx


class SignOut(msgspec.Struct, frozen=True, kw_only=True):
    """A validated request. `redirect_uri` is the client's own, or None: the browser stays. `client` None: not named."""

    client: Client | None
    redirect_uri: str | None
    state: str | None

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters for the page, which `check` reads again."""
        parameters = {
            "client_id": None if self.client is None else self.client.id,
            "post_logout_redirect_uri": self.redirect_uri,
            "state": self.state,
        }
        return {name: value for name, value in parameters.items() if value is not None}

    @property
    def location(self) -> str | None:
        """Where the browser goes once the person has signed out."""
        if self.redirect_uri is None or self.state is None:
            return self.redirect_uri
        return with_parameters(self.redirect_uri, {"state": self.state})


def check(tx: ReadTx, raw: Raw, hinted: str | None = None) -> SignOut:
    """The request, of a query or a form. `hinted` is the client that an `id_token_hint` was issued to.

    Raises `DirectFailure` `invalid_request` where the address to go on to is not one that the client registered.
    """
    try:
        client_id, uri, state = (
            single_value(raw, "client_id"),
            single_value(raw, "post_logout_redirect_uri"),
            single_value(raw, "state"),
        )
    except OAuthFailure as failure:
        raise DirectFailure(failure.code, failure.description) from None
    if hinted is not None and client_id not in (None, hinted):
        raise DirectFailure("invalid_request", "client_id is not the one that the id_token_hint was issued to")
    client_id = client_id or hinted
    client = None if client_id is None else oauth_clients.find(tx, client_id)
    if uri is None:
        return SignOut(client=client, redirect_uri=None, state=None)
    if client is None or client.revoked or not oauth_clients.accepts_post_logout_redirect(client, uri):
        raise DirectFailure("invalid_request", "post_logout_redirect_uri is not one that the client registered")
    return SignOut(client=client, redirect_uri=uri, state=state)
