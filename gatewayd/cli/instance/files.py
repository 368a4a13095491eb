"""`gatewayd files send` and `fetch`: documents from a folder to the bucket of the settings, and back."""

import argparse
import contextlib
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.progress import Progress

if TYPE_CHECKING:
    from gatewayd.store.files.blobs import BlobInfo
    from gatewayd.store.settings import Place

SHOWN: Final = 20
SENT: Final = ".sent"
"""What is added to the names of folders whose files are in the bucket."""


def add_commands(subparsers: Subparsers) -> None:
    """Add both commands."""
    group = add_group(subparsers, "files", "the bytes of documents, where store.files names a bucket")
    summary = "send the documents and unfinished uploads of a folder to the bucket; not beside a daemon"
    command = add_command(group, "send", summary, send, json=True)
    command.add_argument("source", type=Path, metavar="DIR", help="a data directory, or a folder that daemons shared")
    summary = "fetch all that is in the bucket into a folder; not beside a daemon"
    command = add_command(group, "fetch", summary, fetch, json=True)
    command.add_argument("destination", type=Path, metavar="DIR", help="a folder, which is made where it is not there")


def send(arguments: argparse.Namespace, context: Context) -> int:
    """Killed, it is run again: what was sent is known. The files stay, in folders that nobody reads."""
    from gatewayd.store.files.directory import locked
    from gatewayd.store.files.place import holds_documents

    place, source = _bucket(context), arguments.source.absolute()
    with locked(context.store_settings.directory, "gatewayd files send"):
        if not holds_documents(source):
            raise CommandError(f"no documents lie in {source}")
        with _marked(context, place):
            sent, faults = _send_blobs(source, place)
            uploads = _send_uploads(source, place)
        if faults:
            raise CommandError("\n".join([f"{sent} files are in {place.name}, and {len(faults)} are not:", *faults]))
        for name in ("blobs", "uploads"):
            if (source / name).is_dir():
                _put_away(source / name)
    document = {"to": place.name, "files": sent, "uploads": uploads}
    lines = [
        f"{sent} files and {uploads} unfinished uploads of {source} are in {place.name}.",
        f"Nothing reads blobs{SENT} and uploads{SENT} there: delete them once gatewayd verify has found nothing wrong.",
    ]
    print_result(arguments, document, lines)
    return 0


def fetch(arguments: argparse.Namespace, context: Context) -> int:
    """Killed, it is run again: what was fetched is known. The bucket stays as it is."""
    from gatewayd.store.files.directory import locked
    from gatewayd.store.files.place import read_mark, write_mark
    from gatewayd.store.settings import Place

    place, destination = _bucket(context), arguments.destination.absolute()
    with locked(context.store_settings.directory, "gatewayd files fetch"):
        _refuse_others(context, place)
        mark = read_mark(place)
        if mark is None:
            raise CommandError(f"{place.mark_name} is not there: nothing was stored in {place.name}")
        try:
            destination.mkdir(mode=0o700, parents=True, exist_ok=True)
            fetched, faults = _fetch_blobs(place, destination)
            uploads = _fetch_uploads(place, destination)
            write_mark(Place(destination, is_shared=True), mark)
        except OSError as error:
            raise CommandError(f"{destination} cannot be written to: {error.strerror or error}") from None
    if faults:
        raise CommandError("\n".join([f"{fetched} files are in {destination}, and {len(faults)} are not:", *faults]))
    document = {"from": place.name, "to": str(destination), "files": fetched, "uploads": uploads}
    lines = [
        f"{fetched} files and {uploads} unfinished uploads of {place.name} are in {destination}.",
        f'Write [store] files = "{destination}" into {context.config_path or "the settings"}, or nothing where that is'
        " the data directory, before a daemon starts.",
    ]
    print_result(arguments, document, lines)
    return 0


def _bucket(context: Context) -> "Place":
    context.require_database()
    place = context.store_settings.place
    if place.bucket is None:
        raise CommandError('store.files names no bucket: write files = "s3://bucket/prefix" into [store] first')
    return place


@contextlib.contextmanager
def _marked(context: Context, place: "Place") -> Iterator[None]:
    """The bucket says whose it is: at once where these are the first rows that name one, for no daemon starts while
    documents lie beside its database; else once all is there, for without it none starts at all.
    """
    from gatewayd.store.files.place import new_mark, write_mark
    from gatewayd.store.rows import files_place

    mark = _refuse_others(context, place)
    if mark is None:
        write_mark(place, context.write(lambda tx: files_place.name(tx, new_mark())).mark)
        context.write(files_place.note_marked)
    yield
    if mark is not None:
        write_mark(place, mark)


