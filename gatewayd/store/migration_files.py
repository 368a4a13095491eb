"""Migrations as files: numbered SQL without gaps, each known by its digest once it was applied."""

import hashlib
import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from typing import NamedTuple

from gatewayd.store.failures import MigrationError

_FILE_NAME = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")


class Migration(NamedTuple):
    """One file. `number` starts at 1 and leaves no gap."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def numbered(folder: Traversable, first: int | None = 1) -> tuple[Migration, ...]:
    """The migrations in `folder`, from `first` on; None: from whichever there is.

    Files of other names are ignored. Raises `MigrationError` for a gap.
    """
    found = []
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        match = _FILE_NAME.match(entry.name)
        if match is not None:
            found.append(Migration(int(match[1]), entry.name, entry.read_text("utf-8")))
    numbers = [migration.number for migration in found]
    begin = numbers[0] if first is None and numbers else first or 1
    if numbers != list(range(begin, begin + len(found))):
        raise MigrationError(f"the migrations are not numbered without gaps: {numbers}")
    return tuple(found)


def unapplied(applied: Mapping[int, str], migrations: tuple[Migration, ...]) -> tuple[Migration, ...]:
    """The migrations beside those of which the digests are given by number.

    Raises `MigrationError` when an applied one was changed since, or the database is of a newer program.
    """
    newest = migrations[-1].number if migrations else 0
    if applied and max(applied) > newest:
        raise MigrationError(
            f"the database is at migration {max(applied)} and this program knows {newest}: it needs a newer gatewayd"
        )
    for migration in migrations:
        if applied.get(migration.number, migration.sha256) != migration.sha256:
            raise MigrationError(f"migration {migration.name} is not the one that was applied to this database")
    return tuple(migration for migration in migrations if migration.number not in applied)
