"""The template: a process that has loaded what children need, and becomes one of them for each request.

It reads no file of a stranger, has no secret and no descriptor of the store, and one thread. Its parent sends a request
with descriptors over a socket; the end of that socket is its own end. The child of a request has the request's file as
standard input, says its frames on standard output, and its complaints on standard error. A second socket stands for
its life: when the parent closes it, the child and what it started are killed; when the child ends, it tells how.
"""

import contextlib
import fcntl
import gc
import os
import resource
import selectors
import signal
import socket
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from gatewayd.isolation import kernel

REQUEST_BYTES: Final = 64 * 1024
COMPLAINT_BYTES: Final = 4096
FILES: Final = 4  # descriptors of a request: frames, life, the file, and one that may be written to
_OUT_OF_THE_WAY: Final = 64

Work = Callable[[bytes], None]
"""What a child does with its request. It ends the child by returning."""


class Ending(NamedTuple):
    """How a child ended. `code` is as `subprocess` has it: negative for a signal. `complaint`: its last line."""

    code: int
    peak_bytes: int
    complaint: str


class Ready(NamedTuple):
    """The first thing a template says."""

    layers: list[str]


class _Child(NamedTuple):
    life: socket.socket
    complaints: int


class Template:
    """The process, once it has loaded everything."""

    def __init__(self, control: socket.socket, work: Work, idle_seconds: float) -> None:
        self._control = control
        self._work = work
        self._idle_seconds = idle_seconds
        self._is_asked = False
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, _Child] = {}

    def run(self, ready: Ready) -> None:
        """Serve until the parent is gone, or nothing was asked for a while after the first request.

        The first request is sure to come: whoever starts a template has one to send, and must find it running.
        """
        with contextlib.closing(_Wake()) as wake:
            self._selector.register(self._control, selectors.EVENT_READ, self._take)
            self._selector.register(wake.descriptor, selectors.EVENT_READ, lambda: self._reap(wake))
            gc.collect()
            gc.freeze()  # what is loaded stays in pages that children share
            self._control.send(msgspec.json.encode(ready))
            _say_nothing_more()
            while True:
                waits = bool(self._children) or not self._is_asked
                events = self._selector.select(None if waits else self._idle_seconds)
                if not events and not self._children:
                    return
                for key, _ in events:
                    if key.data() is False:
                        return

    def _take(self) -> bool:
        """Start the child of a request; False when there is no parent any more."""
        try:
            request, files, _, _ = socket.recv_fds(self._control, REQUEST_BYTES, FILES, socket.MSG_CMSG_CLOEXEC)
        except ConnectionError:
            request, files = b"", []
        if not request:
            for pid in self._children:
                _kill(pid)
            return False
        self._is_asked = True
        frames, life, *rest = files
        heard, complaints = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError:  # no memory or no processes left: its life ends before it began, and the parent sees that
            for file in (*files, heard, complaints):
                os.close(file)
            return True
        if pid == 0:
            _be_child(self._work, request, [rest[0], frames, complaints, *rest[1:]], parent)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # as it does itself: whoever is first
        for file in (frames, complaints, *rest):
            os.close(file)
        child = self._children[pid] = _Child(socket.socket(fileno=life), heard)
        self._selector.register(child.life, selectors.EVENT_READ, lambda: self._give_up(pid))
        return True

    def _give_up(self, pid: int) -> None:
        """The parent does not want it any more; how it ends is told all the same."""
        self._selector.unregister(self._children[pid].life)
        _kill(pid)

    def _reap(self, wake: "_Wake") -> None:
        """Tell of all children that have ended, after what they started was killed."""
        wake.clear()
        while self._children and (over := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            _kill(over.si_pid)
            _, status, used = os.wait4(over.si_pid, 0)
            child = self._children.pop(over.si_pid)
            with contextlib.suppress(KeyError):  # given up before
                self._selector.unregister(child.life)
            ending = Ending(os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024, _complaint(child.complaints))
            with contextlib.suppress(OSError):
                child.life.send(msgspec.json.encode(ending))
            child.life.close()


def serve(work: Work, idle_seconds: float, *, bubblewrap: bool) -> None:
    """Be the template whose control is standard input. `bubblewrap`: it runs in one, which has done the rest."""
    for number in (signal.SIGINT, signal.SIGTERM):  # its parent's alone, which still drains: it ends with its control
        signal.signal(number, signal.SIG_IGN)
    layers = ["bubblewrap"] if bubblewrap else []
    if not bubblewrap:
        with contextlib.suppress(OSError):
            kernel.leave_network()
            layers.append("no network")
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    with socket.socket(fileno=os.dup(0)) as control:
        os.set_inheritable(control.fileno(), False)
        Template(control, work, idle_seconds).run(Ready(layers))


class _Wake:
    """A descriptor that can be read when a child has ended."""

    def __init__(self) -> None:
        self.descriptor, self._end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(self._end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self.descriptor, 4096)

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        os.close(self.descriptor)
        os.close(self._end)


def _be_child(work: Work, request: bytes, files: list[int], parent: int) -> None:
    """Never returns. `files` become the descriptors from 0 on, and there are no others."""
    code = 1
    try:
        os.setpgid(0, 0)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        moved = [fcntl.fcntl(file, fcntl.F_DUPFD, _OUT_OF_THE_WAY) for file in files]
        for number, file in enumerate(moved):
            os.dup2(file, number)
        os.closerange(len(moved), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        if os.getppid() == parent:
            work(request)
            code = 0
    except BaseException as error:  # told on standard error, and then the process is over: nothing is swallowed
        os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace")[-COMPLAINT_BYTES:])
        raise
    finally:
        os._exit(code)


def _say_nothing_more() -> None:
    """From now on faults are told as endings: nobody reads standard error any more."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


def _kill(pid: int) -> None:
    """End a child that was not waited for yet, so that its group cannot be another one's."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _complaint(heard: int) -> str:
    """The last line of what a child complained of, behind which Rust notes how to learn more."""
    try:
        said = os.read(heard, COMPLAINT_BYTES)
    except BlockingIOError:
        said = b""
    finally:
        os.close(heard)
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip() and line[:6] != "note: "]
    return lines[-1].strip()[:200] if lines else ""
