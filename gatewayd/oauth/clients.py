"""The client of a request, once it is known which: whether it is there, and its document."""

import msgspec

from gatewayd.clock import Instant
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.clients.client_metadata import is_document_url
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.oauth.parts import OAuthParts
from gatewayd.store import ReadTx


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


def _not_known() -> OAuthFailure:
    return not_authenticated("the client is not known here")


def not_authenticated(description: str) -> OAuthFailure:
    """401: the client has not proven who it is, or there is none."""
    return OAuthFailure("invalid_client", description, 401)
