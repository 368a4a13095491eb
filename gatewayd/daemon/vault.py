"""What takes documents in: the uploads, and the folder that is watched."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from gatewayd.config import Config
from gatewayd.daemon.description import vault_settings
from gatewayd.http1.log import Log
from gatewayd.store import Store
from gatewayd.store.blobs import Blobs
from gatewayd.store.partial_blobs import PartialBlobs
from gatewayd.vault_files.receiving import Receiving


@asynccontextmanager
async def open_vault(config: Config, store: Store, log: Log) -> AsyncIterator[Receiving]:
    """What takes uploads in; for the length of the block the folder is watched, if there is one. Raises `OSError`."""
    blobs, settings = Blobs(store.directory), vault_settings(config)
    async with trio.open_nursery() as nursery:
        yield Receiving(store, blobs, PartialBlobs(store.directory), settings)
        nursery.cancel_scope.cancel()
