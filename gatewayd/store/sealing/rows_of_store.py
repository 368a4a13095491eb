"""Where the sealed secrets of a store are."""

from gatewayd.store.sealing.sealed_rows import SealedRows
from gatewayd.store.sealing.sqlite_rows import SqliteRows
from gatewayd.store.settings import StoreSettings


def sealed_rows_of(settings: StoreSettings) -> SealedRows:
    """Those of the database that the settings name."""
    return SqliteRows(settings.path)
