"""How a child of this program is started: its interpreter, its modules, and nothing of the environment."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final, NamedTuple

import trio

_BOOT = """import importlib, sys
end = 3 + int(sys.argv[2])
sys.path[:] = sys.argv[end:]
importlib.import_module(sys.argv[1]).main(*sys.argv[3:end])
"""
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_UNPACKED = "_PYI_"  # names of variables by which PyInstaller tells a child of the same program


class Entry(NamedTuple):
    """What a child does: `main` of `module`, with texts. `name` is its first argument in a program of one file,
    which has no interpreter beside it."""

    name: str
    module: str


class Ends(NamedTuple):
    """The standard streams of a child."""

    stdin: int | IO[bytes]
    stdout: int = subprocess.PIPE
    stderr: int = subprocess.PIPE


def unpacked_of(environ: Mapping[str, str]) -> Mapping[str, str]:
    """What a child of this program is told: one that unpacked itself is not unpacked again for each child."""
    return {name: value for name, value in environ.items() if name.startswith(_UNPACKED)}


def command(entry: Entry, arguments: Sequence[str]) -> list[str]:
    """The interpreter on the modules of this process, but for those of the folder where it happens to be."""
    if is_one_file():
        return [sys.executable, entry.name, *arguments]
    places = [str(Path(place).absolute()) for place in sys.path if place]
    return [sys.executable, "-I", "-S", "-c", _BOOT, entry.module, str(len(arguments)), *arguments, *places]


def is_one_file() -> bool:
    """True for a program that carries its interpreter, as PyInstaller and its like say it."""
    return bool(getattr(sys, "frozen", False))


async def start(command: Sequence[str], ends: Ends, unpacked: Mapping[str, str] = NOTHING) -> trio.Process:
    """A child in a session of its own, so that an interrupt of the terminal is its parent's alone."""
    return await trio.lowlevel.open_process(
        command,
        stdin=ends.stdin,
        stdout=ends.stdout,
        stderr=ends.stderr,
        env=unpacked,
        cwd="/",
        start_new_session=True,
    )
