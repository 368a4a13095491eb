"""Where the bytes of documents lie, uploads under way too: in the data directory, or in a folder of several daemons.

A folder of several is a share of the network, as a rule, and a share that is not mounted looks like an empty folder. So
a file in it says which installation it is of, and nothing is begun in a folder without it.
"""

import os
import re
import secrets
from pathlib import Path
from typing import Final

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import create_file, sync_directory
from gatewayd.store.settings import PLACE_MARK, Bucket, Place

_MARK: Final = re.compile("[0-9a-f]{16}")
_BLOB: Final = re.compile("[0-9a-f]{64}")
_FOLDERS: Final = ("blobs", "uploads")


def new_mark() -> str:
    """The name of an installation, for the file that says whose a place is."""
    return secrets.token_hex(8)


def read_mark(place: Place) -> str | None:
    """Whose it is; None: nothing says so. Raises `StoreFailure`, also where there is no folder."""
    text = _mark_text(place) if place.bucket is None else _mark_object(place.bucket)
    if text is not None and not _MARK.fullmatch(text):
        raise StoreFailure(f"{place.mark_name} is damaged: it names no installation")
    return text


def _mark_text(place: Place) -> str | None:
    if not place.folder.is_dir():
        raise StoreFailure(f"{place.folder}, where documents lie, is not there: mount it, or make it")
    try:
        return place.mark_file.read_text("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreFailure(f"{place.mark_file} cannot be read: {error.strerror}") from error


def _mark_object(bucket: Bucket) -> str | None:
    from gatewayd.store.objects.bucket import objects_of  # and with it a client of HTTP: most have no bucket
    from gatewayd.store.objects.exchanges import NoObject

    try:
        return objects_of(bucket).get(PLACE_MARK).decode("ascii", "replace").strip()
    except NoObject:
        return None


def missing(place: Place) -> str:
    """The sentence for a place without its file."""
    if place.bucket is not None:
        return f"{place.mark_name} is not there: store.files names another place, or what was there was deleted"
    return f"{place.mark_file} is not there: the share is not mounted, or store.files names another folder"


def refusal(place: Place, found: str | None, mark: str) -> str | None:
    """Why a place with this mark, or none, is not the one that the rows name; None: it is."""
    if found is None:
        return f"{missing(place)} (the documents lie where it says {mark})"
    return None if found == mark else f"{place.mark_name} says {found}, and the documents lie where it says {mark}"


def write_mark(place: Place, mark: str) -> None:
    """Say whose it is, whole or not at all. Raises `StoreFailure`."""
    if place.bucket is not None:
        from gatewayd.store.objects.bucket import objects_of

        objects_of(place.bucket).put(PLACE_MARK, f"{mark}\n".encode())
        return
    draft = place.folder / f".{PLACE_MARK}.{secrets.token_hex(8)}"
    try:
        create_file(draft, f"{mark}\n".encode(), place.folder)
        os.replace(draft, place.mark_file)
        sync_directory(place.folder)
    except OSError as error:
        raise StoreFailure(f"{place.folder}, where documents lie, cannot be written to: {error.strerror}") from error


def holds_documents(directory: Path) -> bool:
    """Whether blobs or uploads lie in a folder. Raises `StoreFailure`."""
    try:
        blobs, uploads = (directory / name for name in _FOLDERS)
        return any(_BLOB.fullmatch(path.name) for path in blobs.glob("??/*")) or any(uploads.glob("*"))
    except OSError as error:
        raise StoreFailure(f"{directory} cannot be read: {error.strerror}") from error
