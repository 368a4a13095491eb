"""The statements that the program runs while the tests drive it."""

import sys
from types import FrameType

import apsw

from gatewayd.store import transactions
from tests.structure.sources import PACKAGE, ROOT

_PROGRAM = f"{PACKAGE}/"


class Statements:
    """What handlers and engines asked of their transactions in this process, each text once.

    The store's own SQL does not go through a transaction, and what a test asks by itself is not the program's.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._new: dict[str, str] = {}

    def watch(self, connection: apsw.Connection) -> None:
        connection.exec_trace = self._note

    def _note(self, cursor: apsw.Cursor, sql: str, values: object) -> bool:
        if sql not in self._seen:
            where = _asked_at(sys._getframe(1))
            if where is not None:
                self._seen.add(sql)
                self._new[sql] = where
        return True

    def take(self) -> dict[str, str]:
        """The statements that were not taken yet, and the line that asked for each first."""
        taken, self._new = self._new, {}
        return taken


def _asked_at(frame: FrameType) -> str | None:
    """The line of the program that asked a transaction; None where something else was asked, or by something else."""
    caller = frame.f_back
    if frame.f_code.co_filename != transactions.__file__ or caller is None:
        return None
    file = caller.f_code.co_filename
    return f"{file.removeprefix(f'{ROOT}/')}:{caller.f_lineno}" if file.startswith(_PROGRAM) else None
