"""Where lines leave the process: at once, for a command, or through a queue and a thread, for what serves others.

A pipe that nobody reads holds up whoever writes to it, for ever. So the daemon's own thread is the one that writes:
everybody else puts lines in a queue that has an end, and what does not fit is dropped and counted. The thread writes to
the descriptor itself: a stream has a lock, and a thread that was stuck under it would not let the interpreter end.
"""

import contextlib
import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TextIO

from gatewayd.logs.redaction import without_secret_texts

FLUSH_LINES: Final = 256  # Chosen: about 64 KiB, written without waiting for the second to end
FLUSH_SECONDS: Final = 1.0
WAITING_LINES_MAX: Final = 4_096  # Chosen: what may gather while a stream blocks, about 1 MiB; more is dropped
WAITING_CHARACTERS_MAX: Final = 1 << 20  # Chosen: of events, whose lines may hold tracebacks

Rendering = Callable[[], bytes]
"""Makes a line, with its end, on the thread that writes it: many at a time cost a third of one at a time."""
_Waiting = str | Rendering


class LineWriter:
    """Whole lines to a stream at once, from any thread. `dropped` counts lines that it refused."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.dropped = 0

    def write(self, line: str) -> None:
        with self._lock:
            if not _written(self._stream, without_secret_texts(line) + "\n"):
                self.dropped += 1

    debug = info = warning = error = critical = write


class LogWriter:
    """The thread that writes all lines of one daemon, in the order they came, at the latest a second later.

    `tell_dropped` makes the line that says how many were lost, which is written as soon as lines can be again. What
    comes before `start` waits for it; what comes after `close` is lost.
    """

    def __init__(self, stream: TextIO, tell_dropped: Callable[[int], str]) -> None:
        self._stream = stream
        self._tell_dropped = tell_dropped
        self._waiting: deque[_Waiting] = deque()
        # Of what `write` counts, which any thread may call, and a finalizer in the midst of it.
        self._lock = threading.RLock()
        self._characters = 0
        self._lost_events = self._lost_renderings = self._lost_writing = self._told = 0
        self._torn = False
        self._asleep = threading.Lock()  # held, but for when there is something to do
        self._asleep.acquire()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="gatewayd-log", daemon=True)

    @property
    def dropped(self) -> int:
        """How many lines were lost so far: too many waited, or the stream refused them."""
        return self._lost_events + self._lost_renderings + self._lost_writing

    def write(self, line: str) -> None:
        """Queue an event's line, without its end. From any thread."""
        with self._lock:
            waiting, characters = len(self._waiting), self._characters + len(line)
            full = waiting >= WAITING_LINES_MAX or (waiting and characters > WAITING_CHARACTERS_MAX)
            if full or self._closing:
                self._lost_events += 1
                return
            self._characters = characters
            self._waiting.append(line)
        self._wake()

    debug = info = warning = error = critical = write

    def add(self, rendering: Rendering) -> None:
        """Queue a line that is made when it is written. From one thread alone, the event loop's."""
        waiting = self._waiting
        count = len(waiting)
        if count >= WAITING_LINES_MAX or self._closing:
            self._lost_renderings += 1
            return
        waiting.append(rendering)
        if count == FLUSH_LINES - 1:
            self._wake()

    def start(self) -> None:
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Write what waits and end the thread. It blocks, so long at most: call it off the event loop.

        A thread that is still stuck then is left behind: it holds nothing that others need.
        """
        self._closing = True
        self._wake()
        if self._thread.ident is None:
            self._write_waiting()
        else:
            self._thread.join(seconds)

    def _wake(self) -> None:
        """Let the thread look. Not an `Event`, whose lock a finalizer would wait for that its own thread holds."""
        with contextlib.suppress(RuntimeError):  # it was woken already
            self._asleep.release()

    def _run(self) -> None:
        closing = False
        while not closing:
            self._asleep.acquire(timeout=FLUSH_SECONDS)
            closing = self._closing  # before the look: what was queued until then is written
            self._write_waiting()

    def _write_waiting(self) -> None:
        with self._lock:
            taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
            self._characters = 0
        if not taken:
            return
        lines = [_line(each) for each in taken]
        lost = self.dropped
        if lost != self._told:
            lines.append(_line(self._tell_dropped(lost - self._told)))
        unwritten = self._write_out(b"".join(lines))
        self._lost_writing += min(unwritten, len(taken))
        if not unwritten:
            self._told = lost

    def _write_out(self, data: bytes) -> int:
        """How many lines could not be written whole."""
        try:
            descriptor = self._stream.fileno()
        except (OSError, ValueError):  # a stream in memory, or one that was closed
            return 0 if _written(self._stream, data.decode()) else data.count(b"\n")
        data = b"\n" + data if self._torn else data  # what a full disk cut off ends with its own line
        done = 0
        try:
            while done < len(data):
                done += _write_some(descriptor, memoryview(data)[done:])
        except OSError:  # disk full, pipe closed
            self._torn = data[done - 1 : done] != b"\n" if done else self._torn
            return max(1, data.count(b"\n", done))
        self._torn = False
        return 0


def _line(waiting: _Waiting) -> bytes:
    if isinstance(waiting, str):
        return without_secret_texts(waiting).encode("utf-8", "backslashreplace") + b"\n"
    return waiting()


def _write_some(descriptor: int, data: memoryview) -> int:
    try:
        return os.write(descriptor, data)  # may last: this thread does nothing else
    except BlockingIOError:  # somebody who has the same file open made it non-blocking
        select.select([], [descriptor], [])
        return 0


def _written(stream: TextIO, text: str) -> bool:
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):  # disk full, pipe closed; ValueError: the stream itself was closed
        return False
    return True
