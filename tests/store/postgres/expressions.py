"""Expressions of a schema as trees that are equal where both engines mean the same.

PostgreSQL tells them in its own way: with casts, `= ANY` for IN, two comparisons for BETWEEN.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pglast import ast, enums, parse_sql

from tests.support.portable_sql.trees import function, operator, words

Tree = Any
_IS_CASE = re.compile(r"\bIS CASE\b")
_OWN = re.compile(r"\)\s*(?:STRICT|WITHOUT ROWID)(?:\s*,\s*(?:STRICT|WITHOUT ROWID))*\s*$")


class Index(NamedTuple):
    """An index: `columns` and `where` as trees."""

    name: str
    unique: bool
    table: str
    columns: tuple[Tree, ...]
    where: Tree


def tree_of(expression: str) -> Tree:
    """The tree of one expression."""
    (statement,) = parse_sql(f"SELECT {_portable(expression)}")
    return _tree(statement.stmt.targetList[0].val)


def checks_of(create_table: str) -> Iterator[Tree]:
    """The trees of all checks of a table, as SQLite keeps its text."""
    (statement,) = parse_sql(_OWN.sub(")", _portable(create_table)))
    for element in statement.stmt.tableElts:
        constraints = [element] if isinstance(element, ast.Constraint) else element.constraints or ()
        for constraint in constraints:
            if constraint.contype == enums.ConstrType.CONSTR_CHECK:
                yield _tree(constraint.raw_expr)


def index_of(create_index: str) -> Index:
    """An index, of its text."""
    (statement,) = parse_sql(create_index)
    index = statement.stmt
    columns = tuple(
        (
            element.name or _tree(element.expr),
            enums.SortByDir(element.ordering),
            enums.SortByNulls(element.nulls_ordering),
        )
        for element in index.indexParams
    )
    where = None if index.whereClause is None else _tree(index.whereClause)
    return Index(index.idxname, bool(index.unique), index.relation.relname, columns, where)


def _portable(sql: str) -> str:
    return _IS_CASE.sub("IS NOT DISTINCT FROM CASE", sql)


def _tree(node: Any) -> Tree:
    if isinstance(node, ast.TypeCast):
        return _tree(node.arg)
    if isinstance(node, ast.A_Const):
        return _constant(node)
    if isinstance(node, ast.ColumnRef):
        return ("column", words(node)[-1])
    if isinstance(node, ast.BoolExpr):
        return _truth(node)
    if isinstance(node, ast.NullTest):
        return (enums.NullTestType(node.nulltesttype).name, _tree(node.arg))
    if isinstance(node, ast.FuncCall):
        return ("call", function(node), *map(_tree, node.args))
    if isinstance(node, ast.CoalesceExpr):
        return ("coalesce", *map(_tree, node.args))
    if isinstance(node, ast.CaseExpr):
        whens = tuple((_tree(when.expr), _tree(when.result)) for when in node.args)
        return ("case", None if node.arg is None else _tree(node.arg), whens, _tree(node.defresult))
    if isinstance(node, ast.A_Expr):
        return _expression(node)
    if node is None:
        return ("NULL",)
    raise TypeError(f"{type(node).__name__} is not known here")


def _constant(node: ast.A_Const) -> Tree:
    if node.isnull:
        return ("NULL",)
    if isinstance(node.val, ast.Integer):
        return ("number", node.val.ival)
    if isinstance(node.val, ast.BitString):
        return ("text", f"\\{node.val.bsval}")
    return ("text", node.val.sval)


def _truth(node: ast.BoolExpr) -> Tree:
    kinds = enums.BoolExprType
    parts = [_tree(part) for part in node.args]
    if node.boolop == kinds.NOT_EXPR:
        (part,) = parts
        return ("SAME", *part[1:]) if part[0] == "DISTINCT" else ("not", part)
    name = kinds(node.boolop).name
    flat = [inner for part in parts for inner in (part[1] if part[0] == name else [part])]
    return (name, flat)


def _expression(node: ast.A_Expr) -> Tree:
    kinds = enums.A_Expr_Kind
    if node.kind == kinds.AEXPR_IN:
        return ("in", _tree(node.lexpr), sorted(map(repr, map(_tree, node.rexpr))))
    if node.kind == kinds.AEXPR_OP_ANY:
        array = node.rexpr.arg if isinstance(node.rexpr, ast.TypeCast) else node.rexpr
        return ("in", _tree(node.lexpr), sorted(map(repr, map(_tree, array.elements))))
    if node.kind == kinds.AEXPR_BETWEEN:
        value, (low, high) = _tree(node.lexpr), map(_tree, node.rexpr)
        return ("AND_EXPR", [(">=", value, low), ("<=", value, high)])
    if node.kind == kinds.AEXPR_DISTINCT:
        return ("DISTINCT", _tree(node.lexpr), _tree(node.rexpr))
    if node.kind == kinds.AEXPR_NOT_DISTINCT:
        return ("SAME", _tree(node.lexpr), _tree(node.rexpr))
    if node.kind != kinds.AEXPR_OP:
        raise TypeError(f"{kinds(node.kind).name} is not known here")
    left = [] if node.lexpr is None else [_tree(node.lexpr)]
    return (operator(node), *left, _tree(node.rexpr))
