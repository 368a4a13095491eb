"""Calls of the kernel that Python has no function for. Each raises `OSError` as `os` does."""

import ctypes
import os
import platform
from typing import Final

LIBC: Final = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG: Final = 1  # prctl(2)
PR_SET_DUMPABLE: Final = 4
PR_SET_SECCOMP: Final = 22
PR_SET_NO_NEW_PRIVS: Final = 38
_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x08000000, 0x10000000, 0x40000000  # unshare(2)
_CAPSET: Final = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3: Final = 0x20080522  # capset(2)


def checked(result: int) -> int:
    """The result of a call; raises `OSError` where it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def prctl(option: int, value: int, more: object = 0) -> None:
    """prctl(2)."""
    long = ctypes.c_ulong
    checked(LIBC.prctl(option, long(value), more if more else long(0), long(0), long(0)))


def syscall(number: int, *arguments: object) -> int:
    """A call by its number, for which the C library has no name."""
    return checked(LIBC.syscall(ctypes.c_long(number), *arguments))


def leave_network() -> None:
    """Be alone in a network, which has no interface that is up; raises `OSError` where that is not allowed.

    A process that is not root becomes the only one of a new space of users first. It has one thread.
    """
    spaces = _CLONE_NEWNET | _CLONE_NEWIPC
    checked(LIBC.unshare(spaces if os.geteuid() == 0 else spaces | _CLONE_NEWUSER))


def drop_capabilities() -> None:
    """Have no capability, as root too."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    syscall(_CAPSET[platform.machine()], header, (ctypes.c_uint32 * 6)())
