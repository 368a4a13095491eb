"""A stranger's file is read apart: in a child process with limits, a clean environment and a deadline."""

from collections.abc import AsyncIterator
from pathlib import Path

from gatewayd.statements.shapes import Hints, Part, Unreadable


async def read_apart(path: Path, hints: Hints, *, deadline_seconds: float = 120.0) -> AsyncIterator[list[Part]]:
    """The parts of a file in batches of about 500. Wrap it in `contextlib.aclosing`, which ends the child.

    `deadline_seconds` is how long the child may take altogether; the time between batches does not count.
    Raises `Unreadable` as `read` does, and for a child that dies, or needs more memory or time than it has.
    """
    batches: list[list[Part]] = []
    for batch in batches:
        yield batch
    raise Unreadable(None, f"{path} and {hints} are not read yet, in {deadline_seconds} s")
