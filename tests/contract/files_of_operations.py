"""`docs/operations.md`: of each operation, by its id, the files of its row, of its handler, and of its tests.

The tests are looked for in the tests themselves: a file that names the operation, by its id, its path or its handler,
or that calls what does so beside it. Of several it is the one that is named after the resource, else the one beside the
tests of its area or engine that names it most.
"""

import ast
import functools
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gatewayd.contract.operation import Area, Operation
from gatewayd.contract.signatures import function_of
from gatewayd.http.routes import Routes
from tests.structure.sources import PACKAGE, ROOT, TESTS, Source, sources
from tests.support.rows import CATALOGUE

FILE = ROOT / "docs" / "operations.md"
OF_ALL = ("bench", "clients", "contract_rules", "mutants", "structure", "support")
OF_ALL_ROWS = (
    *("boundaries", "catalogue", "dates", "files_of_operations", "filters_of_lists", "messages", "metering"),
    *("operations", "refusals", "trials"),
)
"""Of `tests/contract`. They test every operation alike, and so none by itself."""
OF_MANY = ("cli", "console", "daemon", "http", "oauth")
"""They test what lies around operations, or several at a time: the last resort."""
_WORD = re.compile(r"[\w./?=&:-]{3,200}")
"""What may name an operation."""
_HEAD = """\
# Operations

Each operation by its id: the file of its row, which has its request and response beside it; of its handler, where that
is another; and of the tests of what it does. What holds for all of them is tested in `tests/contract`.

Made by `make generate`.
"""


class Found(NamedTuple):
    """Where an operation stands: paths from the root. `handler` empty: beside the row."""

    operation: Operation
    row: str
    handler: str
    test: str


class Unfindable(Exception):
    """Operations that have not one row in the sources, or no test."""


def files(areas: Iterable[Area] = CATALOGUE.areas) -> dict[str, list[Found]]:
    """All operations under the title of their area. Raises `Unfindable` naming every one that has no place."""
    rows, tests = _rows(), _tests()
    found: dict[str, list[Found]] = {}
    faults = []
    for area in areas:
        for operation in area.operations:
            declared = rows.get(operation.id, [])
            if len(declared) != 1:
                faults.append(f"{operation.id} has {len(declared)} rows")
                continue
            row, handler = declared[0], _file(function_of(operation))
            test = file_of_tests(operation, (row, handler), tests)
            if not test:
                faults.append(f"{operation.id} has no test")
            found.setdefault(area.title, []).append(Found(operation, row, "" if handler == row else handler, test))
    if faults:
        raise Unfindable("; ".join(faults))
    return found


def written() -> str:
    """The document."""
    parts = [_HEAD]
    for title, found in files().items():
        parts.append(f"\n## {title}\n\n| operation | | row | handler | tests |\n|---|---|---|---|---|\n")
        parts += [f"| {' | '.join(_cells(one))} |\n" for one in found]
    return "".join(parts)


def _cells(one: Found) -> Iterator[str]:
    row = one.operation
    for text in (row.id, f"{row.method} {row.path}", one.row, one.handler, one.test):
        yield f"`{text}`" if text else ""


# -- where rows are


@functools.cache
def _rows() -> Mapping[str, list[str]]:
    return rows_in(sources(PACKAGE))


def rows_in(under: Iterable[Source]) -> Mapping[str, list[str]]:
    """The files in which an operation is declared, by its id."""
    found: dict[str, list[str]] = {}
    for source in under:
        for node in source.nodes if "Operation" in source.text else ():
            if isinstance(node, ast.Call) and (id_ := _declared(node)):
                found.setdefault(id_, []).append(source.name)
    return found


def _declared(node: ast.Call) -> str:
    """The id of the row that a call makes; empty: it makes none."""
    given: list[ast.expr] = []
    if isinstance(node.func, ast.Name) and node.func.id == "Operation":
        given = [keyword.value for keyword in node.keywords if keyword.arg == "id"]
    elif isinstance(node.func, ast.Name) and node.func.id == "_row":  # those of `tax`, which differ in little
        given = node.args[:1]
    return next((one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)), "")


def _file(function: Callable[..., Any]) -> str:
    path = inspect.getsourcefile(function)
    assert path is not None, function
    return Path(path).relative_to(ROOT).as_posix()


# -- where tests are


