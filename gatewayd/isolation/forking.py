"""Children that a template makes, one for each request; from the side of the daemon."""

import array
import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

import msgspec
import trio

from gatewayd.isolation.bubblewrap import wrapped
from gatewayd.isolation.starting import NOTHING, Ends, Entry, command, start
from gatewayd.isolation.template import COMPLAINT_BYTES, Ending, Ready

START_SECONDS: Final = 60.0  # Chosen: it loads libraries while others compute
_END_SECONDS: Final = 5.0  # a child that was killed is gone at once, but for what it waits for in the kernel
_MESSAGE_BYTES: Final = 16 * 1024


class TemplateGone(Exception):
    """The template ended before it told how its child did, or cannot be started. Another attempt starts a new one."""


class Child:
    """One child, from its request to its end."""

    def __init__(self, frames: trio.lowlevel.FdStream, life: trio.SocketStream) -> None:
        self.frames = frames
        self._life = life
        self._ending: Ending | None = None

    async def ended(self) -> Ending:
        """How it ended, once it has. Raises `TemplateGone`."""
        if self._ending is None:
            try:
                told = await self._life.receive_some(COMPLAINT_BYTES * 4)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                told = b""
            if not told:
                raise TemplateGone("the process that makes children ended")
            self._ending = msgspec.json.decode(told, type=Ending)
        return self._ending

    async def kill(self) -> None:
        """End it and what it started, and wait until they are gone."""
        gone = contextlib.suppress(TemplateGone, trio.BrokenResourceError, trio.ClosedResourceError)
        with trio.CancelScope(shield=True), gone, trio.move_on_after(_END_SECONDS):
            await self._life.send_eof()
            await self.ended()
        await trio.aclose_forcefully(self._life)
        await trio.aclose_forcefully(self.frames)


class _Running:
    """A template that serves."""

    def __init__(self, process: trio.Process, control: trio.socket.SocketType, ready: Ready) -> None:
        self.process = process
        self.control = control
        self.layers = ready.layers

    async def aclose(self) -> None:
        """It ends with its control, and kills its children before."""
        self.control.close()
        with trio.CancelScope(shield=True), trio.move_on_after(_END_SECONDS):
            await self.process.wait()
        if self.process.returncode is None:
            _kill_session(self.process)


class Forking:
    """Makes children; starts the template with the first of them, and anew when it is gone.

    `unpacked` is the environment of a program that unpacked itself (`starting.unpacked_of`).
    """

    def __init__(self, entry: Entry, arguments: Sequence[str], unpacked: Mapping[str, str] = NOTHING) -> None:
        self._entry, self._arguments, self._unpacked = entry, list(arguments), unpacked
        self._running: _Running | None = None
        self._starting = trio.Lock()
        self._is_wrapped = True

    async def layers(self) -> list[str]:
        """What all children are shut in by. Raises `TemplateGone`."""
        return (await self._template()).layers

    @contextlib.asynccontextmanager
    async def child(self, request: bytes, files: Sequence[int]) -> AsyncIterator[Child]:
        """A child whose standard input is the first of the files; the second, if any, is its descriptor 3.

        It is killed with the end of the block. Raises `TemplateGone`.
        """
        template = await self._template()
        frames, frames_end = os.pipe2(os.O_CLOEXEC)
        life, life_end = socket.socketpair()
        child = Child(trio.lowlevel.FdStream(frames), trio.SocketStream(trio.socket.from_stdlib_socket(life)))
        try:
            descriptors = array.array("i", [frames_end, life_end.fileno(), *files])
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors.tobytes())]
            try:
                await template.control.sendmsg([request], rights)
            except OSError as error:
                await self._discard(template)
                raise TemplateGone(str(error)) from error
            finally:
                os.close(frames_end)
                life_end.close()
            try:
                yield child
            except TemplateGone:
                await self._discard(template)  # it may still be ending, and would take the next request with it
                raise
        finally:
            await child.kill()

    async def aclose(self) -> None:
        """End the template, and with it its children."""
        async with self._starting:
            running, self._running = self._running, None
            if running is not None:
                await running.aclose()

    async def _discard(self, template: _Running) -> None:
        if self._running is template:
            self._running = None
        await template.aclose()

    async def _template(self) -> _Running:
        async with self._starting:
            if self._running is not None and self._running.process.poll() is not None:
                self._running.control.close()
                self._running = None
            if self._running is None:
                self._running = await self._start()
            return self._running

    async def _start(self) -> _Running:
        """In a bubblewrap where that can be, else without one."""
        if self._is_wrapped and (within := wrapped(command(self._entry, [*self._arguments, "bubblewrap"]))):
            try:
                return await self._started(within)
            except TemplateGone:
                self._is_wrapped = False  # not found, or not allowed here
        return await self._started(command(self._entry, [*self._arguments, ""]))

    async def _started(self, told: Sequence[str]) -> _Running:
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours = trio.socket.from_stdlib_socket(control)
        try:
            with theirs:
                ends = Ends(theirs.fileno(), subprocess.DEVNULL, subprocess.PIPE)
                process = await start(told, ends, self._unpacked)
        except OSError as error:
            ours.close()
            raise TemplateGone(str(error)) from error
        try:
            return _Running(process, ours, await _ready(process, ours))
        except BaseException:
            ours.close()
            _kill_session(process)
            with trio.CancelScope(shield=True):
                await process.wait()
            raise


def _kill_session(process: trio.Process) -> None:
    """End a template that was not waited for yet, and the bubblewrap around it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _ready(process: trio.Process, control: trio.socket.SocketType) -> Ready:
    """What the template says first. Raises `TemplateGone`, with its last line, where it ends before."""
    assert process.stderr is not None
    async with process.stderr as complaints:
        with trio.move_on_after(START_SECONDS):
            try:
                if told := await control.recv(_MESSAGE_BYTES):
                    return msgspec.json.decode(told, type=Ready)
            except ConnectionError:
                pass
            said = await complaints.receive_some(_MESSAGE_BYTES)
            raise TemplateGone(said.decode(errors="replace").strip().rpartition("\n")[2][:200])
        raise TemplateGone(f"it was not ready within {START_SECONDS:g} seconds")
