"""`gatewayd doctor`, of the folder or bucket of documents that daemons share: is it there, whose, and writable."""

import secrets
import shutil
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from gatewayd.doctor.examined import Examined, OutOfReach
from gatewayd.doctor.findings import Finding

if TYPE_CHECKING:
    from gatewayd.store.settings import Place

_FREE_BYTES_MIN: Final = 512 * 2**20  # Chosen: as beside the database
_SECONDS: Final = 10.0  # Chosen: a share that answers nothing so long is told of
_ABOUT: Final = "shared documents"


def files(examined: Examined) -> Iterator[Finding]:
    """Nothing where the data directory has them. A share that hangs is left behind."""
    import trio

    from gatewayd.store import StoreFailure
    from gatewayd.vault_files.places import in_time

    place = examined.store_settings.place
    if not place.is_shared:
        return
    mark = _named(examined)

    async def told() -> str | None:
        return await in_time(place, _SECONDS, trio.CapacityLimiter(1), partial(_fault, place, mark))

    try:
        fault = trio.run(told)
    except StoreFailure as error:
        fault = str(error)
    sentence = f"{place.name} is there, is of this installation, and takes files" if fault is None else fault
    yield Finding(_ABOUT, fault is None, f"{sentence}.")


def _named(examined: Examined) -> str | None:
    """Whose the rows say that it is; None: no daemon has begun with it, or they cannot be read, which is told of."""
    from gatewayd.store.failures import MigrationError, StoreFailure
    from gatewayd.store.rows import files_place

    try:
        named = examined.read(files_place.find)
    except (OutOfReach, MigrationError, StoreFailure):
        return None
    return None if named is None else named.mark


def _fault(place: "Place", mark: str | None) -> str | None:
    """What is wrong with it; None: nothing. Raises `StoreFailure`."""
    from gatewayd.store.files.place import read_mark, refusal

    if mark is not None and (refused := refusal(place, read_mark(place), mark)) is not None:
        return refused
    if place.bucket is not None:
        return _fault_of_bucket(place)
    probe = place.folder / f".gatewayd.probe.{secrets.token_hex(8)}"
    try:
        probe.touch(mode=0o600)
        probe.unlink()
        free = shutil.disk_usage(place.folder).free
    except OSError as error:
        return f"{place.folder} takes no files: {error.strerror}"
    return None if free >= _FREE_BYTES_MIN else f"{free // 2**20} MiB are free in {place.folder}, which is little"


def _fault_of_bucket(place: "Place") -> str | None:
    """Whether it takes, lists and deletes, and there is room for what is fetched. Raises `StoreFailure`."""
    from gatewayd.store.objects.bucket import objects_of

    assert place.bucket is not None, "of a bucket"
    objects_of(place.bucket).instant(f"blobs/probe.{secrets.token_hex(8)}")
    directory = place.folder.parent
    try:
        free = shutil.disk_usage(directory).free
    except OSError as error:
        return f"{directory}, where documents are fetched to, cannot be read: {error.strerror}"
    return None if free >= _FREE_BYTES_MIN else f"{free // 2**20} MiB are free in {directory}, which is little"
