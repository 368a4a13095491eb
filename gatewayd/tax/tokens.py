"""The authority's tokens of an organization: used, refreshed once when they are refused, and kept (RFC 6749 §6)."""

import re
import weakref
from typing import Final, Protocol
from urllib.parse import urlencode

import msgspec
import trio

from gatewayd.clock import SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.store import Store
from gatewayd.tax import connections
from gatewayd.tax.connections import Connection, Tokens
from gatewayd.tax.exchange import Answered, Outgoing

TOKEN_PATH: Final = "/oauth/token"  # HMRC reference guide, Authorisation
FORM: Final = "application/x-www-form-urlencoded"
EARLY_SECONDS: Final = 60  # Chosen: a token that ends within the call is refreshed before it

_BEARER: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,8192}=*")


class _Granted(msgspec.Struct):
    access_token: str
    refresh_token: str | None = None
    scope: str = ""
    expires_in: int | None = None


class Asking(Protocol):
    """A way to the authority. Raises `Problem`."""

    async def answer(self, outgoing: Outgoing, org_id: str) -> Answered: ...


class Bearers:
    """The tokens of every organization. Of one organization, one refresh at a time: its token works only once."""

    def __init__(self, store: Store, asking: Asking, client_id: str, client_secret: str) -> None:
        """`client_id` empty: nothing can be refreshed."""
        self._store = store
        self._asking = asking
        self._client_id = client_id
        self._client_secret = client_secret
        self._locks: weakref.WeakValueDictionary[str, trio.Lock] = weakref.WeakValueDictionary()

    async def current(self, org_id: str) -> Connection | None:
        """The connection of an organization, refreshed where its token is about to end; None: there is none."""
        found = await self._store.read(connections.find, org_id)
        if found is None or found.expires_at is None or not self._is_ending(found.expires_at):
            return found
        return await self.refreshed(org_id, found) or found

    async def refreshed(self, org_id: str, refused: Connection) -> Connection | None:
        """What follows a connection that was refused; None where it cannot be refreshed, and a person must authorise.

        Raises `Problem` where the authority cannot be asked.
        """
        lock = self._locks.setdefault(org_id, trio.Lock())
        async with lock:
            found = await self._store.read(connections.find, org_id)
            if found is None or found.generation != refused.generation:
                return found  # whoever held the lock before has done it
            if found.refresh is None or not self._client_id:
                return None
            tokens = await self._ask(org_id, {"grant_type": "refresh_token", "refresh_token": found.refresh})
            if tokens is None:
                return None
            kept = tokens if tokens.refresh is not None else tokens._replace(refresh=found.refresh)
            with trio.CancelScope(shield=True):  # the old token is spent: the new one must not be lost
                await self._store.write(lambda tx: connections.replace(tx, kept, found.generation), org_id)
            return await self._store.read(connections.find, org_id)

    async def redeem(self, org_id: str, code: str, redirect_uri: str) -> Tokens | None:
        """The tokens for an authorization code; None where the authority refuses it."""
        return await self._ask(org_id, {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri})

    async def _ask(self, org_id: str, form: dict[str, str]) -> Tokens | None:
        form = {**form, "client_id": self._client_id, "client_secret": self._client_secret}
        fields = [(b"Content-Type", FORM.encode()), (b"Accept", b"application/json")]
        answered = await self._asking.answer(Outgoing(TOKEN_PATH, fields, urlencode(form).encode()), org_id)
        if answered.status in (400, 401):  # RFC 6749 §5.2: the grant or the client is not what it was
            return None
        if answered.status != 200:
            raise _no_tokens(answered.status)
        return tokens_of(answered.body)

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
