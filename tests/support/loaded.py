"""Processes of Python that begin with the whole program loaded, and are else what `python -m ...` is.

To start an interpreter and import the program takes half a second of a processor, and the tests do so hundreds of
times; what `tests.support.forking` forks is there at once. What is about the start itself or about memory takes
`subprocess`.
"""

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tests.support.forking import NUMBER, Order

ROOT = Path(__file__).parents[2]


class Program:
    """A running process, used as a `subprocess.Popen` of text is."""

    def __init__(self, arguments: Sequence[str], told: int, pipes: Sequence[IO[str] | None]) -> None:
        self.args = arguments
        self.stdin, self.stdout, self.stderr = pipes
        self.returncode: int | None = None
        self._told = told
        self.pid = self._number()

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; answers the exit status. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None and not select.select([self._told], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
        return self._end()

    def send_signal(self, number: int) -> None:
        """Nothing, once it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        self.wait()

    def _end(self) -> int:
        if self.returncode is None:
            self.returncode = self._number()
            os.close(self._told)
        return self.returncode

    def _number(self) -> int:
        """What is told next. Raises `struct.error` where nobody is left to tell it."""
        number: int = NUMBER.unpack(os.read(self._told, NUMBER.size))[0]
        return number


def start(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: int | IO[Any] = subprocess.DEVNULL,
    stdout: int | IO[Any] = subprocess.DEVNULL,
    stderr: int | IO[Any] = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
) -> Program:
    """As `subprocess.Popen([sys.executable, *arguments], ...)` in the root of the source.

    `arguments` begin with `-m` or `-c`.
    """
    assert not any(name.startswith("PYTHON") for name in env), "an interpreter reads them when it starts"
    with contextlib.ExitStack() as theirs:
        told, telling = os.pipe()
        theirs.callback(os.close, telling)
        streams, pipes = zip(
            _stream(theirs, stdin, "w"), _stream(theirs, stdout, "r"), _stream(theirs, stderr, "r"), strict=True
        )
        order = Order(list(arguments), dict(env), str(ROOT), [0, 1, 2, *pass_fds])
        socket.send_fds(_loaded(), [json.dumps(order).encode()], [telling, *streams, *pass_fds])
        return Program(arguments, told, pipes)


def start_anew(arguments: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
    """The same with an interpreter that begins with nothing loaded."""
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, text=True, bufsize=1, **({"stdin": subprocess.DEVNULL} | options)
    )


def run(
    arguments: Sequence[str], *, env: Mapping[str, str], timeout: float, given: str = ""
) -> "subprocess.CompletedProcess[str]":
    """As `subprocess.run([sys.executable, *arguments], input=given, capture_output=True, ...)`."""
    with contextlib.ExitStack() as files:
        stdin, stdout, stderr = (files.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8")) for _ in range(3))
        stdin.write(given)
        stdin.seek(0)
        process = start(arguments, env=env, stdin=stdin, stdout=stdout, stderr=stderr)
        try:
            ended = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(process.args, ended, stdout.read(), stderr.read())


def _stream(theirs: contextlib.ExitStack, wanted: int | IO[Any], mode: str) -> tuple[int, IO[str] | None]:
    """The descriptor that the process gets, and our end of the pipe where it is one."""
    if wanted == subprocess.DEVNULL:
        nothing = os.open(os.devnull, os.O_RDWR)
        theirs.callback(os.close, nothing)
        return nothing, None
    if wanted == subprocess.PIPE:
        reads, writes = os.pipe()
        its, ours = (reads, writes) if mode == "w" else (writes, reads)
        theirs.callback(os.close, its)
        return its, open(ours, mode, encoding="utf-8", buffering=1)
    return wanted if isinstance(wanted, int) else wanted.fileno(), None


@functools.cache
def _loaded() -> socket.socket:
    """Where orders go: one for all tests of this process, which ends with it."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.forking", str(its.fileno())],
        env={"PATH": os.defpath, "HOME": "/nonexistent", "LANG": "C.UTF-8"},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        pass_fds=[its.fileno()],
    )
    its.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
