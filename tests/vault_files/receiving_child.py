"""A process that appends to an upload in a shared folder. Arguments: data directory, shared folder or bucket, token,
offset.

Each line of standard input is a piece of the part, in hexadecimal; the end of the input is the end of the part. It
says `written` when it has taken a piece and asks for the next one, and in the end the offset, or the code of what
refused it.
"""

import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import trio

from gatewayd.areas import vault
from gatewayd.clock import SystemClock
from gatewayd.errors import Problem
from gatewayd.store.database import open_store
from gatewayd.store.files.at_place import blobs_at, partials_at
from gatewayd.store.settings import StoreSettings
from gatewayd.vault_files.receiving import Receiving
from gatewayd.vault_files.uploading import Part
from tests.support.objects import heard


async def pieces() -> AsyncGenerator[bytearray, None]:
    while line := (await trio.to_thread.run_sync(sys.stdin.readline)).strip():
        yield bytearray.fromhex(line)
        print("written", flush=True)


async def main(directory: str, files: str, token: str, offset: str) -> None:
    settings = StoreSettings(directory=Path(directory), files=heard(files))
    async with open_store(settings, SystemClock(), migrates=False) as store:
        limits = vault.Settings("http://127.0.0.1:8080", 1 << 20)
        receiving = Receiving(store, blobs_at(store.place), partials_at(store.place), limits)
        part = Part(offset=int(offset), declared=0, length=None, checksum=None, source=pieces())
        try:
            standing = await receiving.append(token, part)
        except Problem as problem:
            print(problem.code, flush=True)
        else:
            print(standing.offset, flush=True)


if __name__ == "__main__":
    trio.run(main, *sys.argv[1:])
