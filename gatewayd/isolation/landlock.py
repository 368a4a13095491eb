"""Landlock: which files a process may still open, whatever its user may (landlock(7))."""

import ctypes
import errno
import os
from collections.abc import Iterable
from typing import Final

from gatewayd.isolation.kernel import syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION: Final = 1
_RULE_PATH_BENEATH: Final = 1
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""By version, how many rights of files there are, which are the lowest bits."""
_NETWORK: Final = 0b11  # version 4: to bind and to connect TCP
_SCOPES: Final = 0b11  # version 6: abstract sockets and signals of processes outside


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Which version the kernel has; 0: none, or it is not switched on."""
    try:
        return syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


def restrict(readable: Iterable[str]) -> int:
    """From now on open no file but to read or run what lies below these paths; those that are not there are left out.

    The process gains no privileges any more before it. As versions allow: no TCP, no signals to processes outside.
    Returns the version. Raises `OSError` where the kernel has none.
    """
    known = version()
    if not known:
        raise OSError(errno.EOPNOTSUPP, "landlock is not there")
    wanted = _Ruleset(
        (1 << _RIGHTS[min(known, max(_RIGHTS))]) - 1, _NETWORK if known >= 4 else 0, _SCOPES if known >= 6 else 0
    )
    size = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = syscall(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(ruleset, path)
        syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return known


def _allow(ruleset: int, path: str) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = _READ_FILE | _EXECUTE | (_READ_DIR if os.path.isdir(path) else 0)
        rule = _PathBeneath(rights, place)
        syscall(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(place)
