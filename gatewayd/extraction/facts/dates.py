"""Dates as people write them in Britain, and what they are the dates of. Pure.

Noise of character recognition is undone where a date stands otherwise: O for 0, l and I for 1, S for 5, B for 8.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Final

from gatewayd.extraction.facts.labelled import Found, Labels, Value, labelled
from gatewayd.extraction.facts.lines import Line

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_D = "[0-9OolIiSB|]"
_ISO = (
    rf"(?P<iso_year>(?:19"
    rf"|2[0O])[0-9OolI]{{2}})\s?[-/.]\s?(?P<iso_month>{_D}{{2}})\s?[-/.]\s?(?P<iso_day>{_D}{{2}})"
)
_NUMERIC = (
    rf"(?P<first>{_D}{{1,2}})\s?(?P<sep>[-/.,])\s?(?P<second>{_D}{{1,2}})\s?[-/.,]\s?(?P<year>[2l][0O]{_D}{{2}}"
    rf"|19\d\d|{_D}{{2}})"
)
_DAY_MONTH = (
    rf"(?P<day>{_D}{{1,2}})\s?(?:st|nd|rd|th)?\s?(?:day\s)?(?:of\s)?[-/.,]?\s?{_NAMED.format('month')}"
    rf"\.?[-/.,']?\s?'?(?P<named_year>[2l][0O]{_D}{{2}}|19\d\d|\d{{2}})"
)
_MONTH_DAY = (
    rf"{_NAMED.format('us_month')}\.?\s?(?P<us_day>{_D}{{1,2}})(?:st|nd|rd|th)?,?\s(?P<us_year>2[0O]{_D}{{2}}|19\d\d)"
)
_DATE = re.compile(
    rf"(?<![\w/£$€])(?:{_ISO}|{_DAY_MONTH}|{_MONTH_DAY}|{_NUMERIC})(?![\w/]|[.-]\d|(?<![-/]\d\d)(?<!\d{{4}}),\d)",
    re.IGNORECASE,
)
_CLEAN = str.maketrans("OolIi|SBs", "001111585")
_EARLIEST, _LATEST = datetime.date(1950, 1, 1), datetime.date(2199, 12, 31)

_LABELS = re.compile(
    r"""(?<![a-z])(?:
    (?P<expiry>valid\s?until|valid\s?to|valid\s?through|expir(?:y|es|ation)(?:\s?date)?(?:\s?on)?|date\s?of\s?expiry
        |next\s(?:gas\s)?(?:safety\s)?(?:check|inspection|test|service)(?:\s(?:is\s)?(?:due|date|on|by|before))*
        |next\s(?:inspection|check)\s(?:to\sbe\s)?(?:made\s)?(?:due\s)?(?:by|before|no\slater\sthan)
        |(?:inspected|tested)\sand\s(?:tested|inspected)\s(?:by|before|no\slater\sthan|not\slater\sthan)
        |re-?inspection\s(?:due|date)|(?:re-?)?test\s(?:due|by)|inspection\sdue|record\sexpires|due\sfor\srenewal
        |re-?test\sdate|licen[cs]e\send\sdate|next\s(?:risk\s)?(?:assessment|review)(?:\s(?:is\s)?(?:due|date|on|by))*
        |(?:re-?assessment|review)\s(?:due|date|by)(?:\s(?:on|by))?)
    |(?P<due>(?:payment\s|invoice\s|bill\s)?(?:is\s)?due(?:\sfor\spayment)?(?:\s?date|\s?by|\s?on|\s?before)?
        |date\s?due|(?:please\s)?pay(?:ment)?(?:\sis)?(?:\srequired)?(?:\sus)?\s?(?:by|before|on)
        |payable\s(?:by|before|on|within)|to\s?be\s?paid\sby|payment\s(?:reaches|must\sreach)\sus\s(?:by|before)
        |(?:take|collect)(?:ed|\sthis|\sit|\spayment)?(?:\s\w{1,12}){0,5}\son(?:\sor\s(?:after|about))?)
    |(?P<other>(?:order|delivery|despatch|dispatch|ship(?:ping|ment)?|supply|service|collection|installation|print
            |account)\s?date
        |date\s(?:of\s)?(?:delivery|order|birth|supply|work|service|next)|delivered(?:\son)?
            |ordered(?:\son)?|dispatched(?:\son)?
        |d\.?o\.?b\.?|previous\s(?:bill|invoice|statement|reading)|last\s(?:bill|invoice|statement|payment|inspection)
        |next\s(?:bill|invoice|statement|payment|reading)|direct\sdebit(?!\son)|read(?:ing)?\s(?:on|date)
        |(?:billing|bill|invoice|accounting|statement|charging|tax)\speriod|period(?:\scovered)?|from
            |start(?:s|ing)?(?:\sdate)?|commenc\w{1,8}(?:\sdate)?
        |to|until|between|end(?:s|ing)?(?:\sdate)?|check-?(?:in|out)|arriv\w{1,4}|depart\w{1,5}
            |your\s(?:letter|order)\s(?:of|dated)
        |manufactured|installed|construct\w{1,4}|incorporated|bulletin|version|revised|since
            |printed(?:\son)?|as\sof|hire[d]?)
    |(?P<issue>(?:tax\s?)?(?:invoice|bill|(?<![a-z])inv\.?)\s?date|tax\s?date|date\s?of\sbill
        |date\s?of\s?(?:the\s?)?(?:tax\s?)?(?:invoice|bill
        |issue|certificate|statement|receipt|letter|agreement|report|record)
        |date\s?issued|issue\s?date|issued(?:\sdate)?(?:\son)?|date\s?and\s?tax\s?point
            |tax\s?point(?:\s?date)?|date\s?/\s?tax\s?point|invoiced\son
        |(?:statement|receipt|certificate|report|letter|agreement|record|billing)\s?date|statement\sissued
        |licen[cs]e\sstart\sdate)
    |(?P<done>date\s?of\s?(?:the\s?)?(?:inspection|check|test|assessment|visit|sale|purchase|transaction|payment)
        |(?:inspection|transaction|sale|purchase|check|test|assessment|payment|paid)\s?date
        |date\s?(?:paid|inspected|signed|carried\sout|checked|tested)|(?:inspected|carried\sout|checked|paid
            |purchased|sold|signed)\son)
    |(?P<date>dated?(?![a-z])|made\son|date/time)
    )(?![a-z])""",
    re.IGNORECASE | re.VERBOSE,
)
_WEIGHTS: Final = {"issue": 4, "done": 3, "date": 2, None: 1}
_SOON: Final = datetime.timedelta(days=31)
_YEAR: Final = datetime.timedelta(days=366)


def read_dates(text: str) -> list[Value[datetime.date]]:
    """The dates of a line, in order."""
    dates = ((match.start(), _date(match)) for match in _DATE.finditer(text))
    return [Value(start, date) for start, date in dates if date is not None and _EARLIEST <= date <= _LATEST]


def without_dates(text: str) -> str:
    """A line in which blanks stand for its dates."""
    return _DATE.sub(lambda match: " " * len(match.group()), text)


DATES: Final = Labels(_LABELS, read_dates)


def issue_date(lines: Sequence[Line], today: datetime.date) -> Found[datetime.date] | None:
    """When a document was issued. A date in the future is not it: that says when something is due or runs out.

    The one with the strongest label, and of those the first; one without any only where no labelled one is.
    """
    best: tuple[int, Found[datetime.date]] | None = None
    for candidate in labelled(lines, DATES):
        weight = _WEIGHTS.get(candidate.label, 0)
        if weight and candidate.value <= today + _SOON and (best is None or weight > best[0]):
            best = weight, candidate
    return None if best is None else best[1]


def due_date(lines: Sequence[Line], issued: datetime.date | None) -> datetime.date | None:
    """By when a bill is to be paid: the first day that is called so, from its date to a year after.

    Chosen: terms in days ("30 days net") make no date, since from which day they count is another question.
    """
    dates = (candidate.value for candidate in labelled(lines, DATES) if candidate.label == "due")
    return next((date for date in dates if issued is None or issued <= date <= issued + _YEAR), None)


def expiry_date(lines: Sequence[Line], issued: datetime.date | None) -> datetime.date | None:
    """Until when a certificate holds, or by when the next check is due."""
    dates = [candidate.value for candidate in labelled(lines, DATES) if candidate.label == "expiry"]
    return next((date for date in dates if issued is None or date > issued), None)


def _date(match: re.Match[str]) -> datetime.date | None:
    """The date of a match; None: there is no such day, or what looked like digits was none."""
    part = match.groupdict()
    if part["iso_year"]:
        orders: list[tuple[str, str, str]] = [(part["iso_year"], part["iso_month"], part["iso_day"])]
    elif part["day"]:
        orders = [(part["named_year"], _month(part["month"]), part["day"])]
    elif part["us_day"]:
        orders = [(part["us_year"], _month(part["us_month"]), part["us_day"])]
    else:
        orders = [(part["year"], part["second"], part["first"]), (part["year"], part["first"], part["second"])]
    if sum(c.isdigit() for c in match.group()) < (3 if part["first"] else 2):
        return None
    return next(_days(orders), None)


def _month(name: str) -> str:
    return str(_MONTHS.index(name[:3].lower()) + 1)


def _days(orders: Sequence[tuple[str, str, str]]) -> Iterator[datetime.date]:
    for year, month, day in orders:
        numbers = [int(part.translate(_CLEAN)) for part in (year, month, day)]
        if numbers[0] < 100:
            numbers[0] += 2000 if numbers[0] < 70 else 1900
        try:
            yield datetime.date(*numbers)
        except ValueError:
            continue
