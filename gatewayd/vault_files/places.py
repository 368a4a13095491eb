"""The place of documents' bytes, where daemons of several machines share it: it is found there, and looked after.

A folder or a bucket; in a bucket the file that is told of here is an object.

first start     the place holds nothing of others, and gets a file that names the installation; the rows have its name
further starts  the file has to be there and say so: without it a share is not mounted, or another one is
while it runs   the same is looked at every few seconds

Whatever waits for the share waits on threads of its own: one that hangs holds up its requests, and nothing else.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import trio

from gatewayd.http1.log import Log
from gatewayd.store import Store, StoreFailure
from gatewayd.store.files.place import holds_documents, missing, new_mark, read_mark, refusal, write_mark
from gatewayd.store.rows import files_place
from gatewayd.store.settings import Place

START_SECONDS: Final = 30.0  # Chosen: a share that answers nothing so long is not waited for at a start
LOOK_SECONDS: Final = 5.0  # Chosen
ANSWER_SECONDS: Final = 2.0  # Chosen: as long as the store may take
OK: Final = "ok"
T = TypeVar("T")


async def claim(store: Store) -> None:
    """Begin with the place: what lies there is this installation's. Raises `StoreFailure` where that is not so."""
    place, named = store.place, await store.read(files_place.find)
    if named is None and not place.is_shared and not store.is_shared:
        return  # of the one daemon of a data directory
    threads = trio.CapacityLimiter(1)
    look = partial(in_time, place, START_SECONDS, threads)
    found = await look(partial(read_mark, place))
    await look(partial(_refuse_unmoved, store))
    named = await store.read(files_place.find)  # behind the look: the row is there before the file
    if named is None:
        if found is not None:
            raise StoreFailure(f"{place.name} holds the documents of another installation: {place.mark_name} says so")
        mark = new_mark()
        named = await store.write(lambda tx: files_place.name(tx, mark))
    if named.marked_at is None:
        if found is None:
            await look(partial(write_mark, place, named.mark))
            found = named.mark
        await store.write(files_place.note_marked)
    elif found is None:  # another daemon began in the same moment
        found = await look(partial(read_mark, place))
    if (refused := refusal(place, found, named.mark)) is not None:
        raise StoreFailure(refused)


def _refuse_unmoved(store: Store) -> None:
    """Raises `StoreFailure` where documents lie beside the database, and are looked for elsewhere."""
    place = store.place
    if place.folder.resolve() != store.directory.resolve() and holds_documents(store.directory):
        how = f"move blobs and uploads from there to {place.folder}"
        if place.bucket is not None:
            how = f"send them to {place.name} with gatewayd files send {store.directory}"
        raise StoreFailure(f"documents lie in {store.directory} still: stop every daemon, {how}, and start again")


async def in_time(place: Place, seconds: float, threads: trio.CapacityLimiter, work: Callable[[], T]) -> T:
    """Work on a thread that is left behind where the share does not answer. Raises `StoreFailure`."""
    with trio.move_on_after(seconds):
        return await trio.to_thread.run_sync(work, limiter=threads, abandon_on_cancel=True)
    raise StoreFailure(f"{place.name}, where documents lie, does not answer")


class PlaceWatch:
    """How the place is, as far as was found out at the last look. One that is not shared is always well."""

    def __init__(self, store: Store, log: Log) -> None:
        self.state = OK
        self.place = store.place
        self._log = log
        self._threads = trio.CapacityLimiter(1)  # one that hangs is waited for: no other is begun beside it

    async def run(self) -> None:
        """Look until cancelled."""
        while self.place.is_shared:
            await self.look()
            await trio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Find out how it is, and log what has changed."""
        state = await self._looked()
        if state != self.state:
            log, event = (
                (self._log.info, "files_are_well_again") if state == OK else (self._log.error, "files_are_unwell")
            )
            log(event, files=state)
        self.state = state

    async def _looked(self) -> str:
        try:
            mark = await in_time(self.place, ANSWER_SECONDS, self._threads, partial(read_mark, self.place))
        except StoreFailure as error:
            return str(error)
        return missing(self.place) if mark is None else OK
