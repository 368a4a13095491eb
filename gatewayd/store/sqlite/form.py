"""Which SQLite a database is worked with by, its last migration, and how large it is."""

from pathlib import Path
from typing import Final

import apsw

from gatewayd.store.engine import Form
from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure, reason
from gatewayd.store.sqlite import connections

_LAST: Final = "SELECT coalesce(max(number), 0) FROM migrations"
_PARTS: Final = ("", "-wal")
"""What is behind the name of the files that have its pages."""


def form_of(database: Path) -> Form:
    """As it is now. It blocks. Raises `StoreFailure`."""
    try:
        connection = connections.open_reader(database, 1)
        try:
            ((last,),) = connection.execute(_LAST).fetchall()
        finally:
            connection.close()
        files = [database.with_name(database.name + part) for part in _PARTS]
        size = sum(file.stat().st_size for file in files if file.exists())
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be read: {reason(error)}") from error
    return Form(f"SQLite {apsw.sqlite_lib_version()}", int(str(last)), size)
