"""Which client a request comes from. All clients are public (Spec §5): they name themselves and prove nothing."""

import base64
import binascii
from urllib.parse import unquote_plus

import msgspec

from gatewayd.clock import Instant
from gatewayd.http1.request import Request
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.clients.client_metadata import is_document_url
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.clients.oauth_parameters import Raw, single_value
from gatewayd.oauth.parts import OAuthParts
from gatewayd.store import ReadTx


def client_id_of(request: Request, form: Raw) -> str:
    """The client that a request names, in its form or by `Authorization: Basic` (RFC 6749 §3.2.1).

    Raises `OAuthFailure`: `invalid_client` (401) for one that comes with a secret, `invalid_request`.
    """
    client_id = single_value(form, "client_id")
    if single_value(form, "client_secret") is not None or "client_assertion" in form:
        raise _not_authenticated("clients have no secret here: send the client_id alone")
    by_header = _client_of_basic(request.text(b"authorization"))
    if by_header is not None and client_id not in (None, by_header):
        raise OAuthFailure("invalid_request", "the client is named twice, and differently")
    client_id = by_header or client_id
    if client_id is None:
        raise OAuthFailure("invalid_request", "client_id is needed")
    return client_id


def require_known(client: Client | None) -> Client:
    """Raises `OAuthFailure` `invalid_client` (401) for none, and one that is revoked."""
    if client is None or client.revoked:
        raise _not_known()
    return client


def check_known(tx: ReadTx, client_id: str) -> None:
    """Raises `OAuthFailure` `invalid_client` (401) for a client that is not known or revoked."""
    if not oauth_clients.is_active(tx, client_id):
        raise _not_known()


async def load_client(parts: OAuthParts, client_id: str | None, peer: str | None) -> Client | None:
    """The client of an authorization request, its document fetched anew where it has one that is stale.

    `peer` asks for it. None: not known, or revoked. Raises `DirectFailure` where the document cannot be used, and
    `OAuthFailure` as `StorageBudget.charge` does.
    """
    if client_id is None:
        return None
    client = await parts.store.read(lambda tx: oauth_clients.find(tx, client_id))
    if is_document_url(client_id) and not _is_fresh(parts, client):
        client = await _fetch(parts, client_id, peer)
    return None if client is None or client.revoked else client


async def _fetch(parts: OAuthParts, url: str, peer: str | None) -> Client:
    async with parts.documents.turn(url):
        client = await parts.store.read(lambda tx: oauth_clients.find(tx, url))
        if client is not None and _is_fresh(parts, client):
            return client
        metadata, fresh_until = await parts.documents.fetch(url)
        parts.storage.charge(peer, len(url) + len(msgspec.json.encode(metadata)), Instant(parts.store.now()))
        return await parts.store.write(lambda tx: oauth_clients.save_document(tx, url, metadata, fresh_until))


def _is_fresh(parts: OAuthParts, client: Client | None) -> bool:
    """A revoked client is not worth a fetch."""
    if client is None:
        return False
    return client.revoked or client.fresh_until is None or client.fresh_until > parts.store.now()


def _client_of_basic(authorization: str | None) -> str | None:
    """The client named in `Authorization: Basic`, with an empty password (RFC 6749 §2.3.1). None: another scheme."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, password = base64.b64decode(encoded.strip(), validate=True).decode("ascii").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise _not_authenticated("the Authorization header cannot be read") from None
    if password or not name:
        raise _not_authenticated("clients have no secret here: send the client_id alone")
    return unquote_plus(name)


def _not_known() -> OAuthFailure:
    return _not_authenticated("the client is not known here")


def _not_authenticated(description: str) -> OAuthFailure:
    return OAuthFailure("invalid_client", description, 401)
