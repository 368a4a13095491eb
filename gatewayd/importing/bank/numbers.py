"""Numbers of accounts, compared as banks write them. Pure."""

import re
from typing import Final

from gatewayd.areas.banking.accounts.shapes import BankAccountRow
from gatewayd.statements.shapes import Opened

_SIGNS: Final = re.compile(r"[^0-9A-Z]")
_SHOWN: Final = 4


def same_number(ours: str, theirs: str) -> bool:
    """Equal, or equal at the end where one of them is masked or shortened."""
    ours, theirs = _bare(ours), _bare(theirs)
    shorter, longer = sorted((ours.lstrip("0X"), theirs.lstrip("0X")), key=len)
    return longer == shorter or (4 <= len(shorter) <= 8 and longer.endswith(shorter))


def same_exactly(account: BankAccountRow, opened: Opened) -> bool:
    """Whether a statement has the account's whole number: one that is masked by the same digits, and no shorter one."""
    if account.iban is not None and opened.iban is not None:
        return account.iban == opened.iban
    ours = account.account_number or number_in(account.iban)
    theirs = opened.account_number or number_in(opened.iban)
    if ours is None or theirs is None or _bare(ours) != _bare(theirs) or ("*" in ours) != ("*" in theirs):
        return False
    codes = (account.sort_code or _sort_code_in(account.iban), opened.sort_code or _sort_code_in(opened.iban))
    return None in codes or codes[0] == codes[1]


def number_in(iban: str | None) -> str | None:
    """The account number that a British IBAN ends in."""
    return iban[-8:] if iban is not None and iban.startswith("GB") else None


def tail(number: str) -> str:
    """The last digits, which may be shown."""
    return _bare(number)[-_SHOWN:]


def _sort_code_in(iban: str | None) -> str | None:
    return iban[8:14] if iban is not None and iban.startswith("GB") else None


def _bare(number: str) -> str:
    return _SIGNS.sub("", number.upper())
