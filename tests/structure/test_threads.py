"""What may get stuck: threads that would be shared, and streams that nobody may read."""

import ast
from collections.abc import Iterator

from tests.structure.sources import PACKAGE, Source, sources

SERVING = [source for source in sources() if not source.name.startswith("gatewayd/cli/")]
_STREAMS = frozenset({"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"})


def shared_threads(source: Source) -> Iterator[str]:
    """Calls on trio's default limiter: so many that hang there stop all others of it."""
    for node in source.nodes:
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith("to_thread.run_sync")
            and "limiter" not in {keyword.arg for keyword in node.keywords}
        ):
            yield source.at(node)


def direct_writes(source: Source) -> Iterator[str]:
    """Where something is written to the process's own streams."""
    for node in source.nodes:
        is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        is_stream = isinstance(node, ast.Attribute) and ast.unparse(node) in _STREAMS
        if is_print or is_stream:
            yield source.at(node)


def test_each_kind_of_work_has_threads_of_its_own() -> None:
    assert [where for source in SERVING for where in shared_threads(source)] == []


def test_what_serves_writes_to_its_log_alone() -> None:
    assert [where for source in SERVING for where in direct_writes(source)] == []


def test_both_are_seen() -> None:
    text = "async def f():\n    await trio.to_thread.run_sync(g)\n    print(1)\n    sys.stderr.write('')\n"
    written = Source(PACKAGE / "x.py", "gatewayd/x.py", text)
    assert list(shared_threads(written)) == ["gatewayd/x.py:2"]
    assert list(direct_writes(written)) == ["gatewayd/x.py:3", "gatewayd/x.py:4"]
