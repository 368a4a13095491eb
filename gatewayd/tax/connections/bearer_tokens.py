"""The authority's bearer tokens: used, refreshed once when they are refused, and kept (RFC 6749 §6).

A refresh token works once: what the authority answers to it is kept, whatever becomes of the call that needed it.

    the connection's lease is taken -> something can be written -> the refresh token is spent ->
    what came for it is stored, or remembered until it can be -> the lease is released

The exchange is a task of the engine's: neither the deadline of a call nor a caller who goes cuts it off. Callers wait
for `WAIT_SECONDS`, and the exchange has `EXCHANGE_SECONDS`, longer than any authority takes. What cannot be stored is
served from memory, and stored as soon as it can be.

One process at a time refreshes a connection: a daemon, or a command beside it. Its lease is renewed until what was
granted is stored, however long that takes, so that the next process finds tokens in the store that nobody has spent.

A process that is killed or stopped in the midst of an exchange, for longer than its lease, has spent the token or not:
nobody can know, and another one spends it then. If the first wakes, it stores what it is granted only where the tokens
are still those that it spent: over what the other was granted, nothing. If all that was refused to the other, what the
first one holds is what keeps the connection. The same where nothing could be written for longer than a lease.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeVar

import trio

from gatewayd.clock import SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.http1.log import Log
from gatewayd.leases.holder import Holder, Lease
from gatewayd.leases.rows import LeaseLost
from gatewayd.store import ReadTx, StoreFailure, WriteTx
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Connection, Tokens
from gatewayd.tax.connections.token_endpoint import TokenEndpoint

EARLY_SECONDS: Final = 60  # Chosen: a token that ends within the call is refreshed before it
WAIT_SECONDS: Final = 10.0  # Chosen: a call waits for no longer, and neither does the end of the daemon
EXCHANGE_SECONDS: Final = 120.0  # Chosen: twice what the authority's own gateway takes to give up (Domain D3)
STORE_AGAIN_SECONDS: Final = 1.0  # Chosen: doubled each time
STORE_AGAIN_SECONDS_MAX: Final = 60.0  # Chosen

T = TypeVar("T")
_LOOK_AGAIN_SECONDS: Final = 0.1  # Chosen: a refresh takes some tenths of a second

Key = tuple[str, str | None]
"""Of an organization, and of the legal entity whose own the connection is."""


class Records(Protocol):
    """What is needed of the store. Raises `StoreFailure`."""

    def now(self) -> int: ...

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None) -> T: ...

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None) -> T: ...


class _Refresh:
    """A refresh that is under way, for all calls that wait for it. `exchange` ends the asking, and nothing after it."""

    def __init__(self) -> None:
        self.ended = trio.Event()
        self.exchange = trio.CancelScope()
        self.granted = False
        self.failure: Exception | None = None


class _Unstored(NamedTuple):
    """Tokens that the store could not take, the connection they make, and the generation that they replace."""

    tokens: Tokens
    connection: Connection
    generation: int


class BearerTokens:
    """The tokens of every connection. Of one connection, one refresh at a time: its token works only once."""

    def __init__(
        self, store: Records, endpoint: TokenEndpoint, leases: "RefreshLeases", log: Log, nursery: trio.Nursery
    ) -> None:
        """`nursery` is the engine's: refreshes outlive the calls that need them there. `finish` before it ends."""
        self._store = store
        self._log = log
        self._endpoint = endpoint
        self._leases = leases
        self._nursery = nursery
        self._refreshing: dict[Key, _Refresh] = {}
        self._unstored: dict[Key, _Unstored] = {}

    async def find(self, org_id: str, legal_entity_id: str | None) -> Connection | None:
        """The connection for an entity's taxes; None: there is none.

        Raises `Problem` where nothing tells which connection is meant.
        """
        stored = await self._store.read(lambda tx: connections.find_for(tx, legal_entity_id), org_id)
        return self._newest(org_id, stored)

    async def renewed(self, org_id: str, connection: Connection) -> Connection:
        """The connection, refreshed where its token is about to end and can be refreshed. Raises as `refresh` does."""
        if connection.expires_at is None or connection.expires_at > self._store.now() + EARLY_SECONDS * SECOND:
            return connection
        return await self.refresh(org_id, connection) or connection

    async def refresh(self, org_id: str, refused: Connection) -> Connection | None:
        """What follows a connection that was refused; None where it cannot be refreshed, and a person must authorise.

        Raises `Problem` where the authority cannot be asked, or does not answer within `WAIT_SECONDS`, and
        `StoreFailure` where nothing can be written: then the refresh token is not spent.
        """
        key = (org_id, refused.legal_entity_id)
        under_way = self._refreshing.get(key)
        if under_way is None:
            connection = await self._kept(key)
            if connection is None or (connection.generation, connection.access) != (refused.generation, refused.access):
                return connection  # somebody else has done it
            if connection.refresh is None or not self._endpoint.client_id:
                return None
            under_way = self._refreshing.get(key) or self._begin(key, connection, connection.refresh)
        with trio.move_on_after(WAIT_SECONDS) as wait:
            await under_way.ended.wait()
        if wait.cancelled_caught:
            raise _too_slow()
        if under_way.failure is not None:
            raise under_way.failure
        return await self._kept(key) if under_way.granted else None

    def finish(self) -> None:
        """No exchange takes longer than `WAIT_SECONDS` from now on: the daemon ends."""
        for under_way in self._refreshing.values():
            under_way.exchange.deadline = min(under_way.exchange.deadline, trio.current_time() + WAIT_SECONDS)

    # -- one refresh

    def _begin(self, key: Key, spent: Connection, token: str) -> _Refresh:
        under_way = self._refreshing[key] = _Refresh()
        self._nursery.start_soon(self._refresh, key, spent, token, under_way)
        return under_way

    async def _refresh(self, key: Key, spent: Connection, token: str, under_way: _Refresh) -> None:
        """Spend a refresh token and keep what is granted for it; whoever waits learns what came of it."""
        try:
            with trio.CancelScope(shield=True):  # the old token may be spent: the new one must not be lost
                under_way.granted = await self._exchange(key, spent, token, under_way)
        except (Problem, StoreFailure) as error:
            under_way.failure = error
        except Exception as error:  # noqa: BLE001 - the forward border: one refresh fails, the daemon goes on
            under_way.failure = error  # for those who wait; there may be nobody
            self._log.warning("tax_refresh_failed", org_id=key[0], exc_info=error)
        finally:
            if key not in self._unstored:
                await self._leases.release(key)
            del self._refreshing[key]
            under_way.ended.set()

    async def _exchange(self, key: Key, spent: Connection, token: str, under_way: _Refresh) -> bool:
        """Whether there are other tokens now; False: a person must authorise. Raises `Problem`, `StoreFailure`."""
        with trio.move_on_after(WAIT_SECONDS) as wait:
            await self._leases.take(key)
        if wait.cancelled_caught:
            raise _too_slow()
        try:
            if not await self._is_writable(key, spent):
                return True  # replaced by a person meanwhile, or refreshed by another process: nothing is spent
        except LeaseLost:  # we were stopped: another process may be spending it
            raise _too_slow() from None
        under_way.exchange.deadline = min(under_way.exchange.deadline, trio.current_time() + EXCHANGE_SECONDS)
        tokens = None
        with under_way.exchange as exchange:
            tokens = await self._endpoint.refresh(key[0], token)
        if exchange.cancelled_caught:
            raise _too_slow()
        if tokens is None:
            return await self._is_replaced(key, spent)
        connection = connections.refreshed(spent, tokens, Instant(self._store.now()))
        await self._keep(key, _Unstored(tokens, connection, spent.generation))
        return True

    async def _is_writable(self, key: Key, spent: Connection) -> bool:
        """Write something first: a disk that is full is noticed before the token is spent. False: it is gone."""
        unstored = self._unstored.get(key)
        if unstored is not None:
            await self._store_tokens(key, unstored)

        def work(tx: WriteTx) -> bool:
            self._leases.require(tx, key)
            return connections.touch(tx, spent.generation, key[1])

        return await self._store.write(work, key[0])

    async def _is_replaced(self, key: Key, spent: Connection) -> bool:
        """Whether somebody else spent the token, and has stored what came for it, while we were stopped."""
        kept = await self._kept(key)
        return kept is not None and kept.generation != spent.generation

    # -- what could not be stored

    async def _keep(self, key: Key, granted: _Unstored) -> None:
        try:
            await self._store_tokens(key, granted)
        except StoreFailure as error:
            self._unstored[key] = granted
            self._log.error("tax_tokens_not_stored", org_id=key[0], exc_info=error)
            self._nursery.start_soon(self._store_later, key, granted)

    async def _store_tokens(self, key: Key, granted: _Unstored) -> None:
        """Raises `StoreFailure`. Where a person has replaced what was refreshed, theirs stays."""
        org_id, legal_entity_id = key

        def work(tx: WriteTx) -> bool:
            return connections.replace(tx, granted.tokens, granted.generation, legal_entity_id)

        await self._store.write(work, org_id)
        if self._unstored.get(key) is granted:
            del self._unstored[key]
            if key not in self._refreshing:
                await self._leases.release(key)

    async def _store_later(self, key: Key, granted: _Unstored) -> None:
        """Try again until it is stored, and once more at the end of the daemon."""
        seconds = STORE_AGAIN_SECONDS
        try:
            while self._unstored.get(key) is granted:
                await trio.sleep(seconds)
                seconds = min(2 * seconds, STORE_AGAIN_SECONDS_MAX)
                await self._try_to_store(key, granted)
        finally:
            if self._unstored.get(key) is granted:
                with trio.CancelScope(shield=True):  # bounded by the store
                    await self._try_to_store(key, granted)

    async def _try_to_store(self, key: Key, granted: _Unstored) -> None:
        try:
            await self._store_tokens(key, granted)
        except StoreFailure:
            return
        self._log.info("tax_tokens_stored", org_id=key[0])

    async def _kept(self, key: Key) -> Connection | None:
        org_id, legal_entity_id = key
        return self._newest(org_id, await self._store.read(lambda tx: connections.find(tx, legal_entity_id), org_id))

    def _newest(self, org_id: str, stored: Connection | None) -> Connection | None:
        """What is remembered in place of it, if anything is."""
        if stored is None:
            return None
        unstored = self._unstored.get((org_id, stored.legal_entity_id))
        return unstored.connection if unstored is not None and unstored.generation == stored.generation else stored


def _too_slow() -> Problem:
    return Problem("tax_upstream_timeout", "The tax authority did not answer in time.")


class RefreshLeases:
    """What keeps other processes from a connection."""

    def __init__(self, holder: Holder) -> None:
        self._holder = holder
        self._held: dict[Key, Lease] = {}

    async def take(self, key: Key) -> None:
        """Wait until the connection is ours alone, if it is not. Raises `StoreFailure` where nothing can be written."""
        if key in self._held:
            return
        org_id, legal_entity_id = key
        while (lease := await self._holder.take(org_id, f"tax_refresh:{legal_entity_id or ''}")) is None:
            await trio.sleep(_LOOK_AGAIN_SECONDS)
        self._held[key] = lease

    def require(self, tx: ReadTx, key: Key) -> None:
        """Raises `LeaseLost` where it is not ours any more."""
        self._held[key].require(tx)

    async def release(self, key: Key) -> None:
        """Let others have it."""
        lease = self._held.pop(key, None)
        if lease is not None:
            await lease.release()
