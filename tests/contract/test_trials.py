"""What the boundary requests are made of, on schemas small enough to see it."""

import re

import pytest

from tests.contract.boundaries import Json, trials
from tests.contract.texts import texts

LINE: Json = {
    "type": "object",
    "properties": {"price": {"type": "string", "pattern": "^[0-9]{1,3}$"}},
    "required": ["price"],
    "additionalProperties": False,
}
ORDER: Json = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "kind": {"type": "string", "enum": ["new", "old"], "default": "new"},
        "note": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
        "lines": {"type": "array", "items": {"$ref": "#/components/schemas/Line"}, "maxItems": 2, "minItems": 1},
    },
    "required": ["count", "lines"],
    "additionalProperties": False,
    "components": {"schemas": {"Line": LINE}},
}
TRIALS = list(trials(ORDER, in_query=False))


def values(path: str, *, inside: bool) -> list[object]:
    """What the trials of a top-level field put there; "absent" where they leave it out."""
    return [t.request.get(path, "absent") for t in TRIALS if (t.path, t.inside) == (path, inside)]


def test_a_number_is_tried_at_both_bounds_and_past_them() -> None:
    assert values("count", inside=True) == [1, 5]
    assert values("count", inside=False) == ["absent", 0, 6, "text", 1.5, True, [], {}, None]


def test_a_choice_is_tried_with_each_value_and_with_others() -> None:
    assert values("kind", inside=True) == ["absent", "new", "old"]
    assert {"newx", "ne", "NEW", " new", "", 7, None} <= {v for v in values("kind", inside=False) if v not in ([], {})}


def test_what_may_be_null_is_tried_with_null() -> None:
    assert {"absent", None, "aaa", "😀😀😀"} <= set(values("note", inside=True))
    assert {"aaaa", "😀😀😀😀"} <= {v for v in values("note", inside=False) if isinstance(v, str)}


def test_lists_and_what_is_in_them() -> None:
    assert [len(v) for v in values("lines", inside=True) if isinstance(v, list)] == [1, 2]
    assert [len(v) for v in values("lines", inside=False) if isinstance(v, list)] == [0, 3]
    paths = {trial.path for trial in TRIALS if not trial.inside}
    assert paths == {
        *("count", "kind", "note", "lines", "noSuchField"),
        *("lines[0]", "lines[0].price", "lines[0].noSuchField", "lines[1]"),
    }
    (unknown,) = [trial.request for trial in TRIALS if trial.path == "lines[0].noSuchField"]
    assert unknown["lines"][0].keys() == {"price", "noSuchField"}
    (second,) = [trial.request for trial in TRIALS if trial.path == "lines[1]"]
    assert second["lines"] == [{"price": "000"}, "text"]


def test_a_query_says_everything_in_text() -> None:
    flat = {**ORDER, "properties": {name: ORDER["properties"][name] for name in ("count", "kind")}, "required": []}
    wrong = [t.request["count"] for t in trials(flat, in_query=True) if t.path == "count" and not t.inside]
    assert wrong == [0, 6, "", "text", "1.5", "null", "0x1"]


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("^[A-Z]{2}$", "AA", {"", "A", "AAA", "aA", "A0", "AA\n", "ZAA"}),
        (r"^-?[0-9]{1,3}(\.[0-9]{1,2})?$", "0.55", {"0.555", "0000.5", "0.", ".5", "٣.5"}),
        (r"^0[0-4]\d$", "000", {"00", "0000", "00a", " 00"}),
        (r"\S", "-", {"", " "}),
        ("^[^@ ]+@[^@ ]+$", "aa@b", {"a@", "@b", "ab", "a@b@", "a@ b"}),
    ],
)
def test_a_pattern_is_tried_one_character_off(pattern: str, inside: str, outside: set[str]) -> None:
    found = texts({"type": "string", "pattern": pattern, "examples": ["000", "-"], "maxLength": 9})
    assert all(re.search(pattern, text) for text in found.inside)
    assert inside in found.inside
    assert outside - set(found.outside) == set()


def test_a_text_without_an_end_is_no_schema_of_ours() -> None:
    endless = {
        **LINE,
        "properties": {"price": {"type": "string", "pattern": "^[0-9]+$"}},
        "components": {"schemas": {}},
    }
    with pytest.raises(AssertionError, match="price may become as long as it likes"):
        list(trials(endless, in_query=False))
    assert texts({"type": "string", "minLength": 1}).endless
    assert texts({"type": "string", "pattern": "^[a-z]+$"}).endless
    assert not texts({"type": "string", "pattern": "^[a-z]{1,40}$"}).endless
