"""The write-ahead log stays short where two processes write and the loop reads now and then."""

import subprocess
import sys
from pathlib import Path

import trio

from gatewayd.clock import SystemClock
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from gatewayd.store.sqlite.connections import WAL_BYTES
from tests.store.opening import names, opened
from tests.support.loaded import ROOT

BATCHES = 120
BATCH_BYTES = 1_000_000
OTHER_PROCESS = f"""
import sys, trio
from pathlib import Path
from gatewayd.clock import SystemClock
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings

INSERT = "INSERT INTO notes (id, text) VALUES (:id, :text) ON CONFLICT (id) DO UPDATE SET text = excluded.text"

async def main():
    async with open_store(StoreSettings(directory=Path(sys.argv[1])), SystemClock()) as store:
        for number in range({BATCHES}):
            await store.write(lambda tx: tx.run(INSERT, id="large", text=chr(97 + number % 26) * {BATCH_BYTES}))
            print(number, flush=True)

trio.run(main)
"""


def note(tx: WriteTx) -> None:
    """Write something else each time: what stays as it is SQLite does not write at all."""
    tx.run("INSERT INTO notes (id, text) VALUES ('small', '') ON CONFLICT (id) DO UPDATE SET text = notes.text || 'a'")


async def read_now_and_then(store: Store) -> None:
    while True:
        store.read_now(names, None)
        await trio.sleep(0.002)


async def longest_log(store: Store, directory: Path) -> int:
    """How long the log became while another process wrote, and we did now and then."""
    process = await trio.lowlevel.open_process(
        [sys.executable, "-c", OTHER_PROCESS, str(directory)], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    longest = 0
    async with process.stdout:
        async for done in process.stdout:
            if b"5\n" in done and longest < WAL_BYTES:  # we do now and then
                await store.write(note)
            longest = max(longest, store.log_bytes)
    assert await process.wait() == 0
    return longest


async def test_the_log_stays_short_and_shrinks_after(tmp_path: Path) -> None:
    async with opened(tmp_path) as made:
        await made.write(note)
    with trio.fail_after(120):
        async with (
            open_store(StoreSettings(directory=tmp_path), SystemClock()) as store,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(store.watch_other_processes)
            nursery.start_soon(read_now_and_then, store)
            assert await longest_log(store, tmp_path) < 3 * WAL_BYTES < BATCHES * BATCH_BYTES
            for _ in range(20):
                await store.write(note)
            assert store.log_bytes <= WAL_BYTES
            nursery.cancel_scope.cancel()
