"""Settings that nothing acts on yet: the list is honest, and who changes one is told."""

import ast
import dataclasses
import functools
from collections.abc import Iterator

import pytest

from gatewayd.config import Config, Vault, example, load, without_effect, without_effect_sentence
from gatewayd.config.without_effect import WITHOUT_EFFECT
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
def test_a_key_is_read_or_on_the_list(key: str) -> None:
    if key in WITHOUT_EFFECT:
        assert key not in read(), f"take {key} off the list: {', '.join(read()[key])}"
    else:
        assert key in read(), f"nothing reads {key}: put it on the list"


def test_the_list_names_keys() -> None:
    assert WITHOUT_EFFECT <= KEYS


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


def test_defaults_need_no_telling() -> None:
    assert without_effect(Config()) == without_effect(load(example(), {"STATE_DIRECTORY": "/var/lib/x"})) == ()


def test_what_was_changed_is_named() -> None:
    config = Config(vault=Vault(embeddings="off", trash_days=30))
    assert without_effect(config) == ("vault.embeddings",)


def test_every_entry_is_noticed() -> None:
    for path in WITHOUT_EFFECT:
        section, key = path.split(".")
        changed = dataclasses.replace(getattr(Config(), section), **{key: "something else"})
        assert without_effect(dataclasses.replace(Config(), **{section: changed})) == (path,)


def test_in_words() -> None:
    assert without_effect_sentence(["tax.mode"]) == "tax.mode has no effect yet."
    assert without_effect_sentence(["tax.mode", "vault.ocr"]) == "tax.mode and vault.ocr have no effect yet."
    assert without_effect_sentence(["a.b", "c.d", "e.f"]) == "a.b, c.d and e.f have no effect yet."
