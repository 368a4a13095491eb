"""What runs beside what: who starts tasks, who starts processes, and where an exception is contained."""

import ast
import re
from collections.abc import Iterator

from tests.structure.sources import PACKAGE, Source, sources

SOURCES = sources()

NURSERIES = {
    "gatewayd/daemon/background.py": "wake-ups, housekeeping, heartbeat",
    "gatewayd/daemon/daemon.py": "the doors, the dispatcher, and what obeys signals",
    "gatewayd/daemon/examining.py": "the checks of a page of health, while it is waited for",
    "gatewayd/daemon/embedding.py": "the child that gives texts their vectors, while it is wanted",
    "gatewayd/daemon/mailing.py": "what sends mail",
    "gatewayd/daemon/vault.py": "the folder that is watched",
    "gatewayd/http1/http2.py": "a connection's streams",
    "gatewayd/http1/server.py": "a task for each connection",
    "gatewayd/importing/engine.py": "a task for each import",
    "gatewayd/leases/holder.py": "what renews leases",
    "gatewayd/parsing/engine.py": "a task for each document, and for each file that is made of one",
    "gatewayd/search/embedding_child.py": "the start of the child, which outlives who asked first",
    "gatewayd/search/engine.py": "the index and the vectors",
    "gatewayd/store/postgres/engine.py": "what ends a read at the server when its caller is gone",
    "gatewayd/tax/engine.py": "a task for each token that is refreshed",
    "gatewayd/sending.py": "a task for each attempt at a delivery or a mail",
    "gatewayd/cli/demo/receiver.py": "the receiver of the demo",
    "gatewayd/cli/demo/walkthrough.py": "the daemon of the demo",
    "gatewayd/cli/events/listen.py": "what prints events, and what ends it",
    "gatewayd/cli/tax/dev.py": "the pretended authority, served",
}
"""Files that open a nursery, and what runs in it."""

GIVEN = {
    "gatewayd/parsing/made_files.py": "gatewayd/parsing/engine.py",
    "gatewayd/tax/connections/bearer_tokens.py": "gatewayd/tax/engine.py",
}
"""Files that start tasks in a nursery that another one opens for them."""

PROCESSES = {
    "gatewayd/isolation/starting.py": "a reader of statements, and the template of readers of documents",
    "gatewayd/isolation/template.py": "a reader of a document",
    "gatewayd/extraction/recognition.py": "the companion of a reader, and tesseract",
    "gatewayd/search/embedding_child.py": "the model that gives texts their vectors",
    "gatewayd/doctor/documents.py": "tesseract, asked for its languages",
}
"""Files that start a process, and which."""

BORDERS = {
    "gatewayd/daemon/examining.py": "a check of the page of health",
    "gatewayd/extraction/worker.py": "a document in its child, which tells the daemon",
    "gatewayd/http/api.py": "a request",
    "gatewayd/http1/asgi_call.py": "a request",
    "gatewayd/http1/http2.py": "a request",
    "gatewayd/http1/server.py": "a connection",
    "gatewayd/importing/engine.py": "an import",
    "gatewayd/oauth/app.py": "a request",
    "gatewayd/parsing/engine.py": "a document",
    "gatewayd/parsing/made_files.py": "a file that is made of a document",
    "gatewayd/tax/connections/bearer_tokens.py": "a token that is refreshed",
    "gatewayd/sending.py": "a delivery, a mail",
}
"""Files with an `except Exception`, and what fails there alone."""

_PROCESS = re.compile(r"os\.(fork|forkpty|exec\w+|posix_spawnp?|system|popen)|subprocess\.(run|Popen|call|check_\w+)")
_TRIO_PROCESS = frozenset({"trio.run_process", "trio.lowlevel.open_process"})


def opened_nurseries(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr in ("open_nursery", "spawn_system_task"):
            yield source.at(node)


def started_tasks(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "start_soon":
            yield source.at(node)


def started_processes(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if _PROCESS.fullmatch(called) or called in _TRIO_PROCESS:
                yield source.at(node)


def contained(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler) and (node.type is None or ast.unparse(node.type) == "Exception"):
            yield source.at(node)


def test_who_opens_nurseries_is_on_a_list() -> None:
    assert {source.name for source in SOURCES if list(opened_nurseries(source))} == NURSERIES.keys()


def test_tasks_are_started_where_their_nursery_is_opened() -> None:
    found = {source.name for source in SOURCES if list(started_tasks(source))}
    assert found - NURSERIES.keys() == GIVEN.keys()
    assert set(GIVEN.values()) <= NURSERIES.keys()


def test_who_starts_processes_is_on_a_list() -> None:
    assert {source.name for source in SOURCES if list(started_processes(source))} == PROCESSES.keys()


def test_exceptions_are_contained_at_borders() -> None:
    assert {source.name for source in SOURCES if list(contained(source))} == BORDERS.keys()


# -- the tests' own eyes


def test_each_is_seen() -> None:
    text = (
        "async def f():\n"
        "    async with trio.open_nursery() as nursery:\n"
        "        nursery.start_soon(g)\n"
        "    os.fork()\n"
        "    await trio.lowlevel.open_process(['x'])\n"
        "    subprocess.run(['x'])\n"
        "    try:\n"
        "        g()\n"
        "    except Exception:\n"
        "        pass\n"
    )
    written = Source(PACKAGE / "x.py", "gatewayd/x.py", text)
    assert list(opened_nurseries(written)) == ["gatewayd/x.py:2"]
    assert list(started_tasks(written)) == ["gatewayd/x.py:3"]
    assert sorted(started_processes(written)) == ["gatewayd/x.py:4", "gatewayd/x.py:5", "gatewayd/x.py:6"]
    assert list(contained(written)) == ["gatewayd/x.py:9"]
