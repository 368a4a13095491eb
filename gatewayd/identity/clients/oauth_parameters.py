"""Parameters as authorization, token and other OAuth requests carry them, in a query or a form."""

from collections.abc import Mapping, Sequence

import msgspec

from gatewayd.identity.clients.oauth_errors import OAuthFailure

Raw = Mapping[str, Sequence[str]]
"""Every value of each name, as `urllib.parse.parse_qs(..., keep_blank_values=True)` returns them."""


def single_value(raw: Raw, name: str) -> str | None:
    """The value; None where it is absent or empty (RFC 6749 §3.1).

    Raises `OAuthFailure` `invalid_request` where it is given more than once.
    """
    values = raw.get(name)
    if not values:
        return None
    if len(values) > 1:
        raise OAuthFailure("invalid_request", f"{name} is given more than once")
    return values[0] or None


class Audiences(msgspec.Struct, frozen=True):
    """Whom access tokens are for: the API, which is the `issuer`, and the `others` of `oauth.resources`."""

    issuer: str
    others: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return self.issuer, *self.others


def requested_resource(raw: Raw, audiences: Audiences) -> str | None:
    """The one resource that is asked for (RFC 8707 §2), as it is configured; None where none is.

    An origin stands without a slash. URL classes put one behind it, and it then names the same. It may be given several
    times. Raises `OAuthFailure` `invalid_target` for any other, and for two: a token has one audience.
    """
    known = {spelled: each for each in audiences.all for spelled in (each, f"{each}/")}
    named = [value for value in raw.get("resource", ()) if value]
    if not known.keys() >= set(named):
        listed = "the resources here are" if audiences.others else "the only resource here is"
        raise OAuthFailure("invalid_target", f"{listed} {', '.join(audiences.all)}")
    resources = {known[value] for value in named}
    if len(resources) > 1:
        raise OAuthFailure("invalid_target", "a token is for one resource: ask for each by itself")
    return resources.pop() if resources else None


def check_resource(raw: Raw, granted: str | None, audiences: Audiences) -> None:
    """Whether a token request may have tokens of a grant for `granted` (None: the API), which it need not repeat.

    Raises `OAuthFailure` `invalid_target`, also where the operator has taken the resource out since.
    """
    resource = requested_resource(raw, audiences)
    if resource is not None and resource != (granted or audiences.issuer):
        raise OAuthFailure("invalid_target", "the person did not grant access to this resource")
    if granted is not None and granted not in audiences.others:
        raise OAuthFailure("invalid_target", "this resource is not served here any more")
