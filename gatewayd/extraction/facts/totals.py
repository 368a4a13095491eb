"""What a bill or a receipt comes to, and how much of that is VAT (Domain B7). Pure.

A total is believed before others where it is what net and VAT come to, whatever its label; net and VAT are told only
where they come to the total.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from gatewayd.extraction.facts.amounts import Money, read_money
from gatewayd.extraction.facts.dates import without_dates
from gatewayd.extraction.facts.labelled import Labels, Value, labelled
from gatewayd.extraction.facts.lines import Line

_TAX = r"(?:v\.?a\.?t\.?|sales\stax|tax(?:es)?)"
_LABELS = re.compile(
    rf"""(?<![a-z])(?:
    (?P<with_vat>\(?\s?(?:incl(?:uding|usive|udes|\.)?|inc\.?|with)\s?(?:of\s)?(?:all\s)?(?:\d{{1,2}}\s?%\s)?{_TAX})
    |(?P<without_vat>\(?\s?(?:excl(?:uding|usive|udes|\.)?|exc?\.?|before|without)\s?(?:of\s)?{_TAX})
    |(?P<deducted>(?:less\s)?(?:cis|construction\sindustry\sscheme)(?:\stax)?(?:\s(?:deduction|deducted|tax)))
    |(?P<foreign>(?:insurance\s)?premium\stax|(?:council|road|income|corporation)\stax|tax\s(?:date|point|invoice)
        |(?:v\.?a\.?t\.?|tax)\s?(?:reg|no\.?(?![a-z])|num|id(?![a-z])|invoice|receipt|code)[a-z.]{{0,9}})
    |(?P<net>sub\s?-?\s?total|(?:total\s|invoice\s|amount\s)?net(?!\s(?:to|pay))(?:\s(?:total|amount
        |value))?(?:\s?\((?:gbp|eur|usd)\))?
        |total\s(?:net|goods)(?:\samount)?|goods\s(?:total|value)|taxable\samount)
    |(?P<vat>(?:total\s|plus\s|of\swhich\s)?{_TAX}(?:\s?(?:total|amount|@|at|on\sfees
        )|\s?\(?\d{{1,2}}(?:\.\d{{1,2}})?\s?%\)?|\scontent){{0,3}})
    |(?P<other>(?:previous|opening|brought\sforward|last)\s(?:balance|bill)|balance\s(?:brought|b/f
        |from)|(?:total\s)?discount|total\s(?:savings?|saved|units?|items?|hours?|qty|usage(?!\scharges)|kwh
        |disbursements|payments?(?:\sreceived)?)|net\s(?:to|payment)
        |payments?(?:\sreceived|\smade)|(?:less\s)?deposit(?:\spaid)?|credit(?:s)?
            |received(?:\swith\sthanks)?|change(?:\sdue)?|cash(?:\stendered)?|tendered|unit\sprice|price|rate
            |saved|you\ssaved|carriage|delivery|p\s?&\s?p|standing\scharge|interest|late\sfee|points|cashback
            |tip|gratuity)
    |(?P<whole>grand\s?total|(?:invoice|bill|order|receipt)\s?total
        |gross(?:\s(?:total|amount))?|total\s(?:gross|price|cost|sale|for\sthis\s(?:bill|invoice))
        |total\s?(?:in\s)?(?:gbp|eur|usd))
    |(?P<due>(?:total\s?|net\s?)?amount\s?(?:now\s?)?(?:due|payable|to\s?pay|owing|outstanding|owed)
        |total\s?(?:now\s?)?(?:due|payable|to\s?pay|owing|outstanding|owed|amount\sdue|balance\sdue)
        |balance\s?(?:now\s?)?(?:due|payable|to\s?pay|owing|outstanding)
        |(?:new\s)?balance(?:\sdue)?(?=\s?:?\s?£)|please\s?pay(?:\sus)?|(?:amount\s)?to\s?pay|payable\s?now
        |what\syou\sowe|you\sowe|now\sdue|sum\sdue|due\snow|your\s(?:new\s)?(?:bill|total)\s(?:is|comes\sto))
    |(?P<paid>(?:total\s?|amount\s?)paid(?:\s?by\s?card)?|paid(?:\s?by\s?card)?|card\s?(?:sale|payment
        |total)?|sale(?:\s?amount|\s?total)?|purchase|visa(?:\s?(?:debit|credit))?|mastercard|contactless
        |debit|amex|payment)
    |(?P<total>total(?:\s(?:new|monthly|invoice|usage))?(?:\s?(?:amount|sum|fee|fees|charges?|value))?
        |t[o0]ta[l1I]|amount)
    )(?![a-z])""",
    re.IGNORECASE | re.VERBOSE,
)
_ORDER: Final = ("whole", "due", "total", "paid")
_STRONG: Final = frozenset({"whole", "due"})
_EARLIER_BILLS: Final = re.compile(
    r"(?:previous|opening|last|brought\sforward)\s(?:balance|bill)|balance\s(?:brought|b/f)", re.IGNORECASE
)
_CURRENCY: Final = re.compile(r"(?<![A-Za-z])(GBP|EUR|USD)(?![A-Za-z])")
_SAYS_VAT: Final = re.compile(r"(?<![a-z])v\.?a\.?t(?![a-z])", re.IGNORECASE)
_RATES: Final = (Decimal("0.20"), Decimal("0.05"))
"""VATA 1994 s2(1) and s29A: the standard and the reduced rate."""
_PENNY: Final = Decimal("0.01")
_MOST: Final = 40  # amounts of one meaning that are compared
_RATES_MOST: Final = 8
_ENDS_MOST: Final = 3
_COLUMN: Final = 8  # Chosen: amounts that may stand in a column above its sum
_LABELLED_BOTH, _LABELLED_ZERO, _LABELLED_ONE, _COLUMN_ADDS_UP, _BY_RATE = 5, 4, 3, 2, 1


class Total(NamedTuple):
    """A total. `is_sum`: it is what net and VAT come to. `is_labelled`: more than the word total says what it is."""

    amount: Decimal
    currency: str | None
    is_sum: bool
    is_labelled: bool


class Split(NamedTuple):
    """What a total is made of. `strength`: the more speaks for it the larger; 0: nothing, and both are None."""

    strength: int
    net: Decimal | None
    vat: Decimal | None


class Sums(NamedTuple):
    """What a bill comes to. `due`: what is still to be paid of it, where that is told; None: not found."""

    total: Total | None
    split: Split
    due: Decimal | None


NO_SPLIT: Final = Split(0, None, None)
NO_SUMS: Final = Sums(None, NO_SPLIT, None)


class _Amounts(NamedTuple):
    """The amounts of a document. `column`: the last one of each line, in order; `every`: all of them."""

    by_label: Mapping[str | None, Sequence[Money]]
    column: Sequence[Decimal]
    every: frozenset[Decimal]
    nets: Sequence[Decimal]
    vats: Sequence[Decimal]
    says_vat: bool

    def sums(self) -> set[Decimal]:
        """What a net amount and a VAT come to together and is written there.

        Without VAT only where a contractor deducts from it under the Construction Industry Scheme, and pays the rest.
        """
        deducted = [abs(money.amount) for money in self.by_label.get("deducted", ())][:_RATES_MOST]
        sums = {net + vat for net in self.nets for vat in self.vats if vat > 0 and net + vat in self.every}
        return sums or {net for net in self.nets for taken in deducted if net - taken in self.every}

    def of(self, label: str) -> list[Money]:
        """The amounts above 0 with a label of that meaning."""
        return [money for money in self.by_label.get(label, ()) if money.amount > 0]


def _amounts(lines: Sequence[Line]) -> _Amounts:
    by_label: dict[str | None, list[Money]] = {}
    for candidate in labelled(lines, _MONEY):
        by_label.setdefault(candidate.label, []).append(candidate.value)
    read = [[value.value.amount for value in _read(line.text)] for line in lines]
    vats = [amount for amount in _distinct(by_label.get("vat", ())) if amount >= 0]
    of_two = (first + second for first, second in itertools.combinations(vats[:_RATES_MOST], 2))
    return _Amounts(
        by_label=by_label,
        column=[amounts[-1] for amounts in read if amounts],
        every=frozenset(itertools.chain(*read)),
        nets=_distinct(by_label.get("net", ())),
        vats=list(dict.fromkeys([*vats, *of_two, *([sum(vats, Decimal())] if vats else [])])),
        says_vat=any(_SAYS_VAT.search(line.text) for line in lines),
    )


def sums_of(lines: Sequence[Line]) -> Sums:
    """What a bill comes to with VAT, or a receipt; of a bill that carries earlier ones forward, what is to be paid.

    A total that net and VAT come to goes before the others; then the label decides, and of one label the largest. One
    that contradicts a net amount and a VAT that are told is none, unless its label says that it is to be paid.
    """
    amounts = _amounts(lines)
    carries = any(_EARLIER_BILLS.search(line.text) for line in lines)
    chosen = _chosen(amounts, ("due", "whole", "total", "paid") if carries else _ORDER, prefers_sums=not carries)
    if chosen is None:
        return NO_SUMS
    money, label = chosen
    split = _split(amounts, money.amount)
    if not split.strength and label not in _STRONG and _contradicts(amounts, money.amount):
        return NO_SUMS
    currency = money.currency or _currency(lines)
    is_sum = split.strength >= _LABELLED_ONE
    return Sums(Total(money.amount, currency, is_sum, label in _STRONG), split, _due(amounts, money.amount))


def _chosen(amounts: _Amounts, order: Sequence[str], *, prefers_sums: bool) -> tuple[Money, str] | None:
    """The total, and what its label means."""
    sums = amounts.sums()
    if prefers_sums and sums:
        for label in order:
            agreeing = [money for money in amounts.of(label) if money.amount in sums]
            if agreeing:
                return max(agreeing, key=lambda money: money.amount), label
        return Money(max(sums), None), "total"
    for label in order:
        if found := amounts.of(label):
            largest = sorted(found, key=lambda money: -money.amount)[:_RATES_MOST]
            split = (money for money in largest if _split(amounts, money.amount).strength >= _COLUMN_ADDS_UP)
            return next(split, largest[0]), label
    return None


def _split(amounts: _Amounts, total: Decimal) -> Split:
    """Net and VAT of a total, as far as something in the document speaks for them."""
    return max(_splits(amounts, total), key=lambda split: split.strength, default=NO_SPLIT)


def _splits(amounts: _Amounts, total: Decimal) -> Iterator[Split]:
    for vat in amounts.vats:
        if total - vat in amounts.nets:
            yield Split(_LABELLED_BOTH if vat > 0 else _LABELLED_ZERO, total - vat, vat)
        elif vat > 0 and vat * 6 <= total + 6 * _PENNY:
            if total - vat in amounts.every:
                yield Split(_LABELLED_ONE, total - vat, vat)
            elif _adds_up(amounts.column, total, vat):
                yield Split(_COLUMN_ADDS_UP, total - vat, vat)
    for net in amounts.nets:
        if total - net in amounts.every and _rate_fits(net, total - net):
            yield Split(_LABELLED_ONE, net, total - net)
    if amounts.says_vat:
        for net in itertools.islice(amounts.every, 10 * _MOST):
            if total - net in amounts.every and _rate_fits(net, total - net):
                yield Split(_BY_RATE, net, total - net)


def _rate_fits(net: Decimal, vat: Decimal) -> bool:
    """Whether an amount is the VAT of another, to the penny that rounding may cost."""
    return vat > 0 and any(abs(net * rate - vat) <= _PENNY for rate in _RATES)


def _adds_up(column: Sequence[Decimal], total: Decimal, vat: Decimal) -> bool:
    """Whether some of the amounts right above a total come to it, the VAT among them: others are sums of theirs."""
    ends = [end for end, amount in enumerate(column) if amount == total][:_ENDS_MOST]
    for end in ends:
        above = list(column[max(end - _COLUMN, 0) : end])
        if vat not in above:
            continue
        above.remove(vat)
        counts = range(2, len(above) + 1)
        if any(sum(some) == total - vat for count in counts for some in itertools.combinations(above, count)):
            return True
    return False


def _contradicts(amounts: _Amounts, total: Decimal) -> bool:
    """Whether a net amount and a VAT are told that this is not the sum of."""
    vats = [vat for vat in amounts.vats if vat > 0]
    return bool(amounts.nets and vats) and total not in amounts.nets and not _adds_up(amounts.column, total, vats[0])


def _due(amounts: _Amounts, total: Decimal) -> Decimal | None:
    """What is to be paid; None: nothing says so, or several amounts are said to be."""
    told = set(_distinct(amounts.by_label.get("due", ())))
    return total if total in told else told.pop() if len(told) == 1 else None


def _distinct(found: Sequence[Money]) -> list[Decimal]:
    return list(dict.fromkeys(money.amount for money in found))[:_MOST]


def _settled(text: str, matches: list[re.Match[str]]) -> list[tuple[int, str]]:
    """What the labels of a line say together: `Total (inc VAT)` is a total with VAT, `Total excl. VAT` is none."""
    marks: list[tuple[int, str]] = []
    end = 0
    for match in matches:
        name = match.lastgroup or ""
        joins = bool(marks) and not any(c.isdigit() for c in text[end : match.start()])
        before = marks[-1][1] if joins else ""
        end = match.end()
        if name == "with_vat" and before in ("total", "whole", "due", "paid", "net"):
            marks[-1] = marks[-1][0], "whole" if before in ("total", "net") else before
        elif name == "without_vat":
            start = marks.pop()[0] if joins and before != "vat" else match.start()
            marks.append((start, "net"))
        else:
            marks.append((match.start(), "vat" if name == "with_vat" else name))
    return marks


def _read(text: str) -> list[Value[Money]]:
    return read_money(without_dates(text))


_MONEY: Final = Labels(_LABELS, _read, _settled)


def _currency(lines: Sequence[Line]) -> str | None:
    """The currency that a document names most often."""
    seen: Counter[str] = Counter()
    for line in lines:
        seen.update(value.value.currency for value in _read(line.text) if value.value.currency)
        seen.update(_CURRENCY.findall(line.text))
    return seen.most_common(1)[0][0] if seen else None
