"""The child that reads one file: from standard input, within limits, in frames to standard output."""

import codecs
import logging
import os
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from gatewayd.isolation.confinement import Confinement, confine
from gatewayd.statements.frames import CHARACTERS_OF_ONE_FRAME, LINES_OF_ONE_FRAME, Batch, Failure, Frame, framed
from gatewayd.statements.profile_files import texts_of
from gatewayd.statements.reading import read
from gatewayd.statements.shapes import Hints, Line, Part, Trade, Unreadable
from gatewayd.statements.text import EIGHT_BIT, load_detector


def main(hints: str, cpu_seconds: str) -> None:
    """Read the file on standard input. `hints` is JSON; after `cpu_seconds` of computing the kernel ends the child."""
    known = msgspec.json.decode(hints, type=Hints)
    logging.disable()  # parsers write what they can't read to standard error, for each row
    _load_codecs(known)
    texts_of(known.kind)  # which cannot be opened later any more: a CSV may ask for them
    _step_back()
    confine(Confinement(memory_bytes=known.limits.memory_bytes, cpu_seconds=int(cpu_seconds)))
    with open(0, "rb") as stream, open(1, "wb") as frames:
        for frame in _frames(stream, known):
            frames.write(framed(frame))
            frames.flush()


def _step_back() -> None:
    """Use what the machine has to spare: whoever waits for an answer of the daemon comes first, and at once."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _load_codecs(hints: Hints) -> None:
    """Codecs are modules, as what guesses them is, and cannot be opened later any more."""
    load_detector()
    named = hints.mapping.encoding if hints.mapping is not None else None
    for name in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "ascii", *EIGHT_BIT, named or "utf-8"):
        try:
            codecs.lookup(name)
        except LookupError:
            continue  # the reader says so, with the name


def _frames(stream: BinaryIO, hints: Hints) -> Iterator[Frame]:
    try:
        for parts in _batches(read(stream, hints)):
            yield Batch(parts)
    except Unreadable as error:
        yield Failure(error.line, error.reason, error.proposal)
    except MemoryError:
        yield Failure(None, f"reading it takes more memory than {hints.limits.memory_bytes} bytes", None)


def _length(part: Part) -> int:
    """How many characters its texts have, about."""
    if isinstance(part, Line):
        return len(part.raw_description) + len(part.description)
    return len(part.description) if isinstance(part, Trade) else 0


def _batches(parts: Iterator[Part]) -> Iterator[list[Part]]:
    """The parts in lists that are neither long nor large. What was read before a fault is given before it is raised."""
    batch: list[Part] = []
    size = 0
    try:
        for part in parts:
            batch.append(part)
            size += _length(part)
            if len(batch) >= LINES_OF_ONE_FRAME or size >= CHARACTERS_OF_ONE_FRAME:
                yield batch
                batch, size = [], 0
    except Unreadable:
        yield batch
        raise
    yield batch
