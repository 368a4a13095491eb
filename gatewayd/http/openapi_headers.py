"""Header fields in the description: those that operations take and answer, and those of an event that is sent."""

from collections.abc import Iterable, Mapping
from typing import Final

from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import PageRequest
from gatewayd.http.openapi_schemas import Json

_TEXT: Final[Json] = {"type": "string"}
_NUMBER: Final[Json] = {"type": "integer", "minimum": 0}


def _header(text: str, schema: Json, example: object) -> Json:
    return {"description": text, "schema": schema, "example": example}


HEADERS: Final[Mapping[str, Json]] = {
    "X-Request-Id": _header(
        "The id of the request, as the log has it and problems as `requestId`.", _TEXT, "req_01kaqfb2r0j1k2m3n4p5q6r7s8"
    ),
    "RateLimit-Policy": _header(
        "How many requests (`q`) the credential may make in how many seconds (`w`). Left out where there is no limit.",
        _TEXT,
        '"default";q=600;w=60',
    ),
    "RateLimit": _header(
        "How many requests are left (`r`), and in how many seconds all are there again (`t`).",
        _TEXT,
        '"default";r=599;t=1',
    ),
    "Retry-After": _header("In how many seconds to try again, where that is known.", _NUMBER, 1),
    "WWW-Authenticate": _header(
        "How to be let in: the scheme, what was wrong (`error`), the scopes that are needed, and where the metadata of "
        "the OAuth 2.0 provider is (RFC 6750, RFC 9728).",
        _TEXT,
        'Bearer error="invalid_token"',
    ),
    "Link": _header(
        'The address of the next page, `rel="next"` (RFC 8288). Left out on the last.',
        _TEXT,
        '</api/rpc/invoices?limit=20&cursor=ks4A>; rel="next"',
    ),
    "Idempotent-Replayed": _header(
        "`true`: this is the first answer again that was given under the `Idempotency-Key`. Left out otherwise.",
        {"type": "string", "const": "true"},
        "true",
    ),
    "Content-Disposition": _header(
        "`attachment`, with the name under which to keep the file.",
        {"type": "string", "pattern": '^attachment; filename="[ -~]+"$'},
        'attachment; filename="2026-07-01-2026-09-30.zip"',
    ),
    "Deprecation": _header(
        "As the tax authority answered it: since when the address is deprecated (RFC 9745).", _TEXT, "@1735689600"
    ),
    "Sunset": _header(
        "As the tax authority answered it: when the address will be gone (RFC 8594).",
        _TEXT,
        "Wed, 31 Mar 2027 23:59:59 GMT",
    ),
    "X-CorrelationId": _header(
        "The tax authority's own id of the call.", _TEXT, "c75f40a6-a3df-4429-a697-471eeec46435"
    ),
    "X-Tax-Upstream": _header("Who answered.", _TEXT, "sandbox"),
    "X-Fraud-Header-Warnings": _header(
        "What the tax authority would remark on in the fraud-prevention headers: `Name=code`, a list.",
        _TEXT,
        "Gov-Client-Timezone=missing",
    ),
    "Age": _header(
        "For how many seconds the answer has been kept here. Left out where it was just asked for.", _NUMBER, 12
    ),
}
"""What operations answer, by name. Every answer has `Cache-Control: no-store` too."""

_ALWAYS: Final = ("X-Request-Id", "RateLimit-Policy", "RateLimit")
_RELAYED: Final = (
    *("Deprecation", "Sunset", "Link", "Retry-After"),
    *("X-CorrelationId", "X-Tax-Upstream", "X-Fraud-Header-Warnings", "Age"),
)
_OF_STATUS: Final[Mapping[int, tuple[str, ...]]] = {
    401: ("WWW-Authenticate",),
    403: ("WWW-Authenticate",),
    409: ("Retry-After",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_BEFORE_ADMISSION: Final = frozenset({401, 406, 431})
"""What is answered to whom nothing is counted yet."""


def of_success(operation: Operation) -> Json:
    """The header fields of the answer that an operation is asked for."""
    names = list(_ALWAYS)
    if operation.method == "GET" and issubclass(operation.request, PageRequest):
        names.append("Link")
    if operation.takes_key:
        names.append("Idempotent-Replayed")
    if operation.gives_file:
        names.append("Content-Disposition")
    return _referred((*names, *(_RELAYED if operation.relays else ())))


def of_problem(status: int) -> Json:
    """Those of a problem."""
    always = _ALWAYS[:1] if status in _BEFORE_ADMISSION else _ALWAYS
    return _referred((*always, *_OF_STATUS.get(status, ())))


def _referred(names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


IDEMPOTENCY_KEY: Final[Json] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Makes a retry safe: within 24 hours the same key and request get the first answer again. 409 "
    "`idempotency_conflict` is another request under the key or, with `outcome`, one that is under way (`pending`) "
    "or broke off so that nobody knows whether it was done (`unknown`), which is not run again under the key.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "pattern": r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$",
    },
}
PERIOD_OVERRIDE: Final[Json] = {
    "name": "Period-Override",
    "in": "header",
    "description": "`closing`: it is written also where a period is being closed. Without it that is 409 "
    "`period_closed` with `state` `closing`; what is closed (`state` `closed`) is refused in any case.",
    "schema": {"type": "string", "enum": ["closing"]},  # a constant is no header to openapi-python-client
}
WEBHOOK_HEADERS: Final[Mapping[str, tuple[str, Json, str]]] = {
    "X-Service-Signature": (
        "`t=<unix seconds>,v1=<hex HMAC-SHA256 of t, a dot and the raw body>`, keyed with the whole secret. While a "
        "rotation lasts there is a second `v1`, of the old secret.",
        _TEXT,
        "t=1795167000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
    ),
    "X-Service-Delivery": (
        "The delivery's own id; the same on every attempt.",
        _TEXT,
        "wdlv_01kaqfb2r0j1k2m3n4p5q6r7s8",
    ),
    "webhook-id": (
        "The delivery id, as `id` in the body. Where an event is sent again it is the first delivery's (Standard "
        "Webhooks): act once on each.",
        _TEXT,
        "wdlv_01kaqfb2r0j1k2m3n4p5q6r7s8",
    ),
    "webhook-timestamp": ("When the attempt was made, unix seconds (Standard Webhooks).", _TEXT, "1795167000"),
    "webhook-signature": (
        "`v1,<base64 HMAC-SHA256 of webhook-id, webhook-timestamp and the raw body, joined by dots>`, keyed with the "
        "bytes that the secret has as base64 behind `whsec_`; several are parted by spaces (Standard Webhooks).",
        _TEXT,
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
}
REPLAYED_FROM: Final[Json] = {
    "name": "X-Service-Replayed-From",
    "in": "header",
    "required": False,
    "description": "Where an event is sent again, the id of its first delivery.",
    "schema": _TEXT,
    "example": "wdlv_01kaqfb2r0j1k2m3n4p5q6r7s8",
}
WEBHOOK_ANSWERS: Final[Json] = {
    "2XX": {"description": "Received, within 10 seconds."},
    "410": {"description": "The receiver is gone: the subscription is disabled, and the delivery not tried again."},
    "default": {
        "description": "Not received: tried again with growing waits, 8 times in all. So is no answer within 10 "
        "seconds, and a redirect, which is not followed. `Retry-After` lengthens the wait, up to 6 hours."
    },
}
