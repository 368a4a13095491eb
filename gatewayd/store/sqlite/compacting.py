"""Making the file of a database as small as what is in it: what is deleted leaves pages that it keeps for others."""

from pathlib import Path

from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure, reason
from gatewayd.store.files.directory import free_bytes
from gatewayd.store.sqlite import connections

ROOM: int = 2
"""How many times the database there must be room for: what is in it is written beside it, and then to its log."""


def compact(database: Path) -> tuple[int, int]:
    """Answers how long the file was, and is. Beside no daemon: nobody else writes meanwhile.

    All or nothing, whatever ends the process. Raises `StoreFailure`, also where there is too little room.
    """
    connection = connections.open_writer(database, 5)
    try:
        connection.pragma("wal_checkpoint", "TRUNCATE")
        before = database.stat().st_size
        pages, free = int(connection.pragma("page_count")), int(connection.pragma("freelist_count"))
        needed = (pages - free) * int(connection.pragma("page_size")) * ROOM
        if free_bytes(database.parent) < needed:
            raise StoreFailure(f"there is too little room: {needed} bytes are needed in {database.parent}")
        connection.pragma("temp_store", "file")  # not in memory, which may be smaller than it
        connection.pragma("temp_store_directory", str(database.parent))
        connection.execute("VACUUM")
        connection.pragma("wal_checkpoint", "TRUNCATE")
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be made smaller: {reason(error)}") from error
    finally:
        connection.close()
    return before, database.stat().st_size
