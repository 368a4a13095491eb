"""The engines of the vault: what takes documents in, reads and finds them, and what makes papers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import trio

from gatewayd.config import Config
from gatewayd.daemon.description import vault_settings
from gatewayd.daemon.embedding import OpenEmbedder
from gatewayd.daemon.reading import OpenReader, open_reading
from gatewayd.http1.log import Log
from gatewayd.leases.holder import Holder
from gatewayd.papers.engine import Papers
from gatewayd.papers.setter import OpenSetter
from gatewayd.parsing.engine import Parsing
from gatewayd.search.engine import Search
from gatewayd.shares import Shares
from gatewayd.store.files.at_place import blobs_at, partials_at
from gatewayd.vault_files.receiving import Receiving


class VaultEngines(NamedTuple):
    """The engines that doors and housekeeping work with."""

    receiving: Receiving
    parsing: Parsing
    search: Search
    papers: Papers

    @property
    def shares(self) -> tuple[Shares, ...]:
        """What organizations share of them."""
        return (
            self.receiving.shares,
            self.parsing.shares,
            self.parsing.made_files.shares,
            self.search.shares,
            self.papers.shares,
        )


@asynccontextmanager
async def open_vault(
    config: Config, holder: Holder, ways: tuple[OpenReader, OpenEmbedder, OpenSetter], log: Log
) -> AsyncIterator["VaultEngines"]:
    """The engines, at work for the length of the block; so long the folder is watched, if there is one.

    All in the holder's store. Raises `OSError`, or `ValueError` for a folder that cannot be watched.
    """
    store, settings = holder.store, vault_settings(config)
    open_reader, open_embedder, open_setter = ways
    blobs = blobs_at(store.place)
    watched = _watched_folder(config, {store.directory, store.place.folder})
    async with (
        open_reading(config, holder, (open_reader, open_embedder), log) as reading,
        open_setter() as setter,
        trio.open_nursery() as nursery,
    ):
        if watched is not None:
            from gatewayd.vault_files.consuming import WatchedFolder
            from gatewayd.vault_files.filing import Filing

            nursery.start_soon(WatchedFolder(store, Filing(store, blobs, settings), watched, log).run)
        receiving = Receiving(store, blobs, partials_at(store.place), settings)
        papers = Papers(store, setter, settings.organization_bytes)
        yield VaultEngines(receiving, reading.parsing, reading.search, papers)
        nursery.cancel_scope.cancel()


def _watched_folder(config: Config, folders: set[Path]) -> Path | None:
    """Raises `ValueError` where what is taken from it would be the data itself."""
    if not config.vault.consume_directory:
        return None
    watched = Path(config.vault.consume_directory).resolve()
    for data in sorted(folder.resolve() for folder in folders):
        if watched == data or watched in data.parents or data in watched.parents:
            raise ValueError(
                f"vault.consume_directory {watched} and the data directory {data} may not lie in each other"
            )
    return watched
