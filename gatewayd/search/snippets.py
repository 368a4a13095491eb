"""What is shown of a document that was found: the passage with the most of the words that were looked for. Pure."""

import re
from collections.abc import Collection, Sequence
from typing import Final, Protocol

from gatewayd.areas.vault.search import Snippet
from gatewayd.extraction.shapes import Page
from gatewayd.store.stemming import Stem

SNIPPET_CHARACTERS: Final = 240  # Chosen
SNIPPETS_MAX: Final = 2  # Chosen: of a document
_SPACE: Final = re.compile(r"\s")
_WINDOWS_MAX: Final = 60  # Chosen: places of a text that are looked at
_STEP: Final = SNIPPET_CHARACTERS // 3
_HIGHLIGHTS_MAX: Final = 30


class Locates(Protocol):
    """What finds stems in a text."""

    def located(self, text: str, stems: Collection[str]) -> list[Stem]: ...


def of_words(pages: Sequence[Page], stems: Collection[str], stemmer: Locates) -> list[Snippet]:
    """The passages with the most of the stems, the best first, from different places; empty: the text has none."""
    windows = [(seen, page, start) for page in pages for start, seen in _windows(page.text, stems)]
    windows.sort(key=lambda window: -window[0])
    chosen: list[tuple[int, int, Snippet]] = []
    for _, page, start in windows:
        if len(chosen) == SNIPPETS_MAX:
            break
        if all(page.number != taken.page or abs(start - at) >= SNIPPET_CHARACTERS for _, at, taken in chosen):
            count, snippet = _snippet(page, start, stems, stemmer)
            if count:
                chosen.append((count, start, snippet))
    chosen.sort(key=lambda choice: -choice[0])
    return [snippet for _, _, snippet in chosen]


def of_passage(page: Page, start: int, length: int) -> Snippet:
    """The beginning of a passage that is near in meaning."""
    end = min(start + length, start + SNIPPET_CHARACTERS)
    return Snippet(text=_flat(page.text[start : _word_end(page.text, end)]).strip(), page=page.number, highlights=[])


def of_name(name: str, stems: Collection[str], stemmer: Locates) -> Snippet:
    """The name of a document."""
    return Snippet(text=name, page=None, highlights=_highlights(name, stems, stemmer)[1])


def _windows(text: str, stems: Collection[str]) -> list[tuple[int, int]]:
    """Where a passage may begin that has one of the stems: the beginning of a line or a word before it.

    And how many of them seem to be in it, which their endings may belie.
    """
    folded = text.lower()
    if len(folded) != len(text):  # of letters that become two, whose places would be others
        folded = text
    begins: set[int] = set()
    sought = [stem if len(stem) < 4 else stem[:-1] for stem in stems]  # endings differ: happi, happy
    for beginning in sought:
        at = folded.find(beginning)
        while at >= 0 and len(begins) < _WINDOWS_MAX:
            begins.add(_begin(text, at))
            at = folded.find(beginning, at + _STEP)
    starts: list[int] = []
    for start in sorted(begins):
        if not starts or start - starts[-1] >= _STEP:
            starts.append(start)
    # Words with accents are not found so.
    return [
        (start, sum(folded.find(beginning, start, start + SNIPPET_CHARACTERS) >= 0 for beginning in sought))
        for start in starts or [0]
    ]


def _begin(text: str, at: int) -> int:
    earliest = max(0, at - _STEP)
    if earliest == 0:
        return 0
    line = text.rfind("\n", earliest, at) + 1
    return line or text.find(" ", earliest, at) + 1 or at


def _snippet(page: Page, start: int, stems: Collection[str], stemmer: Locates) -> tuple[int, Snippet]:
    """How many different stems the passage from `start` has, and the passage."""
    text = _flat(page.text[start : _word_end(page.text, start + SNIPPET_CHARACTERS)]).rstrip()
    count, highlights = _highlights(text, stems, stemmer)
    return count, Snippet(text=text, page=page.number, highlights=highlights)


def _word_end(text: str, end: int) -> int:
    """So that no word is cut."""
    if end >= len(text):
        return len(text)
    cut = max(text.rfind(" ", end - 30, end), text.rfind("\n", end - 30, end))
    return cut if cut > 0 else end


def _flat(text: str) -> str:
    """In one line; every character stays where it is."""
    return _SPACE.sub(" ", text)


def _highlights(text: str, stems: Collection[str], stemmer: Locates) -> tuple[int, list[list[int]]]:
    """How many different stems the text has, and where they are, in characters."""
    located = stemmer.located(text, stems)
    places = [[word.start, word.end] for word in located[:_HIGHLIGHTS_MAX]]
    if not text.isascii():  # else a byte is a character
        encoded = text.encode("utf-8", "replace")
        places = [[len(encoded[:at].decode()) for at in place] for place in places]
    return len({word.text for word in located}), places
