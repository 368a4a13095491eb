"""All use of joserfc: keys, signatures, and the proofs of keys that clients hold.

It takes a twentieth of a second to import. Import this where a key is first used, so that the daemon is ready without
it.
"""

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

Key = ECKey | RSAKey

RSA_BITS = 2048  # RFC 7518 §3.3: at least


class _ProofRegistry(jws.JWSRegistry):
    max_header_length = 1 << 16  # the key stands in it; `dpop` bounds the whole proof


_REGISTRY = jws.JWSRegistry(algorithms=["ES256", "RS256"])
_PROOF_REGISTRY = _ProofRegistry(algorithms=["ES256", "RS256", "PS256"])


class OpenedKey:
    """A private key of ours that signs and verifies by one algorithm, `ES256` or `RS256`."""

    def __init__(self, algorithm: str, private: dict[str, str]) -> None:
        """`private` is its JWK."""
        kind: type[ECKey] | type[RSAKey] = ECKey if algorithm == "ES256" else RSAKey
        self.key: Key = kind.import_key({**private})
        self._algorithm = algorithm

    def signature(self, data: bytes) -> bytes:
        """The signature of a JWS (RFC 7515 §5.1)."""
        return _REGISTRY.get_alg(self._algorithm).sign(data, self.key)

    def payload(self, token: str) -> bytes:
        """What stands in a compact JWS that this key signed. Raises `ValueError`."""
        return _payload(token, self.key, _REGISTRY)


def generate(algorithm: str) -> Key:
    """A new key."""
    return ECKey.generate_key("P-256") if algorithm == "ES256" else RSAKey.generate_key(RSA_BITS)


def verify_proof(proof: str, public: dict[str, str]) -> tuple[bytes, str]:
    """What stands in a compact JWS that the holder of a public JWK signed, and the key's thumbprint (RFC 7638).

    Raises `ValueError`.
    """
    try:
        key = ECKey.import_key({**public}) if public["kty"] == "EC" else RSAKey.import_key({**public})
    except JoseError as error:
        raise ValueError(str(error)) from None
    return _payload(proof, key, _PROOF_REGISTRY), key.thumbprint()


def _payload(token: str, key: Key, registry: jws.JWSRegistry) -> bytes:
    try:
        return jws.deserialize_compact(token, key, registry=registry).payload or b""
    except JoseError as error:
        raise ValueError(str(error)) from None
