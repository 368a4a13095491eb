"""Sets papers, each in a child process that has the paper and nothing else."""

import contextlib
import functools
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final

import msgspec
from msgspec import Struct, msgpack

from gatewayd.isolation.forking import Forking, TemplateGone
from gatewayd.isolation.frames import FramesBroken, FramesLate, FrameStream
from gatewayd.isolation.starting import NOTHING, Entry, unpacked_of
from gatewayd.papers.orders import PDF_BYTES_MAX, Answer, Limits, Order, Set

ENTRY: Final = Entry("set-papers", "gatewayd.papers.worker")
_ANSWERS: Final[msgpack.Decoder[Answer]] = msgpack.Decoder(Answer)


class NotSet(Exception):
    """A paper could not be set. `of_logo`: because of the logo."""

    def __init__(self, message: str, *, of_logo: bool = False) -> None:
        super().__init__(message)
        self.of_logo = of_logo


class SetterSettings(Struct, frozen=True, kw_only=True):
    """What a child may use: of 200 lines it computes a fifth of a second, and holds 120 MB (docs/benchmarks.md)."""

    deadline_seconds: float = 60.0
    cpu_seconds: int = 20
    memory_bytes: int = 1 << 30


class Setter:
    """Sets papers. The process behind it is kept for a while, since to load the compiler takes longer than a paper."""

    def __init__(self, settings: SetterSettings, forking: Forking) -> None:
        self._settings = settings
        self._forking = forking
        limits = Limits(memory_bytes=settings.memory_bytes, cpu_seconds=settings.cpu_seconds)
        self._limits = msgspec.json.encode(limits)

    async def set(self, order: Order) -> Set:
        """The paper that is ordered. Raises `NotSet`."""
        file = os.memfd_create("paper")
        try:
            os.write(file, msgpack.encode(order))
            answer = await self._tried(file)
        finally:
            os.close(file)
        if not isinstance(answer, Set):
            raise NotSet(answer.message, of_logo=answer.reason == "logo")
        return answer

    async def _tried(self, file: int) -> Answer:
        """Once more where the template had ended, as it does when nothing was set for a while."""
        for _ in range(2):
            os.lseek(file, 0, os.SEEK_SET)
            with contextlib.suppress(TemplateGone):
                return await self._answer(file)
        raise NotSet("the process that sets papers ended")

    async def _answer(self, file: int) -> Answer:
        """Raises `NotSet`, `TemplateGone`."""
        async with self._forking.child(self._limits, [file]) as child:
            frames = FrameStream(child.frames.receive_some, PDF_BYTES_MAX, self._settings.deadline_seconds)
            try:
                body = await frames.next()
                answer = None if body is None else _ANSWERS.decode(body)
            except (FramesBroken, FramesLate, msgspec.DecodeError) as error:
                raise NotSet(f"the child that sets a paper was stopped ({type(error).__name__})") from error
            ending = await child.ended()
            if answer is None or ending.code != 0:
                raise NotSet(f"the child that sets a paper ended with {ending.code}: {ending.complaint}")
            return answer


@contextlib.asynccontextmanager
async def open_setter(
    settings: SetterSettings | None = None, unpacked: Mapping[str, str] = NOTHING
) -> AsyncIterator[Setter]:
    """A setter for the length of the block. No process is started before it is needed."""
    forking = Forking(ENTRY, (), unpacked)
    try:
        yield Setter(settings or SetterSettings(), forking)
    finally:
        await forking.aclose()


OpenSetter = Callable[[], AbstractAsyncContextManager[Setter]]


def setter_of(environ: Mapping[str, str]) -> OpenSetter:
    """`open_setter` of a program with this environment: one that unpacked itself is not unpacked again."""
    return functools.partial(open_setter, unpacked=unpacked_of(environ))
