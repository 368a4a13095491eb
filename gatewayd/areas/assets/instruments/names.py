"""Names of instruments as they are compared and searched: in one letter case, without accents. Pure."""

import re
import unicodedata
from typing import Final

WORDS_MAX: Final = 40  # Chosen: of a name of 200 characters; what comes after them is not searched
_SIGNS: Final = re.compile(r"[\W_]+")


def folded(text: str) -> str:
    """The text in one letter case, without accents, with single spaces between its words."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(bare.split())


def words(text: str) -> list[str]:
    """The words of a text, folded, each once: `M&G Corp. Bond` has m, g, corp and bond."""
    found = dict.fromkeys(word for word in _SIGNS.split(folded(text)) if word)
    return list(found)[:WORDS_MAX]
