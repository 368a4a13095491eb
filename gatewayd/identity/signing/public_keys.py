"""Public keys of clients, as JSON Web Keys (RFC 7517): which are taken, and what of them."""

import base64
from collections.abc import Mapping
from typing import Final, Literal

SignatureAlgorithm = Literal["ES256", "RS256", "PS256"]
ALGORITHMS: Final[tuple[SignatureAlgorithm, ...]] = ("ES256", "RS256", "PS256")  # Chosen: what every library has
RSA_BITS: Final = range(2048, 4097)  # Chosen: below is weak, above costs us time

_EC_MEMBERS = frozenset({"crv", "x", "y"})
_RSA_MEMBERS = frozenset({"n", "e"})
_DESCRIPTIVE = frozenset({"kid", "alg", "use", "key_ops", "ext"})


class UnfitKey(ValueError):
    """The key is not taken, in a sentence."""


def public_key(jwk: Mapping[str, object], algorithm: SignatureAlgorithm, what: str = "The key") -> dict[str, str]:
    """What a signature of this algorithm is verified with. Raises `UnfitKey`, whose sentence begins with `what`.

    It has to be a public key and fit the algorithm.
    """
    members = {name: value for name, value in jwk.items() if isinstance(value, str)}
    kind = members.pop("kty", "")
    wanted = _EC_MEMBERS if algorithm == "ES256" else _RSA_MEMBERS
    if kind != ("EC" if algorithm == "ES256" else "RSA") or not wanted <= members.keys():
        raise UnfitKey(f"{what} does not fit its algorithm.")
    if jwk.keys() - wanted - _DESCRIPTIVE - {"kty"}:
        raise UnfitKey(f"{what} must be a public key and nothing more.")
    if algorithm == "ES256":
        if members["crv"] != "P-256":
            raise UnfitKey("ES256 takes a key on P-256.")
        return {"kty": "EC", **{name: members[name] for name in wanted}}
    if _bits(members["n"]) not in RSA_BITS or _bits(members["e"]) > 32:
        raise UnfitKey("An RSA key has 2048 to 4096 bits here, and a short exponent.")
    return {"kty": "RSA", **{name: members[name] for name in wanted}}


def _bits(number: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(number + "=" * (-len(number) % 4)), "big").bit_length()
