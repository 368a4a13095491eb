"""How two bundles of a period differ: rows that came, went and changed, by file and id. Reads files alone."""

import hashlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from gatewayd.areas.periods.seals import Change
from gatewayd.bundles.archive import BundleArchive, BundleFault
from gatewayd.bundles.documents import FOLDER
from gatewayd.bundles.manifest import FileEntry, Manifest
from gatewayd.ledger import csv_text

TABLES: Final = ".csv"


class RowChange(NamedTuple):
    """A row that is in one of two bundles, or differs. `fields` are the columns that do, all where there is one row."""

    path: str
    id: str
    change: Change
    before: dict[str, str] | None
    after: dict[str, str] | None
    fields: list[str]


class FileChange(NamedTuple):
    """How many rows of a file differ; a file that is no table has none, and differs as a whole."""

    path: str
    added: int
    removed: int
    changed: int


def compare(before: Path, after: Path, first: int, count: int) -> tuple[list[FileChange], list[RowChange]]:
    """The files that differ, and of all rows that do, `count` from the one at `first` on (0 for the first).

    Raises `BundleFault`.
    """
    counts: list[FileChange] = []
    rows: list[RowChange] = []
    with BundleArchive(before) as old, BundleArchive(after) as new:
        files = {name: _files(archive.manifest()) for name, archive in (("old", old), ("new", new))}
        for path in sorted(files["old"].keys() | files["new"].keys()):
            before_file, other = files["old"].get(path), files["new"].get(path)
            if before_file is not None and other is not None and before_file.sha256 == other.sha256:
                continue
            changes = _changes(path, (old, before_file), (new, other))
            if path.endswith(TABLES) and not changes.ordered:
                continue  # another version wrote other columns, or an empty table more
            counts.append(changes.counted)
            place = first - sum(_size(each) for each in counts[:-1])
            wanted = changes.ordered[max(place, 0) : max(place + count, 0)]
            rows += _rows(path, (old, before_file), (new, other), wanted)
    return counts, rows


class _Changes(NamedTuple):
    counted: FileChange
    ordered: list[tuple[str, Change]]


Side = tuple[BundleArchive, FileEntry | None]


def _size(change: FileChange) -> int:
    return change.added + change.removed + change.changed


def _files(manifest: Manifest) -> dict[str, FileEntry]:
    """Its files; what documents differ is told by the table of them."""
    return {file.path: file for file in manifest.files if not file.path.startswith(FOLDER)}


def _changes(path: str, old: Side, new: Side) -> _Changes:
    """The ids of rows that differ, in their order: by digests, so that no more than these are in memory."""
    if not path.endswith(TABLES):
        return _Changes(FileChange(path, 0, 0, 0), [])
    common = _common(old, new)
    before = {row[0]: _digest(named, common) for row, named in _named(old)}
    changes_by_id: list[tuple[str, Change]] = []
    for row, named in _named(new):
        digest = before.pop(row[0], None)
        if digest is None:
            changes_by_id.append((row[0], "added"))
        elif digest != _digest(named, common):
            changes_by_id.append((row[0], "changed"))
    changes_by_id += ((id_, "removed") for id_ in before)
    kinds = [change for _, change in changes_by_id]
    counted = FileChange(path, kinds.count("added"), kinds.count("removed"), kinds.count("changed"))
    return _Changes(counted, sorted(changes_by_id))


def _rows(path: str, old: Side, new: Side, wanted: list[tuple[str, Change]]) -> Iterator[RowChange]:
    if not wanted:
        return
    ids = {id_ for id_, _ in wanted}
    common = _common(old, new)
    before, after = ({row[0]: named for row, named in _named(side) if row[0] in ids} for side in (old, new))
    for id_, change in wanted:
        old_row, new_row = before.get(id_), after.get(id_)
        compared = common if old_row is not None and new_row is not None else (new_row or old_row or {})
        fields = [name for name in compared if (old_row or {}).get(name) != (new_row or {}).get(name)]
        yield RowChange(path, id_, change, old_row, new_row, fields)


def _named(side: Side) -> Iterator[tuple[list[str], dict[str, str]]]:
    heading = _heading(side)
    for row in _table(side):
        yield row, dict(zip(heading, row, strict=False))


def _common(old: Side, new: Side) -> list[str]:
    """The columns that both have: that another version wrote fewer is no change of the books."""
    known = set(_heading(old))
    return [name for name in _heading(new) if name in known]


def _heading(side: Side) -> list[str]:
    return next(_table_rows(side), [])


def _table(side: Side) -> Iterator[list[str]]:
    """The rows behind the heading. One without a first column names nothing, and is left out."""
    rows = _table_rows(side)
    next(rows, None)
    return (row for row in rows if row)


def _table_rows(side: Side) -> Iterator[list[str]]:
    archive, file = side
    if file is None:
        return
    try:
        yield from csv_text.rows(_file_lines(archive, file))
    except (ValueError, UnicodeError):
        raise BundleFault(f"{file.path} is no table") from None


def _file_lines(archive: BundleArchive, file: FileEntry) -> Iterator[str]:
    """The text of a file by lines, ends included: those inside of a quoted cell are joined again by the reader."""
    rest = b""
    for chunk in chain(archive.chunks(file.path, file.bytes), [b""]):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        yield from (line.decode() + "\n" for line in lines)
    if rest:
        yield rest.decode()


def _digest(named: dict[str, str], columns: list[str]) -> bytes:
    text = "\0".join(named.get(name, "") for name in columns)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
