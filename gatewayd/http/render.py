"""Responses as bytes. The one place that writes errors out: RFC 9457 with the members of domain model §0.2."""

from urllib.parse import quote

from gatewayd.contract.given_files import StoredFile, WrittenFile
from gatewayd.contract.pages import Listing
from gatewayd.contract.wire import encode
from gatewayd.errors import ERRORS, Problem
from gatewayd.http1.header_fields import Header, Headers
from gatewayd.http1.request import Request
from gatewayd.http1.response import FileResponse, Response
from gatewayd.http1.response_head import render_lines
from gatewayd.performing.answers import encoded
from gatewayd.performing.performer import Replayed

JSON: Header = (b"content-type", b"application/json")
PROBLEM_JSON: Header = (b"content-type", b"application/problem+json")
ALWAYS: Headers = (  # what the API answers is for one caller and is data, never pages
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
PROBLEM_TYPE = "urn:gatewayd:problem:"  # Chosen: an identifier that nobody tries to fetch

_JSON_HEADERS: Headers = (JSON, *ALWAYS)
_JSON_LINES = render_lines(_JSON_HEADERS)

_REPLAYED: Headers = ((b"idempotent-replayed", b"true"),)
_URL_CHARACTERS = "!$%&'()*+,-./:;=?@_~"


def render(value: object, request: Request) -> Response:
    """200 with what a row answers; what it relays as it is."""
    if type(value) is Response:
        return value.plus(ALWAYS)
    if type(value) is StoredFile:
        return FileResponse(200, _file_headers(value), value.path, value.size_bytes)
    if type(value) is WrittenFile:
        return Response(200, _file_headers(value), value.content)
    if type(value) is Replayed:
        return success(value.body).plus(_REPLAYED)
    return success(value, None if request.method == "POST" else request)


def _file_headers(file: StoredFile | WrittenFile) -> Headers:
    disposition = f'attachment; filename="{file.name}"'
    return (
        (b"content-type", file.media_type.encode()),
        (b"content-disposition", disposition.encode("ascii")),
        *ALWAYS,
    )


def success(value: object, request: Request | None = None) -> Response:
    """200 with the JSON of a value. `request` is what a page was asked for with, to say where the next one is."""
    response = Response(200, _JSON_HEADERS, encoded(value), _JSON_LINES)
    if type(value) is not Listing or value.next_cursor is None or request is None:
        return response
    return response.plus(((b"link", _next_link(request.target, value.next_cursor)),))


def _next_link(target: str, cursor: str) -> bytes:
    """RFC 8288."""
    path, _, query = quote(target, safe=_URL_CHARACTERS, encoding="latin-1").partition("?")
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
