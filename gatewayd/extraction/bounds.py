"""How much of a document is read: what is longer is searched by its beginning."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct


class Bounds(Struct, frozen=True, kw_only=True):
    """`pages` and `characters` of the document as a whole; `ocr_seconds` that pictures of text may take altogether."""

    pages: int = 1000
    characters: int = 2_000_000
    ocr_seconds: float = 300.0


PIXELS_MAX: Final = 100_000_000  # Chosen: twice what phones make; each takes four bytes and more


def joined(pieces: Iterable[str], most: int) -> str:
    """The pieces one behind the other, up to that many characters; what follows is not even asked for."""
    taken: list[str] = []
    for piece in pieces:
        taken.append(piece[:most])
        most -= len(taken[-1])
        if most <= 0:
            break
    return "".join(taken)
