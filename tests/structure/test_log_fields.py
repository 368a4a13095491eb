"""No field of a log line has a name that the log's own redaction hides: nobody would ever read what it says."""

import ast
from collections.abc import Iterator
from pathlib import Path

from gatewayd.logs.redaction import is_secret_key
from tests.structure.sources import Source, sources

LEVELS = frozenset({"debug", "info", "warning", "error", "exception", "critical"})


def hidden_fields(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS:
            for keyword in node.keywords:
                if keyword.arg is not None and is_secret_key(keyword.arg):
                    yield f"{source.at(node)} {keyword.arg}"


def test_no_field_of_a_log_line_is_hidden() -> None:
    assert [where for source in sources() for where in hidden_fields(source)] == []


def test_one_that_is_would_be_seen() -> None:
    given = Source(Path("x.py"), "x.py", 'log.error("refused", code="invalid_client", error_code="invalid_client")')
    assert list(hidden_fields(given)) == ["x.py:1 code"]
