"""Which money that went out paid a supplier's bill, or is the payment of a receipt (Domain F.6).

The amount is the total to the penny, and the line has no document. Within ten days that is enough; up to two months
later, as bills are paid, the line has to name the sender or the document's number as well.
"""

import datetime
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.money import CURRENCIES, Money, to_minor
from gatewayd.store import ReadTx

_NEAR_DAYS, _LATER_DAYS = 10, 60  # Chosen
_MOST_ACCOUNTS: Final = 30  # Chosen: each costs a look-up for each document
_CANDIDATES: Final = 10  # Chosen: of one account, the earliest within the days
_MOST: Final = 5
_MOST_ENTITIES: Final = 200
_CURRENCY: Final = "GBP"  # Chosen: of a total beside which none stands
_NEAR, _LATER, _NAMED, _NUMBERED, _BEST = 62, 50, 22, 14, 97
_AMBIGUOUS: Final = 20  # less where another line is as likely
_FEWEST_CHARACTERS: Final = 4  # Chosen: shorter names and numbers stand in any text
_NAME_CHARACTERS: Final = 12  # of a name, as banks cut off what is long

_NOT_WORDS = re.compile(r"[\W_]+")
_OF_COMPANIES = re.compile(r"\b(ltd|limited|plc|llp|inc|gmbh|and co|& co)\b\.?")

_SELECT_ACCOUNTS = """
SELECT id FROM bank_accounts WHERE org_id = :org_id AND currency = :currency ORDER BY id LIMIT :count
"""
_SELECT_LINES = f"""
{bank_lines.LINES} AND account_id = :account_id AND amount = :amount AND lines.status = 'booked'
    AND date >= :first AND date <= :last AND {bank_lines.UNDOCUMENTED}
ORDER BY date, lines.id LIMIT :count
"""
_SELECT_NAMES = """
SELECT name, legal_name FROM legal_entities WHERE org_id = :org_id ORDER BY id LIMIT :count
"""


class Match(NamedTuple):
    """A bank line that a document may belong to, how sure that is of 100, and why."""

    line: BankLine
    score: int
    reason: str


class _Bill(NamedTuple):
    """What of a document is compared: its date, its total in minor units, and letters of its sender and number."""

    date: datetime.date
    total: int
    currency: str
    sender: str
    number: str


class BankLines:
    """Looks for the lines of documents. What it looks up of the organization it looks up once for one answer."""

    def __init__(self, tx: ReadTx) -> None:
        self._tx = tx
        self._accounts: dict[str, list[str]] = {}
        self._own: frozenset[str] | None = None

    def matches(self, document: Document) -> list[Match]:
        """The lines that a document may belong to, the surest first; none where it belongs to one already."""
        bill = None if any(link.type == "bank_transaction" for link in document.links) else _bill(document)
        if bill is None or self._is_ours(bill.sender):
            return []
        matches = sorted(self._rated(bill), key=lambda match: -match.score)[:_MOST]
        if len(matches) > 1 and matches[0].score == matches[1].score:
            matches = [match._replace(score=max(match.score - _AMBIGUOUS, 1)) for match in matches]
        return matches

    def is_own(self, document: Document) -> bool:
        """Whether the organization sent a document itself."""
        facts = document.extracted
        return facts is not None and self._is_ours(_letters(facts.counterparty or ""))

    def _rated(self, bill: _Bill) -> Iterator[Match]:
        for account_id in self._accounts_in(bill.currency):
            window = {"first": _days_from(bill.date, -_NEAR_DAYS), "last": _days_from(bill.date, _LATER_DAYS)}
            rows = self._tx.rows(_SELECT_LINES, account_id=account_id, amount=-bill.total, count=_CANDIDATES, **window)
            for row in rows:
                if (match := _match(bill, bank_lines.of_row(row))) is not None:
                    yield match

    def _accounts_in(self, currency: str) -> list[str]:
        if currency not in self._accounts:
            rows = self._tx.rows(_SELECT_ACCOUNTS, currency=currency, count=_MOST_ACCOUNTS)
            self._accounts[currency] = [row[0] for row in rows]
        return self._accounts[currency]

    def _is_ours(self, sender: str) -> bool:
        """Whether the organization sent it itself: a copy of a sales invoice is nobody's bill."""
        if self._own is None:
            names = self._tx.rows(_SELECT_NAMES, count=_MOST_ENTITIES)
            self._own = frozenset(_letters(name) for row in names for name in row if name)
        return sender in self._own


def _bill(document: Document) -> _Bill | None:
    """What a document is compared by; None: it has no date, no total, or a total that is no amount."""
    facts = document.extracted
    date = document.document_date or (None if facts is None else facts.date)
    if facts is None or facts.total is None or date is None:
        return None
    currency = facts.currency or _CURRENCY
    try:
        total = to_minor(facts.total, currency) if currency in CURRENCIES else 0
    except ValueError:
        return None
    if total <= 0:
        return None
    sender, number = _letters(facts.counterparty or ""), _letters(facts.reference or "")
    return _Bill(datetime.date.fromisoformat(date), total, currency, sender, number)


def _match(bill: _Bill, line: BankLine) -> Match | None:
    text = _letters(line.text)
    is_named = len(bill.sender) >= _FEWEST_CHARACTERS and bill.sender[:_NAME_CHARACTERS] in text
    is_numbered = len(bill.number) >= _FEWEST_CHARACTERS and bill.number in text
    days = (datetime.date.fromisoformat(line.date) - bill.date).days
    is_near = days <= _NEAR_DAYS
    if not is_near and not is_named and not is_numbered:
        return None
    score = _NEAR - abs(days) if is_near else _LATER - (days - _NEAR_DAYS) // 5
    score = min(score + _NAMED * is_named + _NUMBERED * is_numbered, _BEST)
    said = [f"{Money(bill.total, bill.currency)} {bill.currency} went out {_days_apart_text(days)}"]
    said += ["the sender is named"] * is_named + ["its number is in the text"] * is_numbered
    return Match(line, score, f"{', '.join(said)}.")


def _days_apart_text(days: int) -> str:
    if days == 0:
        return "on its date"
    number = "a day" if abs(days) == 1 else f"{abs(days)} days"
    return f"{number} {'after' if days > 0 else 'before'} its date"


def _days_from(date: datetime.date, days: int) -> str:
    try:
        return (date + datetime.timedelta(days=days)).isoformat()
    except OverflowError:
        return date.isoformat()  # the first or the last days there are


def _letters(text: str) -> str:
    return _NOT_WORDS.sub("", _OF_COMPANIES.sub("", text.casefold()))
