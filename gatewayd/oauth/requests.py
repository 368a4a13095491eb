"""Requests in: bounded, of one content type, and read without guessing."""

from urllib.parse import parse_qs

import msgspec

from gatewayd.http1 import bodies
from gatewayd.http1.asgi import Receive
from gatewayd.http1.header_fields import RepeatedField
from gatewayd.http1.request import Request
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.clients.oauth_parameters import Raw

BODY_BYTES_MAX = 64 * 1024  # Chosen
PARAMETERS_MAX = 100  # Chosen
FORM = b"application/x-www-form-urlencoded"
JSON = b"application/json"

CREDENTIALS = frozenset(
    {"access_token", "assertion", "client_assertion", "client_secret", "code", "code_verifier", "password"}
    | {"refresh_token", "token"}
)
"""What addresses may not carry: they end up in logs and histories (RFC 9700 §4.3.2)."""

_SINGLE_FIELDS = frozenset({b"authorization", b"content-type", b"content-length", b"content-encoding", b"dpop"})


def read_fields(request: Request) -> None:
    """Read the header fields. Raises `OAuthFailure` where a field that has one value has two."""
    try:
        request.read_fields(_SINGLE_FIELDS)
    except RepeatedField as error:
        raise OAuthFailure("invalid_request", f"The header {error.name} was sent more than once.") from None


def read_query(request: Request) -> Raw:
    """The parameters in the address. Raises `OAuthFailure` `invalid_request`."""
    return _parameters(request.query.decode("latin-1"))


async def read_form(request: Request, receive: Receive) -> Raw:
    """The parameters of a form. Raises `OAuthFailure` `invalid_request`, also where the address has credentials."""
    refuse_credentials(read_query(request))
    _check_type(request, FORM)
    body = await _body(request, receive, BODY_BYTES_MAX)
    try:
        return _parameters(body.decode("ascii"))
    except UnicodeDecodeError:
        raise OAuthFailure("invalid_request", "The form holds characters that must be percent-encoded.") from None


async def read_json(request: Request, receive: Receive, bytes_max: int) -> dict[str, object]:
    """The object in a JSON body of at most so many bytes. Raises `OAuthFailure` `invalid_request`."""
    _check_type(request, JSON)
    try:
        return msgspec.json.decode(await _body(request, receive, bytes_max), type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise OAuthFailure("invalid_request", "The body must be a JSON object.") from None


def refuse_credentials(query: Raw) -> None:
    """Raises `OAuthFailure` `invalid_request` where an address carries what only a body may."""
    if CREDENTIALS & query.keys():
        raise OAuthFailure("invalid_request", "Credentials belong into the body, never into the address.")


def _parameters(encoded: str) -> Raw:
    if not encoded:
        return {}
    if encoded.count("&") >= PARAMETERS_MAX or not encoded.isascii():
        raise OAuthFailure("invalid_request", f"At most {PARAMETERS_MAX} parameters, percent-encoded.")
    try:
        return parse_qs(encoded, keep_blank_values=True, errors="strict")
    except ValueError:
        raise OAuthFailure("invalid_request", "The parameters are not UTF-8.") from None


def _check_type(request: Request, expected: bytes) -> None:
    if bodies.media_type(request) != expected:
        raise OAuthFailure("invalid_request", f"Send Content-Type: {expected.decode()}.", 415)
    if bodies.is_coded(request):
        raise OAuthFailure("invalid_request", "Send the body without a content coding.", 415)


async def _body(request: Request, receive: Receive, bytes_max: int) -> bytes:
    try:
        return await bodies.read_body(request, receive, bytes_max)
    except bodies.BodyTooLarge:
        message = f"A body may have at most {bytes_max} bytes here."
        raise OAuthFailure("invalid_request", message, 413) from None
    except bodies.BodyCutShort:
        raise OAuthFailure("invalid_request", "The body ended before its end.") from None
