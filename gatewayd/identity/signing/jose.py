"""All use of joserfc: keys, signatures, and the proofs of keys that clients hold.

It takes a twentieth of a second to import. Import this where a key is first used, so that the daemon is ready without
it.
"""

from base64 import urlsafe_b64encode

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

Key = ECKey | RSAKey

RSA_BITS = 2048  # RFC 7518 §3.3: at least


class _ProofRegistry(jws.JWSRegistry):
    max_header_length = 1 << 16  # the key stands in it; `dpop` bounds the whole proof


class _DetachedRegistry(jws.JWSRegistry):
    max_payload_length = 1 << 24  # in base64; whoever asks bounds the payload


_REGISTRY = jws.JWSRegistry(algorithms=["ES256", "RS256"])
_DETACHED_REGISTRY = _DetachedRegistry(algorithms=["ES256"])
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


def sign_detached(payload: bytes, private: dict[str, str]) -> str:
    """The compact JWS over a payload that is kept beside it (RFC 7515 appendix F), by a key for ES256."""
    key = ECKey.import_key({**private})
    header = {"alg": "ES256", "kid": key.thumbprint()}
    return jws.detach_content(jws.serialize_compact(header, payload, key, registry=_REGISTRY))


def verify_detached(token: str, payload: bytes, public: dict[str, str]) -> str:
    """The thumbprint (RFC 7638) of the public JWK for ES256 that made a detached JWS over `payload`.

    Raises `ValueError`.
    """
    try:
        key = ECKey.import_key({**public})
    except JoseError as error:
        raise ValueError(str(error)) from None
    header, _, signature = token.partition("..")
    content = urlsafe_b64encode(payload).rstrip(b"=").decode("ascii")
    _payload(f"{header}.{content}.{signature}", key, _DETACHED_REGISTRY)
    return key.thumbprint()


def generate(algorithm: str) -> Key:
    """A new key."""
    return ECKey.generate_key("P-256") if algorithm == "ES256" else RSAKey.generate_key(RSA_BITS)


def check_public(public: dict[str, str]) -> None:
    """Raises `ValueError` for a public JWK that is no key, such as a point that is not on its curve."""
    try:
        _imported(public).thumbprint()
        _imported(public).public_key  # noqa: B018 - joserfc reads the numbers when it is asked for
    except JoseError as error:
        raise ValueError(str(error)) from None


def _imported(public: dict[str, str]) -> Key:
    return ECKey.import_key({**public}) if public["kty"] == "EC" else RSAKey.import_key({**public})


def verify_proof(proof: str, public: dict[str, str]) -> tuple[bytes, str]:
    """What stands in a compact JWS that the holder of a public JWK signed, and the key's thumbprint (RFC 7638).

    Raises `ValueError`.
    """
    try:
        key = _imported(public)
    except JoseError as error:
        raise ValueError(str(error)) from None
    return _payload(proof, key, _PROOF_REGISTRY), key.thumbprint()


def _payload(token: str, key: Key, registry: jws.JWSRegistry) -> bytes:
    try:
        return jws.deserialize_compact(token, key, registry=registry).payload or b""
    except JoseError as error:
        raise ValueError(str(error)) from None
