"""What files the rows of a PostgreSQL name: its own tools back these up, and a backup of ours has the files."""

from gatewayd.store.backups.named_blobs import NamedFile, Naming, RowsElsewhere, named_by
from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.reaching import connect_of, name_of
from gatewayd.store.settings import StoreSettings


def rows_of_server(settings: StoreSettings, naming: Naming) -> RowsElsewhere | None:
    """None: the rows are in a file. Raises `StoreFailure`."""
    if not settings.url:
        return None
    connect, name = connect_of(settings), name_of(settings)

    def named() -> dict[str, NamedFile]:
        from gatewayd.store.postgres.catalogue import read_catalogue
        from gatewayd.store.postgres.sessions import session

        with session(connect, f"{name} cannot be read") as connection, connection.session.transaction():
            tables = {column.table for column in read_catalogue(connection).columns}
            if not tables:
                raise StoreFailure(f"there are no tables in {name}")
            return named_by(connection, naming, tables)

    return RowsElsewhere(name, named)
