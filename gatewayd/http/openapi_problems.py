"""The problem in the description: RFC 9457 with members of this service's own."""

from typing import Final

from gatewayd.errors import ERRORS, FIELD_CODES
from gatewayd.http.openapi_schemas import Json
from gatewayd.http.render import PROBLEM_TYPE

PROBLEM_SCHEMAS: Final[Json] = {
    "Problem": {
        "type": "object",
        "title": "Problem",
        "description": "What went wrong (RFC 9457). Programs go by `code`, people read `message`.",
        "required": ["type", "title", "status", "code", "message", "requestId"],
        "properties": {
            "type": {
                "type": "string",
                "format": "uri",
                "description": "The kind of problem as a URI: `urn:gatewayd:problem:` with the code behind it.",
            },
            "title": {"type": "string", "description": "What the code means, always in the same words."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": {"type": "string", "description": "As `message`."},
            "code": {
                "$ref": "#/components/schemas/ProblemCode",
                "description": "Which problem it is: programs go by it.",
            },
            "message": {"type": "string", "description": "What was wrong with this request, and what would be right."},
            "requestId": {"type": "string", "description": "The id of the request, as in `X-Request-Id`."},
            "outcome": {
                "$ref": "#/components/schemas/ProblemOutcome",
                "description": "With `idempotency_conflict`, of the first request under the key: it is still under "
                "way, or broke off and nobody knows whether it was done.",
            },
            "state": {
                "$ref": "#/components/schemas/ProblemState",
                "description": "With `period_closed`, of the period that holds `date`: one that is being closed takes "
                "what is sent with `Period-Override: closing`.",
            },
            "currentState": {
                "type": "string",
                "description": "With `invalid_state`, the state in which the resource is.",
            },
            "allowedStates": {
                "type": "array",
                "items": {"type": "string"},
                "description": "With `invalid_state`, those in which it would be done. Empty: something else stands in "
                "the way, and `message` says what.",
            },
            "errors": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/FieldError"},
                "description": "Each field that is wrong, with `validation_failed` and `unknown_parameter`, in two "
                "steps: first all that their types refuse; once that is right, all that only what is stored can tell, "
                "such as an id that there is not, or dates in the wrong order.",
            },
        },
    },
    "FieldError": {
        "type": "object",
        "title": "FieldError",
        "description": "A field that is wrong.",
        "required": ["path", "code", "message"],
        "properties": {
            "path": {
                "type": "string",
                "description": "Which field, dotted from the body's root.",
                "examples": ["lines[0].unitPrice"],
            },
            "code": {"$ref": "#/components/schemas/FieldErrorCode", "description": "What is wrong with it."},
            "message": {"type": "string", "description": "The same for people, and what would be right."},
        },
    },
    "ProblemCode": {"type": "string", "enum": sorted(ERRORS)},
    "ProblemOutcome": {"type": "string", "enum": ["pending", "unknown"]},
    "ProblemState": {"type": "string", "enum": ["closing", "closed"]},
    "FieldErrorCode": {"type": "string", "enum": sorted(FIELD_CODES)},
}


def example_of(code: str) -> Json:
    """A problem with this code."""
    status, title = ERRORS[code]
    said = f"{title}."
    return {
        "type": PROBLEM_TYPE + code,
        "title": title,
        "status": status,
        "detail": said,
        "code": code,
        "message": said,
        "requestId": "req_01kaqfb2r0j1k2m3n4p5q6r7s8",
    }
