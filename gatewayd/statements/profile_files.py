"""The files of `profiles/`, which say of banks' and brokers' CSV exports how each is read (Domain E)."""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from gatewayd.statements.shapes import FileKind

FILES: Final[Mapping[FileKind, tuple[str, ...]]] = {
    "bank": ("accounts.toml", "cards.toml", "wallets.toml"),
    "broker": ("brokers.toml",),
    "prices": (),
}
"""Those of each kind, in the order in which their profiles count."""
_FOLDER: Final = Path(__file__).with_name("profiles")  # to ask importlib.resources takes each child 2 ms

ProfileT = TypeVar("ProfileT")


@functools.cache  # of the program's own files
def texts_of(kind: FileKind) -> tuple[str, ...]:
    """What stands in them. The child asks before it shuts itself in, as it can open no file then."""
    return tuple((_FOLDER / name).read_text(encoding="utf-8") for name in FILES[kind])


def profiles_in(text: str, profile: type[ProfileT]) -> tuple[ProfileT, ...]:
    """The profiles of a file. Raises `msgspec.ValidationError` for a key too many or too few, with its place."""
    tables = tomllib.loads(text)
    if tables.keys() != {"profile"}:
        raise msgspec.ValidationError(f"the file has {', '.join(tables)}, and not [[profile]] alone")
    return tuple(msgspec.convert(table, profile) for table in tables["profile"])
