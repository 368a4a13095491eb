"""What checks ask of the rows of a database, where it has this program's form: to open another would change it."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from gatewayd.doctor.examined import Examined

if TYPE_CHECKING:
    from gatewayd.store import ReadTx

T = TypeVar("T")


def read_stored(examined: Examined, work: "Callable[[ReadTx], T]") -> T | None:
    """What `work` reads; None where the database is not there, or cannot be read as it is: its own check says so."""
    from gatewayd.store.failures import MigrationError, StoreFailure

    try:
        return examined.read(work) if _is_there(examined) and _is_current(examined) else None
    except (MigrationError, StoreFailure):
        return None


def is_outdated(examined: Examined) -> bool:
    """Whether the database is there and waits for a start to bring it up to date."""
    from gatewayd.store.failures import MigrationError, StoreFailure

    try:
        return _is_there(examined) and not _is_current(examined)
    except (MigrationError, StoreFailure):
        return False


def _is_there(examined: Examined) -> bool:
    settings = examined.store_settings
    return bool(settings.url) or os.access(settings.path, os.F_OK)


def _is_current(examined: Examined) -> bool:
    """Raises `MigrationError` or `StoreFailure`."""
    from gatewayd.store.sqlite.upgrade import is_current

    settings = examined.store_settings
    if not settings.url:
        return is_current(settings.path)
    from gatewayd.store.postgres import schema
    from gatewayd.store.postgres.reaching import connect_of, name_of
    from gatewayd.store.postgres.sessions import session

    with session(connect_of(settings), f"{name_of(settings)} cannot be asked") as connection:
        return not schema.pending(connection, schema.packaged())
