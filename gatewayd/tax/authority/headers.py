"""Which header fields pass between the caller and the authority, in one table for each way (domain model §D3). Pure.

What a table does not name is stripped: a field that somebody invents tomorrow does not pass by having been forgotten.
The fields that are named as stripped are those that proxies are known to let through.

This service is a hop between the caller and the authority, and told where the operator wants it (§D2). Nothing of the
client is ever made up: a header that the caller does not send is not made, and an address that is not public is none of
the hops over the internet that the authority asks for.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_to_bytes

import gatewayd
from gatewayd.errors import Problem
from gatewayd.http1.header_fields import Headers, joined
from gatewayd.outbound.addresses import IPAddress, parse_address, refusal, unmapped
from gatewayd.tax.fraud.fraud_headers import CONNECTION_METHOD, HEADERS, TEST_SCENARIO

WARNINGS: Final = b"x-fraud-header-warnings"  # Chosen
AGE: Final = b"age"  # RFC 9111 §5.1
"""What the authority would remark on: `Name=code`, a list. With `tax.fraud_headers = "warn"` also what is wrong."""
FORWARDED: Final = b"Gov-Vendor-Forwarded"
VERSION: Final = b"Gov-Vendor-Version"
OUR_NAME: Final = b"gatewayd"

_Fields = Sequence[tuple[bytes, bytes]]


class Rule(Enum):
    """What becomes of a field."""

    PASS = "pass"  # as it is
    SET = "set"  # never the caller's: ours, or none
    STRIP = "strip"
    SANDBOX = "sandbox"  # passes to a sandbox; anywhere else the request is refused


_OF_ONE_HOP: Final[Mapping[bytes, Rule]] = dict.fromkeys(
    (b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"content-length", b"upgrade"), Rule.STRIP
)
REQUEST: Final[Mapping[bytes, Rule]] = {
    **_OF_ONE_HOP,
    b"authorization": Rule.SET,  # the organization's own grant
    b"accept": Rule.SET,
    b"host": Rule.SET,
    b"user-agent": Rule.SET,
    b"x-request-id": Rule.SET,
    b"accept-encoding": Rule.PASS,  # Chosen: the bytes of the answer are the caller's to decode
    b"gov-test-scenario": Rule.SANDBOX,
    b"cookie": Rule.STRIP,
    b"content-type": Rule.STRIP,
    b"forwarded": Rule.STRIP,
    b"x-real-ip": Rule.STRIP,
    b"idempotency-key": Rule.STRIP,
    b"expect": Rule.STRIP,
    b"dpop": Rule.STRIP,  # part of the caller's credential
}
REQUEST_PREFIXES: Final[Mapping[bytes, Rule]] = {
    b"gov-client-": Rule.PASS,
    b"gov-vendor-": Rule.PASS,
    b"proxy-": Rule.STRIP,
    b"x-forwarded-": Rule.STRIP,
    b"if-": Rule.STRIP,
}
RESPONSE: Final[Mapping[bytes, Rule]] = {
    **_OF_ONE_HOP,
    b"content-type": Rule.PASS,
    b"content-encoding": Rule.PASS,  # or the bytes could not be read
    b"x-correlationid": Rule.PASS,
    b"deprecation": Rule.PASS,
    b"sunset": Rule.PASS,
    b"link": Rule.PASS,
    b"retry-after": Rule.PASS,
    b"cache-control": Rule.SET,  # no-store, as on every answer of the API
    AGE: Rule.SET,  # of what is kept here alone: whether the authority itself was asked is for us to know
    b"x-tax-upstream": Rule.SET,
    b"x-request-id": Rule.SET,
    WARNINGS: Rule.SET,
    b"set-cookie": Rule.STRIP,
    b"server": Rule.STRIP,
    b"www-authenticate": Rule.STRIP,  # it would speak of a token that the caller never sent
    b"strict-transport-security": Rule.STRIP,
    b"location": Rule.STRIP,
}
RESPONSE_PREFIXES: Final[Mapping[bytes, Rule]] = {
    b"access-control-": Rule.STRIP,
    b"proxy-": Rule.STRIP,
}

FROM_PAGES: Final = (
    *(prefix for prefix, rule in REQUEST_PREFIXES.items() if rule is Rule.PASS),
    *(name for name, rule in REQUEST.items() if rule is Rule.SANDBOX),
)
"""What a web page may send across origins for the authority; a name that ends in `-` is a family."""
TO_PAGES: Final = (
    *(name for name, rule in RESPONSE.items() if rule is Rule.PASS and not name.startswith(b"content-")),
    b"x-tax-upstream",
    WARNINGS,
    AGE,
)
"""What a web page may read of an answer across origins, beside what it always may."""

_WRITTEN: Final = {  # doors hand names over in lower case; the authority gets them as it writes them
    name.lower().encode(): name.encode() for name in (*HEADERS, CONNECTION_METHOD, TEST_SCENARIO, "Accept-Encoding")
}


class OwnFields(NamedTuple):
    """The fields that are ours. `bearer` None: nothing is known that the authority would accept."""

    accept: str
    bearer: str | None
    request_id: str
    user_agent: str


def request_rule(name: bytes) -> Rule:
    """The rule of a request field, in lower case."""
    return _rule(name, REQUEST, REQUEST_PREFIXES)


def response_rule(name: bytes) -> Rule:
    """The rule of a response field, in lower case."""
    return _rule(name, RESPONSE, RESPONSE_PREFIXES)


def request_fields(fields: Headers, ours: OwnFields, *, sandbox: bool) -> list[tuple[bytes, bytes]]:
    """The fields of a request to the authority, made from those of the caller's; `Host` is the transport's to add.

    Raises `Problem` `test_header_in_production` for a test scenario where `sandbox` is False.
    """
    made = [
        (b"Accept", ours.accept.encode()),
        (b"User-Agent", ours.user_agent.encode()),
        (b"X-Request-Id", ours.request_id.encode()),
    ]
    if ours.bearer is not None:
        made.append((b"Authorization", b"Bearer " + ours.bearer.encode()))
    nominated = _nominated(fields)
    for name, value in fields:
        lower = name.lower()
        rule = request_rule(lower)
        if rule is Rule.SANDBOX and not sandbox:
            raise Problem("test_header_in_production", f"{TEST_SCENARIO} is for the sandbox only.")
        if rule in (Rule.PASS, Rule.SANDBOX) and lower not in nominated:
            made.append((_WRITTEN.get(lower) or _capitalized(lower), value))
    if not any(name == b"Accept-Encoding" for name, _ in made):
        made.append((b"Accept-Encoding", b"identity"))
    return made


def response_fields(fields: Headers, upstream: str) -> list[tuple[bytes, bytes]]:
    """The fields of the answer to the caller, made from those of the authority's; `upstream` says who answered."""
    nominated = _nominated(fields)
    passed = [(name.lower(), value) for name, value in fields]
    kept = [(n, value) for n, value in passed if response_rule(n) is Rule.PASS and n not in nominated]
    return [*kept, (b"x-tax-upstream", upstream.encode())]


