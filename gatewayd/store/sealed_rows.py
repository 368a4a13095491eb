"""Where the sealed secrets of a store are."""

from gatewayd.store.postgres.reaching import connect_of, name_of
from gatewayd.store.sealing.sealed_rows import SealedRows
from gatewayd.store.settings import StoreSettings
from gatewayd.store.sqlite.sealed_rows import SqliteRows


def sealed_rows_of(settings: StoreSettings) -> SealedRows:
    """Those of the database that the settings name. Raises `StoreFailure`."""
    if not settings.url:
        return SqliteRows(settings.path)
    connect = connect_of(settings)
    from gatewayd.store.postgres.sealed_rows import PostgresRows

    return PostgresRows(connect, name_of(settings))
