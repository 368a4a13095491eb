"""Bearer credentials in and challenges out (RFC 6750)."""

from collections.abc import Iterable

from gatewayd.errors import Problem

MAX_TOKEN_CHARACTERS = 8_192


def token_of(authorization: bytes | None) -> str:
    """The token of an `Authorization` header.

    Raises `Problem`: `authentication_required` without one, `invalid_token` when it is not a bearer token.
    """
    if authorization is None:
        raise Problem(
            "authentication_required",
            "Send an API key or an access token: Authorization: Bearer <token>.",
            headers=((b"www-authenticate", b"Bearer"),),
        )
    scheme, _, token = authorization.partition(b" ")
    token = token.strip()
    if scheme.lower() != b"bearer" or not token or len(token) > MAX_TOKEN_CHARACTERS:
        raise rejected("The Authorization header is not of the form: Bearer <token>.")
    return token.decode("latin-1")


def rejected(message: str) -> Problem:
    """401 for a credential that is not valid (RFC 6750 §3.1)."""
    return challenged(Problem("invalid_token", message))


def challenged(error: Problem) -> Problem:
    """`invalid_token` with its challenge; other problems as they are."""
    if error.code == "invalid_token" and not error.headers:
        description = error.message.replace("\\", "").replace('"', "'")
        challenge = f'Bearer error="invalid_token", error_description="{description}"'
        error.headers = ((b"www-authenticate", challenge.encode("ascii", "replace")),)
    return error


def lacking(scopes: Iterable[str]) -> Problem:
    """403 naming every scope the operation needs in one challenge (RFC 6750 §3.1)."""
    needed = " ".join(scopes)
    return Problem(
        "insufficient_scope",
        f"This operation needs the scope {needed}.",
        extra={"requiredScopes": needed.split()},
        headers=((b"www-authenticate", f'Bearer error="insufficient_scope", scope="{needed}"'.encode()),),
    )
