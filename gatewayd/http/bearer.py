"""Bearer and DPoP credentials in, and challenges out (RFC 6750, RFC 9449 §7, RFC 9728 §5.1)."""

from collections.abc import Iterable
from typing import NamedTuple

from gatewayd.errors import Problem
from gatewayd.identity.authentication import PossessionRefused
from gatewayd.identity.dpop import ALGORITHMS

MAX_TOKEN_CHARACTERS = 8_192
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"

_CHALLENGED = frozenset({"authentication_required", "invalid_token", "insufficient_scope"})


def credential_of(authorization: bytes | None) -> tuple[str, bool]:
    """The token of an `Authorization` header, and whether its scheme is `DPoP`.

    Raises `Problem`: `authentication_required` without one, `invalid_token` when it is of another scheme.
    """
    if authorization is None:
        raise Problem("authentication_required", "Send an API key or an access token: Authorization: Bearer <token>.")
    scheme, _, token = authorization.partition(b" ")
    token = token.strip()
    kind = scheme.lower()
    if kind not in (b"bearer", b"dpop") or not token or len(token) > MAX_TOKEN_CHARACTERS:
        raise Problem("invalid_token", "The Authorization header is not of the form: Bearer <token>.")
    return token.decode("latin-1"), kind == b"dpop"


def lacking(scopes: Iterable[str]) -> Problem:
    """403 naming every scope the operation needs."""
    needed = " ".join(scopes)
    return Problem(
        "insufficient_scope", f"This operation needs the scope {needed}.", extra={"requiredScopes": needed.split()}
    )


class Asked(NamedTuple):
    """What a challenge answers.

    `authorization` is the header as it came; `public_url` the origin whose metadata tells where tokens come from
    (empty: not told), `scopes` all that the operation needs.
    """

    authorization: bytes
    public_url: str
    scopes: Iterable[str]


def challenged(error: Problem, asked: Asked) -> Problem:
    """401 and 403 with their one challenge; other problems as they are."""
    if error.code in _CHALLENGED and not error.headers:
        error.headers = ((b"www-authenticate", _challenge(error, asked).encode("ascii", "replace")),)
    return error


def _challenge(error: Problem, asked: Asked) -> str:
    """In the scheme that was used (RFC 9449 §7.1)."""
    told: dict[str, str] = {}
    if isinstance(error, PossessionRefused):
        told = {"error": error.error, "error_description": error.message}
    elif error.code == "invalid_token":
        told = {"error": "invalid_token", "error_description": error.message}
    elif error.code == "insufficient_scope":
        told = {"error": "insufficient_scope"}
    is_dpop = isinstance(error, PossessionRefused) or asked.authorization[:5].lower() == b"dpop "
    if is_dpop:
        told["algs"] = " ".join(ALGORITHMS)
    if asked.public_url or error.code == "insufficient_scope":
        told["scope"] = " ".join(asked.scopes)
    if asked.public_url:
        told["resource_metadata"] = asked.public_url + RESOURCE_METADATA
    scheme = "DPoP" if is_dpop else "Bearer"
    listed = ", ".join(f'{name}="{_quotable(value)}"' for name, value in told.items() if value)
    return f"{scheme} {listed}" if listed else scheme


def _quotable(text: str) -> str:
    return text.replace("\\", "").replace('"', "'")
