"""Asking the sandbox authority in tests: one moment, one organization, answers as JSON that is valid for a schema."""

import json
from decimal import Decimal
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from gatewayd.clock import from_wire
from gatewayd.tax.sandbox import Sandbox, SandboxAnswer, SandboxRequest

NOW = from_wire("2026-11-20T09:30:00.125Z")
VRN = "123456789"
NINO = "AA123456A"
ORGANIZATION = "org_one"


def request(path: str, query: str = "", scenario: str | None = None, **more: Any) -> SandboxRequest:
    """A GET at `NOW`; `more` replaces any of it."""
    headers = {} if scenario is None else {"Gov-Test-Scenario": scenario}
    values = {"method": "GET", "headers": headers, "body": b"", "org_id": ORGANIZATION, "now": NOW}
    return SandboxRequest(path=path, query=query, **{**values, **more})


def answer(path: str, query: str = "", scenario: str | None = None, **more: Any) -> SandboxAnswer:
    return Sandbox().answer(request(path, query, scenario, **more))


def versioned(version: int, scenario: str | None = None) -> dict[str, str]:
    """The headers of a request to one of the authority's own endpoints."""
    accept = {"Accept": f"application/vnd.hmrc.{version}.0+json"}
    return accept if scenario is None else {**accept, "Gov-Test-Scenario": scenario}


def document(given: SandboxAnswer) -> Any:
    """The body, with exact numbers."""
    assert given.headers["Content-Type"] == "application/json"
    return json.loads(given.body, parse_float=Decimal)


def accepted(given: SandboxAnswer, schema: dict[str, Any], status: int = 200) -> Any:
    """The body of a good answer, which must be valid for the schema."""
    assert given.status == status, given.body
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(json.loads(given.body))
    return document(given)


def refused(given: SandboxAnswer) -> tuple[int, str]:
    """Status and code of a refusal, which must have the authority's shape."""
    body = document(given)
    assert given.status >= 400, body
    if "statusCode" in body:
        assert body.keys() == {"statusCode", "message"}
        assert body["statusCode"] == given.status
        return given.status, body["message"]
    assert {"code", "message"} <= body.keys() <= {"code", "message", "errors"}
    for error in body.get("errors", []):
        assert {"code", "message"} <= error.keys() <= {"code", "message", "path"}
    return given.status, body["code"]


def codes(given: SandboxAnswer) -> list[str]:
    """The codes of the errors that stand in a refusal of several."""
    return [error["code"] for error in document(given)["errors"]]
