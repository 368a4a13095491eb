"""Fraud-prevention headers: which a connection method needs, and the format of each (SI 2019/360).

Source: the tax authority's fraud-prevention specification 3.3 (27 January 2025; hmrc/txm-fph-specification 5fc429b,
one page for each of the eight connection methods) and domain model §D2. The caller collects the values and the gateway
carries them: here they are judged, never made, altered or repeated. A message says what a header must be; no value of
the caller's ever stands in a fault.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

from msgspec import Struct

from gatewayd.outbound.addresses import parse_address
from gatewayd.tax.fraud import fraud_values as forms

Mode = Literal["require", "warn", "off"]
FaultCode = Literal["required", "invalid_format", "invalid_enum", "conflict", "test_header_in_production"]
WarningCode = Literal["unexpected", "space_after_comma"]

CONNECTION_METHOD: Final = "Gov-Client-Connection-Method"
TEST_SCENARIO: Final = "Gov-Test-Scenario"
MAX_VALUE_CHARACTERS: Final = 4096  # Chosen: the longest honest value is a chain of forwarding hops


class FraudFault(Struct, frozen=True):
    """One header that is missing or malformed.

    `header` is written as the authority writes it. `required`: it is missing. `invalid_format` and `invalid_enum`: it
    is not what it must be. `conflict`: it contradicts another header. `test_header_in_production` is a fault in every
    mode and refuses the call.
    """

    header: str
    code: FaultCode
    message: str


class FraudWarning(Struct, frozen=True):
    """One header that the authority takes and remarks on.

    `unexpected`: it does not belong to the connection method. `space_after_comma`: its list has what no list has.
    """

    header: str
    code: WarningCode
    message: str


class Verdict(Struct, frozen=True):
    """What is to be said of a request's headers: at most one fault and one warning of each, in `HEADERS`' order."""

    faults: list[FraudFault]
    warnings: list[FraudWarning]


class _Header(NamedTuple):
    """What a header must be, or each value of its list.

    `valid` is told the value and whether documentation addresses count as public.
    """

    must_be: str
    valid: Callable[[str, bool], bool]
    may_be_empty: bool = False
    is_list: bool = False


_TIMESTAMP: Final = _Header("a UTC timestamp such as 2020-09-21T14:30:05.123Z, with milliseconds", forms.is_timestamp)

HEADERS: Final[Mapping[str, _Header]] = {
    "Gov-Client-Device-ID": _Header("a UUID", forms.is_device),
    "Gov-Client-User-IDs": _Header("percent-encoded key=value pairs, with the identifier of a user", forms.is_user_ids),
    "Gov-Client-Timezone": _Header("a time zone written UTC+hh:mm or UTC-hh:mm", forms.is_timezone),
    "Gov-Client-Local-IPs": _Header(
        "a list of IP addresses, IPv6 percent-encoded", forms.is_local_address, is_list=True
    ),
    "Gov-Client-Local-IPs-Timestamp": _TIMESTAMP,
    "Gov-Client-MAC-Addresses": _Header("a list of percent-encoded MAC addresses", forms.is_mac, is_list=True),
    "Gov-Client-User-Agent": _Header("key=value pairs with os-family and os-version", forms.is_system),
    "Gov-Client-Browser-JS-User-Agent": _Header("the user agent as the browser reports it", forms.is_plain),
    "Gov-Client-Browser-Plugins": _Header(
        "a list of percent-encoded names", forms.is_encoded, may_be_empty=True, is_list=True
    ),
    "Gov-Client-Browser-Do-Not-Track": _Header("true or false", forms.is_boolean, may_be_empty=True),
    "Gov-Client-Screens": _Header(
        "a list of width, height, scaling-factor and colour-depth", forms.is_screen, is_list=True
    ),
    "Gov-Client-Window-Size": _Header("width and height in whole pixels", forms.is_size),
    "Gov-Client-Public-IP": _Header("a public IP address", forms.is_public_address, may_be_empty=True),
    "Gov-Client-Public-IP-Timestamp": _TIMESTAMP,
    "Gov-Client-Public-Port": _Header(
        "the client's port, 1 to 65535 and not a server's", forms.is_port, may_be_empty=True
    ),
    "Gov-Client-Multi-Factor": _Header(
        "a list of type (TOTP, AUTH_CODE or OTHER), timestamp and unique-reference",
        forms.is_factor,
        may_be_empty=True,
        is_list=True,
    ),
    "Gov-Vendor-Version": _Header("percent-encoded name=version pairs", forms.is_named_values),
    "Gov-Vendor-Product-Name": _Header("a percent-encoded name", forms.is_encoded),
    "Gov-Vendor-License-IDs": _Header("percent-encoded name=hash pairs", forms.is_named_values, may_be_empty=True),
    "Gov-Vendor-Public-IP": _Header("a public IP address", forms.is_public_address, may_be_empty=True),
    "Gov-Vendor-Forwarded": _Header(
        "a list of hops, each by=IP&for=IP of public addresses", forms.is_hop, is_list=True
    ),
}
"""Every header but the connection method. Empty, where the specification names a case in which a value cannot be had.

# Chosen: such a header is sent empty instead of left out, so that what was forgotten and what cannot be known differ.
What the authority has agreed to do without is told by the settings.
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


