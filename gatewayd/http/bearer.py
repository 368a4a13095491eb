"""Bearer and DPoP credentials in, and challenges out (RFC 6750, RFC 9449 §7, RFC 9728 §5.1)."""

from collections.abc import Iterable

from gatewayd.contract.scopes import ScopeLacking
from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.identity.signing.public_keys import ALGORITHMS
from gatewayd.identity.tokens.authentication import Possession, PossessionRefused

MAX_TOKEN_CHARACTERS = 8_192
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"

_CHALLENGED = frozenset({"authentication_required", "invalid_token", "insufficient_scope"})


def credential_of(request: Request, public_url: str) -> tuple[str, Possession | None]:
    """The token of the `Authorization` header, and with the scheme `DPoP` what comes with it to show that it is held.

    Raises `Problem`: `authentication_required` without one, `invalid_token` when it is of another scheme.
    """
    authorization = request.fields.get(b"authorization")
    if authorization is None:
        raise Problem("authentication_required", "Send an API key or an access token: Authorization: Bearer <token>.")
    scheme, _, token = authorization.partition(b" ")
    token = token.strip()
    kind = scheme.lower()
    if kind not in (b"bearer", b"dpop") or not token or len(token) > MAX_TOKEN_CHARACTERS:
        raise Problem("invalid_token", "The Authorization header is not of the form: Bearer <token>.")
    possession = None
    if kind == b"dpop":
        url = public_url + request.raw_path.decode("latin-1")
        possession = Possession(request.text(b"dpop"), request.method, url)
    return token.decode("latin-1"), possession


def challenge(error: Problem, request: Request, public_url: str, scopes: Iterable[str]) -> None:
    """Give 401 and 403 their one challenge; other problems stay as they are.

    `public_url` is the origin whose metadata tells where tokens come from (empty: not told), `scopes` all that the
    operation needs.
    """
    if error.code in _CHALLENGED and not error.headers:
        text = _challenge(error, request.fields.get(b"authorization", b""), public_url, scopes)
        error.headers = ((b"www-authenticate", text.encode("ascii", "replace")),)


def _challenge(error: Problem, authorization: bytes, public_url: str, scopes: Iterable[str]) -> str:
    """In the scheme that was used (RFC 9449 §7.1)."""
    parameters: dict[str, str] = {}
    if isinstance(error, PossessionRefused):
        parameters = {"error": error.error, "error_description": error.message}
    elif error.code == "invalid_token":
        parameters = {"error": "invalid_token", "error_description": error.message}
    elif error.code == "insufficient_scope":
        parameters = {"error": "insufficient_scope"}
    is_dpop = isinstance(error, PossessionRefused) or authorization[:5].lower() == b"dpop "
    if is_dpop:
        parameters["algs"] = " ".join(ALGORITHMS)
    if public_url or error.code == "insufficient_scope":
        parameters["scope"] = " ".join(error.scopes if isinstance(error, ScopeLacking) else scopes)
    if public_url:
        parameters["resource_metadata"] = public_url + RESOURCE_METADATA
    scheme = "DPoP" if is_dpop else "Bearer"
    listed = ", ".join(f'{name}="{_quotable(value)}"' for name, value in parameters.items() if value)
    return f"{scheme} {listed}" if listed else scheme


def _quotable(text: str) -> str:
    return text.replace("\\", "").replace('"', "'")
