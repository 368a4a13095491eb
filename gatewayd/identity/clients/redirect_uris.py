"""Redirect URIs: what can be registered, and what a request may then name.

https       compared as a string (RFC 9700 §2.1)
http        to the person's own machine alone; any port when the request is made (RFC 8252 §7.3)
app:/...    a private-use scheme (RFC 8252 §7.1), compared as a string
"""

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

LENGTH_MAX = 2048  # Chosen, in characters

_CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")  # RFC 3986 §2
_ESCAPES = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?", re.IGNORECASE)
_LOOPBACK = re.compile(r"http://(localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::([0-9]{1,5}))?((?:[/?].*)?)")

# Chosen: browsers or systems handle these themselves, or they cannot be the callback of an app.
_NAMES = """
about blob chrome content data file filesystem ftp ftps gopher intent jar javascript livescript mailto mhtml mocha news
resource search sms ssh tel telnet urn vbscript view-source ws wss
"""
_NEVER = frozenset(_NAMES.split())
_NEVER_STARTS = ("ms-", "search-")  # Chosen: protocol handlers of Windows run things


def fault_of(uri: str) -> str | None:
    """Why a URI cannot be registered, in words that are safe to show; None: it can."""
    if not 1 <= len(uri) <= LENGTH_MAX:
        return f"a redirect URI has 1 to {LENGTH_MAX} characters"
    if not _CHARACTERS.fullmatch(uri) or _ESCAPES.search(uri):
        return "a redirect URI holds characters that must be percent-encoded"
    if "#" in uri:  # RFC 6749 §3.1.2
        return "a redirect URI has no fragment"
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return "a redirect URI is malformed"
    if "@" in parts.netloc:
        return "a redirect URI names no user"
    return _fault_of_kind(uri, parts, port)


def _fault_of_kind(uri: str, parts: SplitResult, port: int | None) -> str | None:
    if parts.scheme == "https":
        return None if is_host(parts) and port != 0 else "a redirect URI with https names a host"
    if parts.scheme == "http":
        return None if is_loopback(uri) else "a redirect URI with http leads to localhost, 127.0.0.0/8 or [::1] alone"
    if not _SCHEME.fullmatch(parts.scheme):
        return "a redirect URI is absolute"
    if parts.scheme in _NEVER or parts.scheme.startswith(_NEVER_STARTS):
        return "a redirect URI does not use this scheme"
    rest = uri[len(parts.scheme) + 1 :]
    return None if rest.startswith("/") and rest.strip("/") else "a redirect URI of an app reads scheme:/path"


def is_host(parts: SplitResult) -> bool:
    """Whether the address names a host by a name or an IP address."""
    host = parts.hostname or ""
    if "[" in parts.netloc:
        return _is_address(host)
    return _HOST.fullmatch(host) is not None and ".." not in host


def is_loopback(uri: str) -> bool:
    """Whether it leads, over http, to the machine on which the browser runs."""
    return _loopback(uri) is not None


def accepts(registered: Iterable[str], uri: str) -> bool:
    """Whether a request may name `uri`: character by character what was registered, but for the port of loopback.

    There, and nowhere else, no path is the path `/`.
    """
    if uri in (registered := tuple(registered)):
        return True
    loopback = _loopback(uri)
    return loopback is not None and any(_loopback(each) == loopback for each in registered)


def host_of(uri: str) -> str:
    """What a person is shown of it: the host, or `scheme:` for an app's own scheme."""
    parts = urlsplit(uri)
    return parts.hostname or "" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def is_web_address(uri: str) -> bool:
    """Whether a page may link to it: http or https, and nothing in it that could mislead."""
    if not _CHARACTERS.fullmatch(uri) or len(uri) > LENGTH_MAX:
        return False
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and "@" not in parts.netloc and is_host(parts)


def _loopback(uri: str) -> tuple[str, str] | None:
    """The host and what follows the port; None where it does not lead to loopback."""
    match = _LOOPBACK.fullmatch(uri)
    if match is None:
        return None
    host, port, rest = match.groups()
    if port is not None and not 1 <= int(port) <= 65535:
        return None
    if host.startswith("127") and not _is_address(host):
        return None
    return host, rest if rest.startswith("/") else f"/{rest}"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
