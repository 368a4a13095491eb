"""Seccomp: which calls of the kernel a process may still make (seccomp(2)). What is not listed fails with EPERM."""

import ctypes
import errno
import os
import platform
from collections.abc import Iterator
from typing import Final, Literal

from gatewayd.isolation.kernel import PR_SET_SECCOMP, prctl

Purpose = Literal["compute", "program"]
"""`compute`: with memory, and what is open already. `program`: also become a program, once its files are allowed."""

_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # linux/audit.h
_X32: Final = 0x40000000  # the second numbering of x86_64
_FILTER: Final = 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # struct seccomp_data

_COMPUTE: Final = {
    # name: its number on x86_64 and on aarch64 (asm/unistd.h); None: not there
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "poll": (7, None),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    "exit": (60, 93),
    "ftruncate": (77, 46),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "futex": (202, 98),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "ppoll": (271, 73),
    "getrandom": (318, 278),
    "rseq": (334, 293),
}
_PROGRAM: Final = {
    "stat": (4, None),
    "lstat": (6, None),
    "access": (21, None),
    "execve": (59, 221),
    "uname": (63, 160),
    "fcntl": (72, 25),
    "getcwd": (79, 17),
    "readlink": (89, None),
    "getrlimit": (97, 163),
    "sysinfo": (99, 179),
    "arch_prctl": (158, None),
    "sched_getaffinity": (204, 123),
    "getdents64": (217, 61),
    "set_tid_address": (218, 96),
    "openat": (257, 56),
    "newfstatat": (262, 79),
    "readlinkat": (267, 78),
    "faccessat": (269, 48),
    "set_robust_list": (273, 99),
    "prlimit64": (302, 261),
    "statx": (332, 291),
    "faccessat2": (439, 439),
}
_TGKILL: Final = (234, 131)
"""To end oneself, as abort(3) does."""
_CLONE, _CLONE3 = (56, 220), (435, 435)
"""Threads and processes: answered as by a system that has none, since libraries then do all on the thread they have."""


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def restrict(purpose: Purpose) -> None:
    """From now on make the calls of that purpose alone. The process gains no privileges any more before it.

    Raises `OSError` where the kernel has no filters or is of a machine that is not known.
    """
    instructions = list(_filter(purpose, platform.machine()))
    array = (_Instruction * len(instructions))(*instructions)
    prctl(PR_SET_SECCOMP, _FILTER, ctypes.byref(_Program(len(instructions), array)))


def _filter(purpose: Purpose, machine: str) -> Iterator[_Instruction]:
    if machine not in _ARCHITECTURES:
        raise OSError(errno.EOPNOTSUPP, f"the calls of {machine} are not known")
    column = list(_ARCHITECTURES).index(machine)
    yield _Instruction(_LOAD, 0, 0, _ARCHITECTURE)
    yield _Instruction(_EQUAL, 1, 0, _ARCHITECTURES[machine])
    yield _Instruction(_RETURN, 0, 0, _KILL_PROCESS)
    yield _Instruction(_LOAD, 0, 0, _NUMBER)
    yield _Instruction(_AT_LEAST, 0, 1, _X32)
    yield _Instruction(_RETURN, 0, 0, _ERRNO | errno.EPERM)
    for numbers in (_COMPUTE if purpose == "compute" else _COMPUTE | _PROGRAM).values():
        if (number := numbers[column]) is not None:
            yield _Instruction(_EQUAL, 0, 1, number)
            yield _Instruction(_RETURN, 0, 0, _ALLOW)
    for numbers in (_CLONE, _CLONE3):
        yield _Instruction(_EQUAL, 0, 1, numbers[column])
        yield _Instruction(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)
    yield _Instruction(_EQUAL, 0, 3, _TGKILL[column])
    yield _Instruction(_LOAD, 0, 0, _FIRST_ARGUMENT)
    yield _Instruction(_EQUAL, 0, 1, os.getpid())
    yield _Instruction(_RETURN, 0, 0, _ALLOW)
    yield _Instruction(_RETURN, 0, 0, _ERRNO | errno.EPERM)
