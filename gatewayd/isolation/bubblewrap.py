"""bubblewrap: a process sees what it needs of the files, and no network (bwrap(1)). It is optional."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import gatewayd

_SYSTEM: Final = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")


def wrapped(command: Sequence[str]) -> list[str] | None:
    """The command in a bubblewrap; None where there is none. Whether it may be used shows when it is started.

    `--die-with-parent` is not for us: it would end with the thread that started it.
    """
    program = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if program is None:
        return None
    apart = ["--unshare-user-try", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    return [program, *apart, "--cap-drop", "ALL", "--dev", "/dev", *_bound(), "--chdir", "/", *command]


def _bound() -> Iterator[str]:
    """What the program is made of, and the libraries of the system; to read alone."""
    places = {Path(place) for place in _SYSTEM}
    places |= {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable), Path(gatewayd.__file__).parent}
    places |= {
        Path(unpacked) for unpacked in (getattr(sys, "_MEIPASS", None),) if unpacked
    }  # where PyInstaller unpacked it
    places |= {place.resolve() for place in places}
    for place in sorted(places - {Path("/")}):
        if places.isdisjoint(place.parents):  # else it is there with what holds it
            yield from ("--ro-bind-try", str(place), str(place))
