"""Reads a bundle that anybody may have made: bounded, and never a name that leads out of it. No store, no network."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, Self

import msgspec

from gatewayd.bundles.manifest import FORMAT, KEY, MANIFEST, SEALING, SIGNATURE, FileEntry, Manifest

MAX_FILES: Final = 100_000  # Chosen: documents of some years
MAX_BYTES: Final = 64 << 30  # Chosen: of all files, unpacked
MAX_SEALING_BYTES: Final = 12 << 20  # of the manifest: a line for each of as many files
PART_BYTES: Final = 1 << 20
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


class BundleFault(Exception):
    """The bundle is not what it was when it was sealed, or cannot be read; the reason is one sentence."""


class BundleArchive:
    """An opened bundle. Raises `BundleFault` for whatever is wrong with it."""

    def __init__(self, path: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise BundleFault(f"{path} is not there") from None
        except _UNREADABLE as error:
            raise BundleFault(f"{path} is no whole bundle: {_reason(error)}") from None
        self._entries: dict[str, zipfile.ZipInfo] = {}
        try:
            self._look()
        except BundleFault:
            self._archive.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def paths(self) -> set[str]:
        """The names of all files in it."""
        return set(self._entries)

    def manifest(self) -> Manifest:
        """What it says of itself, whoever signed that."""
        try:
            manifest = msgspec.json.decode(self.small(MANIFEST), type=Manifest)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise BundleFault(f"{MANIFEST} cannot be read") from None
        if manifest.format != FORMAT:
            raise BundleFault(f"{MANIFEST} is of another format, {manifest.format!r}: it needs another gatewayd")
        return manifest

    def small(self, path: str) -> bytes:
        """A file of those that seal it, whole."""
        content = b"".join(self.chunks(path, MAX_SEALING_BYTES))
        if len(content) > MAX_SEALING_BYTES:
            raise BundleFault(f"{path} is too large")
        return content

    def chunks(self, path: str, most: int) -> Iterator[bytes]:
        """The bytes of a file, a part at a time, and hardly more than `most`."""
        entry = self._entries.get(path)
        if entry is None:
            raise BundleFault(f"{path} is missing")
        left = most + 1
        try:
            with self._archive.open(entry) as file:
                while left > 0 and (part := file.read(min(PART_BYTES, left))):
                    left -= len(part)
                    yield part
        except _UNREADABLE as error:
            raise BundleFault(f"{path} cannot be read: {_reason(error)}") from None

    def _look(self) -> None:
        """Refuse names that are no plain paths, twice the same, and more than anybody sealed."""
        infos = self._archive.infolist()
        if len(infos) > MAX_FILES + len(SEALING):
            raise BundleFault(f"it has more than {MAX_FILES} files")
        for info in infos:
            path = info.filename
            if not _is_plain(path) or path != info.orig_filename:
                raise BundleFault(f"the name {path!r} is no plain path inside of the bundle")
            if path in self._entries:
                raise BundleFault(f"{path} is in it twice")
            self._entries[path] = info
        if sum(info.file_size for info in infos) > MAX_BYTES:
            raise BundleFault("its files are too large together")


def verify(path: Path, fingerprint: str | None) -> tuple[Manifest, str]:
    """The manifest of a bundle that is whole and as it was signed, and the fingerprint of the key.

    With a fingerprint, only that key will do. Raises `BundleFault`, which names the first file that differs.
    """
    with BundleArchive(path) as archive:
        key_print = _verified_key(archive)
        if fingerprint not in (None, key_print):
            raise BundleFault(f"{KEY} is another key: its fingerprint is {key_print}")
        manifest = archive.manifest()
        _compare_names(archive.paths, manifest)
        for file in manifest.files:
            _compare(archive, file)
    return manifest, key_print


def _verified_key(archive: BundleArchive) -> str:
    """The fingerprint of the key that signed the manifest."""
    from gatewayd.identity.signing import jose  # joserfc: not before it is used

    signature, signed = archive.small(SIGNATURE), archive.small(MANIFEST)
    try:
        public = msgspec.json.decode(archive.small(KEY), type=dict[str, str])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise BundleFault(f"{KEY} cannot be read") from None
    try:
        return jose.verify_detached(signature.decode("ascii"), signed, public)
    except ValueError:
        raise BundleFault(f"{MANIFEST} is not what was signed: {SIGNATURE} does not fit it") from None


def _compare_names(present: set[str], manifest: Manifest) -> None:
    listed = {file.path for file in manifest.files}
    if len(listed) != len(manifest.files) or listed & set(SEALING):
        raise BundleFault(f"{MANIFEST} names a file twice")
    for path in sorted((listed | set(SEALING)) ^ present):
        raise BundleFault(f"{path} is missing" if path in listed else f"{path} was added")


def _compare(archive: BundleArchive, file: FileEntry) -> None:
    digest, size = hashlib.sha256(), 0
    for part in archive.chunks(file.path, file.bytes):
        digest.update(part)
        size += len(part)
    if size != file.bytes or digest.hexdigest() != file.sha256:
        raise BundleFault(f"{file.path} differs from what was sealed")


def _is_plain(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool(path)
        and path.isprintable()
        and "\\" not in path
        and ":" not in path
        and path == "/".join(parts)
        and (".." not in parts and not path.startswith("/"))
    )


def _reason(error: Exception) -> str:
    text = str(error).strip()
    return text if text else type(error).__name__
