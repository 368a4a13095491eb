"""Tables of resources: the statements that read and write one row, derived from its struct.

A resource has `id`, `created_at`, `updated_at` and `version`, and may have `external_id`, which is unique in its
organization. What finds, counts and sums many rows is written by hand where it is needed.
"""

import datetime
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar, cast

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.errors import external_id_exists, invalid_field, not_found, version_conflict
from gatewayd.money import Money, canonical
from gatewayd.store.rows import removals
from gatewayd.store.rows.columns import Code, Columns, Field, struct_fields
from gatewayd.store.transactions import ReadTx, Row, WriteTx

R = TypeVar("R", bound=msgspec.Struct)

Conversion = Callable[[Any, Any], object]
"""A value of a request and the currency of its amounts, to the value of the row's field."""

_FIXED = frozenset({"id", "created_at"})
"""What no update changes."""


_Given = Callable[[Any, object], dict[str, object]]
"""Of a request and the currency of its amounts: the fields that a row shares with it."""


class _Resource(Protocol):
    """What every row of a `Table` has."""

    id: str
    external_id: str | None
    version: int


class Table(Columns[R]):
    """The table of one kind of resource. `kind` is its name for people; its ids begin with `prefix`.

    `derived` are fields without a column: they follow from the others, and are computed anew whenever a row is read
    or stored. `written` are columns without a field, such as what is searched: they are computed when it is stored.
    """

    def __init__(
        self,
        name: str,
        row: type[R],
        *,
        kind: str,
        prefix: str,
        derived: Mapping[str, Callable[[ReadTx, R], object]] | None = None,
        written: Mapping[str, Callable[[R], object]] | None = None,
    ) -> None:
        self._derived, self._written = derived or {}, written or {}
        super().__init__(row, omit=tuple(self._derived))
        self.name, self.kind, self._prefix = name, kind, prefix
        self._blank = dict.fromkeys(self.fields)
        self._shared: dict[type[msgspec.Struct], _Given] = {}
        self._all = (*self.names, *self._written)
        values = ", ".join(f":{column}" for column in self._all)
        changes = ", ".join(f"{column} = :{column}" for column in self._all if column not in _FIXED)
        own = "WHERE org_id = :org_id"
        self.select = f"SELECT {self.sql} FROM {name} {own}"
        self._find = f"{self.select} AND id = :id"
        self._find_external = f"SELECT id FROM {name} {own} AND external_id = :external_id AND id <> :id"
        self._find_organization = f"SELECT org_id FROM {name} WHERE id = :id"
        self._wires = f"SELECT id, wire FROM {name} {own} AND id > :after ORDER BY id LIMIT :count"
        self._insert = f"INSERT INTO {name} (org_id, {', '.join(self._all)}) VALUES (:org_id, {values})"
        self._update = f"UPDATE {name} SET {changes} {own} AND id = :id"
        self._touch = f"UPDATE {name} SET updated_at = :updated_at {own} AND id = :id"

    def statements(self) -> Iterator[tuple[str, str]]:
        """Every statement by name. One whose name ends in `any_org` is the operator's, over all organizations."""
        yield from (("select", self.select), ("find", self._find), ("insert", self._insert), ("update", self._update))
        yield "touch", self._touch
        yield "organization_any_org", self._find_organization
        if "external_id" in self.fields:
            yield "find_external", self._find_external
        if "wire" in self._written:
            yield "wires", self._wires

    # -- reading

    def read(self, tx: ReadTx, values: Row) -> R:
        """The resource of a row that was selected with `select`."""
        return self._complete(tx, self.load(values))

    def find(self, tx: ReadTx, id_: str) -> R | None:
        """The resource of the transaction's organization; None where it has no such one."""
        values = tx.row(self._find, id=id_)
        return None if values is None else self.read(tx, values)

    def get(self, tx: ReadTx, id_: str, expected_version: int | None = None) -> R:
        """The same, at the version that the caller expects; None: at any.

        Raises `Problem`: `not_found`, `version_conflict`.
        """
        row = self.find(tx, id_)
        if row is None:
            raise not_found(self.kind)
        version = cast(_Resource, row).version
        if expected_version is not None and expected_version != version:
            raise version_conflict(expected_version, version)
        return row

    def organization_of(self, tx: ReadTx, id_: str) -> str:
        """Whose resource it is, for the operator of the instance. Raises `Problem` `not_found`."""
        org_id: str | None = tx.value(self._find_organization, id=id_)
        if org_id is None:
            raise not_found(self.kind)
        return org_id

    def stale(self, tx: ReadTx, after: str, count: int) -> list[tuple[str, bool]]:
        """The next `count` resources after an id: the id of each, and whether its `wire` is not what its row gives."""
        found = []
        for id_, wire in tx.rows(self._wires, after=after, count=count):
            row = self.find(tx, id_)
            found.append((id_, row is None or self._written["wire"](row) != wire))
        return found

    # -- writing

    def new(self, tx: WriteTx, request: msgspec.Struct | None, **values: object) -> R:
        """A resource that is not stored yet: the request's fields of the same names, with `values` in their place.

        Fields that neither gives are None. Raises `Problem` `validation_failed` for an amount that its currency does
        not have.
        """
        currency = values.get("currency") or getattr(request, "currency", None)
        given = {} if request is None else self._given(request, currency)
        stamps = {"id": tx.new_id(self._prefix), "created_at": tx.now, "updated_at": tx.updated_at, "version": 1}
        return self.row(**{**self._blank, **given, **values, **stamps})

    def changed(self, row: R, request: msgspec.Struct, **values: object) -> R:
        """The resource with what a request gives, where absent fields stay, and `values` in their place.

        Raises `Problem` `validation_failed` for an amount that its currency does not have.
        """
        currency = values.get("currency") or getattr(request, "currency", None) or getattr(row, "currency", None)
        given = self._given(request, currency)  # UNSET is false too
        return replace(row, **{**given, **values})

    def insert(self, tx: WriteTx, row: R) -> R:
        """Store a new resource. Raises `Problem` `already_exists` where its `external_id` is taken."""
        self._refuse_taken(tx, row)
        row = self._complete(tx, row)
        tx.run_each(self._insert, [(tx.org_id, *self._values(row))])
        tx.changed(self.name, cast(_Resource, row).id, None, row)
        return row

    def update(self, tx: WriteTx, row: R) -> R:
        """Store what a resource has become, as its next version. Raises `Problem` `already_exists` as `insert` does."""
        return self.save(tx, replace(row, version=cast(_Resource, row).version + 1))

    def save(self, tx: WriteTx, row: R) -> R:
        """Store what a resource has become without raising its version, as `expectedVersion` sees it."""
        self._refuse_taken(tx, row)
        id_ = cast(_Resource, row).id
        before = self.find(tx, id_) if tx.reacts(self.name) else None
        row = self._complete(tx, replace(row, updated_at=tx.updated_at))
        tx.run(self._update, **dict(zip(self._all, self._values(row), strict=True)))
        if before is not None:
            tx.changed(self.name, id_, before, row)
        return row

    def touch(self, tx: WriteTx, id_: str) -> None:
        """Let who follows changes learn that what a list shows beside the row is another: `updated_at` alone moves.

        Chosen: that is no change that a caller's `expectedVersion` could run into. What is `written` stays.
        """
        tx.run(self._touch, id=id_, updated_at=tx.updated_at)

    def refuse_taken(self, tx: ReadTx, external_id: str | None, id_: str = "") -> None:
        """Raises `Problem` `already_exists` where another resource than `id_` has this `external_id`."""
        if external_id is None:
            return
        existing_id = tx.value(self._find_external, external_id=external_id, id=id_)
        if existing_id is not None:
            raise external_id_exists(self.kind, existing_id)

    # -- parts

    def _refuse_taken(self, tx: ReadTx, row: R) -> None:
        if "external_id" in self.fields:
            resource = cast(_Resource, row)
            self.refuse_taken(tx, resource.external_id, resource.id)

    def _values(self, row: R) -> list[Any]:
        return [*self.dump(row), *(written(row) for written in self._written.values())]

    def _complete(self, tx: ReadTx, row: R) -> R:
        if not self._derived:
            return row
        return replace(row, **{name: derive(tx, row) for name, derive in self._derived.items()})

    def _given(self, request: msgspec.Struct, currency: object) -> dict[str, object]:
        """What a request gives of the fields that may change, as the row holds it."""
        kind = type(request)
        given = self._shared.get(kind)
        if given is None:
            given = self._shared[kind] = _given(kind, self.fields)
        return given(request, currency)


