"""Into which band a balance falls, as SQL, and what is owed in each, added up by whose it is. Pure.

One shape of what clients owe (`balances`) and of what suppliers are owed (`payables`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from gatewayd.areas.accounting.receivables.ageing import IN_HAND
from gatewayd.areas.accounting.receivables.shapes import BANDS_MAX, AgedAmounts
from gatewayd.money import Money

_PLACES: Final = range(BANDS_MAX + 1)
_DUE_FROM: Final = " ".join(f"WHEN due_date >= :first_{place} THEN {place}" for place in _PLACES)
PLACE: Final = f"CASE WHEN balance < 0 THEN {IN_HAND} {_DUE_FROM} ELSE {BANDS_MAX + 1} END"
"""The place of a `balance` that falls due on `due_date`, with `bounds`."""


class Aged(NamedTuple):
    """What is owed in one band, or is in hand (`place` `IN_HAND`, negative). `amount` in minor units.

    `id` is a client's; None: of somebody of whom there is a name alone.
    """

    id: str | None
    name: str
    currency: str
    place: int
    amount: int


class Whose(NamedTuple):
    """Of whom, and in what, amounts are added up."""

    id: str | None
    name: str
    currency: str


def bounds(firsts: Sequence[str]) -> dict[str, str]:
    """The parameters of `PLACE`: the earliest due dates of all bands but the last (`ageing.first_due_dates`)."""
    # What is after the last that was given is never reached: every date is later than no date
    return {f"first_{place}": firsts[place] if place < len(firsts) else "" for place in _PLACES}


def totals(found: Iterable[Aged], bands: int) -> list[AgedAmounts]:
    """What all of it comes to, one for each currency, by its code. `bands` is how many there are."""
    return [amounts for _, amounts in _sums(found, bands, lambda each: Whose(None, "", each.currency))]


def by_name(found: Iterable[Aged], bands: int) -> list[tuple[Whose, AgedAmounts]]:
    """What each owes or is owed, one for each currency, by name. `bands` is how many there are."""
    return _sums(found, bands, lambda each: Whose(each.id, each.name, each.currency))


def _sums(found: Iterable[Aged], bands: int, whose: Callable[[Aged], Whose]) -> list[tuple[Whose, AgedAmounts]]:
    sums: dict[Whose, list[int]] = defaultdict(lambda: [0] * (bands + 1))  # the last is what is in hand
    for each in found:
        sums[whose(each)][each.place] += each.amount
    return [
        (its, aged_amounts(its.currency, amounts[:-1], -amounts[-1]))
        for its, amounts in sorted(sums.items(), key=lambda item: _order(item[0]))
    ]


def _order(whose: Whose) -> tuple[str, str, str]:
    return whose.name.casefold(), whose.id or "", whose.currency


def aged_amounts(currency: str, amounts: Sequence[int], credit: int) -> AgedAmounts:
    """What is owed by age, and what is in hand, minor units."""
    owed = sum(amounts)
    return AgedAmounts(
        currency=currency,
        amounts=[Money(amount, currency) for amount in amounts],
        owed=Money(owed, currency),
        overdue=Money(owed - amounts[0], currency),
        credit=Money(credit, currency),
        balance=Money(owed - credit, currency),
    )