def _refuse_others(context: Context, place: "Place") -> str | None:
    """What the rows call the place. Raises `StoreFailure`, `CommandError` where the bucket is another's."""
    from gatewayd.store.files.place import read_mark
    from gatewayd.store.rows import files_place
    from gatewayd.store.sealed_rows import sealed_rows_of

    if context.store_settings.url:
        sealed_rows_of(context.store_settings).require_alone("gatewayd files")
    found, named = read_mark(place), context.read(files_place.find)
    if found is not None and (named is None or named.mark != found):
        raise CommandError(f"{place.name} holds the documents of another installation: {place.mark_name} says so")
    return None if named is None else named.mark


def _send_blobs(source: Path, place: "Place") -> tuple[int, list[str]]:
    """How many are there then, and a sentence for each that is damaged."""
    from gatewayd.store.files.object_blobs import ObjectBlobs

    assert place.bucket is not None, "looked at"
    blobs, faults = ObjectBlobs(place.bucket, place.folder), list[str]()
    found = _blobs_in(source)
    there = {each.sha256 for each in blobs.found()}
    sizes = [info.size_bytes for _, info in found]
    with Progress(sys.stderr, len(found), sum(sizes)) as progress:
        for path, info in found:
            if info.sha256 not in there and not blobs.send(path, info.sha256):
                faults.append(f"the bytes of {path} are not those that were stored")
            progress.advance(info.size_bytes, info.sha256)
    return len(found) - len(faults), faults[:SHOWN]


def _blobs_in(source: Path) -> "list[tuple[Path, BlobInfo]]":
    from gatewayd.store.files.blobs import Blobs

    if not (source / "blobs").is_dir():
        return []
    blobs = Blobs(source)
    return [(blobs.path(info.sha256), info) for info in blobs.found()]


def _send_uploads(source: Path, place: "Place") -> int:
    """What came of each counts as it did."""
    from gatewayd.store.files.at_place import partials_at
    from gatewayd.store.files.partial_blobs import COPY_BYTES, PartialBlobs

    if not (source / "uploads").is_dir():
        return 0
    here, there = PartialBlobs(source), partials_at(place)
    names = here.list_names()
    for name in names:
        with here.open(name) as partial:  # what is in doubt is taken back
            size = partial.size
        there.discard(name)
        with here.path(name).open("rb") as file, there.open(name) as sent:
            while sent.size < size and (part := file.read(COPY_BYTES)):
                sent.write(part)
            sent.sync()
    return len(names)


def _put_away(folder: Path) -> None:
    """Rename a folder; what an earlier run put away stays beside it."""
    target, number = folder.with_name(folder.name + SENT), 1
    while target.exists():
        number += 1
        target = folder.with_name(f"{folder.name}{SENT}-{number}")
    folder.rename(target)


def _fetch_blobs(place: "Place", destination: Path) -> tuple[int, list[str]]:
    from gatewayd.store.files.at_place import blobs_at
    from gatewayd.store.files.blobs import Blobs

    there, here, faults = blobs_at(place), Blobs(destination), list[str]()
    draft = here.folder / "drafts" / "fetched"
    found = [*there.found()]
    with Progress(sys.stderr, len(found), sum(info.size_bytes for info in found)) as progress:
        for info in found:
            if here.fault_of(info.sha256, info.size_bytes) is not None:
                with draft.open("w+b") as file:
                    there.copy_out(info.sha256, file)
                    file.seek(0)
                    is_whole = hashlib.file_digest(file, "sha256").hexdigest() == info.sha256
                if is_whole:
                    here.adopt(draft)
                else:
                    faults.append(f"the bytes of {info.sha256} in {place.name} are not those that were stored")
                draft.unlink()
            progress.advance(info.size_bytes, info.sha256)
    return len(found) - len(faults), faults[:SHOWN]


def _fetch_uploads(place: "Place", destination: Path) -> int:
    from gatewayd.store.files.object_partials import ObjectPartials
    from gatewayd.store.files.partial_blobs import PartialBlobs

    assert place.bucket is not None, "looked at"
    there, here = ObjectPartials(place.bucket, place.folder), PartialBlobs(destination)
    names = there.list_names()
    for name in names:
        here.discard(name)
        with here.open(name) as partial:
            for part in there.chunks(name):
                partial.write(part)
            partial.sync()
    return len(names)
