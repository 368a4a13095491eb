"""A database of a PostgreSQL in which nothing is yet; one with all tables is `migrated_address`."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import Server


@pytest.fixture
def address(postgresql: Server) -> Iterator[str]:
    """How to connect to a new database."""
    name = postgresql.new_database()
    yield postgresql.address(name)
    postgresql.drop(name)
