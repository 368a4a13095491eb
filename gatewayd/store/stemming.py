"""Words as full-text search keeps them: SQLite's own tokenizer, for what has to know them outside a statement."""

from collections.abc import Collection
from typing import Final, NamedTuple, cast

import apsw

ARGUMENTS: Final = ["unicode61", "remove_diacritics", "2"]  # Domain C9


class Stem(NamedTuple):
    """A word as it is kept, and the bytes of the UTF-8 text where it stands."""

    start: int
    end: int
    text: str


class Stemmer:
    """Folds letter case and accents, and takes endings off English words. For one thread at a time."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self._tokenize = self._connection.fts5_tokenizer("porter", ARGUMENTS)

    def stems(self, text: str) -> list[str]:
        """The words of a text, in its order."""
        found = self._tokenize(
            _utf8(text), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
        return [str(stem) for stem in found]

    def located(self, text: str, stems: Collection[str]) -> list[Stem]:
        """Those of the stems that the text has, with where each stands."""
        found = self._tokenize(_utf8(text), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)
        return [Stem(*one) for one in cast("list[tuple[int, int, str]]", found) if one[2] in stems]

    def close(self) -> None:
        self._connection.close()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # of a surrogate that stands alone
