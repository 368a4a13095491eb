"""Structs and the columns they are stored in, matched by name and converted by type.

    Instant           INTEGER, microseconds
    Credits           INTEGER, millionths of a credit
    bool              INTEGER, 0 or 1
    datetime.date     TEXT, ISO
    Money             INTEGER, minor units of the row's `currency`, or of the column that `extra["currency"]` names
    a struct, a list  TEXT, its JSON; a list of `words` TEXT, with a space between them
    a `flat` struct   a column for each of its members: `vat_status` for the `status` of `vat`
    all else          as it is: text, numbers, dates and canonical decimals as text

`extra` is what the `msgspec.Meta` of a field's type says to us: `currency`, `flat`, `words` and `canonical`.
"""

import datetime
import functools
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from gatewayd.clock import Instant
from gatewayd.money import Credits, Money
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

    `omit` names fields without a column; a loaded struct has None in them.
    """

    def __init__(self, row: type[R], *, omit: tuple[str, ...] = ()) -> None:
        self.row = row
        self.fields = {field.name: field for field in struct_fields(row)}
        self._omitted = omit
        stored = [field for name, field in self.fields.items() if name not in omit]
        self._stored = sorted(stored, key=lambda field: _FIRST.get(field.name, len(_FIRST)))
        self.names = tuple(column for field in self._stored for column in _columns_of(field))
        self.sql = ", ".join(self.names)

    def load(self, values: Row, currency: str | None = None) -> R:
        """The struct of a row that was selected with `sql`; `currency` is for tables without such a column."""
        return self._load(values, currency)

    def dump(self, row: R) -> list[Any]:
        """The values of the columns, in the order of `names`."""
        return self._dump(row)

    @functools.cached_property
    def _load(self) -> Callable[[Row, str | None], R]:
        """`def load(values, given): id, price, currency = values; return Boat(id=id, price=Money(price, currency))`."""
        code = Code()
        members = [f"{field.name}={_loaded(code, field, self.names)}" for field in self._stored]
        members += [f"{name}=None" for name in self._omitted]
        made = f"{code.name(self.row)}({', '.join(members)})"
        load: Callable[[Row, str | None], R]
        load = code.function("values, given", f"{', '.join(self.names)}, = values", f"return {made}")
        return load

    @functools.cached_property
    def _dump(self) -> Callable[[R], list[Any]]:
        """`def dump(row): return [row.id, row.price.minor, row.currency]`."""
        code = Code()
        values = [value for field in self._stored for value in _dumped(code, field, f"row.{field.name}")]
        dump: Callable[[R], list[Any]] = code.function("row", f"return [{', '.join(values)}]")
        return dump


class Code:
    """A function that is written out and compiled, as those of the standard library's dataclasses are.

    It runs for every row: written out it costs a third of a loop over fields.
    """

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {"Money": Money, "UNSET": msgspec.UNSET}

    def name(self, thing: Any) -> str:
        """What the function calls `thing`."""
        name = f"_{len(self._objects)}"
        self._objects[name] = thing
        return name

    def function(self, parameters: str, *lines: str) -> Any:
        """The function of these lines."""
        body = "\n    ".join(lines)
        exec(f"def function({parameters}):\n    {body}", self._objects)
        return self._objects["function"]


def _columns_of(field: Field) -> list[str]:
    if not field.extra.get("flat"):
        return [field.name]
    return [f"{field.name}_{column}" for inner in struct_fields(field.type) for column in _columns_of(inner)]


def _loaded(code: Code, field: Field, names: Sequence[str], prefix: str = "") -> str:
    """The expression of a member, of the variables that `names` are."""
    column = prefix + field.name
    if field.extra.get("flat"):
        inner = [f"{f.name}={_loaded(code, f, names, f'{column}_')}" for f in struct_fields(field.type)]
        absent = " is None and ".join(prefix + name for name in _columns_of(field))
        value = f"{code.name(field.type)}({', '.join(inner)})"
        return f"(None if {absent} is None else {value})" if field.optional else value
    if field.type is Money:
        currency = field.extra.get("currency", "currency")
        value = f"Money({column}, {currency if currency in names else 'given'})"
    elif (load := _load_of(field)) is not None:
        value = f"{code.name(load)}({column})"
    else:
        return column
    return f"(None if {column} is None else {value})" if field.optional else value


def _dumped(code: Code, field: Field, value: str) -> Iterator[str]:
    """The expressions of a member's columns; `value` is that of the member."""
    absent = f"None if {value} is None else " if field.optional else ""
    if field.extra.get("flat"):
        for inner in struct_fields(field.type):
            for column in _dumped(code, inner, f"{value}.{inner.name}"):
                yield f"({absent}{column})"
    elif field.type is Money:
        yield f"({absent}{value}.minor)"
    elif (dump := _dump_of(field)) is not None:
        yield f"({absent}{code.name(dump)}({value}))"
    else:
        yield value


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
    loads: dict[Any, Convert] = {
        Instant: Instant,
        Credits: Credits,
        bool: bool,
        datetime.date: datetime.date.fromisoformat,
    }
    return loads.get(field.type)


def _dump_of(field: Field) -> Convert | None:
    if field.extra.get("words"):
        return " ".join
    if field.is_json:
        return _json
    dumps: dict[Any, Convert] = {datetime.date: datetime.date.isoformat}
    return dumps.get(field.type)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
