"""Whose the statements of a file are: the account's that it is imported into, or another's.

Numbers decide (IBAN, sort code and account number, the last digits of a card), then the currency. Where a file gives no
number its name of the account does, such as the product of Revolut or the list of a QIF: it is remembered with the
first import. An account of which nothing is known yet is the one that the file is of, where it is of one alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gatewayd.areas.banking.accounts.rows import masked
from gatewayd.areas.banking.accounts.shapes import BankAccountRow
from gatewayd.errors import FieldError, Problem, invalid_field
from gatewayd.importing.kinds import NotTaken
from gatewayd.ledger.imports.import_shapes import OtherAccount
from gatewayd.statements.identifiers import identifiers
from gatewayd.statements.shapes import Opened

_SIGNS: Final = re.compile(r"[^0-9A-Z]")
_SHOWN: Final = 4
OTHERS_SHOWN: Final = 100  # Chosen: other accounts of a file that a run names
_TOLD: Final = 10  # of them in a sentence


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


class NamedLater(Exception):
    """What was taken for the account's was not: a later statement of the file has the account's own name."""


@dataclass(slots=True)
class Theirs:
    """An account of the file that is another than the one that it is imported into. `rows` are those of the file."""

    opened: Opened
    reason: str
    account_id: str | None
    rows: int = 0

    def shown(self) -> OtherAccount:
        """As the answer names it."""
        opened = self.opened
        return OtherAccount(
            name=opened.account_name,
            sort_code=opened.sort_code,
            account_number=masked(opened.account_number),
            iban=masked(opened.iban),
            currency=opened.currency,
            rows=self.rows,
            account_id=self.account_id,
        )


class Whose:
    """The accounts of one file, as its statements come.

    `others` are the other open accounts of the organization. `wanted` is what a person said which account of the file
    is meant: a number, or a name. `is_settled`: a file whose first statements were taken for the account's wrongly.
    """

    def __init__(
        self,
        account: BankAccountRow,
        others: Sequence[BankAccountRow],
        wanted: str | None = None,
        *,
        is_settled: bool = False,
    ) -> None:
        self._account = account
        self._others = others
        self._wanted = wanted
        self._is_settled = is_settled
        self._theirs: dict[tuple[str, ...], Theirs] = {}
        self._supposed: Opened | None = None  # to be the account's, for nothing says otherwise
        self._has_ours = self._has_several = self._was_wrong = False
        self.ours: Opened | None = None  # what says most of the account

    def of(self, opened: Opened) -> Theirs | None:
        """Whose a statement is; None: the account's."""
        holder_id = holder_of(opened, self._others)
        reason = self._foreign_reason(opened, holder_id)
        if reason is not None:
            return self._theirs_of(opened, reason, holder_id)
        if self._is_named(opened):
            self._was_wrong = self._was_wrong or (
                self._supposed is not None and key_of(self._supposed) != key_of(opened)
            )
        elif any(key_of(opened)[:2]):
            if self._is_settled or (self._has_ours and self._supposed is None):
                return self._theirs_of(opened, f"Its statement is of {label(opened)}.", holder_id)
            if self._supposed is not None and key_of(self._supposed) != key_of(opened):
                self._has_several = True
                return self._theirs_of(opened, "The file is of several accounts.", holder_id)
            self._supposed = opened
        self._has_ours = True
        if self.ours is None or not any(key_of(self.ours)[:2]):
            self.ours = opened
        return None

    @property
    def theirs(self) -> list[Theirs]:
        """The other accounts of the file, in its order."""
        return list(self._theirs.values())

    def check(self, *, makes_account: bool) -> None:
        """Raises `NotTaken` where nothing of the file is the account's, or nothing says what is; `NamedLater`."""
        if self._was_wrong:
            raise NamedLater
        if self._has_several:
            supposed = [self._supposed] if self._supposed is not None else []
            several = _listed([*supposed, *(other.opened for other in self.theirs)])
            reason = f"The file is of several accounts: {several}. Say which is meant by its name or number there."
            raise NotTaken(invalid_field("ofAccount", "required", reason))
        if not self._has_ours and self._theirs:
            raise NotTaken(self._refusal(makes_account=makes_account))

    # -- one statement

    def _foreign_reason(self, opened: Opened, holder_id: str | None) -> str | None:
        """Why a statement is not the account's; None where nothing says that it is another's."""
        account = self._account
        if self._wanted is not None and not is_meant(opened, self._wanted):
            return f"Its statement is of {label(opened)}."
        if opened.currency is not None and opened.currency != account.currency:
            return f"Its statement is in {opened.currency}, and the account in {account.currency}."
        pairs = [(ours, theirs) for ours, theirs in _numbers(account, opened) if ours and theirs]
        for ours, theirs in pairs:
            if not same_number(ours, theirs):
                return f"Its statement is of another account, which ends in {tail(theirs)}."
        if not pairs and holder_id is not None and _has_number(opened):
            return f"Its statement is of another account, {holder_id}."
        if not pairs and self._wanted is None and not _same_name(account.statement_name, opened.account_name):
            return f"Its statement is of {label(opened)}, and the account's were of {account.statement_name}."
        return None

    def _is_named(self, opened: Opened) -> bool:
        """Whether the statement is surely of the account: it has its number, or its name."""
        if self._wanted is not None or self._account.statement_name is not None:
            return True
        numbers = _numbers(self._account, opened, with_sort_code=False)
        if any(ours and theirs for ours, theirs in numbers):
            return True
        names = (self._account.name, self._account.nickname)
        return not _has_number(opened) and opened.account_name is not None and opened.account_name in names

    def _theirs_of(self, opened: Opened, reason: str, holder_id: str | None) -> Theirs:
        return self._theirs.setdefault(key_of(opened), Theirs(opened, reason, holder_id))

    def _refusal(self, *, makes_account: bool) -> Problem:
        first = self.theirs[0]
        if self._wanted is not None and not any(is_meant(other.opened, self._wanted) for other in self.theirs):
            names = _listed([other.opened for other in self.theirs])
            reason = f"The file has no account {self._wanted}: it is of {names}."
            return invalid_field("ofAccount", "unknown_reference", reason)
        if first.account_id is None:
            return invalid_field("accountId", "conflict", f"{first.reason} Nothing of the file was taken.")
        extra = {"existingId": first.account_id}
        if makes_account:
            message = f"There is an account for it: import the file into {first.account_id}."
            return Problem("already_exists", message, extra={**extra, "field": "accountNumber"})
        message = f"{first.reason} Import the file into {first.account_id}."
        error = FieldError("accountId", "conflict", message)
        return Problem("validation_failed", f"accountId: {message}", errors=(error,), extra=extra)


