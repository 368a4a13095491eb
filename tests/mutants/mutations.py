"""The small changes that tests should notice: every mutant of a Python source, one at a time.

A comparison moves its boundary or turns round, `and` becomes `or`, a number grows by one, an exception is no longer
caught, a statement is left out; inside SQL conditions change in the same way. Texts, annotations, decorators and
assertions stay as they are.
"""

import ast
import copy
import re
from collections.abc import Iterator
from typing import NamedTuple

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
}  # fmt: skip
STATEMENTS: dict[type[ast.stmt], type[ast.stmt]] = {ast.Break: ast.Continue, ast.Continue: ast.Break}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
SQL = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|JOIN|IS NULL|IS NOT NULL|SAVEPOINT|BEGIN)\b")
SQL_PARTS = {
    r"(?<![<>])>(?![=])": ">=", r">=": ">", r"<(?![=>])": "<=", r"<=": "<", r"\bAND\b": "OR", r"\bOR\b": "AND",
    r"\bIS NULL\b": "IS NOT NULL", r"\bIS NOT NULL\b": "IS NULL", r"\bNOT EXISTS\b": "EXISTS", r"\bDESC\b": "ASC",
    r"\bmin\(": "max(", r"\bmax\(": "min(", r" \+ ": " - ", r" - ": " + ",
}  # fmt: skip

UNCHANGED = {"annotation", "returns", "decorator_list", "type_params", "ctx"}
SHOWN = 120  # characters of a line that is told whole
BESIDE = 40  # characters told before and after the change in a longer one

PLAIN = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)
"""Conditions that are changed from within, and need not be turned round as a whole."""

Scope = tuple[str, ...]


class Mutant(NamedTuple):
    """One change. Told by where it stands and by its text, so that it is found again when lines move."""

    where: str  # `Writer.write`, or the name of a constant
    before: str
    after: str


class _Place(NamedTuple):
    """Where a node hangs: `owner.field`, or `owner.field[at]`."""

    owner: ast.AST
    field: str
    at: int | None = None

    def get(self) -> ast.AST:
        value = getattr(self.owner, self.field)
        found: ast.AST = value if self.at is None else value[self.at]
        return found

    def put(self, node: ast.AST) -> None:
        if self.at is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.at] = node


class _Line(NamedTuple):
    """A statement, `except` or `case`: what a mutant is shown in."""

    place: _Place
    scope: Scope

    def text(self) -> str:
        """Its code on one line, without the block below it."""
        shown = copy.copy(self.place.get())
        for block in ("body", "orelse", "handlers", "finalbody", "cases", "decorator_list"):
            if isinstance(getattr(shown, block, None), list):
                setattr(shown, block, [])
        return " ".join(ast.unparse(shown).split())


