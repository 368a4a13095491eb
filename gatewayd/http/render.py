"""Answers as bytes. The one place that writes errors out: RFC 9457 with the members of domain model §0.2."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gatewayd.contract.pages import Listing
from gatewayd.contract.wire import encode
from gatewayd.errors import ERRORS, Problem
from gatewayd.http1.response import render_fields
from gatewayd.http1.state import Refusal

Headers = Sequence[tuple[bytes, bytes]]

JSON = (b"content-type", b"application/json")
JSON_ALONE = (JSON,)
PROBLEM_JSON = (b"content-type", b"application/problem+json")
ALWAYS: Headers = (  # answers are for one caller and are data, never pages
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
JSON_LINES = render_fields((JSON, *ALWAYS)).block
PROBLEM_TYPE = "urn:gatewayd:problem:"  # Chosen: an identifier that nobody tries to fetch


@dataclass(slots=True)
class Answer:
    """One response before it is sent. `headers` are added to the common ones."""

    status: int
    body: bytes
    headers: Headers
    _lines: bytes | None = None

    @property
    def lines(self) -> bytes:
        """`headers` and the common ones as header lines. Raises `ValueError` for a value that would start a line."""
        if self.headers is JSON_ALONE:
            return JSON_LINES
        if self._lines is None:
            self._lines = render_fields((*self.headers, *ALWAYS)).block
        return self._lines


def success(result: object, target: str | None = None) -> Answer:
    """200 with a handler's result. `target` is the address that a page's `Link` continues from; None: no `Link`."""
    if isinstance(result, bytes):
        return Answer(200, result, JSON_ALONE)
    if type(result) is not Listing:
        return Answer(200, encode(result), JSON_ALONE)
    body = listing(result)
    if result.next_cursor is None or target is None:
        return Answer(200, body, JSON_ALONE)
    return Answer(200, body, (JSON, (b"link", _next_link(target, result.next_cursor))))


def listing(page: Listing[Any]) -> bytes:
    """The JSON of a page: its items are spliced, not encoded."""
    cursor = b"null" if page.next_cursor is None else b'"%b"' % page.next_cursor.encode("ascii")
    return b"".join((b'{"data":[', *page.pieces, b'],"nextCursor":', cursor, page.extra, b"}"))


def _next_link(target: str, cursor: str) -> bytes:
    """RFC 8288."""
    path, _, query = target.partition("?")
    kept = [pair for pair in query.split("&") if pair and not pair.startswith("cursor=")]
    return f'<{path}?{"&".join([*kept, f"cursor={cursor}"])}>; rel="next"'.encode("ascii")


def problem(error: Problem, request_id: str) -> Answer:
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
    return Answer(kind.status, encode(document), (PROBLEM_JSON, *error.headers))


_CODES_OF_STATUS = {kind.status: code for code, kind in reversed(list(ERRORS.items()))}


def refusal(status: int, message: str) -> Refusal:
    """The answer that the connection itself gives, before there is a request."""
    code = _CODES_OF_STATUS.get(status, "invalid_request")
    request_id = f"req_{secrets.token_hex(8)}"
    return Refusal(problem(Problem(code, message), request_id).body, request_id.encode())
