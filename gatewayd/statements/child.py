"""A stranger's file is read apart: in a child process with limits, a clean environment and a deadline."""

import functools
import math
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec
import trio

from gatewayd.isolation.frames import FramesBroken, FramesLate, FrameStream
from gatewayd.isolation.starting import NOTHING, Ends, command, start, unpacked_of
from gatewayd.statements import ENTRY
from gatewayd.statements.frames import Failure, Frame, largest_frame, unframed
from gatewayd.statements.shapes import Hints, Part, Unreadable

_CPU_SECONDS: Final = 600
_DEADLINE_SECONDS: Final = 3_600.0  # Chosen: it computes only while the machine has nothing else to do
_COMPLAINT = 4096


def reader_of(environ: Mapping[str, str]) -> Callable[[Path, Hints], AsyncIterator[list[Part]]]:
    """`read_apart` of a program with this environment: one that unpacked itself is not unpacked again for each file."""
    return functools.partial(read_apart, unpacked=unpacked_of(environ))


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
    told = [msgspec.json.encode(hints).decode(), str(math.ceil(min(deadline_seconds, _CPU_SECONDS)))]
    with path.open("rb") as file:
        return await start(command(ENTRY, told), Ends(file), unpacked)


class _Frames:
    """The frames of a child."""

    def __init__(self, process: trio.Process, hints: Hints, deadline_seconds: float) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._stream, self._complaints = process.stdout, process.stderr
        self._deadline = deadline_seconds
        self._bodies = FrameStream(self._stream.receive_some, largest_frame(hints.limits), deadline_seconds)

    async def next(self) -> Frame | None:
        """The next frame; None when there are no more. Raises `Unreadable` past the deadline."""
        try:
            body = await self._bodies.next()
            return None if body is None else unframed(body)
        except FramesLate as error:
            raise Unreadable(None, f"reading it takes longer than {self._deadline:g} seconds") from error
        except FramesBroken as error:
            raise await self._fault() from error
        except msgspec.DecodeError as error:
            raise Unreadable(None, "what the reader of statements found is no statement") from error

    async def check_end(self) -> None:
        """Raises `Unreadable` when the child did not come to the end of the file."""
        if await self._process.wait() != 0:
            raise await self._fault()

    async def aclose(self) -> None:
        """Close both ends of the child."""
        await self._stream.aclose()
        await self._complaints.aclose()

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
