"""Which tenancy's rent money is: by what is owed, the rent of the period, the tenant's name and the property's.

The rows are the landlord area's, and only read. What is looked up is bounded: of more tenancies than `RUNNING` and
`ENDED` those that began first, or ended first, are left to rules and to what was chosen before.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from gatewayd.areas.banking.allocations.history import day
from gatewayd.clock import days_after
from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.allocating.allocation_rules import RuleOutcome
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.allocating.categories import Category
from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.ledger.rents.schedule import Due, Terms
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row

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
RUNNING: Final = 2_000  # Chosen: who lets more has rules
ENDED: Final = 500  # Chosen: former tenants pay for some months, and statements of past years are entered late
EARLY_DAYS: Final = 7  # Chosen: how long before it is due a rent is paid

_COLUMNS = f"""
tenancies.id, property_id, unit_id, business_id, businesses.legal_entity_id, businesses.type, properties.use,
    properties.name, {stored_terms.COLUMNS}
""".strip()
_LAST_DAY = 10  # its place in them
_FROM = f"""
SELECT {_COLUMNS}
FROM tenancies CROSS JOIN properties CROSS JOIN businesses
WHERE tenancies.org_id = :org_id AND cancelled_at IS NULL
    AND properties.org_id = :org_id AND properties.id = property_id AND properties.archived_at IS NULL
    AND businesses.org_id = :org_id AND businesses.id = business_id AND businesses.archived_at IS NULL
""".strip()  # CROSS: SQLite keeps the order of the tables, and looks at these tenancies alone
_SELECT_RUNNING = f"{_FROM} AND last_day IS NULL ORDER BY tenancies.id DESC LIMIT :count"
_SELECT_ENDED = f"{_FROM} AND last_day IS NOT NULL ORDER BY last_day DESC, tenancies.id DESC LIMIT :count"
_NAMES = """
SELECT tenancy_id, first_name, last_name, company_name
FROM tenancies CROSS JOIN tenancy_tenants CROSS JOIN tenants
WHERE tenancies.org_id = :org_id AND tenancy_tenants.org_id = :org_id AND tenancy_id = tenancies.id
    AND tenants.org_id = :org_id AND tenants.id = tenant_id
