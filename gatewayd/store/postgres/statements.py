"""The statements of the program as PostgreSQL takes them, and their values as it sends and takes them."""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.adapt import AdaptersMap, Buffer
from psycopg.types.bool import BoolBinaryLoader
from psycopg.types.numeric import Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import BytesBinaryDumper, StrBinaryDumper

KEPT_STATEMENTS: Final = 4_096
"""Chosen: more than the program has."""
_PIECE: Final = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|::|:(?P<name>[A-Za-z_][A-Za-z_0-9]*)", re.DOTALL
)


class Statement(NamedTuple):
    """`sql` with `$1` for the first of `names`, and so on: each name once, in the order in which they appear."""

    sql: bytes
    names: tuple[str, ...]

    def values(self, named: Mapping[str, Any]) -> list[Any]:
        """The values of a mapping that may have more. Raises `KeyError` for a name that it lacks."""
        return [named[name] for name in self.names]


@functools.lru_cache(KEPT_STATEMENTS)
def numbered(sql: str) -> Statement:
    """A statement whose parameters are named, `:org_id`, with numbers in place of the names.

    What stands in strings, quoted names and comments is no parameter, and `::` is a cast.
    """
    numbers: dict[str, int] = {}

    def replaced(piece: re.Match[str]) -> str:
        name = piece["name"]
        return piece[0] if name is None else f"${numbers.setdefault(name, len(numbers) + 1)}"

    text = _PIECE.sub(replaced, sql)
    return Statement(text.encode(), tuple(numbers))


class _WholeNumberLoader(NumericBinaryLoader):
    """A sum of whole numbers is `numeric`, and here a whole number again."""

    def load(self, data: Buffer) -> Any:
        value = super().load(data)
        number = int(value)
        if number != value:
            raise psycopg.DataError(f"{value} is no whole number")
        return number


class _TruthLoader(BoolBinaryLoader):
    """A truth is 1 or 0, as SQLite has it."""

    def load(self, data: Buffer) -> Any:
        return int(super().load(data))


def adapt(adapters: AdaptersMap) -> None:
    """Have values sent and taken in binary, each Python type as one of PostgreSQL's: no width is guessed by the value.

    A truth is sent as a number. What is read comes as whole numbers, text, bytes and None.
    """
    for kind in (int, bool):
        adapters.register_dumper(kind, Int8BinaryDumper)
    adapters.register_dumper(str, StrBinaryDumper)
    for binary in (bytes, bytearray, memoryview):
        adapters.register_dumper(binary, BytesBinaryDumper)
    adapters.register_loader("numeric", _WholeNumberLoader)
    adapters.register_loader("bool", _TruthLoader)


def positional(statement: Statement, many: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Rows of values that are in the order of the names already. Raises `ValueError` for one of another length."""
    for values in many:
        if len(values) != len(statement.names):
            raise ValueError(f"{len(values)} values for {len(statement.names)} parameters")
    return many
