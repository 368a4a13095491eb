"""The sandbox authority's tokens: how a program is let in, and stays in (HMRC reference guide; RFC 6749 §4.1, §6).

Nobody signs in: whoever comes is sent back with a code at once. Nothing is kept: a code or token holds what it stands
for, so that one which was made here ends when it says so; a refresh token works more than once. # Chosen: an access
token that was not made here is taken for a good one, as a program in test may have any.
"""

import base64
import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import parse_qsl, urlencode

import msgspec

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant
from gatewayd.http1.header_fields import Headers
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.sandbox_authority.rules import fault, field_value

AUTHORIZE: Final = "/oauth/authorize"
TOKEN: Final = "/oauth/token"
PATHS: Final = frozenset({AUTHORIZE, TOKEN})
CODE_LASTS: Final = 10 * MINUTE
ACCESS_LASTS: Final = 4 * HOUR
REFRESH_LASTS: Final = 548 * DAY  # eighteen months
OUT_OF_BAND: Final = "urn:ietf:wg:oauth:2.0:oob"  # the code is shown, to be copied
MAX_FIELDS: Final = 50  # Chosen

_WEB_ADDRESS: Final = re.compile(r"https?://[!-\"$-~]+")  # printable, and without a fragment
_JSON: Final = (b"Content-Type", b"application/json")
_NOT_KEPT: Final = (b"Cache-Control", b"no-store")


class _Claims(msgspec.Struct, frozen=True, kw_only=True):
    """What a code or a token stands for. `program` is an access token as well, of nobody's taxes."""

    kind: Literal["code", "access", "refresh", "program"]
    client_id: str
    scope: str
    redirect_uri: str
    ends: int


class _RefusedError(Exception):
    """Why nothing was given (RFC 6749 §5.2)."""

    def __init__(self, status: int, code: str, description: str) -> None:
        super().__init__(description)
        self.status = status
        self.document = {"error": code, "error_description": description}


def answer(request: Request, now: Instant) -> Response:
    """The answer at one of `PATHS`."""
    path, _, query = request.target.partition("?")
    try:
        if path == AUTHORIZE:
            _check_method(request, "GET")
            return _authorize(_fields(query), now)
        _check_method(request, "POST")
        granted = _grant(_fields(request.body.decode("latin-1")), now)
        return Response(200, (_JSON, _NOT_KEPT), msgspec.json.encode(granted))
    except _RefusedError as refused:
        return Response(refused.status, (_JSON, _NOT_KEPT), msgspec.json.encode(refused.document))


def check_bearer(headers: Headers, now: Instant, *, of_program: bool) -> None:
    """Raises `AuthorityFault` for a request without a token, or with one of ours that does not open what it is sent to.

    `of_program`: what is asked for belongs to nobody, and a program's own token opens it.
    """
    scheme, _, token = field_value(headers, b"authorization").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise fault(401, "MISSING_CREDENTIALS", "Authentication information is not provided")
    claims = _decode(token.strip())
    if claims is None:
        return
    if claims.kind not in ("access", "program") or claims.ends <= now:
        raise fault(401, "INVALID_CREDENTIALS", "Invalid Authentication information provided")
    if claims.kind == "program" and not of_program:
        why = "The access token type used is not supported when invoking the API"
        raise fault(401, "INCORRECT_ACCESS_TOKEN_TYPE", why)


def _authorize(parameters: Mapping[str, str], now: Instant) -> Response:
    """The way back to the program, with a code."""
    _need(parameters, "response_type", "client_id", "redirect_uri")
    redirect_uri = parameters["redirect_uri"]
    if parameters["response_type"] != "code":
        raise _RefusedError(400, "unsupported_response_type", "response_type must be code")
    if redirect_uri != OUT_OF_BAND and not _WEB_ADDRESS.fullmatch(redirect_uri):
        raise _RefusedError(400, "invalid_request", "redirect_uri is invalid")
    code = _encode(
        _Claims(
            kind="code",
            client_id=parameters["client_id"],
            scope=parameters.get("scope", ""),
            redirect_uri=redirect_uri,
            ends=now + CODE_LASTS,
        )
    )
    if redirect_uri == OUT_OF_BAND:
        return Response(200, ((b"Content-Type", b"text/plain; charset=utf-8"), _NOT_KEPT), f"{code}\n".encode())
    state = {"state": parameters["state"]} if "state" in parameters else {}
    address = f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{urlencode({'code': code, **state})}"
    return Response(302, ((b"Location", address.encode()), _NOT_KEPT), b"")


def _grant(form: Mapping[str, str], now: Instant) -> dict[str, object]:
    """New tokens for a code or a refresh token."""
    _need(form, "grant_type")
    if form["grant_type"] == "client_credentials":
        return _grant_to_program(form, now)
    kinds = {"authorization_code": ("code", "code"), "refresh_token": ("refresh_token", "refresh")}
    if form["grant_type"] not in kinds:
        raise _RefusedError(400, "unsupported_grant_type", "grant_type is not supported")
    name, kind = kinds[form["grant_type"]]
    _check_client(form, name)
    claims = _decode(form[name])
    if claims is None or claims.kind != kind or claims.client_id != form["client_id"] or claims.ends <= now:
        raise _RefusedError(400, "invalid_grant", f"{name} is invalid")
    if kind == "code" and claims.redirect_uri != form.get("redirect_uri"):
        raise _RefusedError(400, "invalid_grant", "redirect_uri is invalid")
    access = msgspec.structs.replace(claims, kind="access", ends=now + ACCESS_LASTS)
    refresh = msgspec.structs.replace(claims, kind="refresh", ends=now + REFRESH_LASTS)
    return {
        "access_token": _encode(access),
        "token_type": "bearer",
        "expires_in": ACCESS_LASTS // SECOND,
        "refresh_token": _encode(refresh),
        "scope": claims.scope,
    }


def _grant_to_program(form: Mapping[str, str], now: Instant) -> dict[str, object]:
    """A token for what belongs to nobody (RFC 6749 §4.4)."""
    _check_client(form)
    scope, ends = form.get("scope", ""), now + ACCESS_LASTS
    access = _Claims(kind="program", client_id=form["client_id"], scope=scope, redirect_uri="", ends=ends)
    lasts = ACCESS_LASTS // SECOND
    return {"access_token": _encode(access), "token_type": "bearer", "expires_in": lasts, "scope": access.scope}


def _check_client(form: Mapping[str, str], *more: str) -> None:
    _need(form, "client_id", *more)
    if not form.get("client_secret"):
        raise _RefusedError(401, "invalid_client", "invalid client id or secret")


def _fields(text: str) -> dict[str, str]:
    """The fields of a query or a form; none of what is beyond all measure."""
    try:
        return dict(parse_qsl(text, max_num_fields=MAX_FIELDS))
    except ValueError:
        return {}


def _need(fields: Mapping[str, str], *names: str) -> None:
    for name in names:
        if name not in fields:
            raise _RefusedError(400, "invalid_request", f"{name} is required")


def _check_method(request: Request, method: str) -> None:
    if request.method != method:
        raise _RefusedError(405, "invalid_request", f"{method} is the only method here")


def _encode(content: _Claims) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(content)).decode()


def _decode(text: str) -> _Claims | None:
    """What stands in a code or token; None for one that was not made here."""
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(text.encode()), type=_Claims)
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None
