"""Numbers whose check digits betray a slip. Pure.

They are python-stdnum's, which is loaded when the first one is checked: 2 MB that an idle daemon does without.
"""


def load() -> None:
    """Load what all checks need, for a process that will open no file any more."""
    from stdnum.eu import vat

    for check in (british_vat, utr, iban, is_iban, is_bic, is_isin, is_sedol, is_figi, is_cusip):
        check("00")
    for country in vat.MEMBER_STATES:  # each has rules, and so a module, of its own
        european_vat(f"{country}0")


def british_vat(text: str) -> str | None:
    """The digits of a valid VAT registration number, without its letters; None if it is not one."""
    from stdnum.exceptions import ValidationError
    from stdnum.gb import vat

    try:
        return str(vat.validate(text))
    except ValidationError:
        return None


def european_vat(text: str) -> str | None:
    """A valid VAT number of a member state, or of Northern Ireland, with its letters; None if it is not one."""
    from stdnum.eu import vat
    from stdnum.exceptions import ValidationError

    try:
        return str(vat.validate(text))
    except ValidationError:
        return None


def utr(text: str) -> str | None:
    """The ten digits of a valid Unique Taxpayer Reference; None if it is not one."""
    from stdnum.exceptions import ValidationError
    from stdnum.gb import utr

    try:
        return str(utr.validate(text))
    except ValidationError:
        return None


def iban(text: str) -> str | None:
    """A valid IBAN without spaces; None if it is not one."""
    from stdnum import iban

    return str(iban.compact(text)) if iban.is_valid(text) else None


def is_iban(text: str) -> bool:
    """Whether its check digits are those of an IBAN (ISO 13616), of whichever country."""
    from stdnum import iban

    return bool(iban.is_valid(text, check_country=False))


def is_bic(text: str) -> bool:
    """Whether it has the form of a bank's code (ISO 9362)."""
    from stdnum import bic

    return bool(bic.is_valid(text))


def is_isin(text: str) -> bool:
    """By the check digit alone: agencies number in `XS`, `EZ` or `XT` as well, where no country stands."""
    from stdnum import isin

    return str(isin.calc_check_digit(text[:-1])) == text[-1]


def is_sedol(text: str) -> bool:
    from stdnum.gb import sedol

    return bool(sedol.is_valid(text))


def is_figi(text: str) -> bool:
    from stdnum import figi

    return bool(figi.is_valid(text))


def is_cusip(text: str) -> bool:
    from stdnum import cusip

    return bool(cusip.is_valid(text))
