"""The formats of fraud-prevention headers' values: percent-encoding, key=value structures, lists, and each kind. Pure.

Source: the tax authority's fraud-prevention specification 3.3 (domain model §D2). Each check is told the value and
whether addresses for documentation (RFC 5737, RFC 3849) count as public.
"""

import datetime
import re
from typing import Final
from urllib.parse import unquote

from gatewayd.outbound.addresses import parse_address, refusal

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


def decoded(token: str) -> str | None:
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


def pairs_of(structure: str) -> dict[str, str] | None:
    """The fields of `key=value&...`; None when it is malformed or names a key twice. A value may be empty."""
    fields: dict[str, str] = {}
    for pair in structure.split("&"):
        key, separator, value = pair.partition("=")
        name, content = decoded(key), decoded(value)
        if not separator or not name or content is None or name in fields:
            return None
        fields[name] = content
    return fields


def _is_time(pattern: re.Pattern[str], text: str) -> bool:
    if not pattern.fullmatch(text):
        return False
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


# -- one check for each kind of value


def is_plain(text: str, documentation: bool) -> bool:
    """Anything but a placeholder for nothing."""
    return text.lower() not in _PLACEHOLDERS


def is_encoded(text: str, documentation: bool) -> bool:
    """A percent-encoded text."""
    return bool(decoded(text))


def is_device(text: str, documentation: bool) -> bool:
    """A UUID that is not nil."""
    return _UUID.fullmatch(text) is not None and not _NIL_UUID.fullmatch(text)


def is_timestamp(text: str, documentation: bool) -> bool:
    """A moment in UTC, to the millisecond."""
    return _is_time(_TO_THE_MILLISECOND, text)


def is_timezone(text: str, documentation: bool) -> bool:
    """An offset from UTC."""
    return _TIMEZONE.fullmatch(text) is not None


def is_port(text: str, documentation: bool) -> bool:
    """A client's port."""
    return _PORT.fullmatch(text) is not None and int(text) <= 65535 and int(text) not in _SERVER_PORTS


def is_public_address(text: str, documentation: bool) -> bool:
    """An address on the internet."""
    return _is_public(unquote(text), documentation)


def _is_public(text: str, documentation: bool) -> bool:
    address = parse_address(text)
    if address is None:
        return False
    why = refusal(address)
    return why is None or (documentation and why == "documentation")


def is_local_address(text: str, documentation: bool) -> bool:
    """A percent-encoded address."""
    address = decoded(text)
    return address is not None and parse_address(address) is not None


def is_mac(text: str, documentation: bool) -> bool:
    """A percent-encoded MAC address."""
    address = decoded(text)
    return address is not None and _MAC.fullmatch(address) is not None


def is_named_values(text: str, documentation: bool) -> bool:
    """Pairs with a value each."""
    fields = pairs_of(text)
    return fields is not None and all(fields.values())


def is_user_ids(text: str, documentation: bool) -> bool:
    """Pairs, one of them with a value."""
    fields = pairs_of(text)
    return fields is not None and any(fields.values())


def is_system(text: str, documentation: bool) -> bool:
    """Pairs that name an operating system."""
    fields = pairs_of(text) or {}
    return bool(fields.get("os-family")) and bool(fields.get("os-version"))


def is_size(text: str, documentation: bool) -> bool:
    """Width and height."""
    fields = pairs_of(text) or {}
    return all(_WHOLE.fullmatch(fields.get(key, "")) for key in ("width", "height"))


def is_screen(text: str, documentation: bool) -> bool:
    """What a screen is."""
    fields = pairs_of(text) or {}
    depth, scaling = fields.get("colour-depth", ""), fields.get("scaling-factor", "")
    return is_size(text, documentation) and bool(_WHOLE.fullmatch(depth)) and bool(_SCALING.fullmatch(scaling))


def is_factor(text: str, documentation: bool) -> bool:
    """One factor of a sign-in."""
    fields = pairs_of(text) or {}
    at = fields.get("timestamp", "")
    return fields.get("type") in _FACTORS and _is_time(_TO_THE_MINUTE, at) and bool(fields.get("unique-reference"))


def is_hop(text: str, documentation: bool) -> bool:
    """One hop over the internet."""
    fields = pairs_of(text) or {}
    return all(_is_public(fields.get(key, ""), documentation) for key in ("by", "for"))


def is_boolean(text: str, documentation: bool) -> bool:
    """A truth."""
    return text in ("true", "false")
