"""Texts at the bounds of a string's schema: what is just inside, and what is just outside."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

FORMATS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # inside, outside
    "date": (
        ("2024-02-29", "0001-01-01", "9999-12-31"),
        ("", "2026-02-29", "2026-13-01", "2026-1-1", "20261120", "2026-11-20T00:00:00Z", "20 November 2026"),
    ),
    "date-time": (
        ("2026-11-20T09:30:00Z", "2026-11-20T09:30:00.125+01:00"),
        ("", "2026-11-20", "2026-11-20T09:30:00", "2026-11-20T24:30:00Z", "2026-02-29T09:30:00Z", "1795167000"),
    ),
    "uri": (
        ("https://example.com/hooks",),
        ("", "example.com/hooks", "https://", "//example.com/hooks", "https://exa mple.com/", "mailto:ann@example.com"),
    ),
}
_GUESSES = ("a", "😀", "aa", "aa-AA", "AA", "000", "0.5", "a@b")
_LETTERS = ("a", "Z", "0", "٣", "é", " ", "-", "_", "@", "!", "\n")
_SHORT = 6  # of longer samples not every character is tried
_LONGEST = 12_000  # what still grows there has no end


class Texts(NamedTuple):
    """Values of one field."""

    inside: tuple[str, ...]
    outside: tuple[str, ...]
    endless: bool = False


def texts(schema: Mapping[str, Any]) -> Texts:
    """The bounds of a string. `endless`: nothing in the schema says how long it may become."""
    known = {"type", "pattern", "format", "minLength", "maxLength", "description", "examples", "default"}
    assert schema.keys() <= known, schema
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if "format" not in schema:
        return _bounds(schema.get("pattern", ""), least, most, (*schema.get("examples", ()), *_GUESSES))
    inside, outside = FORMATS[schema["format"]]
    if most is None:
        return Texts(inside, outside)
    assert schema["format"] == "uri", schema
    return Texts((*inside, inside[0].ljust(most, "x")), (*outside, inside[0].ljust(most + 1, "x")))


@functools.cache
def _bounds(pattern: str, least: int, most: int | None, candidates: tuple[str, ...]) -> Texts:
    rule = _compiled(pattern)

    def fits(text: str) -> bool:
        if pattern and text.endswith("\n"):  # Chosen: a line's end is refused wherever there is a rule
            return False
        return least <= len(text) <= (_LONGEST if most is None else most) and rule.search(text) is not None

    samples = [text for text in candidates if fits(text)]
    assert samples, f"nothing fits {pattern!r}: give the field an example"
    grown = [text for sample in samples for text in _grown(sample, fits)]
    near = [text for sample in samples if pattern and len(sample) < _SHORT for text in _near(sample)]
    tried = dict.fromkeys((*samples, *grown, *near, "x" * (least - 1)))
    inside = tuple(text for text in tried if fits(text))
    outside = tuple(text for text in tried if not fits(text))
    return Texts(inside, outside, any(len(text) == _LONGEST for text in inside))


def _compiled(pattern: str) -> re.Pattern[str]:
    r"""With the `$` of ECMA-262, as JSON Schema says: not before a newline. `\d` is left as Python reads it."""
    return re.compile(re.sub(r"\$$", r"\\Z", pattern))


def _grown(sample: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """For each character the longest text that comes of repeating it, and the first that is too long."""
    for position in range(len(sample)):
        longest, step = len(sample), _LONGEST
        while step:
            if longest + step <= _LONGEST and fits(_repeated(sample, position, longest + step)):
                longest += step
            else:
                step //= 2
        yield _repeated(sample, position, longest)
        yield _repeated(sample, position, longest + 1)


def _repeated(sample: str, position: int, length: int) -> str:
    return sample[:position] + sample[position] * (length - len(sample) + 1) + sample[position + 1 :]


def _near(sample: str) -> Iterator[str]:
    """Texts with one character less, one more, or another one."""
    for position in range(len(sample) + 1):
        before, after = sample[:position], sample[position:]
        yield before + after[1:]
        for letter in _LETTERS:
            yield before + letter + after
            yield before + letter + after[1:]
