"""What a statement may be made of: a closed list, because both engines must give each piece the same meaning."""

from collections.abc import Iterator

from pglast import ast, enums

from tests.support.portable_sql.trees import COMPARISONS, Place, flat, function, operator, words

ALLOWED = (
    *(ast.SelectStmt, ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt, ast.ResTarget, ast.ReturningClause),
    *(ast.OnConflictClause, ast.InferClause, ast.IndexElem, ast.WithClause, ast.CommonTableExpr, ast.Alias),
    *(ast.RangeVar, ast.RangeSubselect, ast.JoinExpr, ast.SortBy, ast.WindowDef, ast.RowExpr, ast.SubLink),
    *(ast.ColumnRef, ast.A_Star, ast.ParamRef, ast.A_Const, ast.Integer, ast.String, ast.TypeCast, ast.TypeName),
    *(ast.A_Expr, ast.BoolExpr, ast.NullTest, ast.CaseExpr, ast.CaseWhen, ast.CoalesceExpr, ast.FuncCall),
)
"""Not: literals of bits and fractions, `IS TRUE`, the time of the engine, `COLLATE`, arrays and JSON."""
AGGREGATES = frozenset({"count", "sum", "min", "max"})
WINDOW_FUNCTIONS = frozenset(
    {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"}
    | {"lag", "lead", "first_value", "last_value", "nth_value"}
)
FUNCTIONS = AGGREGATES | {"abs", "length", "substr"}
"""`coalesce` and `nullif` are no functions to the parser."""
LIKE_ESCAPE = "pg_catalog.like_escape"
OPERATORS = COMPARISONS | {"+", "-", "*", "%", "||"}
"""Not `/`: whether it keeps the fraction is another thing on another engine."""
KINDS = frozenset(
    enums.A_Expr_Kind[f"AEXPR_{kind}"]
    for kind in ("OP", "IN", "LIKE", "BETWEEN", "NOT_BETWEEN", "DISTINCT", "NOT_DISTINCT", "NULLIF")
)
TYPES = {"int8": "BIGINT", "int4": "INTEGER", "text": "TEXT"}
ROW_NUMBERS = frozenset({"rowid", "_rowid_", "oid", "ctid"})
FOLDED = frozenset({"search_text", "scopes", "links"})
"""Columns whose text has one case: folded on the way in, or names of a closed set and ids. So are those named
`*_folded`."""


def constructs(place: Place) -> Iterator[str]:
    """What the node itself must not be."""
    node = place.node
    if not isinstance(node, ALLOWED):
        yield f"{type(node).__name__} is not in the portable set"
    elif isinstance(node, ast.A_Const):
        if not (node.isnull or isinstance(node.val, ast.Integer | ast.String)):
            yield "a literal that is neither a text nor a whole number of 32 bits"
    elif isinstance(node, ast.TypeName):
        if node.names[-1].sval not in TYPES:
            yield f"CAST to {node.names[-1].sval}, which is not {', '.join(TYPES.values())}"
    elif isinstance(node, ast.ColumnRef):
        if words(node)[-1] in ROW_NUMBERS:
            yield f"{words(node)[-1]} is no column of ours"
    elif isinstance(node, ast.RangeSubselect):
        if node.alias is None:
            yield "a subquery in FROM without an alias"
    elif isinstance(node, ast.FuncCall):
        yield from _call(place, node)
    elif isinstance(node, ast.A_Expr):
        yield from _expression(node)
    elif isinstance(node, ast.SelectStmt):
        yield from _limit(node)


def _call(place: Place, call: ast.FuncCall) -> Iterator[str]:
    name, arguments = function(call), call.args or ()
    if name == LIKE_ESCAPE and isinstance(place.owner, ast.A_Expr):
        return
    if call.over is not None and name in WINDOW_FUNCTIONS:
        return
    if name not in FUNCTIONS:
        yield f"{name}() is not in the portable set"
    elif name in AGGREGATES and len(arguments) > 1:
        yield f"{name}() of several values is another function on another engine"
    elif name == "substr":
        yield from _substr(arguments)


def _substr(arguments: tuple[ast.Node, ...]) -> Iterator[str]:
    start = arguments[1]
    if not (isinstance(start, ast.ParamRef | ast.A_Expr) or (isinstance(start, ast.A_Const) and start.val.ival > 0)):
        yield "substr() starts with 1: what stands before the first is another thing on another engine"
    for number in arguments[1:]:
        if any(isinstance(node, ast.ColumnRef) for node in _uncast(number)):
            yield "substr() is given a column that is not CAST(... AS INTEGER)"


def _uncast(node: ast.Node) -> Iterator[ast.Node]:
    if not isinstance(node, ast.TypeCast):
        yield node
        for name in node:
            for child in flat(getattr(node, name)):
                yield from _uncast(child)


def _expression(expression: ast.A_Expr) -> Iterator[str]:
    kinds = enums.A_Expr_Kind
    if expression.kind not in KINDS:
        yield f"{kinds(expression.kind).name} is not in the portable set"
    elif expression.kind == kinds.AEXPR_OP:
        if operator(expression) not in OPERATORS or (expression.lexpr is None and operator(expression) != "-"):
            yield f"the operator {operator(expression)} is not in the portable set"
    elif expression.kind == kinds.AEXPR_LIKE:
        yield from _like(expression)


def _like(expression: ast.A_Expr) -> Iterator[str]:
    pattern, column = expression.rexpr, expression.lexpr
    if not (isinstance(pattern, ast.FuncCall) and function(pattern) == LIKE_ESCAPE):
        yield "LIKE without ESCAPE"
    name = words(column)[-1] if isinstance(column, ast.ColumnRef) else ""
    if name not in FOLDED and not name.endswith("_folded"):
        yield "LIKE on what is not folded: only SQLite takes a letter for its capital"


def _limit(select: ast.SelectStmt) -> Iterator[str]:
    limit = select.limitCount
    if isinstance(limit, ast.A_Const) and isinstance(limit.val, ast.Integer) and limit.val.ival < 0:
        yield "LIMIT below zero"
