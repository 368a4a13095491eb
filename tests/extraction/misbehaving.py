"""The child that reads documents, with a reader in it that does what the document says; all around it is real."""

import ctypes
import os
import select
import socket
from collections.abc import Callable
from typing import BinaryIO, Final

from msgspec import msgpack

from gatewayd.extraction import worker
from gatewayd.extraction.answers import PageRead
from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.reading import ReadPages
from gatewayd.extraction.recognition import Recognition
from gatewayd.extraction.shapes import Page
from gatewayd.isolation.frames import framed
from gatewayd.isolation.starting import Entry

ENTRY: Final = Entry("misbehaving", "tests.extraction.misbehaving")
WITH_COMPANION: Final = b"%PDF-"
"""What a document begins with so that a companion is started for it."""


def main(idle_seconds: str, layer: str) -> None:
    """Be the template."""
    for name, value in (("IDLE_SECONDS", float(idle_seconds)), ("Reading", Misbehaving)):
        setattr(worker, name, value)
    worker.main(layer)


class Misbehaving:
    """In the place of a parser, after everything was given up."""

    def __init__(self, bounds: Bounds, recognition: Recognition) -> None:
        self._recognition = recognition  # else its companion ends

    def read(self, stream: BinaryIO, name: str, mime_type: str) -> ReadPages:
        words = stream.read().removeprefix(WITH_COMPANION).decode().split()
        said = [_DEEDS[words[0]](words[1:])]
        return ReadPages("misbehaving", said, said, None, is_cut=False, einvoice=None)


def _hang(words: list[str]) -> str:
    while True:
        select.poll().poll()


def _allocate(words: list[str]) -> str:
    taken = []
    while True:
        taken.append(bytearray(32 << 20))


def _allocate_in_c(words: list[str]) -> str:
    """As a library does that gives up by abort(3), having touched what it took."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while taken := libc.malloc(16 << 20):
        ctypes.memset(taken, 1, 16 << 20)
    os.abort()


def _talk(words: list[str]) -> str:
    """Frames without end, each of which is well formed."""
    page = msgpack.encode(PageRead(Page(number=1, text="x" * 60_000)))
    while True:
        os.write(1, framed(page))


def _garble(words: list[str]) -> str:
    os.write(1, framed(b"\xc1 no answer"))
    return "said"


def _cut(words: list[str]) -> str:
    os.write(1, b"\0\0\1\0 half a frame")
    os._exit(0)


def _probe(words: list[str]) -> str:
    """What can be done of all that is tried; the words are paths."""
    attempts: dict[str, Callable[[], object]] = {
        **{f"open {path}": lambda path=path: os.open(path, os.O_RDONLY) for path in words},  # type: ignore[misc]
        "create": lambda: os.open("/tmp/by-a-reader", os.O_CREAT | os.O_WRONLY),
        "list": lambda: os.listdir("/"),
        "reopen its document": lambda: os.open("/proc/self/fd/0", os.O_RDONLY),
        "write to its document": lambda: os.write(0, b"x"),
        "a further descriptor": lambda: os.dup(0),
        "an inherited descriptor": lambda: [os.fstat(number) for number in (3,)],
        "a socket": socket.socket,
        "a unix socket": lambda: socket.socket(socket.AF_UNIX),
        "a pair": socket.socketpair,
        "exec": lambda: os.execv("/bin/true", ["true"]),
        "exec tesseract": lambda: os.execv("/usr/bin/tesseract", ["tesseract"]),
        "fork": os.fork,
        "signal its template": lambda: os.kill(os.getppid(), 0),
        "a session of its own": os.setsid,
        "more memory": lambda: bytearray(1 << 31),
    }
    done = [name for name, attempt in attempts.items() if _could(attempt)]
    given = os.environ.keys() - {"LC_CTYPE"}  # which Python gives itself
    return "\n".join(["tried", *done, *(f"environment {name}" for name in given)])


def _could(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, MemoryError):
        return False
    return True


def _crash(words: list[str]) -> str:
    return str(ctypes.string_at(0))


def _leave(words: list[str]) -> str:
    os._exit(0)


def _say(words: list[str]) -> str:
    return " ".join(words)


_DEEDS: Final[dict[str, Callable[[list[str]], str]]] = {
    "hang": _hang,
    "allocate": _allocate,
    "allocate-in-C": _allocate_in_c,
    "talk": _talk,
    "garble": _garble,
    "cut": _cut,
    "probe": _probe,
    "crash": _crash,
    "leave": _leave,
    "say": _say,
}
