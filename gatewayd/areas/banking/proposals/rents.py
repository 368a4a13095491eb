"""Which tenancy's rent money is: by what is owed, the rent of the period, the tenant's name and the property's."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from gatewayd.clock import days_after
from gatewayd.ledger.allocating.allocation_rules import RuleOutcome
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.allocation_history import day
from gatewayd.ledger.rents import expected, schedule
from gatewayd.ledger.rents.expected import ExpectedRent, Standing, TenantName
from gatewayd.money import Money
from gatewayd.store import ReadTx

MOST_LOOKED_AT: Final = 20  # Chosen: tenancies for a line; whom more of them fit is not told apart by them
_SAME_AMOUNT: Final = 5  # Chosen: with more tenancies of one rent the amount alone says nothing
_FEWEST_CHARACTERS = 5  # Chosen: shorter names of properties stand in any text
_SHORTEST_NAME = 3
_NO_WORD = ""
_SEVERAL = 25  # points less where several tenancies have no more for them, and nobody is named
_WORDS = re.compile(r"[^\W_]+")
_OF_COMPANIES = frozenset({"ltd", "limited", "plc", "llp", "inc", "gmbh", "and", "co"})
_BEFORE_DAYS, _AFTER_DAYS = 62, 366  # Chosen: around a tenancy, in which its rent may come
_PUNCTUAL_DAYS = 14  # Chosen: after the due date


class Match(NamedTuple):
    """A tenancy whose rent a line may be, how sure that is, and why."""

    outcome: RuleOutcome
    score: int
    reason: str


class _Signs(NamedTuple):
    """What of a tenancy stands in the text of a line: who is named, by the whole name or the last, and the property."""

    tenant: TenantName | None
    whole: bool
    place: bool


_NO_SIGNS = _Signs(None, False, False)


class _Amount(NamedTuple):
    """What an amount says of a tenancy; the score with the tenant's whole name, the last or the property, neither."""

    says: str
    with_name: int
    with_part: int
    alone: int

    def score(self, signs: _Signs) -> int:
        if signs.whole:
            return self.with_name
        return self.with_part if signs.tenant is not None or signs.place else self.alone


class _Known(NamedTuple):
    """Tenancies by what one rent may come to, minor units of a currency, and by what people write of them."""

    by_amount: dict[tuple[int, str], list[ExpectedRent]]
    by_name: dict[str, list[ExpectedRent]]


class Rents:
    """Looks for tenancies. What it looks up it looks up once, for all lines of one answer."""

    def __init__(self, tx: ReadTx) -> None:
        self._tx = tx
        self._known: _Known | None = None

    def matches(self, line: BankLine) -> list[Match]:
        """Tenancies whose rent a line of money in may be, the likeliest first."""
        if line.amount < 0:
            return []
        rated = [(rent, signs, self._amount(line, rent)) for rent, signs in self._candidates(line)]
        found = [(rent, signs, amount) for rent, signs, amount in rated if amount.score(signs)]
        unnamed = Counter(signs for _, signs, _ in found if signs.tenant is None)
        matches = [_match(rent, signs, amount, unnamed[signs] > 1) for rent, signs, amount in found]
        return sorted(matches, key=lambda match: -match.score)

    def _candidates(self, line: BankLine) -> list[tuple[ExpectedRent, _Signs]]:
        """Tenancies with such a rent, or whose tenant is named, with what of them is written on the line."""
        known = self._tenancies()
        by_amount = known.by_amount.get((line.rest.minor, line.currency), ())
        words = frozenset(_words_of(line.text)) | _pairs(line.text)
        named = [rent for word in words for rent in known.by_name.get(word, ())]
        asked = {rent.tenancy_id: rent for rent in (*by_amount, *named) if _may_pay(line, rent)}
        found = [(rent, _signs(rent, words, line.text)) for rent in asked.values()]
        signed = [one for one in found if one[1] != _NO_SIGNS]
        if len(found) - len(signed) <= _SAME_AMOUNT:
            signed = found
        return signed if len(signed) <= MOST_LOOKED_AT else []

    def _amount(self, line: BankLine, rent: ExpectedRent) -> _Amount:
        return _amount(line, rent, expected.standing(self._tx, rent, line.date))

    def _tenancies(self) -> _Known:
        if self._known is None:
            self._known = _Known({}, {})
            for rent in expected.tenancies(self._tx):
                for amount in schedule.amounts(rent.terms):
                    self._known.by_amount.setdefault((amount, rent.currency), []).append(rent)
                for name in (*map(_key, rent.tenants), _address(rent.property_name)):
                    self._known.by_name.setdefault(name, []).append(rent)
        return self._known


