"""Headings of a CSV: how they are compared, and where they stand once more."""

from collections.abc import Sequence


def folded(heading: str) -> str:
    """A heading as it is compared: without case, outer spaces, and a byte order mark."""
    return " ".join(heading.replace("\ufeff", "").split()).casefold()


def repeats(headings: Sequence[str], cells: Sequence[str]) -> bool:
    """True for the headings once more, as files have them that were joined."""
    said = [folded(cell) for cell in cells]
    while said and not said[-1]:
        said.pop()
    return bool(said) and said == [folded(heading) for heading in headings]
