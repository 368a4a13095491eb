"""Limits that hold for every file of the program: sizes, words, exceptions that swallow."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.structure.sources import TESTS, Source, sources

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6
MAX_NESTING = 4
MAX_LINE = 120

BANNED_WORDS = frozenset({"util", "utils", "helper", "helpers", "manager", "common", "misc", "base"})
BARE_PARTICIPLES = frozenset({"Asked", "Given", "Got", "Kept", "Living", "Made", "Seen", "Told"})
ALLOWED_NAMES = frozenset({"service_manager", "test_service_manager"})  # systemd's own word for what it is
BORDERS = frozenset(
    {
        "gatewayd/daemon/examining.py",  # look: one check of the page of health
        "gatewayd/http/api.py",  # request
        "gatewayd/extraction/worker.py",  # parse: one document
        "gatewayd/http1/asgi_call.py",  # request: one call of the application
        "gatewayd/http1/http2.py",  # request: one connection
        "gatewayd/http1/server.py",  # request: one connection
        "gatewayd/importing/engine.py",  # one import
        "gatewayd/oauth/app.py",  # request
        "gatewayd/parsing/engine.py",  # parse: one document
        "gatewayd/parsing/made_files.py",  # parse: one file that somebody asked for
        "gatewayd/tax/connections/bearer_tokens.py",  # forward: a refresh that outlives its request
        "gatewayd/sending.py",  # one delivery, one mail
    }
)
"""Where `except Exception` may stand: one request, delivery, parse or forward fails and the daemon goes on."""
KEEPS_FOR_THE_WAITER = frozenset({"gatewayd/store/writer.py"})
"""Where `except BaseException` hands the exception over instead of raising it."""
SKIPS = dict.fromkeys(
    (
        *("tests/clients/programs.py", "tests/browser/chromium.py", "tests/isolation/test_confinement.py"),
        *("tests/support/postgres.py", "tests/support/postgres_store.py", "tests/daemon/instance.py"),
        *("tests/structure/test_growth.py", "tests/conftest.py"),
    ),
    "pytest.skip",
)
"""Where a test may be skipped: for a program that this machine does not have, all of which `.ci/run` installs, or a
layer that its kernel has not; and on a PostgreSQL for what is SQLite's own."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)

SOURCES = sources()
TESTING = [source for source in sources(TESTS) if not source.name.startswith("tests/bench/")]
"""The benchmarks aside: they run other people's servers, and wait for them as one must."""


def functions(source: Source) -> Iterator[Function]:
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parameters(function: Function) -> int:
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([argument for argument in given if argument.arg not in ("self", "cls")])


