"""Where the authority gives tokens (RFC 6749 §4.1.3, §4.4, §6), and who is to blame where it gives none.

Of its refusals, `invalid_grant` alone is about what a person granted. That it does not know this service is for whoever
runs it: no customer can mend that by connecting again.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlencode

import msgspec
import trio

from gatewayd.errors import Problem
from gatewayd.http1.log import Log
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.tax.authority.authority import Authority
from gatewayd.tax.connections.connections import Tokens

TOKEN_PATH: Final = "/oauth/token"  # HMRC reference guide, Authorisation
FORM: Final = "application/x-www-form-urlencoded"
REFUSED_SECONDS: Final = 60.0  # Chosen: for so long an id and secret that were refused are not tried again

_BEARER: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,8192}=*")
_GRANT_ENDED: Final = "invalid_grant"  # RFC 6749 §5.2, as all of these
_OURS: Final = frozenset({"invalid_client", "unauthorized_client"})
_CODES: Final = frozenset({*_OURS, _GRANT_ENDED, "invalid_request", "invalid_scope", "unsupported_grant_type"})


class _Granted(msgspec.Struct):
    access_token: str
    refresh_token: str | None = None
    scope: str = ""
    expires_in: int | None = None


class _Refusal(msgspec.Struct):
    error: str = ""


class _RefusedClient(NamedTuple):
    """A secret that the authority has refused, how, and until when it is not asked again, on trio's clock."""

    secret: str
    problem: tuple[int, str]
    until: float

    def __repr__(self) -> str:
        return f"_RefusedClient(problem={self.problem!r})"


class TokenEndpoint:
    """Asks in the name of this service. The secret is read each time: another one counts at once."""

    def __init__(self, authority: Authority, client_id: str, read_secret: Callable[[], str], log: Log) -> None:
        """`client_id` empty: nothing can be refreshed. `read_secret` raises `OSError` or `UnicodeError`."""
        self._authority = authority
        self.client_id = client_id
        self._read_secret = read_secret
        self._log = log
        self._refused: _RefusedClient | None = None

    async def redeem(self, org_id: str, code: str, redirect_uri: str) -> Tokens | None:
        """The tokens for an authorization code; None where the authority refuses it. Raises `Problem`."""
        return await self._ask(org_id, {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri})

    async def refresh(self, org_id: str, token: str) -> Tokens | None:
        """The tokens for a refresh token, which may be the same again; None where it is refused. Raises `Problem`."""
        tokens = await self._ask(org_id, {"grant_type": "refresh_token", "refresh_token": token})
        return tokens if tokens is None or tokens.refresh is not None else tokens._replace(refresh=token)

    async def own(self) -> Tokens | None:
        """The tokens of this service itself, which open nobody's taxes (RFC 6749 §4.4). Raises `Problem`."""
        return await self._ask("", {"grant_type": "client_credentials"})

    async def _ask(self, org_id: str, form: dict[str, str]) -> Tokens | None:
        secret, refused = self._secret(), self._refused
        if refused is not None and refused.secret == secret and trio.current_time() < refused.until:
            raise _not_known(*refused.problem)
        form = {**form, "client_id": self.client_id, "client_secret": secret}
        fields = [(b"Content-Type", FORM.encode()), (b"Accept", b"application/json")]
        request = Request("POST", TOKEN_PATH, fields, urlencode(form).encode())
        response = await self._authority.answer(request, org_id)
        if response.status == 200:
            return tokens_of(response.body)
        error = _error_of(response)
        if error == _GRANT_ENDED:
            return None
        if error in _OURS:
            self._log.error("tax_client_refused", error_code=error, status=response.status)
            until = trio.current_time() + REFUSED_SECONDS
            self._refused = _RefusedClient(secret, (response.status, error), until)
            raise _not_known(response.status, error)
        raise _no_tokens(response.status, error)

    def _secret(self) -> str:
        try:
            return self._read_secret()
        except (OSError, UnicodeError) as error:
            self._log.error("tax_client_secret_unreadable", exc_info=error)
            message = "The secret of this service at the tax authority cannot be read. Tell whoever runs it."
            raise Problem("tax_not_configured", message) from None


def tokens_of(body: bytes) -> Tokens:
    """The tokens in an answer of a token endpoint (RFC 6749 §5.1). Raises `Problem` `tax_upstream_error`."""
    try:
        granted = msgspec.json.decode(body, type=_Granted)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise _no_tokens(200, None) from None
    if not is_bearer(granted.access_token):
        raise _no_tokens(200, None)
    return Tokens(granted.access_token, granted.refresh_token, granted.scope, granted.expires_in)


def is_bearer(text: str) -> bool:
    """Whether it can stand in an `Authorization` header (RFC 6750 §2.1)."""
    return _BEARER.fullmatch(text) is not None


def _error_of(response: Response) -> str | None:
    """The code of a refusal (RFC 6749 §5.2); None where there is none that is known."""
    try:
        error = msgspec.json.decode(response.body, type=_Refusal).error
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return error if error in _CODES else None


def _not_known(status: int, code: str) -> Problem:
    message = "The tax authority does not accept the client id and secret of this service. Tell whoever runs it."
    return Problem("tax_not_configured", message, extra={"upstream": {"status": status, "code": code}})


def _no_tokens(status: int, code: str | None) -> Problem:
    message = "The tax authority's token endpoint gave no tokens."
    return Problem("tax_upstream_error", message, extra={"upstream": {"status": status, "code": code}})
