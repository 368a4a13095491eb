"""A process that writes notes from several tasks at once and prints the id of each that was acknowledged.

Arguments: directory, label of the ids, number of tasks, notes of each task (0: without end).
"""

import itertools
import sys
from pathlib import Path

import trio

from gatewayd.store import Store
from tests.store.opening import add, opened


async def main(*arguments: str) -> None:
    directory, label, tasks, notes = arguments
    # Two of them write, on a machine that may be slow: that one waits long for the other is no fault.
    async with opened(Path(directory), busy_timeout_seconds=60) as store, trio.open_nursery() as nursery:
        for task in range(int(tasks)):
            nursery.start_soon(_write, store, f"{label}-{task}", int(notes))


async def _write(store: Store, label: str, notes: int) -> None:
    for number in itertools.count(1):
        print(await add(store, f"{label}-{number:06}", "x" * 300), flush=True)
        if number == notes:
            return


if __name__ == "__main__":
    trio.run(main, *sys.argv[1:])
