"""What tables a database has, by its own catalogue: their columns and keys, and what refers to what."""

from typing import NamedTuple


class Column(NamedTuple):
    """A column of a table. `place`: in its primary key, from 1; 0: it is not in it."""

    table: str
    name: str
    place: int


class Reference(NamedTuple):
    """A column whose values are those of another, `referred` of `target`; of a key of several there are as many."""

    table: str
    column: str
    target: str
    referred: str


class Catalogue(NamedTuple):
    """The columns of a table stand together, those of its key in the key's order."""

    columns: list[Column]
    references: list[Reference]
