"""All that a database holds, to be compared with what it held before."""

from pathlib import Path
from typing import Any

import apsw

from gatewayd.store.settings import DATABASE_NAME

APART = ("leases", "update_clock", "write_check")
"""Tables that hold no work."""


def everything(directory: Path) -> dict[str, list[Any]]:
    """All rows of all tables, but of those apart."""
    connection = apsw.Connection(str(directory / DATABASE_NAME))
    try:
        names = [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        kept = [name for name in names if name not in APART and not name.startswith("sqlite_")]
        return {name: connection.execute(f'SELECT * FROM "{name}" ORDER BY 1, 2').fetchall() for name in kept}
    finally:
        connection.close()
