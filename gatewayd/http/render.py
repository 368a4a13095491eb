"""Responses as bytes. The one place that writes errors out: RFC 9457 with the members of domain model §0.2."""

from typing import Any

from gatewayd.contract.pages import Listing
from gatewayd.contract.wire import encode
from gatewayd.errors import ERRORS, Problem
from gatewayd.http1.header_fields import Header, Headers
from gatewayd.http1.response import Response
from gatewayd.http1.response_head import render_lines

JSON: Header = (b"content-type", b"application/json")
PROBLEM_JSON: Header = (b"content-type", b"application/problem+json")
ALWAYS: Headers = (  # what the API answers is for one caller and is data, never pages
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
PROBLEM_TYPE = "urn:gatewayd:problem:"  # Chosen: an identifier that nobody tries to fetch

_JSON_HEADERS: Headers = (JSON, *ALWAYS)
_JSON_LINES = render_lines(_JSON_HEADERS)


def json_response(body: bytes) -> Response:
    """200 with JSON of the API."""
    return Response(200, _JSON_HEADERS, body, _JSON_LINES)


def success(result: object, target: str | None = None) -> Response:
    """200 with a handler's result. `target` is the address that a page's `Link` continues from; None: no `Link`."""
    response = json_response(encoded(result))
    if type(result) is not Listing or result.next_cursor is None or target is None:
        return response
    return response.plus(((b"link", _next_link(target, result.next_cursor)),))


def encoded(result: object) -> bytes:
    """The JSON of a handler's result."""
    if isinstance(result, bytes):
        return result
    return _listing(result) if type(result) is Listing else encode(result)


def _listing(page: Listing[Any]) -> bytes:
    """The JSON of a page: its items are spliced, not encoded."""
    cursor = b"null" if page.next_cursor is None else b'"%b"' % page.next_cursor.encode("ascii")
    return b"".join((b'{"data":[', *page.pieces, b'],"nextCursor":', cursor, page.extra, b"}"))


def _next_link(target: str, cursor: str) -> bytes:
    """RFC 8288."""
    path, _, query = target.partition("?")
    kept = [pair for pair in query.split("&") if pair and not pair.startswith("cursor=")]
    return f'<{path}?{"&".join([*kept, f"cursor={cursor}"])}>; rel="next"'.encode("ascii")


def problem(error: Problem, request_id: str) -> Response:
    """An error document. `code`, `message`, `status` and `requestId` are there in every one."""
    kind = ERRORS[error.code]
    document: dict[str, object] = {
        "type": PROBLEM_TYPE + error.code,
        "title": kind.title,
        "status": kind.status,
        "detail": error.message,
        "code": error.code,
        "message": error.message,
        "requestId": request_id,
        **error.extra,
    }
    if error.errors:
        document["errors"] = [{"path": e.path, "code": e.code, "message": e.message} for e in error.errors]
    return Response(kind.status, (PROBLEM_JSON, *error.headers), encode(document))


_CODES_OF_STATUS = {kind.status: code for code, kind in reversed(list(ERRORS.items()))}


def refusal(status: int, message: str, request_id: str) -> Response:
    """What the server itself answers, where no application does."""
    return problem(Problem(_CODES_OF_STATUS.get(status, "invalid_request"), message), request_id)