class Named(NamedTuple):
    """What a test file names: texts, operations by their paths, functions of ours, and what it calls of what is beside.

    `calls` are the names of attributes, `beside` what a file that holds no test names in each of its functions.
    """

    name: str
    texts: Counter[str]
    operations: Counter[str]
    functions: Counter[str]
    calls: Counter[str]
    beside: Mapping[str, "Named"]

    def count(self, operation: Operation) -> int:
        """How often it names an operation."""
        function = function_of(operation)
        count = self.texts[operation.id] + self.operations[operation.id]
        count += self.functions[f"{function.__module__}.{function.__name__}"]
        if self.name.startswith("tests/areas/"):  # where the area goes without saying
            count += self.texts[operation.id.partition(".")[2]]
        return count


@functools.cache
def _tests() -> tuple[Named, ...]:
    routes = Routes(CATALOGUE.operations)
    apart = {TESTS / name for name in OF_ALL} | {TESTS / "contract" / f"test_{name}.py" for name in OF_ALL_ROWS}
    under = [one for one in sources(TESTS) if apart.isdisjoint((one.path, *one.path.parents))]
    return tuple(named_in(source, routes) for source in under)


def named_in(source: Source, routes: Routes) -> Named:
    """What one file names."""
    known = _Known(source)
    beside: dict[str, Named] = {}
    if not source.path.name.startswith("test_"):
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                beside[node.name] = _named(source, tuple(ast.walk(node)), (known, routes), {})
    return _named(source, source.nodes, (known, routes), beside)


class _Known:
    """What names stand for in a file: functions and modules of ours, and texts."""

    def __init__(self, source: Source) -> None:
        self.ours: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        for node in source.nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gatewayd"):
                self.ours |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.texts[node.targets[0].id] = "".join(self.text_of(node.value)) or "x"

    def text_of(self, node: ast.AST) -> Iterator[str]:
        """A text, also one that is put together: what is put in is `x` where nothing is known of it."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(self._part(part) for part in node.values)

    def _part(self, part: ast.expr) -> str:
        if isinstance(part, ast.FormattedValue):
            return self.texts.get(part.value.id, "x") if isinstance(part.value, ast.Name) else "x"
        return str(part.value) if isinstance(part, ast.Constant) else ""


def _named(source: Source, nodes: Iterable[ast.AST], how: tuple[_Known, Routes], beside: Mapping[str, Named]) -> Named:
    known, routes = how
    texts = Counter(text for node in nodes for text in known.text_of(node) if _WORD.fullmatch(text))
    operations: Counter[str] = Counter()
    for text, count in texts.items():
        for path in (text, f"/{source.path.parent.name}/{text}"):
            found = routes.find(path.partition("?")[0])[0] if path.startswith("/") else {}
            operations.update(dict.fromkeys({route.operation.id for route in found.values()}, count))
    calls = Counter(node.attr for node in nodes if isinstance(node, ast.Attribute))
    return Named(source.name, texts, operations, Counter(_functions(known.ours, nodes)), calls, beside)


def _functions(known: Mapping[str, str], nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The dotted name of each function of ours, as far as imports say."""
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in known:
            yield known[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            yield f"{known[node.value.id]}.{node.attr}"


def file_of_tests(operation: Operation, files_of: tuple[str, str], tests: Iterable[Named]) -> str:
    """The test file of an operation whose row and handler stand in these files; empty: none names it."""
    homes = tuple({f"tests/{_home(path)}/" for path in files_of})
    subjects = (_resource(files_of[0]), re.sub("([A-Z])", lambda found: f"_{found[0].lower()}", operation.id))
    tests = tuple(tests)
    beside = {
        name
        for one in tests
        if one.name.startswith(homes)
        for name, inside in one.beside.items()
        if inside.count(operation)
    }
    best, chosen = (0, 0, 0), ""
    for one in tests:
        subject = one.name.rpartition("/")[2].removesuffix(".py").removeprefix("test_")
        if not one.name.endswith(f"/test_{subject}.py"):
            continue
        is_home = one.name.startswith(homes)
        named, called = one.count(operation), sum(one.calls[name] for name in beside) if is_home else 0
        if named or called:
            is_of_it = subjects[0] == subject or subjects[1].endswith(f"_{subject}")
            place = 2 + is_of_it if is_home else one.name.split("/")[1] not in OF_MANY
            best, chosen = max((best, chosen), ((place, named, called), one.name), key=lambda pair: pair[0])
    return chosen


def _home(path: str) -> str:
    """The folder of a file's tests: `areas/crm` for one of that area, `tax` for one of that engine."""
    parts = path.split("/")[1:-1]
    return "/".join(parts[:2] if parts[:1] == ["areas"] else parts[:1])


def _resource(path: str) -> str:
    """What a row is of: `leads` for `areas/crm/leads.py`, `units` for `areas/landlord/units/operations.py`."""
    place = Path(path)
    return place.parent.name if place.stem == "operations" else place.stem


if __name__ == "__main__":
    FILE.write_text(written(), "utf-8")
