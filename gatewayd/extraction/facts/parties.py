"""Who sent or issued a document. Pure.

The name is chosen among lines of the head, what labels name, and what the small print of companies tells. It is more
likely right the more it looks like a firm's, the nearer to the top it stands, and where the mail address, the site or
the VAT number of the document agree.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gatewayd.extraction.facts.dates import read_dates
from gatewayd.extraction.facts.identifiers import POSTCODE
from gatewayd.extraction.facts.lines import Line

_HEAD: Final = 16
_IN_SMALL_PRINT: Final = 4  # more for a name above, of which the small print has the firm's whole one
_SUFFIX = (
    r"(?:Ltd|Limited|LIMITED|LTD|L[tl]d|LLP|llp|PLC|plc|p[i1I]c|Plc|Inc|INC|GmbH|LLC|CIC|B\.?V\.?"
    r"|S\.?A\.?R\.?L\.?|SAS|UC|Council|COUNCIL|& Sons?|& Co"
    r"|Building Society|Bank|BANK|Services|SERVICES|Solicitors|Insurance|Associates|Partners"
    r"|Partnership|University|Trust|Association)"
)
_FIRM = re.compile(
    rf"(?<![\w&'.,()/-])(?P<name>[A-Z0-9(][\w&'.,()/-]{{0,30}}\s(?:(?:[A-Z0-9&(][\w&'.,()/-]{{0,30}}"
    rf"|and|of|the|for|in)\s){{0,6}}{_SUFFIX}(?![A-Za-z]))\.?"
)
_COMPANY = re.compile(r"\s(?:Ltd|Limited|LLP|PLC|plc|Inc|GmbH|LLC)\.?(?=\s[A-Z])", re.IGNORECASE)
_PLC = re.compile(r"\sp[i1I]c$")
"""As it is misread."""
_REVENUE = re.compile(r"\bHM\s?Revenue\s?(?:&|and)\s?Customs\b|\bHMRC\b", re.IGNORECASE)
_SENDER = re.compile(
    r"^(?:from|supplier|seller|sold\s?by|issued\s?by|vendor|merchant|landlord's agent|payee"
    r"|contractor|company(?:\sname)?|trading\sname)\s?[:\-]\s*(?P<name>\S.*)$",
    re.IGNORECASE,
)
_SENDER_ALONE = re.compile(
    r"(?:from|supplier|seller|sold\sby|vendor|issued\sby|pay\sto)\s?:?(?=\s?$|\s(?:to|bill\sto|details|for)\s?:?\s?$)",
    re.IGNORECASE,
)
_HEADINGS = re.compile(
    r"(?:from|to|title|for|item|items|name|details|summary|terms|notes|hello|tax|cash|subject|re|cc|bcc|attachment"
    r"|sheet\s?\d{0,3})\s?:?",
    re.IGNORECASE,
)
"""What stands alone above a part of a document, or above a column: nobody is called so."""
_RECIPIENT = re.compile(
    r"(?<![a-z])(?:(?:bill(?:ed)?|invoiced?|sold|ship(?:ped)?|deliver(?:ed)?|send|charge"
    r"|issued)\s?to|to(?=\s?:)|customer(?:\s?(?:name|details|address))?|client(?:\s?(?:name"
    r"|details))?|account\s?(?:holder|name)|buyer|deliver(?:y|ed)\s?(?:address|to)|attn"
    r"|attention|f\.?a\.?o|tenant|for\sthe\sattention|^for(?=\s?:|$)|^to(?=$))(?![a-z])",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"(?<![a-z])(?:page|date|number|no\.|tel|phone|fax|mob(?:ile)?|e-?mail|www|http|vat|invoice"
    r"|[il1]nv[o0][il1]ce|receipt|statement|total|amount|balance|due|sort\s?code|account"
    r"|ref(?:erence)?|order|certificate|record|report|agreement|contract|bill|dear|qty"
    r"|description|price|period|copy|paid|subject|payment|thank|welcome|original|duplicate"
    r"|confidential|private|registered|approved|sale|card|your|our)(?![a-z])|@|\.co\b|\.com\b",
    re.IGNORECASE,
)
_STREET = re.compile(
    r"(?<![a-z])(?:street|st|road|rd|avenue|ave|lane|ln|close|drive|way|house|court|square|place"
    r"|terrace|crescent|park|estate|unit|suite|floor|flat|gardens|hill|row|mews"
    r"|p\.?o\.?\sbox)(?![a-z])",
    re.IGNORECASE,
)
_SITE = re.compile(
    r"(?:@|www\.|https?://)(?:[\w-]{1,40}\.){0,3}?(?P<name>[\w-]{3,40})\.(?:co\.uk|com|org\.uk"
    r"|org|uk|net|io|gov\.uk|ltd\.uk|eu|ie|de)\b",
    re.IGNORECASE,
)
_FREE_MAIL: Final = frozenset(
    {"gmail", "outlook", "hotmail", "yahoo", "icloud", "btinternet", "live", "aol", "example"}
)
_LEGAL = re.compile(
    r"registered\s(?:in|office|company|no)|company\s(?:reg|no|number)|trading\sas|authorised\sby"
    r"|vat\s(?:reg|no)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z0-9]+")


class _Candidate(NamedTuple):
    name: str
    points: int
    line: int


def senders(lines: Sequence[Line]) -> list[str]:
    """Who may have sent or issued a document, as it is written there, the likeliest first; none: no name is there."""
    if any(_REVENUE.match(cell) for line in lines[:_HEAD] for cell in line.cells):
        return ["HM Revenue & Customs"]
    sites = _sites(lines)
    candidates = [*_labelled(lines), *_below_labels(lines), *_in_head(lines, sites), *_in_small_print(lines, sites)]
    whole = [candidate._replace(name=_longest(candidate.name, candidates)) for candidate in candidates]
    points = [
        candidate.points + _IN_SMALL_PRINT * (candidate.name != before.name)
        for before, candidate in zip(candidates, whole, strict=True)
    ]
    ranked = sorted(zip(points, whole, strict=True), key=lambda pair: (-pair[0], pair[1].line))
    return list(dict.fromkeys(candidate.name for points, candidate in ranked if points > 0))


def _longest(name: str, candidates: Sequence[_Candidate]) -> str:
    """The name as a firm's, where the document has it so elsewhere: `Northmoor Energy` of `Northmoor Energy Ltd`."""
    if _FIRM.search(name):
        return name
    longer = (
        candidate.name
        for candidate in candidates
        if _FIRM.search(candidate.name) and candidate.name.lower().startswith(name.lower() + " ")
    )
    return next(longer, name)


