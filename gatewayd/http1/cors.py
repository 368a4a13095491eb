"""Cross-origin requests from the origins the operator lists (Fetch standard)."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from gatewayd.http1.header_fields import Header

_ALLOWED_HEADERS: Final = (
    b"authorization",
    b"content-type",
    b"dpop",
    b"idempotency-key",
    b"mcp-protocol-version",
    b"period-override",
)
_EXPOSED_HEADERS: Final = (
    *(b"idempotent-replayed", b"link", b"ratelimit", b"ratelimit-policy", b"retry-after"),
    *(b"www-authenticate", b"x-request-id"),
)
_PREFLIGHT_SECONDS: Final = b"600"  # Chosen
_NAME: Final = re.compile(rb"[a-z0-9!#$%&'*+.^_`|~-]{1,128}")  # RFC 9110 §5.6.2, in lower case as the standard has it


def preflight_headers(methods: Iterable[str], allowed: Iterable[bytes]) -> list[Header]:
    """What a preflight is told of an address: its methods, and the request headers that pages may send there."""
    return [
        (b"access-control-allow-methods", ", ".join(methods).encode()),
        (b"access-control-allow-headers", b", ".join(allowed)),
        (b"access-control-max-age", _PREFLIGHT_SECONDS),
    ]


class Cors:
    """`origins` are exact (`https://app.example.com`); `*` is any. `active` is False where there are none.

    `allowed` and `exposed` are header names in lower case that operations take and give beside those of every one. An
    allowed name that ends in `-` stands for the family that begins with it: of it a preflight is told what it asks for.
    """

    def __init__(self, origins: Iterable[str], allowed: Iterable[bytes] = (), exposed: Iterable[bytes] = ()) -> None:
        self.change(origins)
        known = frozenset(allowed)
        self._families = tuple(sorted(name for name in known if name.endswith(b"-")))
        self._allowed = tuple(sorted({*_ALLOWED_HEADERS, *known.difference(self._families)}))
        self._exposed = b", ".join(sorted({*_EXPOSED_HEADERS, *exposed}))

    def change(self, origins: Iterable[str]) -> None:
        """Allow these origins, and no others, from the next request on."""
        self._origins = frozenset(origin.encode() for origin in origins)
        self.active = bool(self._origins)

    def headers(self, request: Mapping[bytes, bytes]) -> list[Header]:
        """What an answer to `request` carries. Credentials are bearer tokens, so cookies are never allowed."""
        origin = request.get(b"origin")
        if origin is None or not self._allows(origin):
            return [(b"vary", b"origin")] if self.active else []
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", self._exposed),
            (b"vary", b"origin"),
        ]

    def preflight(self, request: Mapping[bytes, bytes], methods: Iterable[str]) -> list[Header]:
        """What the answer to a preflight carries, beside `headers`."""
        origin = request.get(b"origin")
        if origin is None or b"access-control-request-method" not in request or not self._allows(origin):
            return []
        return preflight_headers(methods, (*self._allowed, *self._requested_names(request)))

    def _requested_names(self, request: Mapping[bytes, bytes]) -> list[bytes]:
        """The names that a preflight asks for and that belong to a family, each once."""
        if not self._families:
            return []
        names = request.get(b"access-control-request-headers", b"").lower().split(b",")
        requested = dict.fromkeys(name.strip() for name in names)
        return [name for name in requested if name.startswith(self._families) and _NAME.fullmatch(name)]

    def _allows(self, origin: bytes) -> bool:
        return origin in self._origins or b"*" in self._origins