_MAY_FOLLOW: Final[Mapping[str, str]] = {
    "Gov-Client-Local-IPs-Timestamp": "Gov-Client-Local-IPs",
    "Gov-Client-Public-IP-Timestamp": "Gov-Client-Public-IP",
    "Gov-Vendor-Forwarded": "Gov-Client-Public-IP",
}
"""What has nothing to tell where another header is empty: between machines of one private network there is no hop."""

_SPACES: Final = re.compile(", +")


class _Request(NamedTuple):
    """The headers to be judged, by their names in lower case, and how. `method` is empty where none is known."""

    headers: Mapping[str, str]
    method: str
    documentation: bool
    agreed_missing: Collection[str]


def judge(
    headers: Mapping[str, str],
    mode: Mode,
    *,
    sandbox: bool,
    documentation: bool,
    agreed_missing: Collection[str] = (),
) -> Verdict:
    """What is wrong with a request's headers, and what the authority would remark on.

    Names are compared without regard to case. `require` and `warn` find the same: what follows is the caller's to
    decide. `off` finds only a test scenario outside the sandbox. With `documentation`, addresses for documentation
    (RFC 5737, RFC 3849) count as public: the specification's own examples are such. `agreed_missing` are headers which
    the authority has agreed to do without: they may be empty or left out. Headers that the specification does not name
    are not judged, so that a later version of it can be carried.
    """
    by_name = {name.lower(): value.strip(" \t") for name, value in headers.items()}
    faults = []
    if not sandbox and TEST_SCENARIO.lower() in by_name:
        faults.append(FraudFault(TEST_SCENARIO, "test_header_in_production", "is for the sandbox only"))
    if mode == "off":
        return Verdict(faults, [])
    method = by_name.get(CONNECTION_METHOD.lower(), "")
    if method not in METHODS:
        code: FaultCode = "invalid_enum" if method else "required"
        faults.append(FraudFault(CONNECTION_METHOD, code, f"must be one of {', '.join(METHODS)}"))
    request = _Request(by_name, method if method in METHODS else "", documentation, agreed_missing)
    header_faults = [_fault_of(name, request) for name in HEADERS if not _is_unexpected(name, request)]
    faults += [fault for fault in header_faults if fault is not None]
    if _FIRST_HOP.isdisjoint(fault.header for fault in faults):
        faults += _contradictions(by_name)
    return Verdict(faults, [warning for name in HEADERS for warning in _warnings_of(name, request)])


def _is_unexpected(name: str, request: _Request) -> bool:
    """Whether a header is there that does not belong to the connection method: it says nothing, right or wrong."""
    method = request.method
    expected = not method or name in METHODS[method] | TOLERATED.get(method, frozenset())
    return name.lower() in request.headers and not expected


def _fault_of(name: str, request: _Request) -> FraudFault | None:
    """What is wrong with one header; without a known method, only what every method needs is missed."""
    header, value = HEADERS[name], request.headers.get(name.lower())
    if not value:
        return _absence_of(name, value, request)
    sound = len(value) <= MAX_VALUE_CHARACTERS and value.isascii() and value.isprintable()
    if not sound or not all(header.valid(each, request.documentation) for each in _values(header, value)):
        return FraudFault(name, "invalid_format", f"must be {header.must_be}")
    if name == "Gov-Vendor-Version" and request.method in _TWO_VERSIONS and "&" not in value:
        return FraudFault(name, "invalid_format", "must name two versions, of the client's program and the server's")
    return None


def _absence_of(name: str, value: str | None, request: _Request) -> FraudFault | None:
    """What is wrong with a header that is left out or empty."""
    if name in request.agreed_missing:
        return None
    if value is None:
        needed = name in METHODS.get(request.method, _ALL)
        return FraudFault(name, "required", f"is required: expected {HEADERS[name].must_be}") if needed else None
    leader = _MAY_FOLLOW.get(name)
    if HEADERS[name].may_be_empty or (leader is not None and not request.headers.get(leader.lower())):
        return None
    return FraudFault(name, "required", f"must not be empty: expected {HEADERS[name].must_be}")


def _warnings_of(name: str, request: _Request) -> list[FraudWarning]:
    if _is_unexpected(name, request):
        return [FraudWarning(name, "unexpected", f"does not belong to {request.method}")]
    if HEADERS[name].is_list and _SPACES.search(request.headers.get(name.lower(), "")):
        return [FraudWarning(name, "space_after_comma", "has a space after a comma")]
    return []


def _values(header: _Header, text: str) -> list[str]:
    return _SPACES.sub(",", text).split(",") if header.is_list else [text]


def _contradictions(headers: Mapping[str, str]) -> list[FraudFault]:
    """Sound headers that disagree: the first hop leads from the client's public address to the vendor's."""
    client = parse_address(unquote(headers.get("gov-client-public-ip", "")))
    vendor = parse_address(unquote(headers.get("gov-vendor-public-ip", "")))
    forwarded = headers.get("gov-vendor-forwarded", "")
    if client is None or vendor is None or not forwarded:
        return []
    if client == vendor:
        return [FraudFault("Gov-Vendor-Public-IP", "conflict", "must differ from Gov-Client-Public-IP")]
    first = forms.pairs_of(forwarded.partition(",")[0]) or {}  # 3.3: later hops are appended
    if (parse_address(first.get("by", "")), parse_address(first.get("for", ""))) == (vendor, client):
        return []
    needed = "must begin with the hop by Gov-Vendor-Public-IP for Gov-Client-Public-IP"
    return [FraudFault("Gov-Vendor-Forwarded", "conflict", needed)]
