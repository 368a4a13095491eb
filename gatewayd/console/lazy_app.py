"""The pages as an application that is made when the first of them is asked for."""

from dataclasses import fields
from typing import TYPE_CHECKING, cast

import trio

from gatewayd.console.daemon_parts import DaemonParts
from gatewayd.http1.asgi import App, HttpScope, Receive, Send
from gatewayd.identity.sign_in.throttling import Limits

if TYPE_CHECKING:
    from gatewayd.identity.sign_in.sign_in import SignIn


class Console:
    """An ASGI callable that is made when the first page is asked for.

    Chosen: what the pages stand on takes half a second to import and 17 MB to keep. The daemon is ready without it, and
    one that is called by programs alone never has it.
    """

    def __init__(self, given: DaemonParts, *, limits: Limits) -> None:
        self._given = given
        self._limits = limits
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

        passwords = Passwords(Hasher())
        self._sign_in = SignIn(self._given.store, passwords, self._limits)
        given = {field.name: getattr(self._given, field.name) for field in fields(self._given)}
        parts = ConsoleParts(sign_in=self._sign_in, passwords=passwords, **given)
        return cast(App, create(parts))
