"""The program's sources as syntax trees."""

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gatewayd"
TESTS = ROOT / "tests"


@dataclass(frozen=True)
class Source:
    """One file, read when it is looked at. `name` is its path from the repository's root, with slashes.

    `given` is the text of a file that is not there.
    """

    path: Path
    name: str
    given: str | None = None

    @functools.cached_property
    def text(self) -> str:
        return self.path.read_text("utf-8") if self.given is None else self.given

    @functools.cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    @functools.cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """All of the tree, as `ast.walk` goes."""
        return tuple(ast.walk(self.tree))

    def at(self, node: ast.AST) -> str:
        """`gatewayd/x.py:12`, as editors understand it."""
        return f"{self.name}:{getattr(node, 'lineno', 1)}"


def sources(under: Path = PACKAGE) -> list[Source]:
    """Every Python file below a folder."""
    return [_source(path) for path in sorted(under.rglob("*.py"))]


@functools.cache
def _source(path: Path) -> Source:
    return Source(path, path.relative_to(ROOT).as_posix())


class Import(NamedTuple):
    """One imported name: `from gatewayd.areas import crm` imports `gatewayd.areas.crm`."""

    source: Source
    node: ast.Import | ast.ImportFrom
    target: str

    @property
    def where(self) -> str:
        return self.source.at(self.node)


def imports(source: Source) -> Iterator[Import]:
    """Every import of a file, also those inside functions and for type checkers alone."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(source, node, alias.name)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            for alias in node.names:
                yield Import(source, node, "." * node.level + f"{module}.{alias.name}")
