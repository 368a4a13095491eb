"""Cross-origin requests from the origins the operator lists (Fetch standard)."""

from collections.abc import Iterable, Mapping

_ALLOWED_HEADERS = b"authorization, content-type, idempotency-key, mcp-protocol-version"
_EXPOSED_HEADERS = (
    b"idempotent-replayed, link, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id"
)
_PREFLIGHT_SECONDS = b"600"


class Cors:
    """`origins` are exact (`https://app.example.com`); `*` is any. `active` is False where there are none."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origin.encode() for origin in origins)
        self.active = bool(self._origins)

    def headers(self, request: Mapping[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        """What an answer to `request` carries. Credentials are bearer tokens, so cookies are never allowed."""
        origin = request.get(b"origin")
        if origin is None or not self._allows(origin):
            return [(b"vary", b"origin")] if self.active else []
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", _EXPOSED_HEADERS),
            (b"vary", b"origin"),
        ]

    def preflight(self, request: Mapping[bytes, bytes], methods: Iterable[str]) -> list[tuple[bytes, bytes]]:
        """What the answer to a preflight carries, beside `headers`."""
        origin = request.get(b"origin")
        if origin is None or b"access-control-request-method" not in request or not self._allows(origin):
            return []
        return [
            (b"access-control-allow-methods", ", ".join(methods).encode()),
            (b"access-control-allow-headers", _ALLOWED_HEADERS),
            (b"access-control-max-age", _PREFLIGHT_SECONDS),
        ]

    def _allows(self, origin: bytes) -> bool:
        return origin in self._origins or b"*" in self._origins
