"""Distances between vectors in SQL, by the extension sqlite-vec: on connections that search, and on no other.

What stands in the database are ordinary tables, so that whatever else opens it needs no extension.
"""

import importlib.util
from pathlib import Path

import apsw


def load(connection: apsw.Connection) -> None:
    """Give a connection `vec_distance_cosine` and `vec_distance_hamming`; without the extension it stays as it is."""
    path = _path()
    if path is None:
        return
    connection.enable_load_extension(True)
    try:
        connection.load_extension(path)
    except apsw.ExtensionLoadingError:
        return  # `fault` says so
    finally:
        connection.enable_load_extension(False)


def fault() -> str | None:
    """Why vectors cannot be compared here; None: they can."""
    path = _path()
    if path is None:
        return "the package sqlite-vec is not installed"
    connection = apsw.Connection(":memory:")
    try:
        load(connection)
        connection.execute("SELECT vec_version()").fetchall()
    except apsw.Error as error:
        return f"the extension sqlite-vec cannot be loaded: {error}"
    finally:
        connection.close()
    return None


def words_fault() -> str | None:
    """Why this SQLite cannot index words; None: it can."""
    return None if "ENABLE_FTS5" in apsw.compile_options else "the SQLite of apsw was made without FTS5"


def _path() -> str | None:
    """Where the extension is. The package is not imported, which would load numpy."""
    package = importlib.util.find_spec("sqlite_vec")
    places = package.submodule_search_locations if package is not None else None
    return str(Path(places[0]) / "vec0") if places else None
