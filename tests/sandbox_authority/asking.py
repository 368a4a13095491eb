"""Asking the sandbox authority in tests: one moment, answers as JSON that is valid for a schema."""

import json
import re
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from jsonschema import Draft202012Validator, FormatChecker

from gatewayd.clock import Instant, SettableClock, from_wire
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.sandbox_authority.authority import SandboxAuthority

NOW = from_wire("2026-11-20T09:30:00.125Z")
VRN = "123456789"
NINO = "AA123456A"
VERSIONS = {  # of each interface
    "/organisations/vat": 1,
    "/individuals/person/itsa-status": 2,
    "/individuals/business/details": 2,
    "/obligations/details": 3,
    "/accounts/self-assessment": 4,
    "/individuals/calculations": 8,
}
Headers = list[tuple[bytes, bytes]]


def versioned(version: int, scenario: str | None = None) -> Headers:
    """The headers of a request to an endpoint of an interface."""
    accept = (b"Accept", b"application/vnd.hmrc.%d.0+json" % version)
    return [accept] if scenario is None else [accept, (b"Gov-Test-Scenario", scenario.encode())]


def request(template: str, query: str = "", scenario: str | None = None, headers: Headers | None = None) -> Request:
    """A GET to an endpoint. What the template has in braces is taken out of the query and put into the path."""
    values = dict(parse_qsl(query, keep_blank_values=True))
    path = re.sub(r"\{(\w+)\}", lambda found: quote(values.pop(found[1]), safe=""), template)
    version = next(number for start, number in VERSIONS.items() if template.startswith(start))
    line = f"{path}?{urlencode(values)}" if values else path
    return Request("GET", line, versioned(version, scenario) if headers is None else headers)


def tell(asked: Request, now: Instant = NOW) -> Response:
    """What the sandbox says at a moment."""
    return SandboxAuthority(SettableClock(now)).answer(asked)


def answer(
    template: str, query: str = "", scenario: str | None = None, headers: Headers | None = None, now: Instant = NOW
) -> Response:
    return tell(request(template, query, scenario, headers), now)


def document(given: Response) -> Any:
    """The body, with exact numbers."""
    assert dict(given.headers)[b"Content-Type"] == b"application/json"
    return json.loads(given.body, parse_float=Decimal)


def accepted(given: Response, schema: dict[str, Any]) -> Any:
    """The body of a good answer, which must be valid for the schema."""
    assert given.status == 200, given.body
    return valid(given.body, schema)


def valid(body: bytes, schema: dict[str, Any]) -> Any:
    """A document with exact numbers, which must be valid for the schema."""
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(json.loads(body))
    return json.loads(body, parse_float=Decimal)


def refused(given: Response) -> tuple[int, str]:
    """Status and code of a refusal, which must have the authority's shape."""
    body = document(given)
    assert given.status >= 400, body
    if "statusCode" in body:
        assert body.keys() == {"statusCode", "message"}
        assert body["statusCode"] == given.status
        return given.status, body["message"]
    assert {"code", "message"} <= body.keys() <= {"code", "message", "errors"}
    for error in body.get("errors", []):
        assert error.keys() == {"code", "message"}
    return given.status, body["code"]


def codes(given: Response) -> list[str]:
    """The codes of the errors that stand in a refusal of several."""
    return [error["code"] for error in document(given)["errors"]]
