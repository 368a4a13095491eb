"""Which tables of a statement are bound to one organization: to `:org_id`, or to the `org_id` of a table that is.

Only what holds for every row counts: equalities joined by AND, in WHERE or in the ON of a join. What an outer join
says binds the table that it joins and no other.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sqlglot import exp

COLUMN = "org_id"
ORGANIZATION = (0, ":org_id")

Scope = exp.Select | exp.Update | exp.Delete
Place = tuple[int, str]
"""A table in a scope, by the scope's identity and the table's alias or name."""
Columns = Mapping[str, set[str]]
"""The columns of each table."""


class Equality(NamedTuple):
    """Two that are of the same organization. `only`: the one it says something of, where that is not both."""

    one: Place
    other: Place
    only: Place | None


def unbound(statement: exp.Expression, columns: Columns) -> list[str]:
    """The organization-owned tables that may be those of any organization."""
    names = {id(scope): _owned_in(scope, columns) for scope in statement.find_all(*_SCOPES)}
    equalities = [found for scope in statement.find_all(*_SCOPES) for found in _equalities(scope, names)]
    places = [(scope, name) for scope, found in names.items() for name in found]
    bound = {ORGANIZATION}
    while reached := {place for equality in equalities for place in _reached(equality, bound)} - bound:
        bound |= reached
    inserts = [insert for insert in statement.find_all(exp.Insert) if COLUMN in columns.get(_target(insert), ())]
    return [name for scope, name in places if (scope, name) not in bound] + [
        _target(insert) for insert in inserts if not (_is_given(insert) and _keeps_to_its_own(insert))
    ]


_SCOPES = (exp.Select, exp.Update, exp.Delete)


def _owned_in(scope: Scope, columns: Columns) -> list[str]:
    """The organization-owned tables that a scope itself names."""
    source = scope.args.get("from_")
    tables = [scope.this if source is None else source.this, *(join.this for join in scope.args.get("joins") or ())]
    return [t.alias_or_name for t in tables if isinstance(t, exp.Table) and COLUMN in columns.get(t.name, ())]


def _equalities(scope: Scope, names: Mapping[int, list[str]]) -> Iterator[Equality]:
    where = scope.args.get("where")
    conditions: list[tuple[exp.Expression, Place | None]] = [] if where is None else [(where.this, None)]
    for join in scope.args.get("joins") or ():
        if "on" in join.args:
            conditions.append((join.args["on"], (id(scope), join.this.alias_or_name) if join.side else None))
    for condition, only in conditions:
        for part in _conjuncts(condition):
            if isinstance(part, exp.EQ):
                one, other = (_place(side, scope, names) for side in (part.this, part.expression))
                if one is not None and other is not None:
                    yield Equality(one, other, only)


def _conjuncts(condition: exp.Expression) -> Iterator[exp.Expression]:
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.this)
        yield from _conjuncts(condition.expression)
    else:
        yield condition


def _place(side: exp.Expression, scope: Scope | None, names: Mapping[int, list[str]]) -> Place | None:
    """The table whose organization a side of an equality names, in this scope or in one around it."""
    if _is_parameter(side):
        return ORGANIZATION
    if not isinstance(side, exp.Column) or side.name != COLUMN:
        return None
    while scope is not None:
        found = [name for name in names[id(scope)] if side.table in ("", name)]
        if found:
            return (id(scope), found[0]) if len(found) == 1 else None
        scope = scope.find_ancestor(*_SCOPES)
    return None


def _reached(equality: Equality, bound: set[Place]) -> Iterator[Place]:
    for place, from_ in ((equality.one, equality.other), (equality.other, equality.one)):
        if from_ in bound and equality.only in (None, place):
            yield place


# -- inserts


def _target(insert: exp.Insert) -> str:
    return str(insert.this.find(exp.Table).name)


def _is_given(insert: exp.Insert) -> bool:
    """Whether every row that is written gets `:org_id`, or that of a table that it is read from."""
    names = [column.name for column in insert.this.expressions]
    if COLUMN not in names:
        return False
    source = insert.expression
    rows = [source] if isinstance(source, exp.Select) else source.expressions
    values = [row.expressions[names.index(COLUMN)] for row in rows]
    return all(_is_parameter(v) or (isinstance(v, exp.Column) and v.name == COLUMN) for v in values)


def _keeps_to_its_own(insert: exp.Insert) -> bool:
    """Whether the row that an upsert changes is of the organization too."""
    conflict = insert.args.get("conflict")
    if conflict is None or "UPDATE" not in str(conflict.args.get("action")):
        return True
    keys = [column.name for key in conflict.args.get("conflict_keys") or () for column in key.find_all(exp.Column)]
    where = conflict.args.get("where")
    parts = [] if where is None else _conjuncts(where.this)
    return COLUMN in keys or any(
        isinstance(part, exp.EQ) and part.this.name == COLUMN and _is_parameter(part.expression) for part in parts
    )


def _is_parameter(value: exp.Expression) -> bool:
    return isinstance(value, exp.Placeholder) and value.name == COLUMN
