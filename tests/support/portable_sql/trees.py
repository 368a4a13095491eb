"""Statements as PostgreSQL's own parser reads them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pglast import ast, enums, parse_sql

PARAMETER = re.compile(r"'(?:[^']|'')*'|:([a-z_0-9]+)")
COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})


class Place(NamedTuple):
    """A node, and where it stands: in which slot of which node."""

    node: ast.Node
    slot: str
    parent: "Place | None"

    @property
    def owner(self) -> ast.Node | None:
        return None if self.parent is None else self.parent.node

    def stands_in(self, kind: type[ast.Node], *slots: str) -> bool:
        return isinstance(self.owner, kind) and self.slot in slots


def parse(sql: str) -> tuple[ast.Node, list[str]]:
    """One statement, its parameters numbered, and the names behind the numbers. Raises `pglast.parser.ParseError`."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    (statement,) = parse_sql(PARAMETER.sub(number, sql))
    return statement.stmt, names


def walk(node: ast.Node, slot: str = "", parent: Place | None = None) -> Iterator[Place]:
    """The node and everything below it."""
    place = Place(node, slot, parent)
    yield place
    for name in node:
        for child in flat(getattr(node, name)):
            yield from walk(child, name, place)


def flat(value: object) -> Iterator[ast.Node]:
    """The nodes in a slot: none, one, or those of a list of lists."""
    if isinstance(value, ast.Node):
        yield value
    elif isinstance(value, tuple):
        for member in value:
            yield from flat(member)


def within(node: ast.Node) -> Iterator[ast.Node]:
    """The node and everything below it, but for what stands in subqueries."""
    yield node
    for name in node:
        for child in flat(getattr(node, name)):
            if not isinstance(child, ast.SubLink | ast.RangeSubselect):
                yield from within(child)


def words(column: ast.ColumnRef) -> list[str]:
    """`["c", "id"]` for `c.id`; `*` for a star."""
    return [field.sval if isinstance(field, ast.String) else "*" for field in column.fields]


def function(call: ast.FuncCall) -> str:
    return ".".join(part.sval for part in call.funcname)


def operator(expression: ast.A_Expr) -> str:
    return str(expression.name[-1].sval)


def operands(expression: ast.A_Expr) -> list[ast.Node]:
    return [*flat(expression.lexpr), *flat(expression.rexpr)]


def compares(expression: ast.A_Expr) -> bool:
    kinds = enums.A_Expr_Kind
    if expression.kind == kinds.AEXPR_OP:
        return operator(expression) in COMPARISONS
    return expression.kind != kinds.AEXPR_NULLIF


def is_truth(node: ast.Node | None) -> bool:
    """Whether it can be nothing but true, false or unknown."""
    if isinstance(node, ast.SubLink):
        return node.subLinkType != enums.SubLinkType.EXPR_SUBLINK
    return isinstance(node, ast.NullTest | ast.BoolExpr) or (isinstance(node, ast.A_Expr) and compares(node))
