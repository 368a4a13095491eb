"""Structs and the columns they are stored in, matched by name and converted by type.

    Instant           INTEGER, microseconds
    bool              INTEGER, 0 or 1
    datetime.date     TEXT, ISO
    Money             INTEGER, minor units of the row's `currency`, or of the column that `extra["currency"]` names
    a struct, a list  TEXT, its JSON; a list of `words` TEXT, with a space between them
    a `flat` struct   a column for each of its members: `vat_status` for the `status` of `vat`
    all else          as it is: text, numbers, dates and canonical decimals as text

`extra` is what the `msgspec.Meta` of a field's type says to us: `currency`, `flat`, `words` and `canonical`.
"""

import datetime
import operator
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from gatewayd.clock import Instant
from gatewayd.money import Money
from gatewayd.store.transactions import Row

R = TypeVar("R", bound=msgspec.Struct)

Convert = Callable[[Any], Any]

_FIRST = {"id": 0, "updated_at": 1}
"""Where pages find what they are ordered by, whatever else a row has."""


class Field(NamedTuple):
    """One field of a struct: its type without None and annotations, and the `extra` of its annotations."""

    name: str
    path: str
    type: Any
    optional: bool
    extra: Mapping[str, Any]

    @property
    def is_json(self) -> bool:
        """Whether it is stored as JSON."""
        kind = typing.get_origin(self.type) or self.type
        return kind in (list, dict) or (isinstance(kind, type) and issubclass(kind, msgspec.Struct))


class Columns(Generic[R]):
    """The columns of one struct. `names` are in the order of statements, `sql` is their list.

    `omit` names fields without a column.
    """

    def __init__(self, row: type[R], *, omit: tuple[str, ...] = ()) -> None:
        self.row = row
        self.fields = {field.name: field for field in struct_fields(row)}
        self._omitted = dict.fromkeys(omit)
        stored = [field for name, field in self.fields.items() if name not in self._omitted]
        stored.sort(key=lambda field: _FIRST.get(field.name, len(_FIRST)))
        self._flat: dict[str, Columns[Any]] = {f.name: Columns(f.type) for f in stored if f.extra.get("flat")}
        plain = [(place, field) for place, field in enumerate(stored) if field.name not in self._flat]
        self._loads = [(field.name, load) for _, field in plain if (load := _load_of(field)) is not None]
        self._dumps = [(place, dump) for place, field in plain if (dump := _dump_of(field)) is not None]
        self._money = {f.name: f.extra.get("currency", "currency") for _, f in plain if f.type is Money}
        # The last first, so that the places of those before it stay as they are.
        self._inner = [(p, self._flat[f.name]) for p, f in reversed([*enumerate(stored)]) if f.name in self._flat]
        self._get = operator.attrgetter(*(field.name for field in stored))
        self.names = tuple(column for field in stored for column in self._columns_of(field.name))
        self.sql = ", ".join(self.names)

    def load(self, values: Row, currency: str | None = None) -> R:
        """The struct of a row that was selected with `sql`; `currency` is for tables without such a column."""
        members: dict[str, Any] = dict(zip(self.names, values, strict=True))
        for name, load in self._loads:
            if members[name] is not None:
                members[name] = load(members[name])
        for name, column in self._money.items():
            if members[name] is not None:
                members[name] = Money(members[name], currency or members[column])
        for name, inner in self._flat.items():
            parts = tuple([members.pop(column) for column in self._columns_of(name)])
            absent = self.fields[name].optional and not any(part is not None for part in parts)
            members[name] = None if absent else inner.load(parts)
        return self.row(**members, **self._omitted)

    def dump(self, row: R) -> list[Any]:
        """The values of the columns, in the order of `names`."""
        values = list(self._get(row))
        for place, dump in self._dumps:
            if values[place] is not None:
                values[place] = dump(values[place])
        for place, inner in self._inner:
            value = values[place]
            values[place : place + 1] = [None] * len(inner.names) if value is None else inner.dump(value)
        return values

    def _columns_of(self, name: str) -> list[str]:
        return [f"{name}_{column}" for column in self._flat[name].names] if name in self._flat else [name]


def struct_fields(row: type[msgspec.Struct]) -> Iterator[Field]:
    """The fields of a struct, without what its annotations wrap around their types."""
    for found in msgspec.structs.fields(row):
        kinds: list[Any] = []
        extra: dict[str, Any] = {}
        optional, waiting = False, [found.type]
        while waiting:
            hint = waiting.pop()
            if typing.get_origin(hint) is typing.Annotated:
                inner, *annotations = typing.get_args(hint)
                extra = {**extra, **{n: v for meta in annotations for n, v in (meta.extra or {}).items()}}
                waiting.append(inner)
            elif typing.get_origin(hint) in (typing.Union, types.UnionType):
                waiting += typing.get_args(hint)
            elif hint is type(None):
                optional = True
            elif hint is msgspec.UnsetType:
                continue
            else:
                kinds.append(hint)
        yield Field(found.name, found.encode_name, kinds[0], optional, extra)


def _load_of(field: Field) -> Convert | None:
    if field.extra.get("words"):
        return str.split
    if field.is_json:
        return msgspec.json.Decoder(field.type).decode
    loads: dict[Any, Convert] = {Instant: Instant, bool: bool, datetime.date: datetime.date.fromisoformat}
    return loads.get(field.type)


def _dump_of(field: Field) -> Convert | None:
    if field.extra.get("words"):
        return " ".join
    if field.is_json:
        return _json
    dumps: dict[Any, Convert] = {Money: _minor, datetime.date: datetime.date.isoformat}
    return dumps.get(field.type)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _minor(amount: Money) -> int:
    return amount.minor
