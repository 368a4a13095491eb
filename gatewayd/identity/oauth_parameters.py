"""Parameters as authorization, token and other OAuth requests carry them, in a query or a form."""

from collections.abc import Mapping, Sequence

from gatewayd.identity.oauth_errors import OAuthFailure

Raw = Mapping[str, Sequence[str]]
"""Every value of each name, as `urllib.parse.parse_qs(..., keep_blank_values=True)` returns them."""


def one(raw: Raw, name: str) -> str | None:
    """The value; None where it is absent or empty (RFC 6749 §3.1).

    Raises `OAuthFailure` `invalid_request` where it is given more than once.
    """
    values = raw.get(name)
    if not values:
        return None
    if len(values) > 1:
        raise OAuthFailure("invalid_request", f"{name} is given more than once")
    return values[0] or None


def check_resource(raw: Raw, issuer: str) -> None:
    """Refuse any resource but this one (RFC 8707 §2); none at all means this one.

    `issuer` is an origin without a slash. URL classes put one behind it, and it then names the same. It may be given
    several times. Raises `OAuthFailure` `invalid_target`.
    """
    for value in raw.get("resource", ()):
        if value not in (issuer, f"{issuer}/", ""):
            raise OAuthFailure("invalid_target", f"the only resource here is {issuer}")