def nesting(node: ast.AST) -> int:
    """How deep blocks stand in blocks; `elif` is no deeper than its `if`, and a function inside starts anew."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inside = nesting(child)
        is_elif = isinstance(node, ast.If) and node.orelse == [child] and isinstance(child, ast.If)
        deepest = max(deepest, inside + (isinstance(child, _BLOCKS) and not is_elif))
    return deepest


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def test_files_are_short() -> None:
    assert [s.name for s in SOURCES if len(s.text.splitlines()) > MAX_FILE_LINES] == []


def test_functions_are_short_and_flat_and_take_little() -> None:
    faults = []
    for source, function in [(s, f) for s in SOURCES for f in functions(s)]:
        lines = (function.end_lineno or 0) - function.lineno + 1
        for what, count, limit in (
            ("lines", lines, MAX_FUNCTION_LINES),
            ("parameters", parameters(function), MAX_PARAMETERS),
            ("levels", nesting(function), MAX_NESTING),
        ):
            if count > limit:
                faults.append(f"{source.at(function)}: {function.name} has {count} {what}, more than {limit}")
    assert faults == []


def test_no_name_says_nothing() -> None:
    faults = []
    for source in [*SOURCES, *TESTING]:
        names = [part for part in source.path.with_suffix("").parts[-3:] if part not in ALLOWED_NAMES]
        names += [node.name for node in source.nodes if isinstance(node, ast.ClassDef)]
        faults += [f"{source.name}: {name}" for name in names if words(name) & BANNED_WORDS]
    assert faults == []


def test_a_type_is_called_by_a_noun() -> None:
    """Of what was asked, told or kept its name tells: `EntryFilter`, `TaxpayerReference`."""
    faults = []
    for source in SOURCES:
        names = [node.name for node in source.nodes if isinstance(node, ast.ClassDef)]
        names += [node.id for node in source.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        faults += [f"{source.name}: {name}" for name in names if name in BARE_PARTICIPLES]
    assert faults == []


def caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"everything"}
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}


def handlers(source: Source) -> Iterator[ast.ExceptHandler]:
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler):
            yield node


def swallows(source: Source) -> Iterator[str]:
    for handler in handlers(source):
        names = caught(handler)
        raises = any(isinstance(node, ast.Raise) for node in ast.walk(handler))
        refused = {"everything"}
        if source.name not in BORDERS:
            refused.add("Exception")
        if not raises and source.name not in KEEPS_FOR_THE_WAITER:
            refused.add("BaseException")
        if names & refused:
            yield source.at(handler)
    for node in source.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            arguments = {ast.unparse(argument) for argument in node.args}
            yield from [source.at(node)] if arguments & {"Exception", "BaseException"} else []


def test_exceptions_are_swallowed_at_the_borders_only() -> None:
    assert [where for source in SOURCES for where in swallows(source)] == []


def test_every_border_is_there_and_writes_down_what_it_caught() -> None:
    by_name = {source.name: source for source in SOURCES}
    for name in BORDERS:
        borders = [handler for handler in handlers(by_name[name]) if "Exception" in caught(handler)]
        assert borders, f"{name} is no border any more: take it off the list"
        for handler in borders:
            calls = [ast.unparse(node.func) for node in ast.walk(handler) if isinstance(node, ast.Call)]
            assert any("error" in call or "log" in call or "crash" in call or "Failed" in call for call in calls), (
                by_name[name].at(handler)
            )


def left_open(source: Source) -> Iterator[str]:
    for number, line in enumerate(source.text.splitlines(), 1):
        if found := re.search(r"\b(TODO|FIXME|XXX|HACK)\b|# type: ignore|breakpoint\(\)", line):
            yield f"{source.name}:{number}: {found[0]}"
        if len(line) > MAX_LINE:
            yield f"{source.name}:{number}: a long line"
    if source.text and not ast.get_docstring(source.tree):
        yield f"{source.name} does not say what it is for"
    yield from (f"{source.at(node)}: global state" for node in source.nodes if isinstance(node, ast.Global))


def test_nothing_is_left_open() -> None:
    assert [fault for source in SOURCES for fault in left_open(source)] == []


def test_no_test_is_skipped_or_sleeps_to_wait() -> None:
    faults = []
    for source in TESTING:
        for node in source.nodes:
            name = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if name == SKIPS.get(source.name):
                continue
            if name in ("pytest.skip", "pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail", "time.sleep"):
                faults.append(f"{source.at(node)}: {name}")
    assert faults == []


# -- the tests' own eyes


def written(text: str) -> Source:
    return Source(TESTS, "gatewayd/http/x.py", text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("try:\n    f()\nexcept Exception:\n    pass", 1),
        ("try:\n    f()\nexcept (ValueError, Exception):\n    pass", 1),
        ("try:\n    f()\nexcept:\n    pass", 1),
        ("try:\n    f()\nexcept BaseException:\n    pass", 1),
        ("try:\n    f()\nexcept BaseException:\n    g()\n    raise", 0),
        ("with contextlib.suppress(Exception):\n    f()", 1),
        ("try:\n    f()\nexcept OSError:\n    pass", 0),
    ],
)
def test_a_swallowed_exception_is_seen(text: str, seen: int) -> None:
    assert len(list(swallows(written(text)))) == seen


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('"""X."""\n# TODO: y', "gatewayd/http/x.py:2: TODO"),
        ('"""X."""\ny = 1  # type: ignore[z]', "gatewayd/http/x.py:2: # type: ignore"),
        (f'"""X."""\ny = {"1" * 120}', "gatewayd/http/x.py:2: a long line"),
        ("y = 1", "gatewayd/http/x.py does not say what it is for"),
        ('"""X."""\ndef f():\n    global y', "gatewayd/http/x.py:3: global state"),
    ],
)
def test_what_is_left_open_is_seen(text: str, fault: str) -> None:
    assert list(left_open(written(text))) == [fault]


def test_nesting_is_counted() -> None:
    tree = ast.parse("def f():\n if a:\n  for b in c:\n   if d:\n    g()\n elif e:\n  h()\n")
    assert nesting(tree.body[0]) == 3


def test_words_are_told_apart() -> None:
    assert words("HTTPBaseThing") == {"http", "base", "thing"}
    assert words("database") == {"database"}
