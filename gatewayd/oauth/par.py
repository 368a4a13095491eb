"""Pushed authorization requests (RFC 9126): the request comes from the client itself, and the browser carries a handle.

Public clients may push too. What is pushed is checked at once, so that the client learns of a mistake before anybody
has to look at it.
"""

import msgspec

from gatewayd.clock import SECOND, Instant
from gatewayd.http1.asgi import Receive
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.clients.oauth_parameters import single_value
from gatewayd.identity.tokens import authorizations
from gatewayd.identity.tokens.authorizations import PUSHED_LIFE, AuthorizationParameters
from gatewayd.identity.tokens.dpop import Proof
from gatewayd.oauth import dpop
from gatewayd.oauth.addresses import REQUEST_URI_PREFIX
from gatewayd.oauth.client_authentication import authenticate
from gatewayd.oauth.clients import load_client, require_known
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.requests import read_form
from gatewayd.oauth.responses import json_response
from gatewayd.store import WriteTx


async def respond(parts: OAuthParts, request: Request, receive: Receive) -> Response:
    """201 with the handle. Raises `OAuthFailure` or `DirectFailure`, which are JSON here (RFC 9126 §2.3)."""
    form = await read_form(request, receive)
    if single_value(form, "request_uri") is not None:
        raise OAuthFailure("invalid_request", "a pushed request names no request_uri")
    client_id = await authenticate(parts, request, form)
    client = require_known(await load_client(parts, client_id, request.peer))
    checked = authorizations.check(client, {**form, "client_id": [client_id]}, parts.audiences)
    proof = dpop.read_proof(parts, request)
    parameters = _bind(checked, proof)
    parts.storage.charge(request.peer, len(msgspec.json.encode(parameters)), Instant(parts.store.now()))
    await dpop.spend_pushed(parts, proof)

    def save(tx: WriteTx) -> str:
        require_known(oauth_clients.find(tx, client_id))  # not swept or revoked since
        return authorizations.save(tx, parameters, pushed=True)

    handle = await parts.store.write(save)
    return json_response(201, {"request_uri": REQUEST_URI_PREFIX + handle, "expires_in": PUSHED_LIFE // SECOND})


def _bind(parameters: AuthorizationParameters, proof: Proof | None) -> AuthorizationParameters:
    """The code will be bound to the key of the proof (RFC 9449 §10.1)."""
    if proof is None:
        return parameters
    if parameters.dpop_jkt not in (None, proof.thumbprint):
        raise OAuthFailure("invalid_dpop_proof", "dpop_jkt names another key than the proof")
    return msgspec.structs.replace(parameters, dpop_jkt=proof.thumbprint)
