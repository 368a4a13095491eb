"""Dynamic client registration (RFC 7591 §3): open to anybody, without a credential (Spec §5, rule 3)."""

import msgspec

from gatewayd.clock import Instant
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients import client_metadata, oauth_clients
from gatewayd.identity.clients.client_metadata import METADATA_BYTES_MAX
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import read_json
from gatewayd.oauth.responses import json_response


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """201 with what will be honoured (RFC 7591 §3.2.1); strict clients refuse a 200.

    Raises `OAuthFailure` `invalid_redirect_uri` or `invalid_client_metadata` (RFC 7591 §3.2.2), or
    `temporarily_unavailable` (429) as `StorageBudget.charge` does.
    """
    try:
        raw = await read_json(request, receive, METADATA_BYTES_MAX)
    except OAuthFailure as failure:
        raise OAuthFailure("invalid_client_metadata", failure.description, failure.status) from None
    metadata = client_metadata.validate(raw)
    size = len(msgspec.json.encode(metadata))
    parts.storage.charge(request.peer, size, Instant(parts.store.now()))
    client = await parts.store.write(lambda tx: oauth_clients.register(tx, metadata))
    return json_response(201, oauth_clients.registration_response(client))
