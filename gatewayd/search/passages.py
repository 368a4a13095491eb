"""Text cut into what is indexed: parts for words, and passages for meaning. Pure.

A part is some pages, so that no write is large; a passage is a few sentences, since the meaning of a long text is that
of nothing in it.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gatewayd.extraction.shapes import Page

PART_CHARACTERS: Final = 20_000  # Chosen
PASSAGE_CHARACTERS: Final = 700  # Chosen: about a hundred words
PASSAGES_MAX: Final = 500  # Chosen: of a document; what follows is found by its words
_BREAK: Final = re.compile(r"\n\s*\n|(?<=[.!?])\s|\n")
_WHITE: Final = re.compile(r"\s+")
_DIGEST_BYTES: Final = 16


class Part(NamedTuple):
    """Some of a document's text: from page to page, both included; 0: there is none."""

    first_page: int
    last_page: int
    text: str


class Passage(NamedTuple):
    """Where a passage stands, and the text whose meaning counts for it: that of the first has the document's name.

    `page` 0: there is the name alone.
    """

    page: int
    start: int
    length: int
    text: str

    @property
    def digest(self) -> bytes:
        """By which two that mean the same are known."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).digest()[:_DIGEST_BYTES]


def parts(pages: Sequence[Page]) -> list[Part]:
    """The text in parts of one page at least; a document without text has one part without text."""
    complete: list[Part] = []
    gathered: list[Page] = []
    size = 0
    for page in pages:
        for piece in _pieces(page):
            if gathered and size + len(piece.text) > PART_CHARACTERS:
                complete.append(_part(gathered))
                gathered, size = [], 0
            gathered.append(piece)
            size += len(piece.text)
    if gathered:
        complete.append(_part(gathered))
    return complete or [Part(0, 0, "")]


def passages(name: str, pages: Sequence[Page]) -> list[Passage]:
    """The passages of a document, in its order."""
    title = spoken(name)
    taken: list[Passage] = []
    for page in pages:
        for start, end in _spans(page.text):
            text = _WHITE.sub(" ", page.text[start:end]).strip()
            said = text if taken else f"{title}. {text}"
            taken.append(Passage(page.number, start, end - start, said))
            if len(taken) == PASSAGES_MAX:
                return taken
    return taken or [Passage(0, 0, 0, title)]


def spoken(name: str) -> str:
    """The name of a file as one would say it."""
    stem, dot, _ = name.rpartition(".")
    return _WHITE.sub(" ", re.sub(r"[_\-]+", " ", stem if dot and stem else name)).strip() or name


def _pieces(page: Page) -> Iterator[Page]:
    """A page that is longer than a part, in several."""
    text = page.text
    while len(text) > PART_CHARACTERS:
        cut = text.rfind(" ", 0, PART_CHARACTERS) + 1 or PART_CHARACTERS
        yield Page(number=page.number, text=text[:cut])
        text = text[cut:]
    yield Page(number=page.number, text=text)


def _part(pages: list[Page]) -> Part:
    return Part(pages[0].number, pages[-1].number, "\n".join(page.text for page in pages))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the passages of a page begin and end: at a paragraph, a line or a sentence, if there is one."""
    start, end = 0, len(text)
    while start < end:
        if end - start <= PASSAGE_CHARACTERS:
            cut = end
        else:
            window = text[start : start + PASSAGE_CHARACTERS]
            breaks = [match.end() for match in _BREAK.finditer(window) if match.end() > PASSAGE_CHARACTERS // 2]
            cut = start + (breaks[-1] if breaks else window.rfind(" ") + 1 or PASSAGE_CHARACTERS)
        if text[start:cut].strip():
            yield start, cut
        start = cut
