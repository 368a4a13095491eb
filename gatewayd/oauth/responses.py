"""Responses: JSON that nobody keeps, errors in the shape of RFC 6749 §5.2, and redirects."""

from collections.abc import Mapping

import msgspec

from gatewayd.http1.header_fields import Header, Headers
from gatewayd.http1.redirects import location, with_parameters
from gatewayd.http1.response import Response
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.identity.clients.redirect_uris import host_of
from gatewayd.identity.tokens.authorizations import Target

JSON_TYPE: Header = (b"content-type", b"application/json")
NO_STORE: Headers = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))  # RFC 6749 §5.1
NO_SNIFF: Header = (b"x-content-type-options", b"nosniff")

CORS: Headers = (  # no cookie is ever read here, so any origin may ask
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"www-authenticate, x-request-id"),
)

_HEAD = """<!doctype html>
<html lang="en-GB"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">
<title>This request cannot be answered · gatewayd</title><link rel="stylesheet" href="/static/style.css">
<link rel="icon" href="/static/icon.svg" type="image/svg+xml"></head>
<body class="narrow"><header class="top"><a class="name" href="/">gatewayd</a></header>
<main><h1>This request cannot be answered</h1>"""
"""As the pages of the console look, whose style it takes; what is said stands below it."""
_PAGE = """{head}
<p>The application that sent you here asked for something that is not right, and it is not safe to send you back to it:
{description}</p><p>Close this page, and tell whoever makes the application: <code>{code}</code>.</p>
</main></body></html>
"""
_LEAVING_PAGE = """{head}
<p>The application at <strong>{host}</strong> asked for something that is not right: {description}
(<code>{code}</code>).</p><p>You have not connected this application before. Close this page if you do not know
{host}.</p><p><a href="{location}" rel="noreferrer">Go back to {host}</a></p></main></body></html>
"""
_PAGE_HEADERS: Headers = (
    (b"content-type", b"text/html; charset=utf-8"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
        b"form-action 'none'",
    ),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)


def json_response(status: int, document: object, *headers: Header) -> Response:
    """JSON that is not to be kept. `document` as bytes is JSON already."""
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    return Response(status, (JSON_TYPE, *NO_STORE, NO_SNIFF, *headers), body)


def empty(status: int, *headers: Header) -> Response:
    """A response without a body."""
    return Response(status, (*NO_STORE, *headers))


def error_response(failure: OAuthFailure | DirectFailure, *headers: Header) -> Response:
    """The JSON of an error (RFC 6749 §5.2)."""
    document = {"error": failure.code, "error_description": failure.description}
    return json_response(failure.status, document, *headers)


def error_page(failure: OAuthFailure | DirectFailure, *headers: Header) -> Response:
    """The page for a person whose browser cannot be sent anywhere."""
    text = _PAGE.format(head=_HEAD, description=_escaped(failure.description), code=_escaped(failure.code))
    return _page(failure.status, text, *headers)


def _page(status: int, text: str, *headers: Header) -> Response:
    return Response(status, (*_PAGE_HEADERS, *NO_STORE, NO_SNIFF, *headers), text.encode())


def redirect(address: str) -> Response:
    """303: the browser goes on with GET, and sends no form along (RFC 9700 §4.12)."""
    return empty(303, (b"location", location(address).encode("ascii")), (b"referrer-policy", b"no-referrer"))


def leaving_page(target: Target, failure: OAuthFailure, issuer: str) -> Response:
    """The page from which a person may go back to the client with the error."""
    text = _LEAVING_PAGE.format(
        head=_HEAD,
        host=_escaped(host_of(target.redirect_uri)),
        description=_escaped(failure.description),
        code=_escaped(failure.code),
        location=_escaped(_error_location(target, failure, issuer)),
    )
    return _page(failure.status, text)


def authorization_error(target: Target, failure: OAuthFailure, issuer: str) -> Response:
    """The error sent back to the client."""
    return redirect(_error_location(target, failure, issuer))


def _error_location(target: Target, failure: OAuthFailure, issuer: str) -> str:
    """The client's address with the error and the issuer that says it (RFC 6749 §4.1.2.1, RFC 9207 §2)."""
    parameters = {"error": failure.code, "error_description": failure.description}
    if target.state is not None:
        parameters["state"] = target.state
    return with_parameters(target.redirect_uri, {**parameters, "iss": issuer})


def bearer_challenge(scheme: str, issuer: str, parameters: Mapping[str, str]) -> Header:
    """`WWW-Authenticate` (RFC 6750 §3, RFC 9728 §5.1)."""
    all_parameters = {"resource_metadata": f"{issuer}/.well-known/oauth-protected-resource", **parameters}
    listed = ", ".join(f'{name}="{value}"' for name, value in all_parameters.items())
    return b"www-authenticate", f"{scheme} {listed}".encode("ascii", "replace")


def _escaped(text: str) -> str:
    from html import escape  # its entities are memory that only a page of a failure needs

    return escape(text)
