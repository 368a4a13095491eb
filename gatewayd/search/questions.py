"""A question against the words that are there: which of its words tell documents apart, and what was mistyped.

A word that no text of the organization has is taken for one with the same first letter that is a letter away, and a
long one for one that begins alike and is two letters away.
"""

import itertools
from typing import Final, NamedTuple

from gatewayd.search import lookup, terms
from gatewayd.search.lookup import Filter, WordHit
from gatewayd.search.terms import Word
from gatewayd.store import ReadTx
from gatewayd.store.stemming import Stemmer

LIST_MAX: Final = 200  # Chosen: documents of one list
RANKED_MAX: Final = 10_000  # Chosen: parts of which bm25 is computed, half a microsecond each; of more, the newest
COMBINED_MAX: Final = 6  # Chosen: words of which more than half are asked for together, in 15 combinations at most
SPELLED_MIN: Final = 4  # Chosen: letters of a word that may be mistyped
TWO_LETTERS_MIN: Final = 7  # Chosen: of one that may be so in two letters
_CORRECTIONS_MAX: Final = 4
_MISTYPED_MAX: Final = 3  # Chosen: words of a question


class Known(NamedTuple):
    """A word of a question and the spellings of it that texts have: itself, or what it was probably meant to be."""

    word: Word
    spellings: tuple[Word, ...]
    hits: int

    def expression(self, org_id: str) -> str:
        return f"({terms.expression(org_id, self.spellings, 'OR')})"


class Question(NamedTuple):
    """The words that some text has, and those that none has."""

    words: list[Known]
    unknown: list[Word]

    @property
    def stems(self) -> frozenset[str]:
        """What is highlighted."""
        return frozenset(stem for known in self.words for spelling in known.spellings for stem in spelling.stems)

    @property
    def corrected(self) -> list[Known]:
        """The words that were taken for others."""
        return [known for known in self.words if known.spellings[0] != known.word]


def understand(tx: ReadTx, text: str, stemmer: Stemmer) -> Question:
    """The words of a question as the organization's texts have them."""
    words: list[Known] = []
    unknown: list[Word] = []
    looked_up = 0
    for word in terms.without_stop_words(terms.words_of(text, stemmer)):
        spellings: tuple[Word, ...] = (word,)
        hits = _hits(tx, spellings)
        if hits == 0 and looked_up < _MISTYPED_MAX and _may_be_mistyped(word):
            looked_up += 1
            spellings = tuple(_corrections(tx, word, stemmer))
            hits = _hits(tx, spellings) if spellings else 0
        if hits:
            words.append(Known(word, spellings, hits))
        else:
            unknown.append(word)
    return Question(words, unknown)


def documents_of(tx: ReadTx, question: Question, wanted: Filter, *, most: bool) -> list[WordHit]:
    """The parts of documents with its words: first those that have all, then those that have some of the rarer.

    `most`: more than half of them, or a number or code, so that what one common word finds does not come before what
    is near in meaning.
    """
    if not question.words:
        return []
    words = [known.expression(tx.org_id) for known in question.words]
    found: list[WordHit] = []
    if not (most and question.unknown):
        found = lookup.by_words(tx, " AND ".join(words), wanted, RANKED_MAX, LIST_MAX)
    if len(found) >= LIST_MAX:
        return found
    some = _most(tx.org_id, question) if most else _some(tx.org_id, question)
    return found if some is None else found + lookup.by_words(tx, some, wanted, RANKED_MAX, LIST_MAX)


def _some(org_id: str, question: Question) -> str | None:
    """What has a word of the rarer; None: there is one word, and no more to ask."""
    if len(question.words) == 1:
        return None
    return " OR ".join(known.expression(org_id) for known in _rarest(question.words))


def _most(org_id: str, question: Question) -> str | None:
    """What has more than half of the words, of a long question of the rarest, or a number or code that is in it."""
    count = len(question.words) + len(question.unknown)
    rarest = sorted(question.words, key=lambda known: known.hits)[:COMBINED_MAX]
    needed = min(count, COMBINED_MAX) // 2 + 1
    together = [
        "(" + " AND ".join(known.expression(org_id) for known in chosen) + ")"
        for chosen in itertools.combinations(rarest, needed)
    ]
    exact = [known.expression(org_id) for known in question.words if known.word.exact is not None]
    return " OR ".join([*exact, *together]) or None


def _rarest(words: list[Known]) -> list[Known]:
    """Those that few enough parts have that each can be ranked; the rarest always."""
    by_hits = sorted(words, key=lambda known: known.hits)
    taken, room = by_hits[:1], RANKED_MAX - by_hits[0].hits
    for known in by_hits[1:]:
        room -= known.hits
        if room < 0:
            break
        taken.append(known)
    return taken


def _hits(tx: ReadTx, words: tuple[Word, ...]) -> int:
    return lookup.count_hits(tx, terms.expression(tx.org_id, words, "OR"), RANKED_MAX + 1)


def _may_be_mistyped(word: Word) -> bool:
    return len(word.stems) == 1 and len(word.text) >= SPELLED_MIN and word.text.isalpha() and word.text.isascii()


def _corrections(tx: ReadTx, word: Word, stemmer: Stemmer) -> list[Word]:
    """Words that texts have, by their stems, and that this one was probably meant to be."""
    text = word.text.lower()
    # Few mistype the first letter; without it, what a question is about is taken for anything that rhymes with it.
    variants = [text[0] + following for following in terms.variants(text[1:])]
    meant: dict[str, str] = {}
    for stem, variant in zip(stemmer.stems(" ".join(variants)), variants, strict=True):
        meant.setdefault(stem, variant)
    found = [pair for pair in meant.items() if len(pair[0]) >= SPELLED_MIN - 1 and lookup.is_known(tx, pair[0])]
    if not found and len(text) >= TWO_LETTERS_MIN:
        (stem,) = word.stems
        alike = lookup.terms_from(tx, stem[:2])
        ranked = sorted((terms.distance(stem, other, 2), other) for other in alike)
        found = [(other, other) for letters, other in ranked if letters <= 2]
    return [Word(spelled, (stem,), None) for stem, spelled in found[:_CORRECTIONS_MAX]]
