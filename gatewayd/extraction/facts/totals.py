"""What a bill or a receipt comes to (Domain B7). Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from gatewayd.extraction.facts.amounts import Money, read_money
from gatewayd.extraction.facts.labelled import Labels, labelled
from gatewayd.extraction.facts.lines import Line

_LABELS = re.compile(
    r"""(?<![a-z])(?:
    (?P<net>sub\s?-?\s?total|(?:total\s|invoice\s|amount\s)?net(?:\s(?:total|amount
        |value))?(?:\s?\((?:gbp|eur|usd)\))?
        |total\s(?:net|excl?(?:uding|\.)?|ex|before|goods)(?:\s(?:of\s)?(?:vat|tax))?|goods\s(?:total|value)
            |(?:total\s)?(?:excluding|excl\.?|ex\.?)\s(?:vat|tax)|taxable\samount)
    |(?P<vat>(?:total\s|plus\s|includ(?:es|ing)\s|of\swhich\s|incl\.?\s)?(?:vat|sales\stax
        |tax)(?:\s?(?:total|amount|@|at)|\s?\(?\d{1,2}(?:\.\d{1,2})?\s?%\)?|\scontent){0,3})
    |(?P<other>(?:previous|opening|brought\sforward|last)\s(?:balance|bill)|balance\s(?:brought|b/f
        |from)|(?:total\s)?discount|total\s(?:savings?|saved|units?|items?|hours?|qty|usage|kwh
        |payments?(?:\sreceived)?)
        |payments?(?:\sreceived|\smade)|(?:less\s)?deposit(?:\spaid)?|credit(?:s)?
            |received(?:\swith\sthanks)?|change(?:\sdue)?|cash(?:\stendered)?|tendered|unit\sprice|price|rate
            |saved|you\ssaved|carriage|delivery|p\s?&\s?p|standing\scharge|interest|late\sfee|points|cashback
            |tip|gratuity)
    |(?P<whole>grand\s?total|(?:invoice|bill|order|receipt)\s?total
        |total\s?(?:invoice\s?)?(?:amount\s?)?\(?(?:incl?(?:uding|usive|\.)?)\s?(?:of\s?)?(?:vat|tax)
        |gross(?:\s(?:total|amount))?|total\s(?:gross|price|cost|charges\sincluding\svat|sale)
        |total\s?(?:gbp|eur|usd))
    |(?P<due>(?:total\s?|net\s?)?amount\s?(?:now\s?)?(?:due|payable|to\s?pay|owing|outstanding|owed)
        |total\s?(?:now\s?)?(?:due|payable|to\s?pay|owing|outstanding|owed|amount\sdue|balance\sdue)
        |balance\s?(?:now\s?)?(?:due|payable|to\s?pay|owing|outstanding)
        |(?:new\s)?balance(?:\sdue)?(?=\s?:?\s?£)|please\s?pay(?:\sus)?|(?:amount\s)?to\s?pay|payable\s?now
        |what\syou\sowe|you\sowe|now\sdue|sum\sdue|due\snow)
    |(?P<paid>(?:total\s?|amount\s?)paid(?:\s?by\s?card)?|paid(?:\s?by\s?card)?|card\s?(?:sale|payment
        |total)?|sale(?:\s?amount|\s?total)?|purchase|visa(?:\s?(?:debit|credit))?|mastercard|contactless
        |debit|amex|payment)
    |(?P<total>total(?:\s?(?:amount|sum|fee|fees|charges?|value))?|t[o0]ta[l1I]|amount)
    )(?![a-z])""",
    re.IGNORECASE | re.VERBOSE,
)
_MONEY: Final = Labels(_LABELS, read_money)
_ORDER: Final = ("whole", "due", "total", "paid")
_EARLIER_BILLS: Final = re.compile(
    r"(?:previous|opening|last|brought\sforward)\s(?:balance|bill)|balance\s(?:brought|b/f)", re.IGNORECASE
)
_CURRENCY: Final = re.compile(r"(?<![A-Za-z])(GBP|EUR|USD)(?![A-Za-z])")


class Total(NamedTuple):
    """A total. `is_sum`: it is what net and VAT come to. `is_labelled`: more than the word total says what it is."""

    amount: Decimal
    currency: str | None
    is_sum: bool
    is_labelled: bool


def total_of(lines: Sequence[Line]) -> Total | None:
    """What a bill comes to with VAT, or a receipt; of a bill that carries earlier ones forward, what is to be paid.

    One that is the sum of net and VAT goes before the others; then the label decides, and of one label the largest.
    """
    amounts_by_label: dict[str | None, list[Money]] = {}
    for candidate in labelled(lines, _MONEY):
        amounts_by_label.setdefault(candidate.label, []).append(candidate.value)
    sums = _sums(amounts_by_label)
    order = ("due", "whole", "total", "paid") if _carries_forward(lines) else _ORDER
    for label in order:
        amounts = [money for money in amounts_by_label.get(label, ()) if money.amount > 0]
        if amounts:
            best = next((money for money in amounts if money.amount in sums), None)
            chosen = best or max(amounts, key=lambda money: money.amount)
            currency = chosen.currency or _currency(lines)
            return Total(chosen.amount, currency, chosen.amount in sums, label in ("whole", "due"))
    return None


def _sums(amounts: dict[str | None, list[Money]]) -> set[Decimal]:
    """What each net amount and each VAT come to together."""
    nets = [money.amount for money in amounts.get("net", ())][:20]
    vats = [money.amount for money in amounts.get("vat", ()) if money.amount >= 0][:20]
    return {net + vat for net in nets for vat in vats}


def _carries_forward(lines: Sequence[Line]) -> bool:
    return any(_EARLIER_BILLS.search(line.text) for line in lines)


def _currency(lines: Sequence[Line]) -> str | None:
    """The currency that a document names most often."""
    seen: Counter[str] = Counter()
    for line in lines:
        seen.update(value.value.currency for value in read_money(line.text) if value.value.currency)
        seen.update(_CURRENCY.findall(line.text))
    return seen.most_common(1)[0][0] if seen else None
