"""Which open invoice money pays: by what is due, its number or reference in the text, the client's name."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from gatewayd.ledger.allocating.allocation_rules import share
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.open_invoices import OpenInvoice
from gatewayd.money import Money

_NOT_WORDS = re.compile(r"[\W_]+")
_OF_COMPANIES = re.compile(r"\b(ltd|limited|plc|llp|inc|gmbh|and co|& co)\b\.?")
_FEWEST_CHARACTERS = 4  # Chosen: shorter numbers and names stand in any text
_NAME_CHARACTERS = 16  # of a name, as banks cut off what is longer than 18
_CIS_PERCENTAGES = (20, 30)
_EARLY = 20  # points less where the money came before the invoice


class Match(NamedTuple):
    """An invoice that a line may pay, with how much of it, how sure that is, and why."""

    invoice: OpenInvoice
    amount: Money
    score: int
    reason: str


class _Signs(NamedTuple):
    """What of an invoice stands in the text of a line."""

    number: bool
    reference: bool
    client: bool


class _Amount(NamedTuple):
    """What an amount says of an invoice, and the score with the number, with the client's name, and with neither."""

    says: str
    with_number: int
    with_client: int
    alone: int

    def score(self, signs: _Signs) -> int:
        if signs.number or signs.reference:
            return self.with_number
        return self.with_client if signs.client else self.alone


def match(line: BankLine, invoice: OpenInvoice) -> Match | None:
    """How an invoice fits what is left of a line of money in; None: not at all."""
    owners = {line.legal_entity_id, invoice.legal_entity_id} - {None}
    if invoice.currency != line.currency or len(owners) > 1:
        return None
    signs = _signs(line, invoice)
    amount = _amount(line.rest, invoice)
    score = amount.score(signs)
    if score == 0:
        return None
    if line.date < invoice.issue_date:
        score = max(score - _EARLY, 1)
    said = ", ".join((amount.says, *_described(signs, invoice)))
    return Match(invoice, min(line.rest, invoice.balance), score, f"Invoice {invoice.number}: {said}.")


def _amount(rest: Money, invoice: OpenInvoice) -> _Amount:
    if rest == invoice.balance:
        return _Amount("the amount is what is due", 98, 92, 60)
    for percent in _CIS_PERCENTAGES:
        if not invoice.cis_deduction and rest == _after_cis(invoice, percent):
            return _Amount(f"the amount is what is due less {percent} % of the net, as CIS withholds", 84, 75, 45)
    if rest < invoice.balance:
        return _Amount(f"the amount is a part of the {invoice.balance} that is due", 82, 40, 0)
    return _Amount(f"the amount is more than the {invoice.balance} that is due", 66, 30, 0)


def _after_cis(invoice: OpenInvoice, percent: int) -> Money:
    withheld = share(invoice.net.minor, Decimal(percent), Decimal(100))
    return invoice.balance - Money(withheld, invoice.currency)


def _signs(line: BankLine, invoice: OpenInvoice) -> _Signs:
    text = _letters(line.text)
    client = _letters(_OF_COMPANIES.sub("", invoice.client.casefold()))[:_NAME_CHARACTERS]
    return _Signs(
        number=_within(_letters(invoice.number), text),
        reference=_within(_letters(invoice.reference or ""), text),
        client=_within(client, text),
    )


def _described(signs: _Signs, invoice: OpenInvoice) -> Iterator[str]:
    if signs.number:
        yield "its number is in the text"
    if signs.reference:
        yield f'its reference "{invoice.reference}" is in the text'
    if signs.client:
        yield f"{invoice.client} is named"


def _letters(text: str) -> str:
    return _NOT_WORDS.sub("", text.casefold())


def _within(word: str, text: str) -> bool:
    return len(word) >= _FEWEST_CHARACTERS and word in text
