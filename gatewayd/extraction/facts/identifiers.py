"""VAT numbers, tax references and postcodes in a text. Check digits are python-stdnum's. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gatewayd import check_digits
from gatewayd.extraction.facts.labelled import Labels, Value, labelled
from gatewayd.extraction.facts.lines import Line

_D = "[0-9OolISB]"
_GB_VAT = re.compile(
    rf"(?<![A-Za-z0-9])(?P<country>GB"
    rf"|XI)?\s?(?P<digits>{_D}{{3}}[\s.-]?{_D}{{4}}[\s.-]?{_D}{{2}}(?:[\s.-]?{_D}{{3}})?"
    rf"|{_D}{{3}}[\s.-]?{_D}{{3}}[\s.-]?{_D}{{3}})(?![A-Za-z0-9])"
)
_EU_VAT = re.compile(
    r"(?<![A-Za-z0-9])(?:AT|BE|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE"
    r"|SI|SK)\s?[0-9A-Z][0-9A-Z .]{6,13}(?![A-Za-z0-9])"
)
_VAT_LABEL = re.compile(r"(?<![a-z])(?P<vat>v\.?a\.?t\.?(?![a-z]))", re.IGNORECASE)
_UTR_LABEL = re.compile(r"(?P<utr>\bu\.?t\.?r\b|unique\s?tax(?:payer)?(?:'s|s)?\s?ref(?:erence)?)", re.IGNORECASE)
_UTR = re.compile(rf"(?<![A-Za-z0-9])({_D}{{5}}\s?{_D}{{5}}|{_D}{{3}}\s{_D}{{4}}\s{_D}{{3}})K?(?![A-Za-z0-9])")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:\s?[A-Z0-9]{4}){2,7}(?:\s?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_SORT_CODE = re.compile(
    r"sort\s?code\s?(?:no\.?|number)?\s?[:#.]?\s*(?P<digits>[0-9]{2}[\s-]?[0-9]{2}[\s-]?[0-9]{2})(?![0-9])",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(
    r"(?:acc(?:oun)?t|a/c)\s?(?:no\.?|number|num)?\s?[:#.]?\s*(?P<digits>[0-9]{4}\s?[0-9]{4})(?![0-9])", re.IGNORECASE
)
_MOST: Final = 8  # Chosen: of each, more are no bill's
_CLEAN: Final = str.maketrans("OolISB", "001158")
POSTCODE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z]{1,4}\s?[0-9]"
    r"|[A-Za-z]{1,2}[0-9])(?P<area>[A-Za-z]{1,2})(?P<district>[0-9OIl][0-9A-Za-z]?)\s?(?P<sector>[0-9OIl])"
    r"(?P<unit>[ABD-HJLNP-UW-Zabd-hjlnp-uw-z]{2})(?![A-Za-z0-9])"
)
_RECIPIENTS: Final = re.compile(
    r"(?:customer|client|buyer|your|purchaser|recipient)'?s?\s(?:\w{1,12}\s)?vat", re.IGNORECASE
)


def vat_number(lines: Sequence[Line]) -> str | None:
    """The first VAT number with a right check digit that is called one, and not the customer's: `GB980780684`."""
    for number in labelled(lines, Labels(_VAT_LABEL, _read_vat)):
        if number.label is not None and not _RECIPIENTS.search(lines[number.line].text):
            return number.value
    return None


def vat_numbers(lines: Sequence[Line]) -> list[str]:
    """All VAT numbers with a right check digit that are called one, whoever's they are."""
    found = (number.value for number in labelled(lines, Labels(_VAT_LABEL, _read_vat)) if number.label is not None)
    return list(dict.fromkeys(found))[:_MOST]


def bank_accounts(lines: Sequence[Line]) -> list[str]:
    """The bank accounts that are named: an IBAN, or a sort code and an account number, `112233 00112233`."""
    found: dict[str, None] = {}
    for number, line in enumerate(lines):
        for match in _IBAN.finditer(line.text):
            iban = match.group().replace(" ", "")
            if check_digits.is_iban(iban):
                found[iban] = None
        if code := _SORT_CODE.search(line.text):
            below = " ".join(near.text for near in lines[number : number + 3])
            if account := _ACCOUNT.search(below[code.start() + len(code.group()) :]):
                found[f"{re.sub(r'[^0-9]', '', code['digits'])} {account['digits'].replace(' ', '')}"] = None
    return list(found)[:_MOST]


def taxpayer_reference(lines: Sequence[Line]) -> str | None:
    """The unique taxpayer reference that HM Revenue & Customs writes to: ten digits."""
    references = (
        reference.value for reference in labelled(lines, Labels(_UTR_LABEL, _read_utr)) if reference.label is not None
    )
    return next(references, None)


def postcodes(text: str) -> list[Value[str]]:
    """The postcodes of a line, in one form: `BS1 4DJ`."""
    return [Value(match.start(), _postcode(match)) for match in POSTCODE.finditer(text)]


def _read_vat(text: str) -> list[Value[str]]:
    numbers = [*_british(text), *_european(text)]
    return sorted(numbers, key=lambda value: value.start)


def _british(text: str) -> Iterator[Value[str]]:
    for match in _GB_VAT.finditer(text):
        number = re.sub(r"[\s.-]", "", match["digits"]).translate(_CLEAN)
        if check_digits.british_vat(number) is not None:
            yield Value(match.start(), f"{match['country'] or 'GB'}{number}")


def _european(text: str) -> Iterator[Value[str]]:
    for match in _EU_VAT.finditer(text):
        number = match.group().replace(" ", "").replace(".", "")
        if any(c.isdigit() for c in number) and check_digits.european_vat(number) is not None:
            yield Value(match.start(), number)


def _read_utr(text: str) -> list[Value[str]]:
    numbers = ((match.start(), re.sub(r"\s", "", match[1]).translate(_CLEAN)) for match in _UTR.finditer(text))
    return [Value(start, number) for start, number in numbers if check_digits.utr(number) is not None]


def _postcode(match: re.Match[str]) -> str:
    district, sector = match["district"], match["sector"].translate(_CLEAN)
    district = district[0].translate(_CLEAN) + district[1:]
    return f"{match['area']}{district} {sector}{match['unit']}".upper()
