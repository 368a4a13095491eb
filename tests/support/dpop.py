"""A client that holds a key: DPoP proofs, right and wrong."""

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any

import msgspec
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from gatewayd.clock import SECOND

Key = ECKey | RSAKey


class _LongHeaders(jws.JWSRegistry):
    max_header_length = 10_000


@dataclass
class KeyHolder:
    """Makes a proof for each request. `now` is microseconds."""

    key: Key = field(default_factory=lambda: ECKey.generate_key("P-256"))
    algorithm: str = "ES256"
    count: int = 0

    @property
    def thumbprint(self) -> str:
        return self.key.thumbprint()

    def proof(self, method: str, url: str, now: int, token: str | None = None, **changed: Any) -> str:
        """A proof for one request. `changed` replaces claims; None takes one away."""
        self.count += 1
        claims: dict[str, Any] = {"jti": f"jti-{self.count}", "htm": method, "htu": url, "iat": now // SECOND}
        if token is not None:
            claims["ath"] = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
        claims = {name: value for name, value in {**claims, **changed}.items() if value is not None}
        return self.signed({}, claims)

    def signed(self, header: dict[str, Any], claims: dict[str, Any]) -> str:
        """A proof with this header in place of the usual one, member by member."""
        usual = {"typ": "dpop+jwt", "alg": self.algorithm, "jwk": self.key.as_dict(private=False)}
        members = {name: value for name, value in {**usual, **header}.items() if value is not None}
        registry = _LongHeaders(algorithms=[self.algorithm], strict_check_header=False)
        return jws.serialize_compact(members, msgspec.json.encode(claims), self.key, registry=registry)