""".strip()
_SELECT_NAMES_RUNNING = f"{_NAMES} AND last_day IS NULL AND tenancies.id >= :least_id"
_SELECT_NAMES_ENDED = f"{_NAMES} AND last_day >= :least_day"


class TenantName(NamedTuple):
    """The name of a tenant, as far as it is known; of a company `company` alone."""

    first: str | None
    last: str | None
    company: str | None

    def __str__(self) -> str:
        return self.company or " ".join(filter(None, (self.first, self.last)))


class ExpectedRent(NamedTuple):
    """A tenancy that rent may come for. `category` is the line of its rent."""

    tenancy_id: str
    property_id: str
    unit_id: str | None
    business_id: str
    legal_entity_id: str
    category: Category
    property_name: str
    currency: str
    terms: Terms
    tenants: tuple[TenantName, ...]


class Standing(NamedTuple):
    """Where a tenancy stands when a payment comes: what is owed by then, minor units, and the last rent due by then.

    `owed` below 0: so much was paid ahead.
    """

    owed: int
    latest: Due | None


class Match(NamedTuple):
    """A tenancy whose rent a line may be, how sure that is, and why."""

    outcome: RuleOutcome
    score: int
    reason: str


class _Signs(NamedTuple):
    """Which marks of a tenancy stand in the text of a line: a tenant, whether by the full name, and the property."""

    tenant: TenantName | None
    by_full_name: bool
    place: bool


_NO_SIGNS = _Signs(None, False, False)


class _Amount(NamedTuple):
    """What an amount says of a tenancy, and the score of it.

    `with_name`: the tenant's full name is in the text; `with_part`: the last name, or the property; `alone`: neither.
    """

    says: str
    with_name: int
    with_part: int
    alone: int

    def score(self, signs: _Signs) -> int:
        if signs.by_full_name:
            return self.with_name
        return self.with_part if signs.tenant is not None or signs.place else self.alone


class _Known(NamedTuple):
    """The tenancies by the minor units and currency that one rent may come to, and by the words that name them."""

    by_amount: dict[tuple[int, str], list[ExpectedRent]]
    by_name: dict[str, list[ExpectedRent]]


class Rents:
    """Looks for tenancies. For all lines of one answer it looks everything up once."""

    def __init__(self, tx: ReadTx) -> None:
        self._tx = tx
        self._known: _Known | None = None

    def matches(self, line: BankLine) -> list[Match]:
        """Tenancies whose rent a line of money in may be, the likeliest first."""
        if line.amount < 0:
            return []
        rated = [(rent, signs, self._amount(line, rent)) for rent, signs in self._candidates(line)]
        fitting = [(rent, signs, amount) for rent, signs, amount in rated if amount.score(signs)]
        unnamed = Counter(signs for _, signs, _ in fitting if signs.tenant is None)
        matches = [_match(rent, signs, amount, unnamed[signs] > 1) for rent, signs, amount in fitting]
        return sorted(matches, key=lambda match: -match.score)

    def _candidates(self, line: BankLine) -> list[tuple[ExpectedRent, _Signs]]:
        """Tenancies with such a rent, or that the line names, with the marks of them that stand in its text."""
        known = self._tenancies()
        by_amount = known.by_amount.get((line.rest.minor, line.currency), ())
        words = frozenset(_words_of(line.text)) | _pairs(line.text)
        named = [rent for word in words for rent in known.by_name.get(word, ())]
        payable = {rent.tenancy_id: rent for rent in (*by_amount, *named) if _may_pay(line, rent)}
        candidates = [(rent, _signs(rent, words, line.text)) for rent in payable.values()]
        signed = [candidate for candidate in candidates if candidate[1] != _NO_SIGNS]
        if len(candidates) - len(signed) <= _SAME_AMOUNT:
            signed = candidates
        return signed if len(signed) <= MOST_LOOKED_AT else []

    def _amount(self, line: BankLine, rent: ExpectedRent) -> _Amount:
        return _amount(line, rent, standing(self._tx, rent, line.date))

    def _tenancies(self) -> _Known:
        if self._known is None:
            self._known = _Known({}, {})
            for rent in tenancies(self._tx):
                for amount in schedule.amounts(rent.terms):
                    self._known.by_amount.setdefault((amount, rent.currency), []).append(rent)
                for name in (*map(_key, rent.tenants), _address(rent.property_name)):
                    self._known.by_name.setdefault(name, []).append(rent)
        return self._known


def _may_pay(line: BankLine, rent: ExpectedRent) -> bool:
    """Whether the rent may come to this account, and on such a day."""
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
    """The words by which a tenant is known; of somebody without a name a word that stands in no text."""
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
    addresses = (f"{number} {word}" for number, word in pairwise(_words_of(name)) if _is_address(number, word))
    return next(addresses, _NO_WORD)


def _pairs(text: str) -> frozenset[str]:
    """Each number of a text with the word after it."""
    return frozenset(f"{number} {word}" for number, word in pairwise(_words_of(text)) if _is_address(number, word))


def _is_address(number: str, word: str) -> bool:
    return number[0].isdigit() and word.isalpha() and len(word) >= _SHORTEST_NAME


def _letters(text: str) -> str:
    return "".join(_words_of(text))


def tenancies(tx: ReadTx) -> list[ExpectedRent]:
    """The tenancies that run, and those that ended last, of properties and businesses that are not archived."""
    running = tx.rows(_SELECT_RUNNING, count=RUNNING)
    ended = tx.rows(_SELECT_ENDED, count=ENDED)
    names: defaultdict[str, list[TenantName]] = defaultdict(list)
    if running:
        _collect(names, tx.rows(_SELECT_NAMES_RUNNING, least_id=running[-1][0]))
    if ended:
        _collect(names, tx.rows(_SELECT_NAMES_ENDED, least_day=ended[-1][_LAST_DAY]))
    return [_of_row(row, names) for row in (*running, *ended)]


def standing(tx: ReadTx, rent: ExpectedRent, day: str) -> Standing:
    """Where a tenancy stands for money that comes on an ISO date; what falls due up to a week later counts as due."""
    by = days_after(day, EARLY_DAYS)
    due = schedule.due_until(rent.terms, by)
    latest = schedule.latest_due(rent.terms, by)
    last = None if latest is None else next(schedule.dues(rent.terms, latest, latest))
    return Standing(due - rents_received.until(tx, rent.tenancy_id, rent.currency, by), last)


def _collect(names: defaultdict[str, list[TenantName]], rows: Iterable[Row]) -> None:
    for tenancy_id, *name in rows:
        names[tenancy_id].append(TenantName(*name))


def _of_row(row: Row, names: Mapping[str, list[TenantName]]) -> ExpectedRent:
    id_, property_id, unit_id, business_id, entity_id, business_type, use, property_name, currency, *others = row
    return ExpectedRent(
        tenancy_id=id_,
        property_id=property_id,
        unit_id=unit_id,
        business_id=business_id,
        legal_entity_id=entity_id,
        category=rents_received.category_of(business_type, use),
        property_name=property_name,
        currency=currency,
        terms=stored_terms.terms_of(currency, *others),
        tenants=tuple(names.get(id_, ())),
    )
