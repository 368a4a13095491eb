"""What a process gives up before it looks at a stranger's file, and cannot take back."""

import contextlib
import resource
from collections.abc import Iterator

from msgspec import Struct

from gatewayd.isolation import kernel, landlock, seccomp
from gatewayd.isolation.seccomp import Purpose


class Confinement(Struct, frozen=True, kw_only=True):
    """What is left. `open_files`: how many descriptors, so as many as are open already leave no further one.

    `file_bytes`: how long a file may become that is written to. `readable`: what a program and what it loads lie below.
    """

    memory_bytes: int
    cpu_seconds: int
    open_files: int = 3
    file_bytes: int = 0
    purpose: Purpose = "compute"
    readable: tuple[str, ...] = ()


def confine(confinement: Confinement) -> list[str]:
    """Give up everything else. Returns the layers that hold, as `doctor` names them.

    Limits and the end of privileges are there on every Linux; what else the kernel does not have is left out, and each
    of the others holds without it.
    """
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    return [*_optional(confinement)]


def _optional(confinement: Confinement) -> Iterator[str]:
    """In this order: landlock opens the paths it allows, and the filter of calls takes the other calls away."""
    with contextlib.suppress(OSError, KeyError):
        kernel.drop_capabilities()
        yield "no capabilities"
    with contextlib.suppress(OSError):
        yield f"landlock {landlock.restrict(confinement.readable)}"
    _limit(confinement)
    yield "resource limits"
    with contextlib.suppress(OSError):
        seccomp.restrict(confinement.purpose)
        yield "seccomp"


def _limit(confinement: Confinement) -> None:
    """No more memory than that, no new files, no processes, no core. A second past its time the kernel ends it."""
    cpu = confinement.cpu_seconds
    for which, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_NOFILE, confinement.open_files, confinement.open_files),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_FSIZE, confinement.file_bytes, confinement.file_bytes),
        (resource.RLIMIT_AS, confinement.memory_bytes, confinement.memory_bytes),
    ):
        resource.setrlimit(which, (soft, hard))
