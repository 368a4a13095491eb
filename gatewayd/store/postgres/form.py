"""Which PostgreSQL it is, its last migration, and how large the database is."""

from typing import Final

from gatewayd.store.engine import Form
from gatewayd.store.postgres.connections import Connection

_FORM: Final = """
SELECT current_setting('server_version'), (SELECT coalesce(max(number), 0) FROM migrations),
    pg_database_size(current_database())
"""


def form_of(connection: Connection) -> Form:
    """As it is now. Raises `psycopg.Error`."""
    row = connection.execute(_FORM).fetchone()
    assert row is not None
    version, last, size = row
    return Form(f"PostgreSQL {version}", last, size)
