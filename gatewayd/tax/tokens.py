"""The authority's tokens of an organization: used, refreshed once when they are refused, and kept (RFC 6749 §6).

A refresh token works once: what the authority answers to it is kept, whatever becomes of the call that needed it. So a
refresh is a task of the engine's. It is not cut off by that call's deadline, by a caller who goes or by the end of the
daemon, but by a bound of its own.
"""

import re
from collections.abc import Callable
from typing import Final, Protocol, TypeVar
from urllib.parse import urlencode

import msgspec
import trio

from gatewayd.clock import SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.http1.log import Log
from gatewayd.http1.request import Request
from gatewayd.store import ReadTx, StoreFailure, WriteTx
from gatewayd.tax import connections
from gatewayd.tax.authority import Authority
from gatewayd.tax.connections import Connection, Tokens

TOKEN_PATH: Final = "/oauth/token"  # HMRC reference guide, Authorisation
FORM: Final = "application/x-www-form-urlencoded"
EARLY_SECONDS: Final = 60  # Chosen: a token that ends within the call is refreshed before it
REFRESH_SECONDS: Final = 10.0  # Chosen: the end of the daemon may wait for so long

T = TypeVar("T")
_BEARER: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,8192}=*")


class _Granted(msgspec.Struct):
    access_token: str
    refresh_token: str | None = None
    scope: str = ""
    expires_in: int | None = None


class Records(Protocol):
    """What is needed of the store. Raises `StoreFailure`."""

    def now(self) -> int: ...

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None) -> T: ...

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None) -> T: ...


class TokenEndpoint:
    """Where the authority gives tokens."""

    def __init__(self, authority: Authority, client_id: str, client_secret: str) -> None:
        """`client_id` empty: nothing can be refreshed."""
        self._authority = authority
        self.client_id = client_id
        self._client_secret = client_secret

    async def redeem(self, org_id: str, code: str, redirect_uri: str) -> Tokens | None:
        """The tokens for an authorization code; None where the authority refuses it. Raises `Problem`."""
        return await self._ask(org_id, {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri})

    async def refresh(self, org_id: str, token: str) -> Tokens | None:
        """The tokens for a refresh token, which may be the same again; None where it is refused. Raises `Problem`."""
        tokens = await self._ask(org_id, {"grant_type": "refresh_token", "refresh_token": token})
        return tokens if tokens is None or tokens.refresh is not None else tokens._replace(refresh=token)

    async def _ask(self, org_id: str, form: dict[str, str]) -> Tokens | None:
        form = {**form, "client_id": self.client_id, "client_secret": self._client_secret}
        fields = [(b"Content-Type", FORM.encode()), (b"Accept", b"application/json")]
        request = Request("POST", TOKEN_PATH, fields, urlencode(form).encode())
        response = await self._authority.answer(request, org_id)
        if response.status in (400, 401):  # RFC 6749 §5.2: the grant or the client is not what it was
            return None
        if response.status != 200:
            raise _no_tokens(response.status)
        return tokens_of(response.body)


class _Refresh:
    """A refresh that is under way, for all calls of an organization that wait for it."""

    def __init__(self) -> None:
        self.ended = trio.Event()
        self.granted = False
        self.failure: Exception | None = None


class BearerTokens:
    """The tokens of every organization. Of one organization, one refresh at a time: its token works only once."""

    def __init__(self, store: Records, endpoint: TokenEndpoint, log: Log, nursery: trio.Nursery) -> None:
        """`nursery` is the engine's: refreshes outlive the calls that need them there."""
        self._store = store
        self._log = log
        self._endpoint = endpoint
        self._nursery = nursery
        self._refreshing: dict[str, _Refresh] = {}

    async def current(self, org_id: str) -> Connection | None:
        """The connection of an organization, refreshed where its token is about to end; None: there is none."""
        found = await self._store.read(connections.find, org_id)
        if found is None or found.expires_at is None or not self._is_ending(found.expires_at):
            return found
        return await self.refresh(org_id, found) or found

    async def refresh(self, org_id: str, refused: Connection) -> Connection | None:
        """What follows a connection that was refused; None where it cannot be refreshed, and a person must authorise.

        Raises `Problem` where the authority cannot be asked, or does not answer within `REFRESH_SECONDS`.
        """
        under_way = self._refreshing.get(org_id)
        if under_way is None:
            found = await self._store.read(connections.find, org_id)
            if found is None or found.generation != refused.generation:
                return found  # somebody else has done it
            if found.refresh is None or not self._endpoint.client_id:
                return None
            under_way = self._refreshing.get(org_id) or self._begin(org_id, found.refresh, found.generation)
        await under_way.ended.wait()
        if under_way.failure is not None:
            raise under_way.failure
        return await self._store.read(connections.find, org_id) if under_way.granted else None

    def _begin(self, org_id: str, token: str, generation: int) -> _Refresh:
        under_way = self._refreshing[org_id] = _Refresh()
        self._nursery.start_soon(self._refresh, org_id, token, generation, under_way)
        return under_way

    async def _refresh(self, org_id: str, token: str, generation: int, under_way: _Refresh) -> None:
        """Spend a refresh token and keep what is granted for it; whoever waits learns what came of it."""
        try:
            with trio.CancelScope(shield=True):  # the old token may be spent: the new one must not be lost
                tokens = await self._within_bound(org_id, token)
                if tokens is not None:
                    await self._store.write(lambda tx: connections.replace(tx, tokens, generation), org_id)
                    under_way.granted = True
        except (Problem, StoreFailure) as error:
            under_way.failure = error
        except Exception as error:  # noqa: BLE001 - the forward border: one refresh fails, the daemon goes on
            under_way.failure = error  # for those who wait; there may be nobody
            self._log.warning("tax_refresh_failed", org_id=org_id, exc_info=error)
        finally:
            del self._refreshing[org_id]
            under_way.ended.set()

    async def _within_bound(self, org_id: str, token: str) -> Tokens | None:
        with trio.move_on_after(REFRESH_SECONDS):
            return await self._endpoint.refresh(org_id, token)
        raise Problem("tax_upstream_timeout", "The tax authority did not answer in time.")

    def _is_ending(self, expires_at: Instant) -> bool:
        return expires_at <= self._store.now() + EARLY_SECONDS * SECOND


def tokens_of(body: bytes) -> Tokens:
    """The tokens in an answer of a token endpoint (RFC 6749 §5.1). Raises `Problem` `tax_upstream_error`."""
    try:
        granted = msgspec.json.decode(body, type=_Granted)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise _no_tokens(200) from None
    if not is_bearer(granted.access_token):
        raise _no_tokens(200)
    return Tokens(granted.access_token, granted.refresh_token, granted.scope, granted.expires_in)


def is_bearer(text: str) -> bool:
    """Whether it can stand in an `Authorization` header (RFC 6750 §2.1)."""
    return _BEARER.fullmatch(text) is not None


def _no_tokens(status: int) -> Problem:
    return Problem(
        "tax_upstream_error",
        "The tax authority's token endpoint gave no tokens.",
        extra={"upstream": {"status": status, "code": None}},
    )
