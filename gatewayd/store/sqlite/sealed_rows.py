"""The sealed secrets of a SQLite file."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure, reason
from gatewayd.store.sealer import Sealer, read_key
from gatewayd.store.sealing.instance_key import open_key
from gatewayd.store.sealing.sealed_columns import SEALED_COLUMNS, SealedValue, sealed_anew, values_of
from gatewayd.store.sqlite import connections, schema

BUSY_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class SqliteRows:
    """See `SealedRows`. The file need not be there."""

    database: Path
    way_on: str = "put it there from where a copy is kept, or give up what it sealed: gatewayd instance-key abandon"

    @property
    def name(self) -> str:
        return str(self.database)

    def sample(self) -> SealedValue | None:
        return next(iter(self._read(1)), None) if self.database.exists() else None

    def every(self) -> list[SealedValue]:
        return self._read(None)

    def _read(self, count: int | None) -> list[SealedValue]:
        connection = connections.open_reader(self.database, BUSY_SECONDS)
        try:
            return list(itertools.islice(sealed_values(connection), count))
        except ENGINE_FAILURES as error:
            raise StoreFailure(f"the database cannot be read: {reason(error)}") from error
        finally:
            connection.close()

    def seal_anew(self, old: Sealer, new: Sealer) -> int:
        connection = connections.open_writer(self.database, BUSY_SECONDS)
        try:
            connection.execute("BEGIN IMMEDIATE")
            schema.pending(connection, schema.packaged())  # a newer database may hold what is not on our list
            count = sealed_anew(connection, list(sealed_values(connection)), old, new)
            connection.execute("COMMIT")
        except ENGINE_FAILURES as error:
            raise StoreFailure(f"the secrets cannot be sealed anew: {reason(error)}") from error
        finally:
            connection.close()  # and with it a transaction that was not committed
        return count

    def begin_key(self, path: Path) -> bytes:
        open_key(self, path)
        return read_key(path)

    def require_alone(self, what: str) -> None:
        """Whoever works with it locks its directory."""

    def note_key(self, sealer: Sealer) -> None:
        """What opens proves it."""


def sealed_values(connection: apsw.Connection) -> Iterator[SealedValue]:
    """Every sealed secret of a database, an older one too: what it does not have yet holds none."""
    for column in SEALED_COLUMNS:
        try:
            yield from values_of(connection, column)
        except apsw.SQLError:  # a table or column of a later migration
            continue
