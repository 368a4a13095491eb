"""What the store raises."""

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


class StoreFailure(Exception):
    """The database could not do it: disk full or failing, locked for too long, too much waiting, closed.

    Nothing of the operation that got this was stored; what was acknowledged before stays.
    """


class OverBudget(StoreFailure):
    """A read cannot end within what the event loop can give it; run it again on a reader thread."""


class MigrationError(Exception):
    """The database file and the migrations of this program do not fit together."""
