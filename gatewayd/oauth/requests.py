"""Requests in: bounded, of one content type, and read without guessing."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import msgspec

from gatewayd.contract.header_fields import RepeatedField, joined
from gatewayd.identity.oauth_errors import OAuthFailure
from gatewayd.identity.oauth_parameters import Raw

BODY_BYTES_MAX = 64 * 1024  # Chosen
PARAMETERS_MAX = 100  # Chosen
FORM = b"application/x-www-form-urlencoded"
JSON = b"application/json"

CREDENTIALS = frozenset(
    {"access_token", "assertion", "client_secret", "code", "code_verifier", "password", "refresh_token", "token"}
)
"""What addresses may not carry: they end up in logs and histories (RFC 9700 §4.3.2)."""

_SINGLE_FIELDS = frozenset({b"authorization", b"content-type", b"content-length", b"content-encoding", b"dpop"})

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Incoming:
    """One request. `peer` is the address it came from, None on a unix socket."""

    method: str
    path: str
    query: str
    headers: Mapping[bytes, bytes]
    peer: str | None
    receive: Receive


def incoming(scope: Scope, receive: Receive) -> Incoming:
    """The request of an ASGI scope. Raises `OAuthFailure` where a field that has one value has two."""
    client = scope.get("client")
    return Incoming(
        scope["method"],
        scope["path"],
        scope["query_string"].decode("latin-1"),
        _fields(scope["headers"]),
        client[0] if client else None,
        receive,
    )


def _fields(fields: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    try:
        return joined(fields, _SINGLE_FIELDS)
    except RepeatedField as error:
        raise OAuthFailure("invalid_request", f"The header {error.name} was sent more than once.") from None


def read_query(request: Incoming) -> Raw:
    """The parameters in the address. Raises `OAuthFailure` `invalid_request`."""
    return _parameters(request.query)


async def read_form(request: Incoming) -> Raw:
    """The parameters of a form. Raises `OAuthFailure` `invalid_request`, also where the address has credentials."""
    refuse_credentials(read_query(request))
    _check_type(request, FORM)
    body = await _body(request)
    try:
        return _parameters(body.decode("ascii"))
    except UnicodeDecodeError:
        raise OAuthFailure("invalid_request", "The form holds characters that must be percent-encoded.") from None


async def read_json(request: Incoming) -> dict[str, object]:
    """The object in a JSON body. Raises `OAuthFailure` `invalid_request`."""
    _check_type(request, JSON)
    try:
        return msgspec.json.decode(await _body(request), type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise OAuthFailure("invalid_request", "The body must be a JSON object.") from None


def refuse_credentials(query: Raw) -> None:
    """Raises `OAuthFailure` `invalid_request` where an address carries what only a body may."""
    if CREDENTIALS & query.keys():
        raise OAuthFailure("invalid_request", "Credentials belong into the body, never into the address.")


def text_of(request: Incoming, name: bytes) -> str | None:
    """The value of a header field; None where it was not sent."""
    value = request.headers.get(name)
    return None if value is None else value.decode("latin-1")


def _parameters(encoded: str) -> Raw:
    if not encoded:
        return {}
    if encoded.count("&") >= PARAMETERS_MAX or not encoded.isascii():
        raise OAuthFailure("invalid_request", f"At most {PARAMETERS_MAX} parameters, percent-encoded.")
    try:
        return parse_qs(encoded, keep_blank_values=True, errors="strict")
    except ValueError:
        raise OAuthFailure("invalid_request", "The parameters are not UTF-8.") from None


def _check_type(request: Incoming, expected: bytes) -> None:
    content_type = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if content_type != expected:
        raise OAuthFailure("invalid_request", f"Send Content-Type: {expected.decode()}.", 415)
    if request.headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise OAuthFailure("invalid_request", "Send the body without a content coding.", 415)


async def _body(request: Incoming) -> bytes:
    length = request.headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > BODY_BYTES_MAX:
        raise _too_large()
    body = bytearray()
    while True:
        message = await request.receive()
        if message["type"] != "http.request":
            raise OAuthFailure("invalid_request", "The body ended before its end.")
        body += message.get("body", b"")
        if len(body) > BODY_BYTES_MAX:
            raise _too_large()
        if not message.get("more_body", False):
            return bytes(body)


def _too_large() -> OAuthFailure:
    return OAuthFailure("invalid_request", f"A body may have at most {BODY_BYTES_MAX} bytes.", 413)