class RemovableTable(Table[R]):
    """A table whose resources may be deleted."""

    @property
    def _delete(self) -> str:
        return f"DELETE FROM {self.name} WHERE org_id = :org_id AND id = :id"

    def statements(self) -> Iterator[tuple[str, str]]:
        """Every statement by name, as of a table."""
        yield from super().statements()
        yield "delete", self._delete

    def delete(self, tx: WriteTx, id_: str) -> None:
        """Delete a resource that is stored, and keep that it is removed, so that a copy of the list can follow."""
        before = self.find(tx, id_) if tx.reacts(self.name) else None
        tx.run(self._delete, id=id_)
        removals.keep(tx, self.name, id_)
        if before is not None:
            tx.changed(self.name, id_, before, None)


def _given(request: type[msgspec.Struct], fields: Mapping[str, Field]) -> _Given:
    """`def given(request, currency): return {"name": request.name, "price": convert(request.price, currency)}`."""
    code, members = Code(), []
    for asked in struct_fields(request):
        if asked.name in fields and asked.name not in _FIXED:
            value = f"request.{asked.name}"
            convert = _conversion(asked, fields[asked.name])
            if convert is not None:
                value = f"{value} if {value} is None or {value} is UNSET else {code.name(convert)}({value}, currency)"
            members.append(f'"{asked.name}": {value}')
    given: _Given = code.function("request, currency", f"return {{{', '.join(members)}}}")
    if UNSET not in request.__struct_defaults__:
        return given
    return lambda request, currency: {n: value for n, value in given(request, currency).items() if value is not UNSET}


def _conversion(asked: Field, field: Field) -> Conversion | None:
    if field.type is Money and asked.type is str:
        return functools.partial(_money, field.path)
    if field.type is str and asked.type is datetime.date:
        return lambda date, _: date.isoformat()
    if field.extra.get("canonical"):
        return lambda text, _: canonical(text)
    return None


def _money(path: str, text: str, currency: str) -> Money:
    try:
        return Money.of(text, currency)
    except ValueError as error:
        raise invalid_field(path, "invalid_decimal", f"{error}.") from None
