"""Opening the database that is there, for what must make nothing: a command beside a daemon or without one."""

import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from gatewayd.clock import Clock
from gatewayd.ids import IdSource
from gatewayd.store.database import Store
from gatewayd.store.failures import StoreFailure
from gatewayd.store.sealing.instance_key import proven_key
from gatewayd.store.sealing.sealing import Sealer
from gatewayd.store.settings import StoreSettings


@asynccontextmanager
async def open_existing(settings: StoreSettings, clock: Clock, find_key: Callable[[], Path]) -> AsyncIterator[Store]:
    """Open: no database is made, none is migrated, and no instance key is made.

    The key is looked for when the first secret is sealed or opened. Raises `StoreFailure` or `MigrationError`; a secret
    raises what `find_key` raises too.
    """
    if not os.access(settings.path, os.F_OK):
        raise StoreFailure(f"there is no database in {settings.directory}")
    sealer = Sealer(lambda: proven_key(settings.path, find_key()))
    store = Store(settings, clock, sealer, IdSource(clock, secrets.token_bytes), migrates=False)
    store.start()
    try:
        yield store
    finally:
        await store.aclose()
