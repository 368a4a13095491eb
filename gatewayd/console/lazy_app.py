"""The pages as an application that is made when the first of them is asked for."""

from typing import TYPE_CHECKING, cast

import trio

from gatewayd.clock import Clock
from gatewayd.http1.asgi import App, HttpScope, Receive, Send
from gatewayd.http1.log import Log
from gatewayd.identity.sign_in.throttling import Limits
from gatewayd.store import Store
from gatewayd.tax.settings import TaxSettings

if TYPE_CHECKING:
    from gatewayd.identity.sign_in.sign_in import SignIn


class Console:
    """An ASGI callable that is made when the first page is asked for.

    Chosen: what the pages stand on takes half a second to import and 17 MB to keep. The daemon is ready without it, and
    one that is called by programs alone never has it.
    """

    def __init__(
        self, around: tuple[Store, Clock, Log], *, issuer: str, limits: Limits, tax: TaxSettings, gallery: bool = False
    ) -> None:
        """`issuer` is `server.public_url`, `tax` is `[tax]`; `gallery` as in `ConsoleParts`."""
        self._given = around
        self._gallery = gallery
        self._issuer = issuer
        self._limits = limits
        self._tax = tax
        self._making = trio.Lock()
        self._app: App | None = None
        self._sign_in: SignIn | None = None

    def change(self, limits: Limits) -> None:
        """Take other limits for wrong passwords and codes, from the next one on."""
        self._limits = limits
        if self._sign_in is not None:
            self._sign_in.limits = limits

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        app = self._app or await self._made()
        await app(scope, receive, send)

    async def _made(self) -> App:
        async with self._making:
            if self._app is None:
                self._app = await trio.to_thread.run_sync(self._make, limiter=trio.CapacityLimiter(1))
                self.change(self._limits)  # which may have become another one meanwhile
            return self._app

    def _make(self) -> App:
        from gatewayd.console.app import create
        from gatewayd.console.parts import ConsoleParts
        from gatewayd.identity.sign_in.passwords import Hasher, Passwords
        from gatewayd.identity.sign_in.sign_in import SignIn

        store, clock, log = self._given
        passwords = Passwords(Hasher())
        self._sign_in = SignIn(store, passwords, self._limits)
        parts = ConsoleParts(
            store=store,
            sign_in=self._sign_in,
            passwords=passwords,
            issuer=self._issuer,
            tax=self._tax,
            clock=clock,
            log=log,
            gallery=self._gallery,
        )
        return cast(App, create(parts))
