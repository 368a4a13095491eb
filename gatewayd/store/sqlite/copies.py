"""A copy of a database that is in use."""

import os
from collections.abc import Callable
from pathlib import Path

import apsw

from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure, reason
from gatewayd.store.files.private_files import make_private
from gatewayd.store.sqlite import connections

PAGES_PER_STEP = 1_000


def _nobody(size_bytes: int) -> None:
    """Nobody is told."""


def copy_database(
    source: Path, destination: Path, owned_like: Path | None = None, told: Callable[[int], None] = _nobody
) -> None:
    """One snapshot, however much is written meanwhile: the copy never starts over. Raises `OSError`, `StoreFailure`.

    `told` is called now and then with how many bytes were copied since.
    """
    os.close(make_private(destination, os.O_WRONLY, owned_like))
    reader = connections.open_reader(source, 5)
    copy = apsw.Connection(str(destination))
    try:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # takes the snapshot
        page_bytes = int(reader.pragma("page_size"))
        with copy.backup("main", reader, "main") as backup:
            while not backup.done:
                before = backup.remaining
                backup.step(PAGES_PER_STEP)
                told(max(before - backup.remaining, 0) * page_bytes)
        copy.pragma("journal_mode", "delete")  # one file, with no log beside it
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be copied: {reason(error)}") from error
    finally:
        copy.close()
        reader.close()
