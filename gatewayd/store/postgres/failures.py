"""What PostgreSQL reports about itself, the way to it, or its disk. Anything else is an error of the statement."""

from typing import Final

import psycopg

_ENGINE_CLASSES: Final = frozenset({"08", "40", "53", "55", "57", "58", "F0", "XX"})
"""Of SQLSTATE (PostgreSQL, "Error Codes"): connection, rollback of a transaction, resources, an object in use, an
operator's intervention (57014 is a statement's deadline), the system, the configuration, and faults of its own."""
DEADLINE: Final = "57014"
"""Of a statement that took longer than it may."""
_READ_ONLY: Final = "25006"
"""A server that takes no writes: a standby, or a primary that was put in its place."""


def is_of_the_engine(error: BaseException) -> bool:
    """Whether the same statement might succeed another time, or elsewhere."""
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:  # the client's own: of the connection, or of values that cannot be sent
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate[:2] in _ENGINE_CLASSES or error.sqlstate == _READ_ONLY


def is_conflict(error: BaseException) -> bool:
    """Whether the transaction was given up for another's sake, and is to be done again from its beginning."""
    return isinstance(error, psycopg.Error) and error.sqlstate is not None and error.sqlstate.startswith("40")


def reason(error: psycopg.Error) -> str:
    """Why something failed, in one line."""
    text = error.diag.message_primary or str(error)
    return text.strip().partition("\n")[0]
