"""The errors of OAuth requests, before they are rendered: nothing here knows HTTP but for the status."""

import re

_NOT_ALLOWED = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")  # RFC 6749 §5.2: what error_description may hold


def plain(text: str) -> str:
    """The text with `?` for all that an `error_description` or a quoted header value may not hold."""
    return _NOT_ALLOWED.sub("?", text)


class OAuthFailure(Exception):
    """An error for the client: as JSON, or in a redirect once its address is known to be the client's.

    `code` is an error of RFC 6749 §4.1.2.1 or §5.2, RFC 7591 §3.2.2, RFC 8707 §2, RFC 9126, RFC 9449 or OpenID Connect
    Core §3.1.2.6. `status` is for responses in JSON; with 429 `retry_seconds` are told too. `description` is plain
    ASCII, whatever it was made from.
    """

    def __init__(self, code: str, description: str, status: int = 400, retry_seconds: int = 60) -> None:
        self.code = code
        self.description = plain(description)
        self.status = status
        self.retry_seconds = retry_seconds
        super().__init__(f"{code}: {self.description}")


class DirectFailure(Exception):
    """An error that is shown to the person and never redirected: the address may not be the client's.

    Deliberately no `OAuthFailure`, so that no handler of those sends a browser away by mistake (RFC 9700 §4.11).
    Where no browser is involved (RFC 9126), it is rendered as JSON like any other.
    """

    def __init__(self, code: str, description: str, status: int = 400) -> None:
        self.code = code
        self.description = plain(description)
        self.status = status
        super().__init__(f"{code}: {self.description}")


def invalid_grant(description: str) -> OAuthFailure:
    """The code or the refresh token is not valid: the client has to ask the person again (RFC 6749 §5.2)."""
    return OAuthFailure("invalid_grant", description)