def _labelled(lines: Sequence[Line]) -> Iterator[_Candidate]:
    for number, line in enumerate(lines):
        for cell in line.cells:
            match = _SENDER.match(cell)
            if match and not read_dates(match["name"]) and (name := _name(match["name"])):
                yield _Candidate(name, 9, number)


def _below_labels(lines: Sequence[Line]) -> Iterator[_Candidate]:
    """What stands below a line or a cell that is nothing but `From` or its like."""
    for number, line in enumerate(lines[: 3 * _HEAD]):
        if number + 1 == len(lines) or not _SENDER_ALONE.match(line.text):
            continue
        column = next((at for at, cell in enumerate(line.cells) if _SENDER_ALONE.fullmatch(cell)), 0)
        cells = lines[number + 1].cells
        cell = cells[column] if column < len(cells) else lines[number + 1].text
        if cell and _looks_like_a_name(_name(cell)):
            yield _Candidate(_name(cell), 9, number + 1)


def _in_head(lines: Sequence[Line], sites: set[str]) -> Iterator[_Candidate]:
    taken = _recipients(lines)
    place = 0
    for number, line in enumerate(lines):
        if not line.cells:
            continue
        if place >= _HEAD:
            return
        for column, cell in enumerate(line.cells):
            cell = _RECIPIENT.split(cell)[0].strip(" :,-")
            if cell and (number, column) not in taken and _looks_like_a_name(cell):
                name = _name(cell)
                yield _Candidate(name, _points(name, sites) + max(5 - place, 0) - 2 * column, number)
        place += 1


def _in_small_print(lines: Sequence[Line], sites: set[str]) -> Iterator[_Candidate]:
    for number, line in enumerate(lines):
        if _LEGAL.search(line.text):
            for text in (line.text, lines[number - 1].text if number else ""):
                for match in _FIRM.finditer(text):
                    yield _Candidate(_trimmed(match["name"]), _points(match["name"], sites) + 1, number)


def _points(name: str, sites: set[str]) -> int:
    """How much a name looks like that of the firm that wrote the document."""
    points = 4 if _FIRM.search(name) else 0
    joined = "".join(_WORD.findall(name.lower()))
    words = "".join(word for word in _WORD.findall(name.lower()) if word not in ("ltd", "limited", "llp", "plc", "the"))
    if any(site and (site in joined or (len(words) > 3 and words in site)) for site in sites):
        points += 5
    return points - (3 if _STREET.search(name) and not points else 0)


def _sites(lines: Sequence[Line]) -> set[str]:
    """The names of sites and of mail addresses, without dashes; those of everybody's mail say nothing."""
    names = (match["name"].lower() for line in lines for match in _SITE.finditer(line.text))
    return {"".join(_WORD.findall(name)) for name in names} - _FREE_MAIL


def _recipients(lines: Sequence[Line]) -> set[tuple[int, int]]:
    """The cells of the head in which the other side's name and address stand: behind and below what calls it so."""
    taken: set[tuple[int, int]] = set()
    for number, line in enumerate(lines[: 3 * _HEAD]):
        for column, cell in enumerate(line.cells):
            if not _RECIPIENT.search(cell):
                continue
            for below in range(number + 1, min(number + 7, len(lines))):
                if not lines[below].cells:
                    break
                taken.update((below, at) for at in _columns(line, lines[below], column))
    return taken


def _columns(above: Line, below: Line, column: int) -> range:
    """The cells of a line that may belong to a column of one above it."""
    if len(above.cells) == len(below.cells):
        return range(column, column + 1)
    return range(column, len(below.cells)) if column else range(1 if len(below.cells) > 1 else 0, 1)


def _looks_like_a_name(cell: str) -> bool:
    if _FIRM.search(cell):
        return len(cell) <= 100 and not cell.lower().startswith(("dear", "to ", "payable"))
    letters = sum(c.isalpha() for c in cell)
    if _HEADINGS.fullmatch(cell) or re.search(r"\w,\S", cell):
        return False  # a heading, or cells of a CSV
    is_text = 3 <= len(cell) <= 60 and letters * 3 >= len(cell) * 2 and len(cell.split()) <= 7
    return is_text and not _NOISE.search(cell) and not POSTCODE.search(cell) and not read_dates(cell)


def _name(text: str) -> str:
    """The name of a firm in a text, or the text."""
    match = _FIRM.search(text)
    return _trimmed(match["name"] if match else text)[:100]


def _trimmed(name: str) -> str:
    """The name alone; of two firms side by side the first one."""
    name = _PLC.sub(" plc", name.strip(" ,.;:-|*=_#"))
    company = _COMPANY.search(name)
    return name if company is None else name[: company.end()]
