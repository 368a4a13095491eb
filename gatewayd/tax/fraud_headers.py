"""Fraud-prevention headers: which a connection method needs, and the format of each (SI 2019/360).

Source: the tax authority's fraud-prevention specification 3.3 (27 January 2025; hmrc/txm-fph-specification 5fc429b,
one page for each of the eight connection methods) and domain model §D2. The caller collects the values and the gateway
carries them: here they are judged, never made, altered or repeated. A message says what a header must be; no value of
the caller's ever stands in a fault.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

from msgspec import Struct

from gatewayd.outbound.addresses import parse_address, refusal

Mode = Literal["require", "warn", "off"]
FaultCode = Literal["required", "invalid_format", "invalid_enum", "conflict", "test_header_in_production"]

CONNECTION_METHOD: Final = "Gov-Client-Connection-Method"
TEST_SCENARIO: Final = "Gov-Test-Scenario"
MAX_VALUE_CHARACTERS: Final = 4096  # Chosen: the longest honest value is a chain of forwarding hops


class FraudFault(Struct, frozen=True):
    """One header that is missing, malformed, or does not belong to the connection method.

    `header` is written as the authority writes it. `required`: it is missing. `invalid_format` and `invalid_enum`: it
    is not what it must be. `conflict`: it contradicts another header. `test_header_in_production` is a fault in every
    mode and refuses the call.
    """

    header: str
    code: FaultCode
    message: str


class _Header(NamedTuple):
    """What a header must be. `valid` is told the value and whether documentation addresses count as public."""

    must_be: str
    valid: Callable[[str, bool], bool]
    may_be_empty: bool = False


# -- the grammar: percent-encoding, key=value structures, lists

_ENCODED: Final = re.compile(r"(?:[A-Za-z0-9\-._~!'()*]++|%[0-9A-Fa-f]{2})*+")  # RFC 3986 §2.1, as encodeURIComponent
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PLACEHOLDERS: Final = frozenset({"null", "nil", "undefined"})
_WHOLE: Final = re.compile(r"[1-9][0-9]{0,5}")
_SCALING: Final = re.compile(r"(?=.*[1-9])[0-9]{1,3}(?:\.[0-9]{1,10})?")
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_NIL_UUID: Final = re.compile(r"[0-]+")
_MAC: Final = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}", re.IGNORECASE)
_TIMEZONE: Final = re.compile(r"UTC[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|UTC\+14:00")
_TO_THE_MILLISECOND: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_TO_THE_MINUTE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?Z")
_SERVER_PORTS: Final = frozenset({80, 443})  # §D2: the client's port, never the server's
_FACTORS: Final = frozenset({"TOTP", "AUTH_CODE", "OTHER"})


def _decoded(token: str) -> str | None:
    """What a percent-encoded key or value says; None when it is not one, or hides control characters."""
    if not _ENCODED.fullmatch(token):
        return None
    text = token
    if "%" in token:
        try:
            text = unquote(token, errors="strict")
        except UnicodeDecodeError:
            return None
        if _CONTROL.search(text):
            return None
    return None if text.lower() in _PLACEHOLDERS else text


def _pairs(structure: str) -> dict[str, str] | None:
    """The fields of `key=value&...`; None when it is malformed or names a key twice. A value may be empty."""
    fields: dict[str, str] = {}
    for pair in structure.split("&"):
        key, separator, value = pair.partition("=")
        name, content = _decoded(key), _decoded(value)
        if not separator or not name or content is None or name in fields:
            return None
        fields[name] = content
    return fields


def _every(check: Callable[[str, bool], bool]) -> Callable[[str, bool], bool]:
    """`check`, for each value of a comma-separated list."""
    return lambda text, documentation: all(check(value, documentation) for value in text.split(","))


def _is_time(pattern: re.Pattern[str], text: str) -> bool:
    if not pattern.fullmatch(text):
        return False
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


# -- one check for each kind of value


def _plain(text: str, documentation: bool) -> bool:
    return text.lower() not in _PLACEHOLDERS


def _encoded(text: str, documentation: bool) -> bool:
    return bool(_decoded(text))


def _device(text: str, documentation: bool) -> bool:
    return _UUID.fullmatch(text) is not None and not _NIL_UUID.fullmatch(text)


def _timestamp(text: str, documentation: bool) -> bool:
    return _is_time(_TO_THE_MILLISECOND, text)


def _timezone(text: str, documentation: bool) -> bool:
    return _TIMEZONE.fullmatch(text) is not None


def _port(text: str, documentation: bool) -> bool:
    return _PORT.fullmatch(text) is not None and int(text) <= 65535 and int(text) not in _SERVER_PORTS


def _public_address(text: str, documentation: bool) -> bool:
    return _is_public(unquote(text), documentation)


def _is_public(text: str, documentation: bool) -> bool:
    address = parse_address(text)
    if address is None:
        return False
    why = refusal(address)
    return why is None or (documentation and why == "documentation")


def _local_address(text: str, documentation: bool) -> bool:
    address = _decoded(text)
    return address is not None and parse_address(address) is not None


def _mac(text: str, documentation: bool) -> bool:
    address = _decoded(text)
    return address is not None and _MAC.fullmatch(address) is not None


def _named_values(text: str, documentation: bool) -> bool:
    fields = _pairs(text)
    return fields is not None and all(fields.values())


def _user_ids(text: str, documentation: bool) -> bool:
    fields = _pairs(text)
    return fields is not None and any(fields.values())


def _system(text: str, documentation: bool) -> bool:
    fields = _pairs(text) or {}
    return bool(fields.get("os-family")) and bool(fields.get("os-version"))


def _size(text: str, documentation: bool) -> bool:
    fields = _pairs(text) or {}
    return all(_WHOLE.fullmatch(fields.get(key, "")) for key in ("width", "height"))


def _screen(text: str, documentation: bool) -> bool:
    fields = _pairs(text) or {}
    depth, scaling = fields.get("colour-depth", ""), fields.get("scaling-factor", "")
    return _size(text, documentation) and bool(_WHOLE.fullmatch(depth)) and bool(_SCALING.fullmatch(scaling))


def _factor(text: str, documentation: bool) -> bool:
    fields = _pairs(text) or {}
    at = fields.get("timestamp", "")
    return fields.get("type") in _FACTORS and _is_time(_TO_THE_MINUTE, at) and bool(fields.get("unique-reference"))


def _hop(text: str, documentation: bool) -> bool:
    fields = _pairs(text) or {}
    return all(_is_public(fields.get(key, ""), documentation) for key in ("by", "for"))


def _boolean(text: str, documentation: bool) -> bool:
    return text in ("true", "false")


_TIMESTAMP: Final = _Header("a UTC timestamp such as 2020-09-21T14:30:05.123Z, with milliseconds", _timestamp)

HEADERS: Final[Mapping[str, _Header]] = {
    "Gov-Client-Device-ID": _Header("a UUID", _device),
    "Gov-Client-User-IDs": _Header("percent-encoded key=value pairs, with the identifier of a user", _user_ids),
    "Gov-Client-Timezone": _Header("a time zone written UTC+hh:mm or UTC-hh:mm", _timezone),
    "Gov-Client-Local-IPs": _Header("a list of IP addresses, IPv6 percent-encoded", _every(_local_address)),
    "Gov-Client-Local-IPs-Timestamp": _TIMESTAMP,
    "Gov-Client-MAC-Addresses": _Header("a list of percent-encoded MAC addresses", _every(_mac)),
    "Gov-Client-User-Agent": _Header("key=value pairs with os-family and os-version", _system),
    "Gov-Client-Browser-JS-User-Agent": _Header("the user agent as the browser reports it", _plain),
    "Gov-Client-Browser-Plugins": _Header("a list of percent-encoded names", _every(_encoded), may_be_empty=True),
    "Gov-Client-Browser-Do-Not-Track": _Header("true or false", _boolean, may_be_empty=True),
    "Gov-Client-Screens": _Header("a list of width, height, scaling-factor and colour-depth", _every(_screen)),
    "Gov-Client-Window-Size": _Header("width and height in whole pixels", _size),
    "Gov-Client-Public-IP": _Header("a public IP address", _public_address, may_be_empty=True),
    "Gov-Client-Public-IP-Timestamp": _TIMESTAMP,
    "Gov-Client-Public-Port": _Header("the client's port, 1 to 65535 and not a server's", _port, may_be_empty=True),
    "Gov-Client-Multi-Factor": _Header(
        "a list of type (TOTP, AUTH_CODE or OTHER), timestamp and unique-reference", _every(_factor), may_be_empty=True
    ),
    "Gov-Vendor-Version": _Header("percent-encoded name=version pairs", _named_values),
    "Gov-Vendor-Product-Name": _Header("a percent-encoded name", _encoded),
    "Gov-Vendor-License-IDs": _Header("percent-encoded name=hash pairs", _named_values, may_be_empty=True),
    "Gov-Vendor-Public-IP": _Header("a public IP address", _public_address, may_be_empty=True),
    "Gov-Vendor-Forwarded": _Header("a list of hops, each by=IP&for=IP of public addresses", _every(_hop)),
}
"""Every header but the connection method. Empty, where the specification names a case in which a value cannot be had.

