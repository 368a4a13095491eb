"""What is looked for: a question cut into words, and words as the index keeps them. Pure.

org_x.invoic     a stem, behind its organization
1234.56          an amount, however its thousands are grouped
inv20250042      a code, whatever stands between its digits
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Protocol

WORDS_MAX: Final = 32  # Chosen: of a question; what follows is left out
_PIECE: Final = re.compile(r'"([^"]*)"|(\S+)')
_AMOUNT: Final = re.compile(r"[-+(]*[£$€]?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)((?:\.[0-9]+)?)[)%.,:;]*")
_APART: Final = re.compile(r"[:/()\[\]{},;|=<>\\]+")  # what stands between words that are written without a space
_BETWEEN: Final = re.compile(r"[^0-9a-z]+")
_DIGIT: Final = re.compile("[0-9]")
_GROUPS: Final = re.compile(r"\b[A-Z0-9]{1,4}(?: [A-Z0-9]{1,4}){1,8}\b")  # of a code that is written in groups
_CODE_MAX: Final = 40  # characters
STOP_WORDS: Final = frozenset(
    {
        *("a", "about", "an", "and", "are", "as", "at", "be", "by", "did", "do"),
        *("does", "for", "from", "had", "has", "have", "how", "i", "in", "is", "it"),
        *("me", "my", "of", "on", "or", "our", "that", "the", "their", "this", "to"),
        *("was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with"),
        *("you", "your"),
    }
)
"""Words of English that nearly every text has."""


class Stems(Protocol):
    """What cuts a text into stems."""

    def stems(self, text: str) -> list[str]: ...


class Word(NamedTuple):
    """A word of a question: its stems, which stand side by side in a text, and the number or code that it is."""

    text: str
    stems: tuple[str, ...]
    exact: str | None

    @property
    def is_stop_word(self) -> bool:
        return self.text.casefold() in STOP_WORDS


def words_of(question: str, stemmer: Stems) -> list[Word]:
    """The words of a question, each once; what stands in quotation marks is one. Signs alone are none."""
    words: dict[tuple[str, ...], Word] = {}
    for text, quoted in _pieces(question):
        stems = tuple(stemmer.stems(text))
        if stems and stems not in words:
            words[stems] = Word(text, stems, None if quoted else exact_form(text))
    return list(words.values())[:WORDS_MAX]


def _pieces(question: str) -> Iterator[tuple[str, bool]]:
    """What stands in quotation marks, and what stands between spaces: `rent/deposit` is two, `INV/2025/0042` one."""
    for quoted, bare in _PIECE.findall(question):
        if quoted:
            yield quoted, True
        elif _DIGIT.search(bare):
            yield bare, False
        else:
            yield from ((word, False) for word in _APART.split(bare))


def without_stop_words(words: list[Word]) -> list[Word]:
    """The words that tell texts apart, or all where none does."""
    return [word for word in words if not word.is_stop_word] or words


def exact_form(text: str) -> str | None:
    """A number or code without what people write between its digits; None: it has none."""
    if _DIGIT.search(text) is None:
        return None
    amount = _AMOUNT.fullmatch(text)
    if amount is not None:
        return amount[1].replace(",", "") + amount[2]
    code = _BETWEEN.sub("", text.casefold())
    return code if 2 <= len(code) <= _CODE_MAX else None


def exact_forms(text: str) -> Iterator[str]:
    """The numbers and codes of a text."""
    for word in text.split():  # a pattern for those with a digit would begin anew at each letter of a long word
        form = exact_form(word)
        if form is not None:
            yield form
    for run in _GROUPS.findall(text):
        yield from _joined(run.split(" "))


def _joined(groups: list[str]) -> Iterator[str]:
    """`VAT GB 123 4567 82` as vatgb123456782, gb123456782 and 123456782: where a code begins is not to be seen."""
    for at, group in enumerate(groups):
        code = "".join(groups[at:]).casefold()
        if len(code) <= _CODE_MAX and _DIGIT.search(code):
            yield code
        if not group.isalpha():
            return


def kept(org_id: str, terms: Iterable[str]) -> str:
    """Terms as the index takes them."""
    return " ".join([f"{org_id}.{term}" for term in terms])


def variants(word: str) -> Iterator[str]:
    """What a word may be where one letter too many, too few or wrong was typed, or two in the wrong order."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    halves = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    for left, right in halves:
        if right:
            yield left + right[1:]
            yield from (left + letter + right[1:] for letter in letters)
        if len(right) > 1:
            yield left + right[1] + right[0] + right[2:]
        yield from (left + letter + right for letter in letters)


def distance(word: str, other: str, most: int) -> int:
    """How many letters differ, a swap of neighbours counting as one (optimal string alignment).

    What is more than `most` is `most + 1`.
    """
    if abs(len(word) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(word, 1):
        following = [i]
        for j, b in enumerate(other, 1):
            best = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and word[i - 2] == b:
                best = min(best, before[j - 2] + 1)
            following.append(best)
        if min(following) > most:
            return most + 1
        before, row = row, following
    return min(row[-1], most + 1)
