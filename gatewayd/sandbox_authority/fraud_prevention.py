"""The authority's test of fraud-prevention headers (domain model §D2: `/test/fraud-prevention-headers/validate`).

# Chosen: whether each header is there, and belongs to the connection method. What stands in it is judged by those who
send it, and by the authority's own service.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from gatewayd.http1.header_fields import Headers
from gatewayd.sandbox_authority.rules import Call, Document

SPECIFICATION: Final = "3.3"
PREFIXES: Final = (b"gov-client-", b"gov-vendor-")

_METHOD: Final = "gov-client-connection-method"
_MAY_LACK: Final = frozenset({"gov-vendor-license-ids", "gov-client-multi-factor"})
"""What not everybody has: a warning, where it is not there."""
_ALL: Final = (
    *("gov-client-device-id", "gov-client-user-ids", "gov-client-timezone"),
    *("gov-vendor-version", "gov-vendor-product-name", "gov-vendor-license-ids"),
)
_SYSTEM: Final = ("gov-client-local-ips", "gov-client-local-ips-timestamp", "gov-client-user-agent")
_MACHINE: Final = (*_SYSTEM, "gov-client-mac-addresses")
_WINDOW: Final = ("gov-client-screens", "gov-client-window-size")
_PERSON: Final = ("gov-client-multi-factor",)
_SERVER: Final = (
    *("gov-client-public-ip", "gov-client-public-ip-timestamp", "gov-client-public-port"),
    *("gov-vendor-public-ip", "gov-vendor-forwarded"),
)
_METHODS: Final[Mapping[str, tuple[str, ...]]] = {  # §D2
    "MOBILE_APP_DIRECT": (*_ALL, *_SYSTEM, *_WINDOW, *_PERSON),
    "DESKTOP_APP_DIRECT": (*_ALL, *_MACHINE, *_WINDOW, *_PERSON),
    "MOBILE_APP_VIA_SERVER": (*_ALL, *_SYSTEM, *_WINDOW, *_PERSON, *_SERVER),
    "DESKTOP_APP_VIA_SERVER": (*_ALL, *_MACHINE, *_WINDOW, *_PERSON, *_SERVER),
    "WEB_APP_VIA_SERVER": (*_ALL, *_WINDOW, *_PERSON, *_SERVER, "gov-client-browser-js-user-agent"),
    "BATCH_PROCESS_DIRECT": (*_ALL, *_MACHINE),
    "OTHER_DIRECT": (*_ALL, *_MACHINE, *_PERSON),
    "OTHER_VIA_SERVER": (*_ALL, *_MACHINE, *_PERSON, *_SERVER),
}


def headers_of(fields: Headers) -> dict[str, str]:
    """The fraud-prevention headers of a request."""
    headers = [(name.lower(), value) for name, value in fields if name.lower().startswith(PREFIXES)]
    return {name.decode("latin-1"): value.decode("latin-1").strip(" \t") for name, value in headers}


def validate(call: Call) -> Document:
    """What is missing, empty or not expected."""
    headers = call.fraud_headers
    needed = _METHODS.get(headers.get(_METHOD, ""))
    if needed is None:
        return _verdict([_note("INVALID_HEADER", "The connection method is missing or unknown", [_METHOD])], [])
    missing = [name for name in needed if name not in headers]
    empty = [name for name in needed if headers.get(name) == ""]
    others = sorted(headers.keys() - {*needed, _METHOD})
    lost = [name for name in missing if name not in _MAY_LACK]
    errors = [_note("MISSING_HEADER", "The header is required", [name]) for name in lost]
    warnings = [_note("MISSING_HEADER", "The header is expected", [name]) for name in missing if name in _MAY_LACK]
    warnings += [_note("EMPTY_HEADER", "Value is empty", [name]) for name in empty]
    warnings += [_note("UNEXPECTED_HEADER", "The connection method has no such header", [name]) for name in others]
    return _verdict(errors, warnings)


def _verdict(errors: list[Document], warnings: list[Document]) -> Document:
    code, message = "VALID_HEADERS", "All headers are valid"
    if warnings:
        code, message = "POTENTIALLY_INVALID_HEADERS", "At least 1 header is potentially invalid"
    if errors:
        code, message = "INVALID_HEADERS", "At least 1 header is invalid"
    notes = {name: listed for name, listed in (("errors", errors), ("warnings", warnings)) if listed}
    return {"specVersion": SPECIFICATION, "code": code, "message": message, **notes}


def _note(code: str, message: str, headers: Iterable[str]) -> Document:
    return {"code": code, "message": message, "headers": list(headers)}
