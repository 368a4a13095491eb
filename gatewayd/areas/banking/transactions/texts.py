"""What is made of a line's texts: its fingerprint, who it is with, and what is searched. Pure."""

import hashlib
import re
from collections.abc import Iterable
from typing import Final

_DAY_AND_MONTH: Final = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)?[ /-]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ /-]*(?:\d{2,4})?\b"
)
_WORD: Final = re.compile(r"[^\W_]+(?:[.&'’-][^\W_]+)*")
_DIGIT: Final = re.compile(r"\d")
MATCH_KEY_CHARACTERS: Final = 80


def normalised(description: str) -> str:
    """A description in which case and spacing no longer matter."""
    return " ".join(description.casefold().split())


def match_key(counterparty: str | None, description: str) -> str:
    """Who a line is with: the name, else the description, without numbers and dates. Empty where nothing is left."""
    text = _DAY_AND_MONTH.sub(" ", (counterparty or description).casefold())
    words = (word for word in _WORD.findall(text) if not _DIGIT.search(word))
    return " ".join(words)[:MATCH_KEY_CHARACTERS].rstrip()


def search_text(texts: Iterable[str | None]) -> str:
    """All texts in one, each of them once, case-folded."""
    return "\n".join(dict.fromkeys(text.casefold() for text in texts if text))


def fingerprint(account_id: str, date: str, money: tuple[int, str], text: str, count: int) -> str:
    """The fingerprint of a line.

    `money` is minor units and currency, `text` is normalised, `count` is which of the equal lines of its day it is.
    """
    amount, currency = money
    written = "\n".join((account_id, date, str(amount), currency, text, str(count)))
    return hashlib.sha256(written.encode()).hexdigest()
