"""A store whose writes are watched, whether somebody waits for them or they are of the background."""

from collections.abc import Awaitable, Callable
from typing import Any

from gatewayd.store import Store


class WatchedStore:
    """The store, but for `around`, through which each write goes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        """Do the write, and whatever else."""
        return await write()

    async def write(self, *arguments: Any) -> Any:
        return await self.around(lambda: self._store.write(*arguments))

    async def write_behind(self, *arguments: Any) -> Any:
        return await self.around(lambda: self._store.write_behind(*arguments))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