def mutants(source: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """Each mutant with its whole tree, which must be used before the next one is asked for."""
    tree = ast.parse(source)
    for line, place in list(_places(tree)):
        original = place.get()
        for changed in _changes(original, place, line):
            before = line.text()
            place.put(ast.fix_missing_locations(ast.copy_location(changed, original)))
            yield _told(line, before, original, changed), tree
            place.put(original)


def _told(line: _Line, before: str, original: ast.AST, changed: ast.AST) -> Mutant:
    where = ".".join(line.scope)
    if isinstance(original, ast.Constant) and isinstance(original.value, str):  # of a long statement the one line
        assert isinstance(changed, ast.Constant)
        old, new = original.value.splitlines(), str(changed.value).splitlines()
        differing = [(a.strip(), b.strip()) for a, b in zip(old, new, strict=True) if a != b]
        return Mutant(where, *differing[0])
    return Mutant(where, *_shortened(before, line.text()))


def _shortened(before: str, after: str) -> tuple[str, str]:
    """Of long lines the part that differs, and what stands beside it."""
    if len(before) <= SHOWN:
        return before, after
    start = max(0, _alike(before, after) - BESIDE)
    end = max(0, _alike(before[::-1], after[::-1]) - BESIDE)
    return before[start : len(before) - end], after[start : len(after) - end]


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


# -- where something can be changed


def _places(tree: ast.Module) -> Iterator[tuple[_Line, _Place]]:
    for index in range(len(tree.body)):
        yield from _below_line(_Line(_Place(tree, "body", index), ()))


def _below_line(line: _Line) -> Iterator[tuple[_Line, _Place]]:
    """The statement itself, then all in it."""
    node = line.place.get()
    if isinstance(node, ast.Assert | ast.Import | ast.ImportFrom):
        return
    yield line, line.place
    scope = line.scope
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope = (*scope, node.name)
    elif not scope and isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        line = line._replace(scope=(ast.unparse(target),))
    yield from _below(node, line, scope)


def _below(node: ast.AST, line: _Line, scope: Scope) -> Iterator[tuple[_Line, _Place]]:
    for place in _children(node):
        child = place.get()
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _below_line(_Line(place, scope))
        else:
            yield line, place
            yield from _below(child, line, scope)


def _children(node: ast.AST) -> Iterator[_Place]:
    for field, value in ast.iter_fields(node):
        if field in UNCHANGED or (isinstance(node, ast.ClassDef) and field in ("bases", "keywords")):
            continue
        if isinstance(value, ast.AST):
            yield _Place(node, field)
        elif isinstance(value, list):
            yield from (_Place(node, field, index) for index, each in enumerate(value) if isinstance(each, ast.AST))


# -- what it can be changed to


def _changes(node: ast.AST, place: _Place, line: _Line) -> Iterator[ast.AST]:
    if type(node) in OPERATORS and place.field in ("op", "ops"):
        yield OPERATORS[type(node)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and getattr(place.owner, "arg", None) != "strict":  # of zip
        yield from _constants(node, place, line)
    elif isinstance(node, ast.Name) and node.id in NAMES and place.field == "func":
        yield ast.Name(NAMES[node.id], ast.Load())
    elif isinstance(node, ast.ExceptHandler):
        yield from _uncaught(node)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
        yield ast.Call(node.func, [], [])
    elif isinstance(node, ast.stmt):
        yield from _statements(node, place)
    if _is_condition(place) and isinstance(node, ast.expr) and not isinstance(node, PLAIN):
        yield ast.UnaryOp(ast.Not(), node)


def _is_condition(place: _Place) -> bool:
    return place.field == "test" or (isinstance(place.owner, ast.comprehension) and place.field == "ifs")


def _constants(node: ast.Constant, place: _Place, line: _Line) -> Iterator[ast.Constant]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif isinstance(node.value, str) and not isinstance(place.owner, ast.Expr) and _is_sql(node.value, place, line):
        for pattern, other in SQL_PARTS.items():
            for found in re.finditer(pattern, node.value):
                yield ast.Constant(node.value[: found.start()] + other + node.value[found.end() :])


def _is_sql(text: str, place: _Place, line: _Line) -> bool:
    return bool(SQL.search(text) or (isinstance(place.owner, ast.JoinedStr) and SQL.search(line.text())))


def _uncaught(node: ast.ExceptHandler) -> Iterator[ast.ExceptHandler]:
    """The handler with each of its exceptions left out in turn."""
    names = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    for name in names:
        rest = [each for each in names if each is not name and each is not None]
        yield ast.ExceptHandler(ast.Tuple(rest, ast.Load()), node.name, node.body)


def _statements(node: ast.stmt, place: _Place) -> Iterator[ast.stmt]:
    if type(node) in STATEMENTS:
        yield STATEMENTS[type(node)]()
    elif _may_be_left_out(node, place):
        yield ast.Pass()


def _may_be_left_out(node: ast.stmt, place: _Place) -> bool:
    """Whether to leave the statement out makes a program that still could run."""
    match node:
        case ast.Expr():
            return not isinstance(node.value, ast.Constant)
        case ast.Assign():
            return not any(isinstance(target, ast.Name | ast.Tuple) for target in node.targets)
        case ast.AnnAssign():
            return not isinstance(node.target, ast.Name)
        case ast.Return():  # without its last return a function answers None, which nearly everything notices
            is_last = isinstance(place.owner, ast.FunctionDef | ast.AsyncFunctionDef) and node is place.owner.body[-1]
            return not is_last
        case _:
            return isinstance(node, ast.AugAssign | ast.Raise | ast.Delete)
