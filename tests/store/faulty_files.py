"""The files of an open database, made to fail below SQLite: the methods by which it reaches them are exchanged.

An error comes out of a method as one of the disk's would, as a number. (A file of `apsw.VFSFile` can only raise, and
what it raises comes out of `execute` even where SQLite takes the error for harmless.)
"""

import ctypes
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import apsw

Call = Literal["xWrite", "xTruncate", "xSync", "xShmMap", "xShmLock"]

_POINTER, _INT, _LONG = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
_SIGNATURES: Final[dict[Call, Any]] = {  # sqlite3.h, sqlite3_io_methods
    "xWrite": ctypes.CFUNCTYPE(_INT, _POINTER, _POINTER, _INT, _LONG),
    "xTruncate": ctypes.CFUNCTYPE(_INT, _POINTER, _LONG),
    "xSync": ctypes.CFUNCTYPE(_INT, _POINTER, _INT),
    "xShmMap": ctypes.CFUNCTYPE(_INT, _POINTER, _INT, _INT, _INT, _POINTER),
    "xShmLock": ctypes.CFUNCTYPE(_INT, _POINTER, _INT, _INT, _INT),
}
FAILING: Final[dict[Call, int]] = {
    "xWrite": apsw.SQLITE_IOERR_WRITE,
    "xTruncate": apsw.SQLITE_IOERR_TRUNCATE,
    "xSync": apsw.SQLITE_IOERR_FSYNC,
    "xShmMap": apsw.SQLITE_IOERR_SHMMAP,
    "xShmLock": apsw.SQLITE_IOERR_SHMLOCK,
}
FULL: Final[dict[Call, int]] = {"xWrite": apsw.SQLITE_FULL, "xShmMap": apsw.SQLITE_FULL}
_UNLOCK = 1  # sqlite3.h, SQLITE_SHM_UNLOCK: the last argument of xShmLock is a set of flags


class _Methods(ctypes.Structure):
    _fields_ = [
        ("iVersion", _INT),
        *((name, _POINTER) for name in ("xClose", "xRead", "xWrite", "xTruncate", "xSync", "xFileSize", "xLock")),
        *((name, _POINTER) for name in ("xUnlock", "xCheckReservedLock", "xFileControl", "xSectorSize")),
        *((name, _POINTER) for name in ("xDeviceCharacteristics", "xShmMap", "xShmLock", "xShmBarrier")),
        *((name, _POINTER) for name in ("xShmUnmap", "xFetch", "xUnfetch")),
    ]


class FaultyFiles:
    """The database and the log of a connection. Whole until `fail_at`; `calls` are those made since.

    Must be kept for as long as the connection is open.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self.calls: list[Call] = []
        self._faults: Mapping[Call, int] = {}
        self._first = self._last = 0
        self._kept: list[object] = []
        self._synced: dict[Path, bytes] = {}
        path = Path(connection.filename)
        self._exchange(connection, apsw.SQLITE_FCNTL_FILE_POINTER, path)
        self._exchange(connection, apsw.SQLITE_FCNTL_JOURNAL_POINTER, path.with_name(f"{path.name}-wal"))

    def fail_at(self, number: int, faults: Mapping[Call, int], *, once: bool) -> None:
        """Let call `number` from now, counted from 1, end as `faults` has it; and unless `once` all that follow it."""
        self.calls.clear()
        self._first, self._last, self._faults = number, number if once else 1 << 60, faults

    def repair(self) -> None:
        """Let every call succeed."""
        self.fail_at(0, {}, once=False)

    def after_a_kill(self, folder: Path) -> Path:
        """A copy of the database, made in `folder`, as it would be if the process had ended now."""
        for path in self._synced:
            shutil.copy(path, folder / path.name)
        return folder / next(iter(self._synced)).name

    def after_a_power_cut(self, folder: Path) -> Path:
        """The same where all is lost that was not synced."""
        for path, content in self._synced.items():
            (folder / path.name).write_bytes(content)
        return folder / next(iter(self._synced)).name

    def _exchange(self, connection: apsw.Connection, which: int, path: Path) -> None:
        file = _POINTER()
        assert connection.file_control("main", which, ctypes.addressof(file))
        methods_of_file = _POINTER.from_address(file.value or 0)
        original = _Methods.from_address(methods_of_file.value or 0)
        methods = _Methods.from_buffer_copy(original)
        for name in _SIGNATURES:
            if getattr(original, name) is None:  # a log has no shared memory of its own
                continue
            method = self._method(name, getattr(original, name), path)
            setattr(methods, name, ctypes.cast(method, _POINTER))
            self._kept.append(method)
        self._kept.append(methods)
        self._synced[path] = path.read_bytes()
        methods_of_file.value = ctypes.addressof(methods)

    def _method(self, name: Call, original: int, path: Path) -> Any:
        signature = _SIGNATURES[name]
        real: Callable[..., int] = signature(original)

        def called(*arguments: int) -> int:
            if name == "xShmLock" and arguments[-1] & _UNLOCK:
                return real(*arguments)
            self.calls.append(name)
            if name in self._faults and self._first <= len(self.calls) <= self._last:
                return self._faults[name]
            if name == "xSync":
                self._synced[path] = path.read_bytes()
            return real(*arguments)

        return signature(called)