def holder_of(opened: Opened, accounts: Sequence[BankAccountRow]) -> str | None:
    """The account that a statement is of: by its whole number, else by what its files call it; None: none, or several.

    A name counts in its currency, and where the statement has no number.
    """
    if _has_number(opened):
        ids = [
            account.id for account in accounts if same_exactly(account, opened) and account.currency == opened.currency
        ]
    else:
        ids = [
            account.id
            for account in accounts
            if opened.account_name is not None
            and account.statement_name is not None
            and _same_name(account.statement_name, opened.account_name)
            and account.currency == opened.currency
        ]
    return ids[0] if len(ids) == 1 else None


def is_meant(opened: Opened, wanted: str) -> bool:
    """Whether a person who said `wanted` means the account of this statement."""
    if opened.account_name is not None and _folded(opened.account_name) == _folded(wanted):
        return True
    said = identifiers(wanted)
    if said.iban is not None and opened.iban is not None:
        return said.iban == opened.iban
    number = opened.account_number or number_in(opened.iban)
    if said.account_number is None or number is None or not same_number(said.account_number, number):
        return False
    return said.sort_code is None or opened.sort_code is None or said.sort_code == opened.sort_code


def label(opened: Opened) -> str:
    """What people know the account of a statement by."""
    number = opened.iban or opened.account_number
    told = [] if opened.account_name is None else [opened.account_name]
    told += [] if number is None else [f"the account that ends in {tail(number)}"]
    return f"{', '.join(told) or 'an account'} ({opened.currency})"


def _listed(accounts: Sequence[Opened]) -> str:
    more = f" and {len(accounts) - _TOLD} more" if len(accounts) > _TOLD else ""
    return ", ".join(label(opened) for opened in accounts[:_TOLD]) + more


def key_of(opened: Opened) -> tuple[str, ...]:
    """What tells the accounts of a file apart: the number, else the name, and the currency."""
    number = opened.iban or "".join((opened.sort_code or "", opened.account_number or ""))
    return (number, "" if number else _folded(opened.account_name or ""), opened.currency or "")


def _has_number(opened: Opened) -> bool:
    return opened.iban is not None or opened.account_number is not None


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _same_name(ours: str | None, theirs: str | None) -> bool:
    """True as well where one of them is not known."""
    return ours is None or theirs is None or _folded(ours) == _folded(theirs)


def _numbers(
    account: BankAccountRow, opened: Opened, *, with_sort_code: bool = True
) -> Iterator[tuple[str | None, str | None]]:
    yield account.iban, opened.iban
    yield account.account_number, opened.account_number
    if account.iban is None or opened.iban is None:  # a British IBAN ends in sort code and number
        yield number_in(account.iban), opened.account_number
        yield account.account_number, number_in(opened.iban)
    if with_sort_code:
        yield account.sort_code, opened.sort_code
