"""Dates as banks write them, and which of day, month and year comes first."""

import datetime
import functools
import re

DAY_FIRST, MONTH_FIRST, YEAR_FIRST, NAMED = "dd/mm/yyyy", "mm/dd/yyyy", "yyyy-mm-dd", "dd mon yyyy"
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: n for n, name in enumerate(_NAMES, 1)}
_DATE = re.compile(
    r"""\s* (?:[A-Za-z]{3,9}day,?\s+|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\s+)?
        (?P<first>[0-9]{1,4}|[A-Za-z]{3,9}) (?:st|nd|rd|th)? \s*[-/.\s]\s*
        (?P<second>[0-9]{1,2}|[A-Za-z]{3,9}) \.? ,? \s*[-/.'\s]\s*
        (?P<third>[0-9]{4}|[0-9]{1,2})
        (?:[T\s,].*)? \s*""",
    re.VERBOSE,
)
_COMPACT = re.compile(r"\s*([0-9]{8})(?:[T\s].*)?\s*")
_LONGEST = 64  # what is longer is no date, and costs neither time nor room
_YEARS = range(1900, 2200)
_PIVOT = 70  # Chosen: of two digits, 70 and later is the twentieth century: older than any file, younger than any plan


def parse_date(text: str, date_format: str) -> str:
    """The ISO date. `date_format` says the order where it is all digits: `dd/mm/yyyy`, `mm/dd/yyyy`, `yyyy-mm-dd` ...

    A time behind it is left out. Raises `ValueError` with a sentence.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"{text[:40]!r} is no date")
    return _parsed(text, date_format)


@functools.lru_cache(maxsize=4096)  # a statement has as many dates as days
def _parsed(text: str, date_format: str) -> str:
    parts = _parts(text)
    if parts is None:
        raise ValueError(f"{text.strip()[:40]!r} is no date")
    for order in (_given_order(parts), order_of(date_format)):
        if order is not None:
            day = _date(parts, order)
            if day is None:
                raise ValueError(f"{text.strip()[:40]!r} is no date as {date_format}")
            return day
    raise ValueError(f"{date_format!r} does not say where day, month and year stand")


def order_of(date_format: str) -> str | None:
    """`dmy`, `mdy`, `ymd` or `ydm` of a format such as `dd/mm/yyyy`; None where it is none."""
    seen = "".join(dict.fromkeys(c for c in date_format.lower().replace("mon", "m") if c in "dmy"))
    return seen if seen in ("dmy", "mdy", "ymd", "ydm") else None


class _Sequence:
    """Whether dates go one way as they are read in one order."""

    def __init__(self) -> None:
        self.rises = self.falls = True
        self.changes = 0
        self._last = ""

    def add(self, day: str | None) -> None:
        if day is None or day == self._last:
            return
        if self._last:
            self.changes += 1
            self.rises = self.rises and day > self._last
            self.falls = self.falls and day < self._last
        self._last = day

    @property
    def goes_one_way(self) -> bool:
        return self.rises or self.falls


class DateOrder:
    """Finds out in which order dates are written, from as many of them as it takes."""

    _ENOUGH = 20
    _CHANGES = 3  # Chosen: so many changes of the day show a sequence that is no chance

    def __init__(self) -> None:
        self._votes = {DAY_FIRST: 0, MONTH_FIRST: 0}
        self._own: str | None = None
        self._doubtful: str | None = None
        self._sequences = {date_format: _Sequence() for date_format in self._votes}

    def add(self, text: str) -> None:
        """One date more. What is no date says nothing, nor does one that is the same day in both orders."""
        parts = _parts(text) if len(text) <= _LONGEST else None
        if parts is None:
            return
        order = _given_order(parts)
        if order is not None:
            self._own = YEAR_FIRST if order[0] == "y" else NAMED
            return
        readings = {date_format: _date(parts, order_of(date_format) or "") for date_format in self._votes}
        for date_format, day in readings.items():
            self._sequences[date_format].add(day)
        possible = [date_format for date_format, day in readings.items() if day is not None]
        if len(possible) == 1:
            self._votes[possible[0]] += 1
        elif len(set(readings.values())) > 1:
            self._doubtful = self._doubtful or text

    @property
    def is_settled(self) -> bool:
        """True when further dates need not be looked at."""
        return max(self._votes.values()) >= self._ENOUGH

    @property
    def doubtful(self) -> str:
        """A date that can be read in both orders."""
        return self._doubtful or ""

    def in_sequence(self) -> str | None:
        """The one format in which the dates follow upon each other, forwards or backwards; None: both, or neither."""
        if any(self._votes.values()):
            return None
        enough = all(sequence.changes >= self._CHANGES for sequence in self._sequences.values())
        one_way = [name for name, sequence in self._sequences.items() if sequence.goes_one_way]
        return one_way[0] if enough and len(one_way) == 1 else None

    @property
    def contradict(self) -> bool:
        """Whether some of them can only be read in one order and some only in the other."""
        return all(self._votes.values())

    def formats(self) -> tuple[str, ...]:
        """In which formats the dates can be read, likeliest first; more than one where nothing shows which."""
        seen = tuple(date_format for date_format, votes in self._votes.items() if votes)
        if seen:
            return seen
        if self._doubtful:
            return DAY_FIRST, MONTH_FIRST
        return (self._own or DAY_FIRST,)


def is_date(text: str) -> bool:
    """True for what is a date in any order."""
    return len(text) <= _LONGEST and _has_order(text)


@functools.lru_cache(maxsize=4096)
def _has_order(text: str) -> bool:
    parts = _parts(text)
    return parts is not None and any(_date(parts, order) for order in (_given_order(parts) or "", "dmy", "mdy"))


def _parts(text: str) -> tuple[str, str, str] | None:
    compact = _COMPACT.fullmatch(text)
    if compact is not None:
        digits = compact[1]
        if int(digits[:4]) in _YEARS and digits[4:6] <= "12":
            return digits[:4], digits[4:6], digits[6:]
        return digits[:2], digits[2:4], digits[4:]
    match = _DATE.fullmatch(text)
    return (match["first"], match["second"], match["third"]) if match else None


def _given_order(parts: tuple[str, str, str]) -> str | None:
    """The order that the date itself leaves no doubt of."""
    first, second, _ = parts
    if first.isalpha():
        return "mdy"
    if len(first) == 4:
        return "ymd" if second.isalpha() or int(second) <= 12 else "ydm"
    return "dmy" if second.isalpha() else None


def _date(parts: tuple[str, str, str], order: str) -> str | None:
    if not order:
        return None
    by_name = dict(zip(order, parts, strict=True))
    month = _MONTHS.get(by_name["m"][:3].lower()) if by_name["m"].isalpha() else int(by_name["m"])
    if month is None or by_name["d"].isalpha() or by_name["y"].isalpha():
        return None
    try:
        day = datetime.date(_year(by_name["y"]), month, int(by_name["d"]))
    except ValueError:
        return None
    return day.isoformat() if day.year in _YEARS else None


def _year(text: str) -> int:
    if len(text) > 2:
        return int(text)
    return int(text) + (2000 if int(text) < _PIVOT else 1900)


@functools.lru_cache(maxsize=4096)
def parse_iso_date(day: str, text: str) -> str:
    """The day if it is one of the calendar; raises `ValueError` that names the text it was taken from."""
    try:
        date = datetime.date.fromisoformat(day)
    except ValueError as error:
        raise ValueError(f"{text[:40]!r} is no date") from error
    if date.year not in _YEARS:
        raise ValueError(f"{text[:40]!r} is no date of our time")
    return day
