"""Reads a URL into a target, or says why not; every spelling of an address becomes that address.

Browsers, resolvers and URL libraries disagree about `http://0x7f.1`, `http://2130706433` or full-width digits. Here
a host that any of them could take for an IPv4 address becomes one (WHATWG URL §3.5) before anything is looked up.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final, Literal
from urllib.parse import SplitResult, quote, urlsplit

import idna

from gatewayd.outbound.addresses import IPAddress, parse_address
from gatewayd.outbound.errors import TargetError

MAX_URL_CHARACTERS: Final = 2048  # Chosen
MAX_NAME_CHARACTERS: Final = 253  # RFC 1035 §2.3.4, less the root's dot
MAX_PORT: Final = 65535
DEFAULT_PORTS: Final = {"https": 443, "http": 80}

REASONS: Final = frozenset(("url", "too_long", "scheme", "userinfo", "fragment", "host", "port", "zone"))

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\\u0080-\u00a0\u2028\u2029\ufeff\ud800-\udfff]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")


@dataclass(frozen=True, slots=True)
class Target:
    """Where one request goes. `host` is a lower-case ASCII name, or an address in canonical notation, no brackets."""

    scheme: Literal["https", "http"]
    host: str
    port: int
    request_target: str  # path and query, origin form (RFC 9112 §3.2.1)
    address: IPAddress | None  # None: `host` is a name, to be looked up

    @property
    def tls(self) -> bool:
        """Whether the connection is to be encrypted."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The Host header's value (RFC 9110 §7.2): no default port."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The normalised URL."""
        return f"{self.scheme}://{self.authority}{self.request_target}"


def parse_target(url: str, *, allow_http: bool = False) -> Target:
    """Reads and vets a URL without looking anything up. Raises TargetError with a reason and a sentence."""
    parts = _split(url)
    scheme = _scheme(parts, allow_http)
    if "@" in parts.netloc:
        raise TargetError("userinfo", "The URL must not carry a user name or password.")
    if "#" in url:
        raise TargetError("fragment", "The URL must not carry a fragment.")
    host, address = _host(parts)
    return Target(scheme, host, _port(parts, scheme), _request_target(parts), address)


def _split(url: str) -> SplitResult:
    if len(url) > MAX_URL_CHARACTERS:
        raise TargetError("too_long", f"The URL is longer than {MAX_URL_CHARACTERS} characters.")
    if _FORBIDDEN.search(url):  # urlsplit would drop some of these in silence
        raise TargetError("url", "The URL contains white space, a backslash or a control character.")
    try:
        return urlsplit(url)
    except ValueError as error:  # brackets that do not match, or a host that changes meaning under NFKC
        raise TargetError("host", "The host cannot be read.") from error


def _scheme(parts: SplitResult, allow_http: bool) -> Literal["https", "http"]:
    if parts.scheme == "https":
        return "https"
    if parts.scheme == "http" and allow_http:
        return "http"
    raise TargetError("scheme", "The URL must start with https://, such as https://example.com/hooks.")


def _port(parts: SplitResult, scheme: str) -> int:
    text = parts.netloc.rpartition("]")[2].partition(":")[2]
    if text == "":
        return DEFAULT_PORTS[scheme]
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= MAX_PORT):
        raise TargetError("port", f"The port must be a number from 1 to {MAX_PORT}.")
    return int(text)


def _request_target(parts: SplitResult) -> str:
    path = parts.path or "/"
    target = f"{path}?{parts.query}" if parts.query else path
    # Only what HTTP cannot carry is encoded; what the subscriber wrote in ASCII stays as written.
    return target if target.isascii() else "".join(c if c.isascii() else quote(c) for c in target)


def _host(parts: SplitResult) -> tuple[str, IPAddress | None]:
    raw = parts.netloc
    if raw.startswith("["):
        return _bracketed(raw)
    if "[" in raw or "]" in raw:
        raise TargetError("host", "The host has stray brackets.")
    name = raw.partition(":")[0]
    if "%" in name:
        raise TargetError("host", "The host must not be percent-encoded.")
    name = _ascii(name)
    if _ends_in_number(name):
        address = _ipv4(name)
        return str(address), address
    _check_name(name)
    return name, None


def _bracketed(netloc: str) -> tuple[str, IPv6Address]:
    inner, closed, after = netloc[1:].partition("]")
    if "%" in inner:
        raise TargetError("zone", "The address must not carry a zone.")
    address = parse_address(inner)
    if not closed or not isinstance(address, IPv6Address) or (after and not after.startswith(":")):
        raise TargetError("host", "The host in brackets is not an IPv6 address.")
    return str(address), address


def ascii_name(name: str) -> str:
    """A host name as it is looked up: labels in other letters as `xn--`. Raises `TargetError`."""
    return _ascii(name)


def _ascii(name: str) -> str:
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True, transitional=False).decode("ascii")  # RFC 5891, UTS 46
        except UnicodeError as error:  # idna.IDNAError is one
            raise TargetError("host", "The host is not a valid internationalised name.") from error
    return name.lower().removesuffix(".")


def _ends_in_number(name: str) -> bool:
    """Whether a resolver may take the name for an address (WHATWG URL §3.5, "ends in a number")."""
    return _NUMBER.fullmatch(name.rpartition(".")[2]) is not None


def _ipv4(name: str) -> IPv4Address:
    """Reads what inet_aton(3) reads: 1 to 4 parts, each decimal, octal or hex, the last one filling what is left."""
    texts = name.split(".")
    if len(texts) > 4 or any(len(text) > 16 for text in texts):
        raise TargetError("host", "The host is not a valid IPv4 address.")
    numbers = [_number(text) for text in texts]
    room = 256 ** (5 - len(numbers))
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= room:
        raise TargetError("host", "The host is not a valid IPv4 address.")
    value = numbers[-1]
    for position, number in enumerate(numbers[:-1]):
        value += number << (8 * (3 - position))
    return IPv4Address(value)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise TargetError("host", "The host is not a valid IPv4 address.")
    try:
        if text.startswith("0x"):
            return int(text[2:] or "0", 16)
        return int(text, 8) if text.startswith("0") else int(text)
    except ValueError as error:  # an 8 or 9 in an octal number
        raise TargetError("host", "The host is not a valid IPv4 address.") from error


def _check_name(name: str) -> None:
    if not name:
        raise TargetError("host", "The URL has no host.")
    if len(name) > MAX_NAME_CHARACTERS or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise TargetError("host", "The host is not a valid name.")
    for label in name.split("."):
        if label.startswith("xn--"):
            _check_a_label(label)


def _check_a_label(label: str) -> None:
    """One that stands for no name in Unicode is nobody's, and libraries stumble over it (RFC 5891 §5.3)."""
    try:
        idna.ulabel(label)
    except UnicodeError as error:
        raise TargetError("host", "The host is not a valid internationalised name.") from error
