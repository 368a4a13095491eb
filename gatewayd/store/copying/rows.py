"""Rows in one form for both engines: as PostgreSQL's COPY has them in binary (PostgreSQL, "COPY", Binary Format).

A row is the number of its fields, then of each its length and its bytes: whole numbers in eight, text in UTF-8; a
length of -1 is NULL. Numbers are big-endian. The same row has the same bytes, whichever engine it comes from.
"""

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

_COUNT: Final = struct.Struct(">h")
_LENGTH: Final = struct.Struct(">i")
_NUMBER: Final = struct.Struct(">q")
_COUNTED_NUMBER: Final = struct.Struct(">iq")
_NULL: Final = _LENGTH.pack(-1)
_MODULUS: Final = 1 << 256

Kinds = Sequence[str]
"""The type of each column: INTEGER, TEXT or BLOB."""


def encoded(row: Sequence[Any]) -> bytes:
    """A row of whole numbers, text, bytes and None."""
    parts = [_COUNT.pack(len(row))]
    for value in row:
        if value is None:
            parts.append(_NULL)
        elif isinstance(value, int):
            parts.append(_COUNTED_NUMBER.pack(8, value))
        else:
            content = value.encode() if isinstance(value, str) else value
            parts.append(_LENGTH.pack(len(content)))
            parts.append(content)
    return b"".join(parts)


def decoded(row: bytes, kinds: Kinds) -> tuple[Any, ...]:
    """The values of a row, of columns of these types."""
    values: list[Any] = []
    at = _COUNT.size
    for kind in kinds:
        (length,) = _LENGTH.unpack_from(row, at)
        at += _LENGTH.size
        if length < 0:
            values.append(None)
            continue
        if kind == "INTEGER":
            values.append(_NUMBER.unpack_from(row, at)[0])
        else:
            content = row[at : at + length]
            values.append(content.decode() if kind == "TEXT" else content)
        at += length
    return tuple(values)


class TableSum(NamedTuple):
    """How many rows a table has, and the sum of their SHA-256, modulo 2 to the power of 256, in hexadecimal.

    A sum does not depend on the order in which the rows come.
    """

    rows: int
    digest: str


class Counted:
    """Rows on their way: counted, and their digests added up."""

    def __init__(self) -> None:
        self._rows = 0
        self._total = 0

    def passing(self, rows: Iterable[bytes]) -> Iterator[bytes]:
        """The same rows."""
        for row in rows:
            self._rows += 1
            self._total += int.from_bytes(hashlib.sha256(row).digest())
            yield row

    def all_of(self, rows: Iterable[bytes]) -> TableSum:
        """The sum once all have passed."""
        for _ in self.passing(rows):
            pass
        return self.sum

    @property
    def sum(self) -> TableSum:
        return TableSum(self._rows, f"{self._total % _MODULUS:064x}")