def value_of(fields: Headers, name: bytes) -> str | None:
    """The first value of a field, named in lower case; None where it is not there."""
    return next((value.decode("latin-1") for key, value in fields if key.lower() == name), None)


def texts(fields: Headers) -> dict[str, str]:
    """The fields by name, in lower case; those of one name are joined (RFC 9110 §5.3)."""
    fields_by_name = joined((name.lower(), value) for name, value in fields)
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in fields_by_name.items()}


def _rule(name: bytes, table: Mapping[bytes, Rule], prefixes: Mapping[bytes, Rule]) -> Rule:
    rule = table.get(name)
    if rule is not None:
        return rule
    return next((rule for prefix, rule in prefixes.items() if name.startswith(prefix)), Rule.STRIP)


def _nominated(fields: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """What `Connection` names is for this hop alone (RFC 9110 §7.6.1)."""
    values = [value.lower() for name, value in fields if name.lower() == b"connection"]
    return frozenset(option.strip() for value in values for option in value.split(b","))


def _capitalized(name: bytes) -> bytes:
    return b"-".join(part.capitalize() for part in name.split(b"-"))


def with_hop(fields: _Fields, ours: str, peer: str | None) -> list[tuple[bytes, bytes]]:
    """The fields of a request to the authority with our hop and version at the end of what the caller says of both.

    `ours` is our public address, empty where we say nothing; `peer` is who called us, None where that is no address.
    """
    made = list(fields)
    if not ours:
        return made
    _append(made, VERSION, _version(_last(made, VERSION)))
    _append(made, FORWARDED, _hop(_last(made, FORWARDED), ours, peer))
    return made


def _version(versions: bytes) -> bytes:
    names = {pair.partition(b"=")[0] for pair in versions.split(b"&")}
    return b"" if OUR_NAME in names else b"&%b=%b" % (OUR_NAME, _encoded(gatewayd.__version__))


def _hop(hops: bytes, ours: str, peer: str | None) -> bytes:
    """Empty where the sender's address is not public, or the caller tells of the hop already."""
    by, sender = _public(ours), _public(peer or "")
    if by is None or sender is None:
        return b""
    hop = b"by=%b&for=%b" % (_encoded(str(by)), _encoded(str(sender)))
    return b"" if any(_ends(told) == (by, sender) for told in hops.split(b",")) else b"," + hop


def _ends(hop: bytes) -> tuple[IPAddress | None, IPAddress | None]:
    """Where a hop that the caller tells of leads to, and from where."""
    told = dict(pair.strip(b" \t").partition(b"=")[::2] for pair in hop.split(b"&"))
    by, sender = (unquote_to_bytes(told.get(name, b"")).decode("latin-1") for name in (b"by", b"for"))
    return parse_address(by), parse_address(sender)


def _last(fields: _Fields, name: bytes) -> bytes:
    """The value that something is added to; empty where there is none."""
    return next((value.strip(b" \t") for key, value in reversed(fields) if key == name), b"")


def _append(fields: list[tuple[bytes, bytes]], name: bytes, more: bytes) -> None:
    value = _last(fields, name)
    if not value or not more:
        return
    at = max(number for number, (key, _) in enumerate(fields) if key == name)
    fields[at] = (name, value + more)


def _public(text: str) -> IPAddress | None:
    address = parse_address(text)
    return None if address is None or refusal(address) is not None else unmapped(address)


def _encoded(text: str) -> bytes:
    return quote(text, safe="").encode()
