"""Lets of a program before this one: stored as they are now, set back, and migrated again."""

from collections.abc import Iterable

from gatewayd.clock import Instant
from gatewayd.store.sqlite import connections, schema
from tests.support.store import START, MemoryStore

TABLES = (
    *("organizations", "legal_entities", "businesses", "properties", "property_units", "tenants", "tenancies"),
    *("tenancy_tenants", "allocations", "rents_received"),
)


def migrated_from(store: MemoryStore, migration: str, changes: Iterable[tuple[str, dict[str, object]]]) -> MemoryStore:
    """What becomes of the lets of a store when they come from before a migration.

    `changes` are statements that make the rows what they were, with their values.
    """
    migrations = schema.packaged()
    before = next(index for index, one in enumerate(migrations) if migration in one.name)
    old = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(old, migrations[:before], START)
    for table in TABLES:
        known = {row[1] for row in store.connection.execute(f"PRAGMA table_info({table})")}
        columns = [row[1] for row in old.execute(f"PRAGMA table_info({table})") if row[1] in known]
        rows = store.connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
        old.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows)
    for sql, values in changes:
        old.execute(sql, values)
    schema.migrate(old, migrations, Instant(START))
    after = MemoryStore(old.serialize("main"))
    old.close()
    after.clock.advance(store.now() - after.now())
    return after