def _may_pay(line: BankLine, rent: ExpectedRent) -> bool:
    """Whether the account may be one for the rent, and the day about one of the tenancy."""
    if rent.currency != line.currency or line.legal_entity_id not in (None, rent.legal_entity_id):
        return False
    terms = rent.terms
    begun = terms.start <= days_after(line.date, _BEFORE_DAYS)
    return begun and (terms.end is None or terms.end >= days_after(line.date, -_AFTER_DAYS))


def _signs(rent: ExpectedRent, words: frozenset[str], text: str) -> _Signs:
    named = [tenant for tenant in rent.tenants if words.issuperset(_last_words(tenant))]
    wholly = [tenant for tenant in named if _is_whole(tenant, words)]
    place = _letters(rent.property_name)
    by_name = len(place) >= _FEWEST_CHARACTERS and place in _letters(text)
    return _Signs(next(iter([*wholly, *named]), None), bool(wholly), by_name or _address(rent.property_name) in words)


def _is_whole(tenant: TenantName, words: frozenset[str]) -> bool:
    """Whether the first name, or its initial, stands beside the last; of a company, whether it is named."""
    first = _words_of(tenant.first)
    return tenant.company is not None or any(name in words or name[0] in words for name in first)


def _last_words(tenant: TenantName) -> list[str]:
    """The words by which a tenant is known. Of somebody without a name, one that stands nowhere."""
    words = [word for word in _words_of(tenant.company or tenant.last) if word not in _OF_COMPANIES]
    return words if len("".join(words)) >= _SHORTEST_NAME else [_NO_WORD]


def _key(tenant: TenantName) -> str:
    return max(_last_words(tenant), key=len)


def _amount(line: BankLine, rent: ExpectedRent, standing: Standing) -> _Amount:
    paid, owed, latest = line.rest, Money(max(standing.owed, 0), rent.currency), standing.latest
    if not owed:
        if paid.minor in schedule.amounts(rent.terms):
            return _Amount("nothing is owed, and the amount is a rent ahead", 70, 58, 30)
        return _Amount("nothing is owed", 40, 0, 0)
    if latest is not None and paid.minor == latest.amount and paid <= owed:
        says = f"the amount is the rent due on {day(latest.first)}"
        punctual = line.date <= days_after(latest.first, _PUNCTUAL_DAYS)
        return _Amount(says, 93, 86, 58) if punctual else _Amount(says, 85, 78, 46)
    if paid == owed:
        return _Amount("the amount is all that is owed", 93, 86, 58)
    if paid < owed:
        return _Amount(f"the amount is a part of the {owed} that is owed", 74, 60, 0)
    return _Amount(f"the amount is more than the {owed} that is owed", 62, 48, 0)


def _match(rent: ExpectedRent, signs: _Signs, amount: _Amount, one_of_several: bool) -> Match:
    score = amount.score(signs)
    if one_of_several:
        score = max(score - _SEVERAL, 1)
    said = ", ".join((amount.says, *_described(signs)))
    outcome = RuleOutcome(
        category=rent.category,
        business_id=rent.business_id,
        property_id=rent.property_id,
        unit_id=rent.unit_id,
        tenancy_id=rent.tenancy_id,
    )
    return Match(outcome, score, f"Rent of {rent.property_name}: {said}.")


def _described(signs: _Signs) -> Iterator[str]:
    if signs.tenant is not None:
        yield f"{signs.tenant} is named"
    if signs.place:
        yield "the property is named"


def _words_of(text: str | None) -> list[str]:
    return _WORDS.findall((text or "").casefold())


def _address(name: str) -> str:
    """What people write of a property's name: the number and the next word, `12 oak` of 12 Oak Street; else none."""
    found = (f"{number} {word}" for number, word in pairwise(_words_of(name)) if _is_address(number, word))
    return next(found, _NO_WORD)


def _pairs(text: str) -> frozenset[str]:
    """The numbers of a text with the words after them."""
    return frozenset(f"{number} {word}" for number, word in pairwise(_words_of(text)) if _is_address(number, word))


def _is_address(number: str, word: str) -> bool:
    return number[0].isdigit() and word.isalpha() and len(word) >= _SHORTEST_NAME


def _letters(text: str) -> str:
    return "".join(_words_of(text))
