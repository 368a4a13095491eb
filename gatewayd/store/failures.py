"""What the store raises."""

from collections.abc import Mapping
from typing import Final

import apsw

ENGINE_FAILURES = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.ConnectionClosedError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.NoMemError,
    apsw.NotADBError,
    apsw.ProtocolError,
)
"""What SQLite reports about the disk, the file or the machine. Anything else is an error of the statement."""


_NO_WORDS: Final = "not an error"
_WORDS: Final[Mapping[type[BaseException], str]] = {
    apsw.FullError: "database or disk is full",
    apsw.IOError: "disk I/O error",
    apsw.NoMemError: "out of memory",
    apsw.BusyError: "database is locked",
    apsw.CorruptError: "database disk image is malformed",
    apsw.CantOpenError: "unable to open database file",
}
"""SQLite's own words (sqlite3_errstr), where a connection was not told what befell another."""


def reason(error: BaseException) -> str:
    """Why something failed. A copy's failure lies with no connection: SQLite calls that one "not an error"."""
    text = str(error).strip().partition("\n")[0]
    return _WORDS.get(type(error), "the disk refused it") if text.endswith(_NO_WORDS) else text


class StoreFailure(Exception):
    """The database could not do it: disk full or failing, locked for too long, too much waiting, closed.

    Nothing of the operation that got this was stored; what was acknowledged before stays.
    """


class Doubtful(StoreFailure):
    """Whether it was stored is not known: the database could not be asked."""


class OverBudget(StoreFailure):
    """A read cannot end within what the event loop can give it; run it again on a reader thread."""


class MigrationError(Exception):
    """The database file and the migrations of this program do not fit together."""
