"""What PostgreSQL must know of types: truths are no numbers, and a parameter has the type of what stands beside it."""

from collections.abc import Iterable, Iterator

from pglast import ast

from tests.support.portable_sql.constructs import LIKE_ESCAPE
from tests.support.portable_sql.trees import Place, function, is_truth, operands

_CONDITIONS = {
    ast.SelectStmt: ("whereClause", "havingClause"),
    ast.UpdateStmt: ("whereClause",),
    ast.DeleteStmt: ("whereClause",),
    ast.JoinExpr: ("quals",),
    ast.BoolExpr: ("args",),
    ast.CaseWhen: ("expr",),
    ast.FuncCall: ("agg_filter",),
    ast.OnConflictClause: ("whereClause",),
    ast.InferClause: ("whereClause",),
}
"""Where a condition stands, and nothing else may."""
_COUNTED = frozenset({"substr", "lag", "lead", "nth_value"})
"""Functions whose arguments behind the first have a type of their own."""


def truths(place: Place) -> Iterator[str]:
    """A condition where a value is wanted, or the other way round."""
    if _is_condition(place):
        if not is_truth(place.node):
            yield "a value is taken for a truth"
    elif is_truth(place.node) and not _is_shown(place) and not _is_compared_with_a_truth(place):
        yield "a truth is taken for a value"


def _is_condition(place: Place) -> bool:
    if place.stands_in(ast.CaseWhen, "expr"):
        return not _has_subject(place)
    return any(place.stands_in(kind, *slots) for kind, slots in _CONDITIONS.items())


def _has_subject(place: Place) -> bool:
    """`CASE x WHEN ...`, where what follows WHEN is a value."""
    case = place.parent.owner if place.parent else None
    return isinstance(case, ast.CaseExpr) and case.arg is not None


def _is_shown(place: Place) -> bool:
    """In the answer, where the caller takes either engine's truth, or in an order."""
    if place.stands_in(ast.SortBy, "node") or place.parent is None:
        return True
    return place.stands_in(ast.ResTarget, "val") and _is_answered(place.parent)


def _is_answered(target: Place) -> bool:
    if target.stands_in(ast.ReturningClause, "exprs"):
        return True
    return target.stands_in(ast.SelectStmt, "targetList") and not _is_inserted(target)


def _is_inserted(part: Place) -> bool:
    """In the SELECT or VALUES of an INSERT, where columns give the types."""
    return part.parent is not None and part.parent.stands_in(ast.InsertStmt, "selectStmt")


def _is_compared_with_a_truth(place: Place) -> bool:
    return isinstance(place.owner, ast.A_Expr) and all(map(is_truth, operands(place.owner)))


def untyped(place: Place) -> bool:
    """Whether it is a parameter whose type PostgreSQL would have to guess.

    What it infers from elsewhere in the statement depends on which it reads first, and beside a literal number it
    takes 32 bits: neither counts.
    """
    if not isinstance(place.node, ast.ParamRef) or _is_condition(place):
        return False
    owner = place.owner
    if isinstance(owner, ast.ResTarget):
        return _is_untyped_target(place.parent)
    if isinstance(owner, ast.SelectStmt):
        return not (place.slot in ("limitCount", "limitOffset") or _is_inserted(place))
    if isinstance(owner, ast.FuncCall):
        return not _is_typed_argument(owner, place.node)
    if isinstance(owner, ast.TypeCast | ast.SubLink):
        return False
    return not any(map(_has_type, _beside(place)))


def _is_untyped_target(target: Place | None) -> bool:
    assert target is not None
    if target.stands_in(ast.UpdateStmt, "targetList") or target.stands_in(ast.OnConflictClause, "targetList"):
        return False
    return not _is_inserted(target)


def _is_typed_argument(call: ast.FuncCall, argument: ast.Node) -> bool:
    return function(call) == LIKE_ESCAPE or (function(call) in _COUNTED and argument is not call.args[0])


def _beside(place: Place) -> Iterable[ast.Node]:
    """What must be of one type with a node."""
    owner = place.owner
    if isinstance(owner, ast.A_Expr):
        return operands(owner)
    if isinstance(owner, ast.CoalesceExpr):
        return owner.args
    if isinstance(owner, ast.CaseExpr) and place.slot == "defresult":
        return _results(owner)
    if isinstance(owner, ast.CaseExpr | ast.CaseWhen):
        assert place.parent is not None
        case = owner if isinstance(owner, ast.CaseExpr) else place.parent.owner
        assert isinstance(case, ast.CaseExpr)
        return _results(case) if place.slot == "result" else [case.arg, *(when.expr for when in case.args)]
    if isinstance(owner, ast.RowExpr) and place.parent and isinstance(place.parent.owner, ast.A_Expr):
        rows = [row.args for row in operands(place.parent.owner) if isinstance(row, ast.RowExpr)]
        return [row[owner.args.index(place.node)] for row in rows]
    return ()


def _results(case: ast.CaseExpr) -> list[ast.Node]:
    return [*(when.result for when in case.args), *([] if case.defresult is None else [case.defresult])]


def _has_type(node: ast.Node | None) -> bool:
    """Whether it has a type by itself: from a column, a cast or a function."""
    if isinstance(node, ast.ColumnRef | ast.TypeCast | ast.FuncCall | ast.SubLink):
        return True
    if isinstance(node, ast.A_Expr):
        return any(map(_has_type, operands(node)))
    if isinstance(node, ast.CoalesceExpr):
        return any(map(_has_type, node.args))
    return isinstance(node, ast.CaseExpr) and any(map(_has_type, _results(node)))
