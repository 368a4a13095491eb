"""Files read as the child process reads them, in this one."""

from collections.abc import AsyncIterator
from pathlib import Path

import trio

from gatewayd.statements.reading import read
from gatewayd.statements.shapes import Hints, Part

BATCH = 500


async def read_inline(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
    """The parts of a file in batches. Raises `Unreadable`."""
    batch: list[Part] = []
    with path.open("rb") as stream:
        for part in read(stream, hints):
            batch.append(part)
            if len(batch) == BATCH:
                await trio.lowlevel.checkpoint()
                yield batch
                batch = []
    yield batch
