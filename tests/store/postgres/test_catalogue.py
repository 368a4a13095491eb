"""What a PostgreSQL says of its tables is what SQLite says of the same."""

from pathlib import Path

from gatewayd.store.erasing import owned_tables
from gatewayd.store.postgres.catalogue import read_catalogue
from gatewayd.store.postgres.connections import open_connection
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite import catalogue as of_sqlite
from tests.store.postgres.test_schema import LEFT_OUT, OWN, VIEWS
from tests.support.store import DatabaseImage


def test_an_organization_ends_in_the_same_order_on_both(
    migrated_address: str, database_image: DatabaseImage, tmp_path: Path
) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(database_image)
    connection = open_connection(migrated_address, 60)
    found, expected = read_catalogue(connection), of_sqlite.read_catalogue(tmp_path / DATABASE_NAME)
    connection.close()
    apart = OWN | VIEWS | LEFT_OUT

    def of_both(name: str) -> bool:
        return name not in apart and not name.startswith("vault_words_")  # what the virtual table keeps

    assert sorted(column for column in found.columns if of_both(column.table)) == sorted(
        column for column in expected.columns if of_both(column.table)
    )
    assert sorted(found.references) == sorted(expected.references)
    assert owned_tables(found) == owned_tables(expected)
    assert len(owned_tables(found)) > 80
