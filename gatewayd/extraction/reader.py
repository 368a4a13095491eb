"""Documents of strangers, read apart: each in a child process that has its bytes and nothing else."""

import contextlib
import functools
import math
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import trio
from msgspec import Struct

from gatewayd.clock import Clock, SystemClock, london_date
from gatewayd.extraction import ENTRY
from gatewayd.extraction.answers import (
    ANSWERS,
    AddText,
    Answer,
    Drawn,
    DrawPage,
    Failed,
    Layers,
    PageRead,
    Read,
    ReadText,
    Request,
    TellLayers,
    Written,
    largest_answer,
)
from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.shapes import Extraction, ExtractionFailed, Picture
from gatewayd.isolation.forking import Child, Forking, TemplateGone
from gatewayd.isolation.frames import FramesBroken, FramesLate, FrameStream
from gatewayd.isolation.starting import NOTHING, unpacked_of

A = TypeVar("A")

CHILDREN: Final = 5  # Chosen: at a time, so that pictures are drawn beside what is read


_NO_MEMORY: Final = ("MemoryError", "memory allocation of")  # as Python and Rust complain


class ReaderSettings(Struct, frozen=True, kw_only=True):
    """What a child may use. `deadline_seconds` is for all it does, of which it may compute `cpu_seconds`.

    `ocr` auto: text in pictures is recognised where there is a program for it, in `ocr_languages`; off: never.
    """

    ocr: str = "auto"
    ocr_languages: tuple[str, ...] = ("eng",)
    deadline_seconds: float = 1_200.0  # Chosen: it computes only while the machine has nothing else to do
    cpu_seconds: int = 120
    memory_bytes: int = 1 << 30
    bounds: Bounds = Bounds()


class DocumentReader:
    """Reads documents, each in a process of its own."""

    def __init__(self, settings: ReaderSettings, forking: Forking, clock: Clock) -> None:
        self._settings = settings
        self._forking = forking
        self._clock = clock
        self._places = trio.CapacityLimiter(CHILDREN)

    async def read(self, path: Path, name: str, mime_type: str) -> Extraction:
        """What stands in a document. `name` and `mime_type` are what it is called. Raises `ExtractionFailed`."""
        today = london_date(self._clock.now())
        task = ReadText(name=name, mime_type=mime_type, today=today, bounds=self._settings.bounds)
        answers = await self._answers_to(task, path)
        pages = [answer.page for answer in answers if isinstance(answer, PageRead)]
        told = _only(answers[-1:], Read)
        return Extraction(
            engine=told.engine,
            pages=pages,
            page_count=told.page_count,
            language=told.language,
            facts=told.facts,
            is_cut=told.is_cut,
        )

    async def draw(self, path: Path, mime_type: str, page: int, width: int) -> Picture:
        """A page, counted from 1, as WebP of at most `width` pixels. Raises `ExtractionFailed`."""
        drawn = _only(await self._answers_to(DrawPage(mime_type=mime_type, page=page, width=width), path), Drawn)
        return Picture(body=drawn.body, width=drawn.width, height=drawn.height)

    async def searchable_pdf(self, path: Path, mime_type: str, target: Path) -> None:
        """Write a PDF of pictures to a new file, with their text behind them.

        Raises `ExtractionFailed`, unsupported for what has its text; nothing is at `target` then.
        """
        written = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            task = AddText(mime_type=mime_type, bounds=self._settings.bounds)
            _only(await self._answers_to(task, path, written), Written)
        except BaseException:
            target.unlink()
            raise
        finally:
            os.close(written)

    async def layers(self) -> tuple[list[str], str | None]:
        """What children are shut in by, and the program that recognises text. Raises `ExtractionFailed`."""
        told = _only(await self._answers_to(TellLayers(), Path(os.devnull)), Layers)
        try:
            return [*await self._forking.layers(), *told.layers], told.ocr
        except TemplateGone as error:
            raise _crashed() from error

    async def _answers_to(
        self, task: ReadText | DrawPage | AddText | TellLayers, path: Path, *more: int
    ) -> list[Answer]:
        limits = self._settings
        request = Request(
            task=task,
            memory_bytes=limits.memory_bytes,
            cpu_seconds=limits.cpu_seconds,
            ocr_languages=limits.ocr_languages if limits.ocr != "off" else (),
        )
        with path.open("rb", buffering=0) as file:
            async with self._places:
                return await self._tried(msgspec.json.encode(request), [file.fileno(), *more])

    async def _tried(self, request: bytes, files: list[int]) -> list[Answer]:
        """Once more where the template had ended, as it does when nothing was read for a while."""
        try:
            return await self._answers(request, files)
        except TemplateGone:
            os.lseek(files[0], 0, os.SEEK_SET)
        try:
            return await self._answers(request, files)
        except TemplateGone as error:
            raise _crashed() from error

    async def _answers(self, request: bytes, files: list[int]) -> list[Answer]:
        """All that a child says. Raises `ExtractionFailed`, `TemplateGone`."""
        answers: list[Answer] = []
        left = largest = largest_answer(self._settings.bounds)
        async with self._forking.child(request, files) as child:
            frames = FrameStream(child.frames.receive_some, largest, self._settings.deadline_seconds)
            try:
                while (body := await frames.next()) is not None:
                    if (left := left - len(body)) < 0:  # a child that a file took over could say frames for ever
                        raise FramesBroken
                    answers.append(ANSWERS.decode(body))
            except FramesLate:
                message = f"Reading it takes longer than {self._settings.deadline_seconds:g} seconds."
                raise ExtractionFailed("too_slow", message) from None
            except (FramesBroken, msgspec.DecodeError) as error:
                await child.kill()
                raise await self._fault(child) from error
            if (await child.ended()).code != 0 or not answers:
                raise await self._fault(child)
        if isinstance(failed := answers[-1], Failed):
            raise ExtractionFailed(failed.code, failed.message)
        return answers

    async def _fault(self, child: Child) -> ExtractionFailed:
        """What ended a child before its end: the kernel, or a parser that the file has misled."""
        ending = await child.ended()
        if ending.code == -signal.SIGXCPU:
            message = f"Reading it takes more than {math.ceil(self._settings.cpu_seconds)} seconds of computing."
            return ExtractionFailed("too_slow", message)
        if any(said in ending.complaint for said in _NO_MEMORY) or ending.peak_bytes > self._settings.memory_bytes // 2:
            return ExtractionFailed("out_of_memory", "Reading it takes more memory than it may have.")
        return _crashed()


@contextlib.asynccontextmanager
async def open_reader(
    settings: ReaderSettings, clock: Clock | None = None, unpacked: Mapping[str, str] = NOTHING
) -> AsyncIterator[DocumentReader]:
    """A reader for the length of the block, at whose end its processes end too. None is started before it is needed."""
    forking = Forking(ENTRY, (), unpacked)
    try:
        yield DocumentReader(settings, forking, clock or SystemClock())
    finally:
        await forking.aclose()


def opener_of(environ: Mapping[str, str]) -> Callable[[ReaderSettings], AbstractAsyncContextManager[DocumentReader]]:
    """`open_reader` of a program with this environment: one that unpacked itself is not unpacked again."""
    return functools.partial(open_reader, unpacked=unpacked_of(environ))


def _only(answers: list[Answer], kind: type[A]) -> A:
    """The answer, which is of that kind unless the child is not what it should be."""
    if len(answers) != 1 or not isinstance(answers[0], kind):
        raise _crashed()
    return answers[0]


def _crashed() -> ExtractionFailed:
    return ExtractionFailed("crashed", "What reads documents ended before it had read this one.")
