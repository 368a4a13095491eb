"""A stranger's file is read apart: in a child process with limits, a clean environment and a deadline."""

import functools
import math
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec
import trio

from gatewayd.statements import ENTRY
from gatewayd.statements.frames import LENGTH_BYTES, Failure, Frame, largest_frame, unframed
from gatewayd.statements.shapes import Hints, Part, Unreadable

_BOOT = """import sys
sys.path[:] = sys.argv[3:]
from gatewayd.statements.worker import main
main(sys.argv[1], int(sys.argv[2]))
"""
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_UNPACKED = "_PYI_"  # names of variables by which PyInstaller tells a child of the same program
_CHUNK = 64 * 1024
_CPU_SECONDS: Final = 600
_DEADLINE_SECONDS: Final = 3_600.0  # Chosen: it computes only while the machine has nothing else to do
_COMPLAINT = 4096


def reader_of(environ: Mapping[str, str]) -> Callable[[Path, Hints], AsyncIterator[list[Part]]]:
    """`read_apart` of a program with this environment: one that unpacked itself is not unpacked again for each file."""
    unpacked = {name: value for name, value in environ.items() if name.startswith(_UNPACKED)}
    return functools.partial(read_apart, unpacked=unpacked)


async def read_apart(
    path: Path, hints: Hints, *, deadline_seconds: float = _DEADLINE_SECONDS, unpacked: Mapping[str, str] = NOTHING
) -> AsyncIterator[list[Part]]:
    """The parts of a file in batches of about 500. Wrap it in `contextlib.aclosing`, which ends the child.

    `deadline_seconds` is how long the child may take altogether; the time between batches does not count. It may
    compute for ten minutes of them.
    Raises `Unreadable` as `read` does, also after batches, and for a child that dies, or needs more memory or time
    than it has.
    """
    process = await _started(path, hints, deadline_seconds, unpacked)
    frames = _Frames(process, hints, deadline_seconds)
    try:
        while (frame := await frames.next()) is not None:
            if isinstance(frame, Failure):
                raise Unreadable(frame.line, frame.reason, frame.proposal)
            if frame.parts:
                yield frame.parts
        await frames.check_end()
    finally:
        process.kill()
        with trio.CancelScope(shield=True):  # short: it is dead
            await process.wait()
            await frames.aclose()


async def _started(path: Path, hints: Hints, deadline_seconds: float, unpacked: Mapping[str, str]) -> trio.Process:
    """The child, without the environment of this process."""
    told = [msgspec.json.encode(hints).decode(), str(math.ceil(min(deadline_seconds, _CPU_SECONDS)))]
    command = [sys.executable, ENTRY, *told] if _is_one_file() else _from_modules(told)
    with path.open("rb") as file:
        return await trio.lowlevel.open_process(
            command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=unpacked, cwd="/"
        )


def _is_one_file() -> bool:
    return bool(getattr(sys, "frozen", False))  # as PyInstaller and its like say it


def _from_modules(told: list[str]) -> list[str]:
    """This interpreter on the modules of this process, but for those of the folder where it happens to be."""
    places = [str(Path(place).absolute()) for place in sys.path if place]
    return [sys.executable, "-I", "-S", "-c", _BOOT, *told, *places]


class _Frames:
    """The frames of a child. `_left` is how many seconds it has still to answer."""

    def __init__(self, process: trio.Process, hints: Hints, deadline_seconds: float) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._stream, self._complaints = process.stdout, process.stderr
        self._largest = largest_frame(hints.limits)
        self._deadline, self._left = deadline_seconds, deadline_seconds
        self._buffer = bytearray()

    async def next(self) -> Frame | None:
        """The next frame; None when there are no more. Raises `Unreadable` past the deadline."""
        if not await self._filled(LENGTH_BYTES):
            return None
        length = int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
        if length > self._largest or not await self._filled(LENGTH_BYTES + length):
            raise await self._fault()
        try:
            frame = unframed(bytes(self._buffer[LENGTH_BYTES : LENGTH_BYTES + length]))
        except msgspec.DecodeError as error:
            raise Unreadable(None, "what the reader of statements found is no statement") from error
        del self._buffer[: LENGTH_BYTES + length]
        return frame

    async def check_end(self) -> None:
        """Raises `Unreadable` when the child did not come to the end of the file."""
        if self._buffer or await self._process.wait() != 0:
            raise await self._fault()

    async def aclose(self) -> None:
        """Close both ends of the child."""
        await self._stream.aclose()
        await self._complaints.aclose()

    async def _filled(self, size: int) -> bool:
        """Wait until that many bytes are there; False when the child says no more."""
        while len(self._buffer) < size:
            began = trio.current_time()
            with trio.move_on_after(self._left) as scope:
                chunk = await self._stream.receive_some(_CHUNK)
            self._left -= trio.current_time() - began
            if scope.cancelled_caught:
                raise Unreadable(None, f"reading it takes longer than {self._deadline:g} seconds")
            if not chunk:
                return False
            self._buffer += chunk
        return True

    async def _fault(self) -> Unreadable:
        """What ended the child before its end: the kernel, or a fault of ours."""
        self._process.kill()
        complaint = bytearray()
        while len(complaint) < _COMPLAINT and (chunk := await self._complaints.receive_some(_COMPLAINT)):
            complaint += chunk
        code = await self._process.wait()
        last = complaint.decode(errors="replace").strip().rpartition("\n")[2][:200]
        if "MemoryError" in last or "cannot allocate" in last.lower():
            return Unreadable(None, "reading it takes more memory than it may have")
        return Unreadable(None, f"the reader of statements ended before the file did ({last or f'code {code}'})")
