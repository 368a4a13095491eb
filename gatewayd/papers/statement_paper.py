"""What a statement of account says, as plain facts. All figures come with it: none is reckoned.

Amounts are decimal text of the currency of their account, with its fraction digits; dates are ISO.
"""

from typing import Literal

from msgspec import Struct

from gatewayd.papers.paper import BankDetails, Look, Party


class AccountLine(Struct, frozen=True, kw_only=True):
    """What changed an account, or is open of it. `number`, `reference` and `due_date` None: there is none."""

    date: str
    kind: Literal["invoice", "credit_note", "payment", "refund", "write_off"]
    number: str | None
    reference: str | None
    due_date: str | None
    total: str
    amount: str
    balance: str


class Account(Struct, frozen=True, kw_only=True):
    """The account in one currency. `amounts` are by the bands of its statement."""

    currency: str
    opening: str
    lines: list[AccountLine]
    amounts: list[str]
    credit: str
    balance: str


class StatementPaper(Struct, frozen=True, kw_only=True, tag="statement"):
    """All that stands on it. `from_date` None: it has what is outstanding on `to_date`.

    `bands` are first and last day past the due date; None and None: not due yet.
    """

    from_date: str | None
    to_date: str
    seller: Party
    client: Party
    bands: list[tuple[int | None, int | None]]
    accounts: list[Account]
    bank: BankDetails | None
    look: Look
