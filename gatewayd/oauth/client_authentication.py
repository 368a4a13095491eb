"""Which client a request comes from, and that it is (RFC 6749 §2.3 and §3.2.1, OpenID Connect Core §9).

Who registered by themselves is public, and names itself alone (Spec §5). Those that the operator registered with a
secret prove themselves by `client_secret_basic` or `client_secret_post`, as they like, and those with keys by
`private_key_jwt`.
"""

import base64
import binascii
from typing import NamedTuple
from urllib.parse import unquote_plus

from gatewayd.clock import Instant
from gatewayd.http1.request import Request
from gatewayd.identity.clients import client_assertions, client_secrets, oauth_clients
from gatewayd.identity.clients.client_metadata import ClientMetadata
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.clients.oauth_parameters import Raw, single_value
from gatewayd.oauth.addresses import TOKEN
from gatewayd.oauth.clients import not_authenticated
from gatewayd.oauth.parts import OAuthParts
from gatewayd.store import ReadTx


class Presented(NamedTuple):
    """What a request shows of its client. At most one of `secret` and `assertion` is there."""

    client_id: str
    secret: str | None
    assertion: str | None

    @property
    def proves(self) -> bool:
        """Whether it shows anything beside its name."""
        return self.secret is not None or self.assertion is not None


async def authenticate(parts: OAuthParts, request: Request, form: Raw) -> str:
    """The id of the client that a request comes from. Whether it is known and serves, is still to be looked at.

    Raises `OAuthFailure`: `invalid_client` (401) for a confidential one that does not prove itself, and any other that
    comes with a secret; `invalid_request`. And `StoreFailure`.
    """
    presented = read_presented(request, form)
    metadata, matches = await parts.store.read(lambda tx: _look(tx, presented))
    if metadata is None or metadata.token_endpoint_auth_method == "none":
        if presented.proves:
            raise not_authenticated("this client has no secret: send the client_id alone")
    elif metadata.token_endpoint_auth_method == "private_key_jwt":
        await _check_assertion(parts, request, presented, metadata)
    elif not matches:
        raise not_authenticated("the client has to show its secret")
    return presented.client_id


async def authenticate_confidential(parts: OAuthParts, request: Request, form: Raw) -> str:
    """The same for what a name alone does not open. Raises as `authenticate`, and for a public client."""
    client_id = await authenticate(parts, request, form)
    client = await parts.store.read(lambda tx: oauth_clients.find(tx, client_id))
    if client is None or client.revoked or client.metadata.token_endpoint_auth_method == "none":
        raise not_authenticated("this is open to clients that prove who they are")
    return client_id


def shows_client(request: Request, form: Raw) -> bool:
    """Whether a request shows credentials of a client, and not a token."""
    scheme = (request.text(b"authorization") or "").partition(" ")[0].lower()
    return scheme == "basic" or "client_secret" in form or "client_assertion" in form


def read_presented(request: Request, form: Raw) -> Presented:
    """What a request shows, in its form or by `Authorization: Basic`.

    Raises `OAuthFailure`: `invalid_request` for none, several, or two ways at once (RFC 6749 §2.3), `invalid_client`
    (401) for what cannot be read.
    """
    named, secret = single_value(form, "client_id"), single_value(form, "client_secret")
    assertion = _assertion(form)
    by_header = _of_basic(request.text(b"authorization"))
    in_header = None if by_header is None else by_header[1]
    if [secret, assertion, in_header].count(None) < 2:
        raise OAuthFailure("invalid_request", "the client proves itself in one way, and here are several")
    names = {named, None if by_header is None else by_header[0]} - {None}
    if assertion is not None:
        names.add(client_assertions.subject_of(assertion))
    if len(names) > 1:
        raise OAuthFailure("invalid_request", "the client is named twice, and differently")
    client_id = next(iter(names), None)
    if client_id is None:
        raise OAuthFailure("invalid_request", "client_id is needed")
    return Presented(client_id, secret or in_header, assertion)


def _look(tx: ReadTx, presented: Presented) -> tuple[ClientMetadata | None, bool]:
    """What a client of the operator's is (None: it is no such), and whether its secret is right."""
    metadata = oauth_clients.metadata_of_own(tx, presented.client_id)
    secret = presented.secret
    matches = metadata is not None and secret is not None and client_secrets.matches(tx, presented.client_id, secret)
    return metadata, matches


async def _check_assertion(parts: OAuthParts, request: Request, presented: Presented, metadata: ClientMetadata) -> None:
    """Raises `OAuthFailure` `invalid_client` (401). What was accepted is not accepted again."""
    if presented.assertion is None:
        raise not_authenticated("the client has to show an assertion (private_key_jwt)")
    keys = (metadata.jwks or {}).get("keys", [])
    audiences = (parts.issuer, parts.issuer + TOKEN, parts.issuer + request.path)
    now = Instant(parts.store.now())
    assertion = client_assertions.check(presented.assertion, presented.client_id, keys, audiences, now)
    await parts.store.write(lambda tx: client_assertions.spend(tx, assertion))


def _assertion(form: Raw) -> str | None:
    assertion = single_value(form, "client_assertion")
    if assertion is not None and single_value(form, "client_assertion_type") != client_assertions.TYPE:
        raise not_authenticated(f"client_assertion_type is {client_assertions.TYPE}")
    return assertion


def _of_basic(authorization: str | None) -> tuple[str, str | None] | None:
    """Client and secret of `Authorization: Basic` (RFC 6749 §2.3.1); the secret None: empty. None: another scheme."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, password = base64.b64decode(encoded.strip(), validate=True).decode("ascii").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise not_authenticated("the Authorization header cannot be read") from None
    if not name:
        raise not_authenticated("the Authorization header names no client")
    return unquote_plus(name), unquote_plus(password) or None
