"""Whether an address that was read is that of a property with the same postcode. Pure.

A British postcode has some fifteen homes. Numbers and the letters of flats tell them apart, and the names of houses
where there are no numbers; streets, which people abbreviate, do not.
"""

import re
from typing import Final, NamedTuple

SAME, NAMED, OF_PART, UNREAD = 95, 85, 55, 45  # Chosen
_UNIT: Final = 92
_FEWEST_LETTERS: Final = 3

_TOKEN = re.compile(r"[a-z0-9]+(?:'s)?")
_DESIGNATED = re.compile(r"\b(?:flat|apartment|apt|unit|room|studio|suite|floor)\s+([a-z])\b")
_FLOORS: Final = frozenset(
    {"basement", "garden", "lower", "ground", "first", "second", "third", "upper", "top", "ff", "gff", "tff"}
)
_IN_FLATS = re.compile(r"\b(?:flat|floor|apartment|maisonette)\b|\b[gft]ff\b")


class Fit(NamedTuple):
    """How sure it is, of 100, that two addresses are one, and why. `unit`: which of the units it is."""

    score: int
    reason: str
    unit: int | None = None


class Home(NamedTuple):
    """The address of a property without its postcode, and the names of its units."""

    address: str
    units: tuple[str, ...]


def fit(read: str | None, home: Home, *, is_alone: bool) -> Fit | None:
    """How a property's address fits one that was read with its postcode; None: it does not, or nobody can tell.

    `read` None: the postcode alone was read, which is enough where the property `is_alone` with it.
    """
    if read is None:
        return Fit(UNREAD, "It is the only property with the postcode.") if is_alone else None
    own, found = _marks(home.address), _marks(read)
    if not own:
        return _by_name(read, home)
    if own == found:
        return Fit(SAME, "It has the postcode and the number.")
    if not own < found:
        return None
    for place, name in enumerate(home.units):
        marks = _marks(name)
        if marks and own | marks == found:
            return Fit(_UNIT, "It has the postcode and the number, and a unit of that name.", place)
    return Fit(OF_PART, "It has the postcode and the number; the certificate is of a part of it.")


def _by_name(read: str, home: Home) -> Fit | None:
    """A house without a number is told by the words of the first line of its address."""
    words = {word for word in _words(home.address.partition(",")[0]) if len(word) >= _FEWEST_LETTERS}
    if words and words <= _words(read):
        return Fit(NAMED, "It has the postcode and the name of the house.")
    return None


def _marks(address: str) -> frozenset[str]:
    """What tells homes of a postcode apart: `{"2", "14a"}` for "Flat 2, 14A High Street"."""
    text = address.casefold()
    numbers = {word for word in _TOKEN.findall(text) if any(c.isdigit() for c in word)}
    floors = _words(text) & _FLOORS if _IN_FLATS.search(text) else frozenset()
    return frozenset(numbers | set(_DESIGNATED.findall(text)) | floors)


def _words(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text.casefold()))
