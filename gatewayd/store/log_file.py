"""The file of the write-ahead log, which is written over from its beginning once nobody reads in it."""

from pathlib import Path

from gatewayd.store.connections import WAL_BYTES


class LogFile:
    """How long the log of a database is. `is_large` is as of the last `look`: kept snapshots are then in its way."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-wal")
        self.is_large = False

    def size(self) -> int:
        """Bytes; 0 where there is no log."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def look(self) -> None:
        self.is_large = self.size() > WAL_BYTES
