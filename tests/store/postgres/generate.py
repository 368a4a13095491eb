"""Writes the migrations that PostgreSQL lacks: `make generate`.

A file that is there stays as it is: it may have been applied. Where one changes a migration that nobody has yet,
its pair is removed and made anew. Without a baseline one is made of all that SQLite has.
"""

import sys
from collections.abc import Iterator

import apsw

from gatewayd.clock import Instant
from gatewayd.store.migration_files import Migration
from gatewayd.store.sqlite import connections, schema
from tests.store.postgres.translating import ByHandError, translate
from tests.structure.sources import ROOT

FOLDER = ROOT / "gatewayd/store/postgres/migrations"
_HEAD = "-- Made from the migration of SQLite by `make generate`."
_OWN = """
-- PostgreSQL's own: the row that counts what is committed, and the last commit of each that writes.

CREATE TABLE pulse (
    id bigint PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL,
    now bigint NOT NULL,                       -- the instant of the last commit: it never goes back
    accepted_latest bigint NOT NULL DEFAULT 0, -- what `now` was when an operator last said that the clock was right
    accepted_at bigint NOT NULL DEFAULT 0,     -- and when that was
    key_check bytea                            -- sealed by the instance key, which all hosts must have
);

CREATE TABLE pulse_writers (
    writer text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    beat_at bigint NOT NULL
);

-- What SQLite has a table for, which not every commit writes.
CREATE VIEW update_clock AS SELECT id, now AS latest, accepted_latest, accepted_at FROM pulse;

INSERT INTO pulse (id, version, now) VALUES (1, 0, 0);

-- What documents are found by, of each part of vault_index_parts: in place of SQLite's vault_words.
CREATE TABLE vault_part_words (
    number bigint PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL REFERENCES organizations (id),
    words tsvector NOT NULL,                   -- stems and codes behind their organization, with how often as labels
    name text COLLATE "C" NOT NULL,            -- stems in their order, each in spaces of its own
    body text COLLATE "C" NOT NULL,
    length bigint NOT NULL                     -- words, numbers and codes
);

CREATE INDEX vault_part_words_by_word ON vault_part_words USING gin (words);

-- In how many parts each word is, and in how many as a number or code: for spelling, and for what is rare.
CREATE TABLE vault_terms (
    org_id text COLLATE "C" NOT NULL REFERENCES organizations (id),
    term text COLLATE "C" NOT NULL,
    parts bigint NOT NULL,
    exact_parts bigint NOT NULL,
    PRIMARY KEY (org_id, term)
) WITH (fillfactor = 80);

CREATE TABLE vault_part_totals (
    org_id text COLLATE "C" PRIMARY KEY REFERENCES organizations (id),
    parts bigint NOT NULL,
    length bigint NOT NULL
);
"""
_TABLES = "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%'"


def baseline() -> tuple[str, str]:
    """The name of the file, and all that a new database has after the migrations of SQLite."""
    packaged = schema.packaged()
    connection = connections.open_writer(connections.MEMORY, 0)
    try:
        schema.migrate(connection, packaged, Instant(0))
        connection.execute("DROP TABLE update_clock")  # a view of the pulse
        rows = list(_rows(connection))
        connection.execute("DROP TABLE migrations")  # whoever migrates makes it
        made = translate(schema.schema(connection))
    finally:
        connection.close()
    head = f"-- All that a database has after the migration {packaged[-1].name} of SQLite, made by `make generate`."
    absent = f"-- SQLite's own, and not here: {', '.join(made.left_out)}."
    return f"{packaged[-1].number:04}_baseline.sql", "\n\n".join(
        (head + "\n" + absent, made.sql.strip(), "\n".join(rows), _OWN.strip())
    ) + "\n"


def _rows(connection: apsw.Connection) -> Iterator[str]:
    """A statement for each row that a new database has."""
    for (table,) in connection.execute(f"{_TABLES} ORDER BY name").fetchall():
        if table != "migrations":
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            for row in cursor:
                columns = ", ".join(column for column, _ in cursor.get_description())
                yield f"INSERT INTO {table} ({columns}) VALUES ({', '.join(map(_literal, row))});"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise TypeError(f"a new database has {value!r}")


def missing() -> list[Migration]:
    """The migrations of SQLite, after the baseline, that have no pair."""
    numbers = sorted(int(path.name[:4]) for path in FOLDER.glob("[0-9]*.sql"))
    return [
        migration
        for migration in schema.packaged()
        if migration.number > numbers[0] and migration.number not in numbers
    ]


def write() -> list[str]:
    """Write what can be made; answers what has to be written by hand."""
    FOLDER.mkdir(exist_ok=True)
    if not any(FOLDER.glob("[0-9]*_baseline.sql")):
        name, text = baseline()
        (FOLDER / name).write_text(text, "utf-8")
    by_hand = []
    for migration in missing():
        try:
            made = translate(migration.sql)
        except ByHandError as error:
            by_hand.append(f"gatewayd/store/postgres/migrations/{migration.name} is to be written by hand: {error}")
            continue
        (FOLDER / migration.name).write_text(f"{_HEAD}\n\n{made.sql}", "utf-8")
    return by_hand


if __name__ == "__main__":
    sys.exit("\n".join(write()) or None)
