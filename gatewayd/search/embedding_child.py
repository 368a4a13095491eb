"""The model in a child process: it needs a hundred megabytes that an idle daemon must not take.

The child is started with the first text, ends when nobody has asked for some minutes, and is started anew where it
died. Texts of several who ask are embedded one after the other.
"""

import contextlib
import subprocess
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec
import trio

from gatewayd.isolation.frames import FramesBroken, FrameStream
from gatewayd.isolation.starting import Entry, command
from gatewayd.search.embedding import LOCAL_DIMENSIONS, LOCAL_MODEL, EmbeddingUnavailable
from gatewayd.search.embedding_frames import LARGEST, Answer, Question, framed

ENTRY: Final = Entry("embed-texts", "gatewayd.search.embedding_worker")
IDLE_SECONDS: Final = 300.0  # Chosen: how long the child is kept when nobody asks
START_SECONDS: Final = 60.0  # Chosen: on a machine that is busy
_QUIET: Final = MappingProxyType({"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"})


class ChildEmbedder:
    """Vectors of the model that is installed with the program. `run` keeps the child for its length.

    `environ` is what the child gets of the environment: nothing, but for a program that unpacked itself.
    """

    model: str | None = LOCAL_MODEL

    def __init__(self, environ: Mapping[str, str] = MappingProxyType({}), idle_seconds: float = IDLE_SECONDS) -> None:
        self._environ = {**environ, **_QUIET}
        self._idle_seconds = idle_seconds
        self._turn = trio.Lock()
        self._child: _Child | None = None
        self._used = trio.Event()
        self._nursery: trio.Nursery | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """End the child when it is idle, and at the end. Runs until cancelled."""
        try:
            async with trio.open_nursery() as self._nursery:
                task_status.started()
                while True:
                    await self._used.wait()
                    self._used = trio.Event()
                    with trio.move_on_after(self._idle_seconds):
                        await self._used.wait()
                        continue
                    async with self._turn:
                        await self._end()
        finally:
            self._nursery = None
            await self._end()

    async def embed(self, texts: Sequence[str], seconds: float) -> list[bytes]:
        """As `Embedder.embed`. Until the model is loaded, which takes some seconds, there are no vectors."""
        with trio.move_on_after(seconds):
            async with self._turn:
                self._used.set()
                child = await self._started()
                try:
                    return await child.ask(list(texts))
                except BaseException:  # what it says next would be the answer to this
                    await self._end()
                    raise
        raise EmbeddingUnavailable(f"the model gave no vectors within {seconds:g} seconds")

    async def _started(self) -> "_Child":
        """The child once its model is loaded. A wait that is given up leaves it to load on."""
        if self._nursery is None:
            raise EmbeddingUnavailable("the engine of search is not running")
        if self._child is None or self._child.has_ended:
            await self._end()
            self._child = await _Child.open(self._environ)
            self._nursery.start_soon(self._child.load)
        await self._child.loaded.wait()
        if self._child.fault:
            raise EmbeddingUnavailable(self._child.fault)
        return self._child

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            with trio.CancelScope(shield=True):  # short: it is killed
                await child.aclose()


class _Child:
    """One process."""

    def __init__(self, process: trio.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._questions, self._answers = process.stdin, process.stdout
        self._frames = FrameStream(self._answers.receive_some, LARGEST)
        self.loaded = trio.Event()
        self.fault = ""

    @classmethod
    async def open(cls, environ: Mapping[str, str]) -> "_Child":
        """Raises `EmbeddingUnavailable`."""
        try:
            process = await trio.lowlevel.open_process(
                _command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(environ),
                cwd="/",
            )
        except OSError as error:
            raise EmbeddingUnavailable(f"what makes vectors cannot be started: {error.strerror}") from error
        return cls(process)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    async def load(self) -> None:
        """Wait until its model is loaded, or say why it is not."""
        try:
            with trio.fail_after(START_SECONDS):
                self.fault = (await self._answer()).fault
        except (EmbeddingUnavailable, trio.TooSlowError) as error:
            self.fault = str(error) or "what makes vectors did not start in time"
            self.kill()
        finally:
            self.loaded.set()

    async def ask(self, texts: list[str]) -> list[bytes]:
        """Raises `EmbeddingUnavailable`."""
        try:
            await self._questions.send_all(framed(Question(texts)))
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise EmbeddingUnavailable("what makes vectors has ended") from error
        vectors = (await self._answer()).vectors
        if [len(vector) for vector in vectors] != [4 * LOCAL_DIMENSIONS] * len(texts):
            raise EmbeddingUnavailable("what makes vectors gave something else")
        return vectors

    def kill(self) -> None:
        """End it without waiting."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def aclose(self) -> None:
        """End it, and wait until it is gone."""
        self.kill()
        await self._process.wait()
        await self._questions.aclose()
        await self._answers.aclose()

    async def _answer(self) -> Answer:
        try:
            body = await self._frames.next()
            if body is None:
                raise EmbeddingUnavailable("what makes vectors has ended")
            return msgspec.msgpack.decode(body, type=Answer)
        except (FramesBroken, msgspec.MsgspecError) as error:
            raise EmbeddingUnavailable("what makes vectors gave something else") from error


def _command() -> list[str]:
    return command(ENTRY, ())
