"""Which rows a statement means, and in which order: what PostgreSQL asks for by name, or sorts the other way."""

from collections.abc import Iterator, Mapping

from pglast import ast, enums

from tests.support.portable_sql.constructs import AGGREGATES
from tests.support.portable_sql.trees import compares, flat, function, within, words

Tables = Mapping[str, Mapping[str, bool]]
"""Of each column of each table: whether it may be NULL."""


def upserts(clause: ast.OnConflictClause) -> Iterator[str]:
    """Columns that are read must say whose they are: of the row that stands, or of the one that was offered."""
    values = [target.val for target in clause.targetList or ()]
    for part in [*values, *flat(clause.whereClause)]:
        for node in within(part):
            if isinstance(node, ast.ColumnRef) and len(node.fields) == 1:
                yield f"the upsert reads {words(node)[0]} without its table"


def groups(select: ast.SelectStmt) -> Iterator[str]:
    """A column beside an aggregate must be grouped by: SQLite takes it from some row."""
    outer = [node for part in (*(select.targetList or ()), *flat(select.havingClause)) for node in _outside(part)]
    if select.groupClause or any(_is_aggregate(node) for node in outer):
        grouped = {words(node)[-1] for node in select.groupClause or () if isinstance(node, ast.ColumnRef)}
        for node in outer:
            if isinstance(node, ast.ColumnRef) and words(node)[-1] not in grouped:
                yield f"{words(node)[-1]} stands beside an aggregate and is not grouped by"


def _is_aggregate(node: ast.Node) -> bool:
    return isinstance(node, ast.FuncCall) and function(node) in AGGREGATES and node.over is None


def _outside(node: ast.Node) -> Iterator[ast.Node]:
    """What stands outside the aggregates, and they themselves."""
    yield node
    if not _is_aggregate(node):
        for name in node:
            for child in flat(getattr(node, name)):
                if not isinstance(child, ast.SubLink | ast.RangeSubselect):
                    yield from _outside(child)


def orders(select: ast.SelectStmt, tables: Tables) -> Iterator[str]:
    """NULL comes first in SQLite and last in PostgreSQL: a sort key must not be NULL, or stand behind its `IS NULL`."""
    windows = [node for part in select.targetList or () for node in within(part) if isinstance(node, ast.WindowDef)]
    for clause in (select.sortClause, *(window.orderClause for window in windows)):
        told: set[str] = set()
        for key in clause or ():
            if isinstance(key.node, ast.NullTest) and isinstance(key.node.arg, ast.ColumnRef):
                told.add(words(key.node.arg)[-1])
            elif isinstance(key.node, ast.A_Const) or _may_be_null(key.node, select, tables, told):
                yield f"ORDER BY {_node_text(key.node)}, which may be NULL or is not known"


def _may_be_null(key: ast.Node, select: ast.SelectStmt, tables: Tables, told: set[str]) -> bool:
    if not isinstance(key, ast.ColumnRef):
        return True
    if words(key)[-1] in told:
        return False
    return any(_column_may_be_null(words(key), branch, tables) for branch in _branches(select))


def _node_text(key: ast.Node) -> str:
    return ".".join(words(key)) if isinstance(key, ast.ColumnRef) else type(key).__name__


def _branches(select: ast.SelectStmt) -> Iterator[ast.SelectStmt]:
    if select.op == enums.SetOperation.SETOP_NONE:
        yield select
    else:
        yield from _branches(select.larg)
        yield from _branches(select.rarg)


def _column_may_be_null(column: list[str], select: ast.SelectStmt, tables: Tables) -> bool:
    """Also where it is not known whose it is."""
    for target in select.targetList:
        if [target.name] == column and isinstance(target.val, ast.ColumnRef):
            column = words(target.val)
    sources = [source for part in select.fromClause or () for source in _sources(part, False)]
    holders = [
        (table, outer)
        for alias, table, outer in sources
        if column[-1] in tables.get(table, ()) and column[0] in (alias, column[-1])
    ]
    if len(holders) != 1:
        return True
    table, outer = holders[0]
    return (outer or tables[table][column[-1]]) and column not in list(_told_apart_from_null(select))


def _sources(part: ast.Node, outer: bool) -> Iterator[tuple[str, str, bool]]:
    """The alias and table of what rows are taken from, and whether a join may leave it out."""
    if isinstance(part, ast.RangeVar):
        yield part.alias.aliasname if part.alias else part.relname, part.relname, outer
    elif isinstance(part, ast.JoinExpr):
        kinds = enums.JoinType
        yield from _sources(part.larg, outer or part.jointype in (kinds.JOIN_RIGHT, kinds.JOIN_FULL))
        yield from _sources(part.rarg, outer or part.jointype in (kinds.JOIN_LEFT, kinds.JOIN_FULL))


def _told_apart_from_null(select: ast.SelectStmt) -> Iterator[list[str]]:
    """Columns that no row has as NULL, because the condition would not be true."""
    for condition in _conjuncts(select.whereClause):
        if isinstance(condition, ast.NullTest) and condition.nulltesttype == enums.NullTestType.IS_NOT_NULL:
            yield from _columns(condition.arg)
        elif isinstance(condition, ast.A_Expr) and compares(condition) and _is_strict(condition):
            yield from _columns(condition.lexpr)
            yield from _columns(condition.rexpr)


def _is_strict(condition: ast.A_Expr) -> bool:
    return condition.kind not in (enums.A_Expr_Kind.AEXPR_DISTINCT, enums.A_Expr_Kind.AEXPR_NOT_DISTINCT)


def _conjuncts(condition: ast.Node | None) -> Iterator[ast.Node]:
    if isinstance(condition, ast.BoolExpr) and condition.boolop == enums.BoolExprType.AND_EXPR:
        for part in condition.args:
            yield from _conjuncts(part)
    elif condition is not None:
        yield condition


def _columns(operand: object) -> Iterator[list[str]]:
    """The column that an operand is; of a row its first, on which the comparison always turns."""
    if isinstance(operand, ast.RowExpr):
        operand = operand.args[0]
    if isinstance(operand, ast.ColumnRef):
        yield words(operand)
