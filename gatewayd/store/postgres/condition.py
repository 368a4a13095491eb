"""How a PostgreSQL is set up, as far as rows rest on it: for `gatewayd doctor`."""

from typing import Final, NamedTuple

from gatewayd.store.postgres.connections import Connection

MAJOR_MIN: Final = 14  # Chosen: the oldest that its makers maintained when this was written
_CONDITION: Final = """
SELECT CAST(current_setting('server_version_num') AS INTEGER) / 10000, current_setting('server_version'),
    current_setting('server_encoding'), pg_is_in_recovery(), current_setting('fsync') = 'on',
    current_setting('full_page_writes') = 'on', current_setting('synchronous_commit'),
    current_setting('synchronous_standby_names'),
    least(
        CAST(current_setting('max_connections') AS INTEGER)
            - CAST(current_setting('superuser_reserved_connections') AS INTEGER),
        (SELECT coalesce(nullif(datconnlimit, -1), 1000000) FROM pg_database WHERE datname = current_database()),
        (SELECT coalesce(nullif(rolconnlimit, -1), 1000000) FROM pg_roles WHERE rolname = current_user)
    )
"""
_SORTED_OTHERWISE: Final = """
SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
JOIN pg_collation o ON o.oid = a.attcollation
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p') AND a.attnum > 0
    AND NOT a.attisdropped AND o.collname NOT IN ('C', 'POSIX', 'ucs_basic')
ORDER BY 1
"""
_WRITE: Final = "UPDATE write_check SET checked_at = checked_at WHERE id = 1"


class Condition(NamedTuple):
    """`sessions`: how many the server, the database and the user allow.

    `sorted_otherwise` are columns of text that are not sorted by code point.
    """

    major: int
    version: str
    encoding: str
    is_standby: bool
    fsync: bool
    full_page_writes: bool
    synchronous_commit: str
    synchronous_standby_names: str
    sessions: int
    sorted_otherwise: list[str]


def condition_of(connection: Connection) -> Condition:
    """As it is now. Raises `psycopg.Error`."""
    row = connection.execute(_CONDITION).fetchone()
    assert row is not None
    major, version, encoding, is_standby, fsync, pages, commit, names, sessions = row
    columns = [str(name) for (name,) in connection.execute(_SORTED_OTHERWISE)]
    return Condition(
        major, version, encoding, bool(is_standby), bool(fsync), bool(pages), commit, names, sessions, columns
    )


def try_to_write(connection: Connection) -> None:
    """Write a row, and leave nothing of it. Raises `psycopg.Error`."""
    connection.execute("BEGIN")
    try:
        connection.execute(_WRITE)
    finally:
        connection.execute("ROLLBACK")
