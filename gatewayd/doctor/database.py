"""`gatewayd doctor`, of the database: whether it is there, whole, and of the form that this program needs."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from gatewayd.doctor.examined import Examined, OutOfReach
from gatewayd.doctor.findings import Finding


def is_readable(examined: Examined) -> bool:
    """Whether there are tables in the database, and all of them, so that it can be read and nothing is made of it.

    Raises `OutOfReach`, `StoreFailure` or `MigrationError`: the check of the database says so.
    """
    from gatewayd.store.sqlite.upgrade import is_current

    settings = examined.store_settings
    if not settings.url:
        return examined.has_database() and is_current(settings.path)
    from gatewayd.store.postgres.reaching import connect_of

    connect = connect_of(settings)
    from gatewayd.store.postgres import schema
    from gatewayd.store.postgres.sessions import session

    with session(connect, "the database cannot be read") as connection:
        return not schema.pending(connection, schema.packaged())


def database(examined: Examined) -> Iterator[Finding]:
    """The file of a SQLite, or the server."""
    if examined.store_settings.url:
        from gatewayd.doctor.postgresql import server

        yield from server(examined)
    else:
        yield from _file(examined)


def _file(examined: Examined) -> Iterator[Finding]:
    from gatewayd.store import StoreFailure
    from gatewayd.store.files.manifests import KEY_NAME
    from gatewayd.store.sqlite.integrity import find_faults
    from gatewayd.store.sqlite.lost_database import lost, remains_in

    path = examined.store_settings.path
    faults = list[str]()
    try:
        there = examined.has_database()
    except OutOfReach as error:
        yield Finding("database", False, f"{error}.")
        return
    if not there or path.stat().st_size == 0:
        remains = remains_in(path.parent, *(() if there else (KEY_NAME,)))
        sentence = lost(path.parent, remains) if remains else f"{path} is not there yet; the first start makes it"
        yield Finding("database", not remains, f"{sentence}.")
        return
    try:
        faults = find_faults(path) or _age(path)
    except StoreFailure as error:
        faults.append(str(error))
    yield Finding("database", not faults, f"{path}: {faults[0] if faults else 'nothing is wrong'}.")
    yield from _copy_before(path)


def _age(database: Path) -> list[str]:
    """A sentence where the database is not of the form that this program needs. Raises `StoreFailure`."""
    from gatewayd.store.failures import MigrationError
    from gatewayd.store.sqlite.upgrade import is_current

    try:
        if is_current(database):
            return []
    except MigrationError as error:
        return [str(error)]
    return ["it waits for migrations: the daemon does them when it starts, and so does gatewayd migrate"]


def _copy_before(database: Path) -> Iterator[Finding]:
    """What the last upgrade left. Nothing where it left none."""
    from gatewayd.doctor.sizes import in_units
    from gatewayd.store.sqlite.upgrade import copy_before

    with contextlib.suppress(OSError):
        if (copy := copy_before(database)) is not None:
            size = in_units(copy.stat().st_size)
            sentence = f"{copy} is the database as it was before the last upgrade, {size}: delete it when you like."
            yield Finding("upgrade", True, sentence)
