"""What certificates of lets say: records, reports, assessments and licences (Domain F.6). Pure."""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from gatewayd.extraction.facts.dates import expiry_date
from gatewayd.extraction.facts.identifiers import POSTCODE, postcodes
from gatewayd.extraction.facts.kinds import certificate_kind
from gatewayd.extraction.facts.lines import Line
from gatewayd.extraction.shapes import CertificateFacts, CertificateKind

_ISSUER = re.compile(
    r"(?<![a-z])(?:gas\ssafe\s(?:registered\s)?(?:business|company|engineer\scompany)"
    r"|registered\sbusiness|company\sname|trading\s(?:name|title)|(?:company|business|contractor"
    r"|organisation)(?:'s)?(?:\s(?:name|details))?|issued\sby"
    r"|assessor(?:'s)?(?:\s(?:company(?:\sname)?|name))?|inspected\sby|carried\sout\sby"
    r"|engineer(?:'s)?\sname|name\sof\s(?:contractor|company"
    r"|business))\s?[:\-]\s*(?P<value>[^:]{2,80})",
    re.IGNORECASE,
)
_ISSUER_ORDER: Final = re.compile(r"assessor|inspected|carried|engineer", re.IGNORECASE)  # people go behind firms
_REGISTRATION = re.compile(
    r"(?<![a-z])(?:gas\s?safe\s?(?:reg(?:istration|istered|ister|\.)?)?(?:\s?(?:engineer"
    r"|business))?\s?(?:no\.?|number|id|#)?|niceic\s?(?:enrol\w{2,6}|reg\w{0,9})?\s?(?:no\.?"
    r"|number)?|napit\s?(?:member\w{0,5}|reg\w{0,9})?\s?(?:no\.?|number)?|enrol?lment\s?(?:no\.?"
    r"|number)|(?:scheme\s)?(?:membership|registration|accreditation|assessor(?:'s)?\s(?:id"
    r"|accreditation))\s?(?:no\.?|number"
    r"|id)?)\s?[:#.]?\s*(?P<value>[A-Z]{0,5}[0-9][A-Z0-9/-]{3,14})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?<![a-z])(?:(?:installation|property|site|job|inspection|premises|rented|dwelling"
    r"|inspected)\s?(?:address|details|location)|address\s(?:of|for)\s(?:the\s)?(?:licensed\s)?(?:installation"
    r"|property|premises|inspection|dwelling|house)|(?:(?:rental|licensed)\s)?(?:property|premises|dwelling|site"
    r"|location)(?:\sinspected)?(?=\s?:))(?![a-z])\s?[:\-]?\s*(?P<value>.*)$",
    re.IGNORECASE,
)
_OF_OCCUPIER = re.compile(
    r"(?<![a-z])(?:occupier|tenant|resident)(?:'?s)?(?:\sname)?\s?[:\-][^:]{2,60}\saddress\s?[:\-]\s*(?P<value>.+)$",
    re.IGNORECASE,
)
_OTHER_BLOCK = re.compile(
    r"(?<![a-z])(?:landlord|agent|client|customer|contractor|company|business|engineer|assessor"
    r"|issued|billing|registered|correspondence|inspector|owner|occupier|tenant"
    r"|person\sordering)(?:'s)?(?:\s?/\s?\w+)?\s?(?:name|address|details|by|office|the\sreport)?",
    re.IGNORECASE,
)
_NEW_LABEL = re.compile(
    r"^[A-Za-z][A-Za-z '/()-]{2,40}:|(?:tel|phone|e-?mail|date|inspected|certificate)\b", re.IGNORECASE
)
_RATING = re.compile(
    r"(?:energy\s?(?:efficiency\s?)?(?:rating|performance\srating)|epc\s?rating"
    r"|current\s(?:energy\s)?(?:rating|efficiency)|(?:current|property's\s\w{0,10}\s?)?rating"
    r"|band)\s?(?:\([^)]{1,20}\)\s?)?(?:is|:|-|=)?\s?(?:band\s?"
    r"|current\s?:?\s?)?(?:(?P<score>[1-9][0-9]{0,2})\s?[|/-]?\s?)?\(?(?P<band>[A-G])\)?(?![A-Za-z])"
    r"(?:\s?[(|/-]?\s?(?P<after>[1-9][0-9]{0,2})(?![0-9.%/]))?",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?<![A-Za-z0-9])(?<![0-9]-)(?:(?P<score>[1-9][0-9]?)\s?[|(/-]?\s?(?P<band>[A-G])"
    r"|(?P<band2>[A-G])\s?[|(/-]\s?(?P<score2>[1-9][0-9]?))(?![A-Za-z0-9])"
)
_EPC_NUMBER = re.compile(r"(?<![0-9])(?:[0-9]{4}\s?-\s?){4}[0-9]{4}(?![0-9])")
_FAILED: Final = {
    "gas_safety": re.compile(
        r"(?<![a-z])(?:immediately\sdangerous(?!\s?[:\-]?\s?(?:no|none|n/a|0))"
        r"|at\srisk(?!\s?[:\-]?\s?(?:no|none|n/a|0))|(?:safe\s(?:to|for)\suse|appliance\ssafe"
        r"|satisfactory)\s?\??\s?[:\-]?\s?no(?![a-z])|unsafe|not\ssafe|(?:overall\s)?(?:result"
        r"|outcome|status)\s?[:\-]?\s?fail(?:ed)?|fail(?:ed)?(?=\s*$))",
        re.IGNORECASE,
    ),
    "eicr": re.compile(r"(?<![a-z])unsatis\s?factory", re.IGNORECASE),
}
_PASSED: Final = {
    "gas_safety": re.compile(
        r"(?<![a-z])(?:(?:safe\s(?:to|for)\suse|appliance\ssafe"
        r"|satisfactory)\s?\??\s?[:\-]?\s?y(?:es)?(?![a-z])|(?:overall\s)?(?:result|outcome"
        r"|status)\s?[:\-]?\s?(?:pass(?:ed)?|satisfactory|safe)|no\sdefects|defects?(?:\sidentified"
        r"|\sfound)?\s?[:\-]?\s?(?:none|no|nil|n/a)|all\sappliances\s\w{0,12}\s?safe"
        r"|pass(?:ed)?(?=\s*$))",
        re.IGNORECASE,
    ),
    "eicr": re.compile(r"(?<![a-z])satis\s?factory", re.IGNORECASE),
}
_BOTH = re.compile(
    r"(?<![a-z])satis\s?factory\s?\*?\s?(?:/|or)\s?un\s?satis\s?factory"
    r"|unsatis\s?factory\s?\*?\s?(?:/|or)\s?satis\s?factory|(?:pass|yes)\s?/\s?(?:fail|no)",
    re.IGNORECASE,
)
_QUOTES = re.compile(
    r"(?:an?|if)\s(?:the\s)?(?:\w+\s){0,4}un\s?satis\s?factory"
    r"|un\s?satis\s?factory\s(?:overall\s)?(?:assessment\s)?(?:indicates|means)",
    re.IGNORECASE,
)
_ADDRESS_LINES: Final = 5


def certificate_of(
    lines: Sequence[Line], issued: datetime.date | None, reference: str | None, counterparty: str | None
) -> CertificateFacts:
    """What a certificate says of itself. What was found for any document is given: its date, number and sender."""
    kind = certificate_kind(lines)
    expiry, address = expiry_date(lines, issued), _address(lines, kind)
    number = _epc_number(lines) if kind == "epc" else None
    rating, score = _rating(lines) if kind == "epc" else (None, None)
    return CertificateFacts(
        type=kind,
        issued_date=None if issued is None else issued.isoformat(),
        expiry_date=None if expiry is None else expiry.isoformat(),
        reference=number or reference,
        issuer=_issuer(lines) or counterparty,
        issuer_registration=_first(_REGISTRATION, lines),
        rating=rating,
        score=score,
        result=_result(lines, kind),
        address=address,
        postcode=_postcode(lines, address),
    )


def _epc_number(lines: Sequence[Line]) -> str | None:
    numbers = (match.group() for line in lines for match in _EPC_NUMBER.finditer(line.text))
    return next((number.replace(" ", "") for number in numbers), None)


def _issuer(lines: Sequence[Line]) -> str | None:
    """The firm that issued it, else who inspected."""
    matches = [(match, line) for line in lines for cell in line.cells if (match := _ISSUER.search(cell))]
    firms = [
        match for match, _ in matches if not _ISSUER_ORDER.search(match.group()[: match.start("value") - match.start()])
    ]
    for match in [*firms, *(match for match, _ in matches)]:
        value = match["value"].strip(" .,-")
        if value and sum(c.isalpha() for c in value) >= 3:
            return value
    return None


def _first(pattern: re.Pattern[str], lines: Sequence[Line]) -> str | None:
    return next((match["value"] for line in lines if (match := pattern.search(line.text))), None)


def _result(lines: Sequence[Line], kind: CertificateKind) -> Literal["pass", "fail"] | None:
    """Whether what was inspected is safe; None: nothing says so, or a form has both words to choose from."""
    if kind not in ("gas_safety", "eicr"):
        return None
    texts = [line.text for line in lines if not _BOTH.search(line.text) and not _QUOTES.search(line.text)]
    if any(_FAILED[kind].search(text) for text in texts):
        return "fail"
    return "pass" if any(_PASSED[kind].search(text) for text in texts) else None


def _rating(lines: Sequence[Line]) -> tuple[str | None, int | None]:
    """The band of an EPC and its points, each as far as they are found."""
    band: str | None = None
    for line in lines:
        for match in _RATING.finditer(line.text):
            points = match["score"] or match["after"]
            band = band or match["band"].upper()
            if points and band == match["band"].upper():
                return band, int(points)
    for line in lines:
        for match in _PAIR.finditer(line.text):
            named_band = match["band"] or match["band2"]
            if band in (None, named_band):
                return named_band, int(match["score"] or match["score2"])
    return band, None


def _address(lines: Sequence[Line], kind: CertificateKind) -> str | None:
    """The address of the property: what its label says, and the lines below up to the postcode; of an EPC the head."""
    for number, line in enumerate(lines):
        for column, cell in enumerate(line.cells):
            match = _ADDRESS.search(cell)
            if match is not None:
                address = _joined(_block(lines, number, column, match["value"]))
                if address is not None:
                    return address
    return _of_occupier(lines) or (_joined(_before_postcode(lines)) if kind == "epc" else None)


def _of_occupier(lines: Sequence[Line]) -> str | None:
    """Where whoever occupies it lives, as far as one line says it with its postcode."""
    values = (match["value"] for line in lines if (match := _OF_OCCUPIER.search(line.text)))
    return next((_joined([value]) for value in values if POSTCODE.search(value)), None)


def _block(lines: Sequence[Line], number: int, column: int, first: str) -> Iterator[str]:
    """The parts of an address that begins behind a label, in the label's column."""
    if first:
        yield first
        if POSTCODE.search(first):
            return
    columns = len(lines[number].cells)
    for below in lines[number + 1 : number + 1 + _ADDRESS_LINES]:
        cell = below.cells[min(column, len(below.cells) - 1)] if below.cells else ""
        if not cell and first:
            return
        if _NEW_LABEL.search(cell) or (columns > 1 and len(below.cells) < columns and column):
            return
        if cell:
            yield cell
        if POSTCODE.search(cell):
            return


def _before_postcode(lines: Sequence[Line]) -> list[str]:
    """The line with the first postcode, and the ones above it that belong to it."""
    for number, line in enumerate(lines[:30]):
        if POSTCODE.search(line.text):
            above = number
            while above > 0 and number - above < 3 and _is_address_line(lines[above - 1]):
                above -= 1
            return [near.text for near in lines[above : number + 1]]
    return []


def _is_address_line(line: Line) -> bool:
    text = line.text
    return (
        0 < len(text) <= 50
        and ":" not in text
        and not re.search(r"certificate|energy|rating|valid|epc", text, re.IGNORECASE)
    )


def _joined(parts: Iterator[str] | Sequence[str]) -> str | None:
    """The parts of an address in one line; None: too little of one."""
    text = ", ".join(part.strip(" ,.") for part in parts if part.strip(" ,."))
    match = POSTCODE.search(text)
    text = text[: match.end()] if match else text
    return text if any(c.isdigit() for c in text) and sum(c.isalpha() for c in text) >= 4 else None


def _postcode(lines: Sequence[Line], address: str | None) -> str | None:
    """The postcode of the address; without an address, the only postcode of the document that is not of an office."""
    if address is not None and (codes := postcodes(address)):
        return codes[-1].value
    others = {
        value.value
        for number, line in enumerate(lines)
        for value in postcodes(line.text)
        if not any(_OTHER_BLOCK.search(near.text) for near in lines[max(number - 3, 0) : number + 1])
    }
    return others.pop() if len(others) == 1 else None
