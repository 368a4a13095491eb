"""Every setting is acted on: something reads it."""

import ast
import dataclasses
import functools
from collections.abc import Iterator

import pytest

from gatewayd.config import Config
from tests.structure.sources import Source, sources

KEYS = frozenset(
    f"{section.name}.{key.name}"
    for section in dataclasses.fields(Config)
    for key in dataclasses.fields(getattr(Config(), section.name))
)
SECTIONS = frozenset(key.partition(".")[0] for key in KEYS)
READERS = [source for source in sources() if not source.name.startswith("gatewayd/config/")]


def last_name(node: ast.AST) -> str:
    """`tax` of `tax`, `config.tax` and `self.config.tax`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def sections_by_name(tree: ast.AST) -> dict[str, str]:
    """The names that hold a section: its own, and those it is given: `section = config.store`."""
    names = {section: section for section in SECTIONS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and node.value.attr in SECTIONS:
            names |= {target.id: node.value.attr for target in node.targets if isinstance(target, ast.Name)}
    return names


def reads(tree: ast.AST) -> Iterator[str]:
    """The keys that a file reads: attributes of something that holds their section."""
    names = sections_by_name(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            key = f"{names.get(last_name(node.value), '')}.{node.attr}"
            if key in KEYS:
                yield key


def places_by_key(found: list[Source]) -> dict[str, set[str]]:
    places: dict[str, set[str]] = {}
    for source in found:
        for key in reads(source.tree):
            places.setdefault(key, set()).add(source.name)
    return places


@functools.cache
def read() -> dict[str, set[str]]:
    """The files by the keys that they read."""
    return places_by_key(READERS)


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_key_is_read(key: str) -> None:
    assert key in read(), f"nothing reads {key}"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("self.config.tax.mode", {"tax.mode"}),
        ("def f(tax):\n    return tax.mode", {"tax.mode"}),
        ("section = config.vault\nprint(section.ocr)", {"vault.ocr"}),
        ("section.ocr\nconfig.tax.ocr\nmode\nvault.open", set()),
    ],
)
def test_a_read_is_seen(text: str, keys: set[str]) -> None:
    assert set(reads(ast.parse(text))) == keys
