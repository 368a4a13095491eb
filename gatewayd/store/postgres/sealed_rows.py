"""The sealed secrets of a PostgreSQL, and the proof of the instance key, which several hosts must have the same of.

Each host has its key in a file of its own. The first daemon that starts with an empty database makes one, and seals
`pulse.key_check` with it; whoever comes with another is refused, also before anything else was sealed.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gatewayd.store.postgres import schema
from gatewayd.store.postgres.catalogue import read_catalogue
from gatewayd.store.postgres.connections import Connection
from gatewayd.store.postgres.sessions import Connect, refuse_beside_others, session
from gatewayd.store.sealer import Sealer
from gatewayd.store.sealing.instance_key import open_key, proven_key
from gatewayd.store.sealing.sealed_columns import (
    SEALED_COLUMNS,
    SealedColumn,
    SealedValue,
    sealed_anew,
    values_of,
)

KEY_CHECK: Final = SealedColumn("pulse", "key_check", ("id",), "pulse.key_check:{id}")
_PROOF: Final = b"the instance key"
_SELECT_CHECK: Final = "SELECT key_check FROM pulse WHERE id = 1"
_LOCK_CHECK: Final = "SELECT key_check FROM pulse WHERE id = 1 FOR UPDATE"
_UPDATE_CHECK: Final = "UPDATE pulse SET key_check = :sealed WHERE id = 1"
_BEAT: Final = "UPDATE pulse SET version = version + 1 WHERE id = 1"


@dataclass(frozen=True, slots=True)
class PostgresRows:
    """See `SealedRows`."""

    connect: Connect
    name: str
    way_on: str = (
        "every host has the same: copy it from one that serves this database, or from where a copy is kept, or give up"
        " what it sealed: gatewayd instance-key abandon"
    )

    def sample(self) -> SealedValue | None:
        with self._reading() as connection:
            return next(_values(connection, (KEY_CHECK, *SEALED_COLUMNS)), None)

    def every(self) -> list[SealedValue]:
        with self._reading() as connection:
            return list(_values(connection, SEALED_COLUMNS))

    def seal_anew(self, old: Sealer, new: Sealer) -> int:
        """How much it was is told without the proof of the key."""
        with (
            session(self.connect, "the secrets cannot be sealed anew") as connection,
            connection.session.transaction(),
        ):
            connection.execute(_BEAT)  # nobody writes meanwhile
            schema.pending(connection, schema.packaged())  # a newer database may hold what is not on our list
            count = sealed_anew(connection, _values(connection, SEALED_COLUMNS), old, new)
            sealed_anew(connection, _values(connection, [KEY_CHECK]), old, new)
        return count

    def require_alone(self, what: str) -> None:
        with self._reading() as connection:
            refuse_beside_others(connection, what)

    def note_key(self, sealer: Sealer) -> None:
        with session(self.connect, "the instance key cannot be noted") as connection:
            connection.execute(_UPDATE_CHECK, {"sealed": _sealed(sealer)})

    def begin_key(self, path: Path) -> bytes:
        """The key at `path` for a daemon, once there are tables; the first that comes makes it, and notes it.

        Raises `StoreFailure` where it is missing and another host has made one, or is not the one of the database.
        """
        with session(self.connect, "the instance key cannot be noted") as connection:
            if connection.execute(_SELECT_CHECK).get is None:
                with connection.session.transaction():
                    if connection.execute(_LOCK_CHECK).get is None:
                        connection.execute(_UPDATE_CHECK, {"sealed": _sealed(open_key(self, path))})
        return proven_key(self, path)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        with session(self.connect, "the database cannot be read") as connection:
            yield connection


def _sealed(sealer: Sealer) -> bytes:
    return sealer.seal(_PROOF, KEY_CHECK.context.format(id=1))


def _values(connection: Connection, columns: Iterable[SealedColumn]) -> Iterator[SealedValue]:
    """What is sealed, of an older database too: what it does not have yet holds none."""
    there = {(column.table, column.name) for column in read_catalogue(connection).columns}
    for column in columns:
        if (column.table, column.column) in there:
            yield from values_of(connection, column)