# Chosen: such a header is sent empty instead of left out, so that what was forgotten and what cannot be known differ.
"""

_ALL: Final = frozenset(
    {"Gov-Client-Device-ID", "Gov-Client-User-IDs", "Gov-Client-Timezone"}
    | {"Gov-Vendor-Version", "Gov-Vendor-Product-Name", "Gov-Vendor-License-IDs"}
)
_SYSTEM: Final = frozenset({"Gov-Client-Local-IPs", "Gov-Client-Local-IPs-Timestamp", "Gov-Client-User-Agent"})
_MACHINE: Final = _SYSTEM | {"Gov-Client-MAC-Addresses"}
_WINDOW: Final = frozenset({"Gov-Client-Screens", "Gov-Client-Window-Size"})
_PERSON: Final = frozenset({"Gov-Client-Multi-Factor"})
_SERVER: Final = frozenset(
    {"Gov-Client-Public-IP", "Gov-Client-Public-IP-Timestamp", "Gov-Client-Public-Port"}
    | {"Gov-Vendor-Public-IP", "Gov-Vendor-Forwarded"}
)

METHODS: Final[Mapping[str, frozenset[str]]] = {
    "MOBILE_APP_DIRECT": _ALL | _SYSTEM | _WINDOW | _PERSON,
    "DESKTOP_APP_DIRECT": _ALL | _MACHINE | _WINDOW | _PERSON,
    "MOBILE_APP_VIA_SERVER": _ALL | _SYSTEM | _WINDOW | _PERSON | _SERVER,
    "DESKTOP_APP_VIA_SERVER": _ALL | _MACHINE | _WINDOW | _PERSON | _SERVER,
    "WEB_APP_VIA_SERVER": _ALL | _WINDOW | _PERSON | _SERVER | {"Gov-Client-Browser-JS-User-Agent"},
    "BATCH_PROCESS_DIRECT": _ALL | _MACHINE,
    "OTHER_DIRECT": _ALL | _MACHINE | _PERSON,
    "OTHER_VIA_SERVER": _ALL | _MACHINE | _PERSON | _SERVER,
}
"""The headers that each connection method must send, beside the method itself: the pages `connection-method/*`."""

_FIRST_HOP: Final = frozenset({"Gov-Client-Public-IP", "Gov-Vendor-Public-IP", "Gov-Vendor-Forwarded"})

_NO_MAC_NEEDED: Final = frozenset({"Gov-Client-MAC-Addresses"})
TOLERATED: Final[Mapping[str, frozenset[str]]] = {
    "MOBILE_APP_DIRECT": _NO_MAC_NEEDED,
    "MOBILE_APP_VIA_SERVER": _NO_MAC_NEEDED,
    "WEB_APP_VIA_SERVER": frozenset(
        {"Gov-Client-Local-IPs", "Gov-Client-Local-IPs-Timestamp"}
        | {"Gov-Client-Browser-Plugins", "Gov-Client-Browser-Do-Not-Track"}
    ),
}
"""Headers that a method no longer needs; sending them on is no fault (change log of 31 January 2022 and of 3.2)."""

_TWO_VERSIONS: Final = frozenset({"MOBILE_APP_VIA_SERVER", "DESKTOP_APP_VIA_SERVER", "OTHER_VIA_SERVER"})
"""The methods whose `Gov-Vendor-Version` names two programs at least, the client's and the server's (3.2)."""


def check(headers: Mapping[str, str], mode: Mode, *, sandbox: bool, documentation: bool) -> list[FraudFault]:
    """The faults of a request's headers: at most one for each, in the order of `HEADERS`.

    Names are compared without regard to case. `require` and `warn` find the same faults: what follows from them is
    the caller's to decide. `off` finds only a test scenario outside the sandbox. With `documentation`, addresses for
    documentation (RFC 5737, RFC 3849) count as public: the specification's own examples are such. Headers that the
    specification does not name are not judged, so that a later version of it can be carried.
    """
    given = {name.lower(): value.strip(" \t") for name, value in headers.items()}
    faults = []
    if not sandbox and TEST_SCENARIO.lower() in given:
        faults.append(FraudFault(TEST_SCENARIO, "test_header_in_production", "is for the sandbox only"))
    if mode == "off":
        return faults
    method = given.get(CONNECTION_METHOD.lower(), "")
    if method not in METHODS:
        code: FaultCode = "invalid_enum" if method else "required"
        faults.append(FraudFault(CONNECTION_METHOD, code, f"must be one of {', '.join(METHODS)}"))
    found = [_fault_of(name, given.get(name.lower()), method, documentation) for name in HEADERS]
    faults += [fault for fault in found if fault is not None]
    if _FIRST_HOP.isdisjoint(fault.header for fault in faults):
        faults += _contradictions(given)
    return faults


def _fault_of(name: str, value: str | None, method: str, documentation: bool) -> FraudFault | None:
    """What is wrong with one header; without a known method, only what every method needs is missed."""
    header = HEADERS[name]
    if value is None:
        return FraudFault(name, "required", "is required") if name in METHODS.get(method, _ALL) else None
    if method in METHODS and name not in METHODS[method] | TOLERATED.get(method, frozenset()):
        return FraudFault(name, "conflict", f"does not belong to {method}")
    if value == "":
        return None if header.may_be_empty else FraudFault(name, "required", "must not be empty")
    sound = len(value) <= MAX_VALUE_CHARACTERS and value.isascii() and value.isprintable()
    if not sound or not header.valid(value, documentation):
        return FraudFault(name, "invalid_format", f"must be {header.must_be}")
    if name == "Gov-Vendor-Version" and method in _TWO_VERSIONS and "&" not in value:
        return FraudFault(name, "invalid_format", "must name two versions, of the client's program and the server's")
    return None


def _contradictions(given: Mapping[str, str]) -> list[FraudFault]:
    """Sound headers that disagree: the first hop leads from the client's public address to the vendor's."""
    client = parse_address(unquote(given.get("gov-client-public-ip", "")))
    vendor = parse_address(unquote(given.get("gov-vendor-public-ip", "")))
    forwarded = given.get("gov-vendor-forwarded", "")
    if client is None or vendor is None or not forwarded:
        return []
    if client == vendor:
        return [FraudFault("Gov-Vendor-Public-IP", "conflict", "must differ from Gov-Client-Public-IP")]
    first = _pairs(forwarded.partition(",")[0]) or {}  # 3.3: later hops are appended
    if (parse_address(first.get("by", "")), parse_address(first.get("for", ""))) == (vendor, client):
        return []
    needed = "must begin with the hop by Gov-Vendor-Public-IP for Gov-Client-Public-IP"
    return [FraudFault("Gov-Vendor-Forwarded", "conflict", needed)]
