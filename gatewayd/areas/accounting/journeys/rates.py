"""What a mile on business comes to: the fixed rates of ITTOIA 2005, and the approved ones of ITEPA 2003. Pure.

Sole traders, partnerships and landlords deduct the fixed rates in the place of what their vehicle costs (sections 94D
to 94G; property: section 272, from 2017-18, PIM2220). Companies, charities and clubs may pay the approved ones to whom
they employ, free of tax (sections 229 to 236). In both a car or van has a higher rate for the first 10,000 miles of a
tax year.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

VehicleKind = Literal["car", "van", "motorcycle", "bicycle"]
Scheme = Literal["fixed", "approved"]
"""`fixed`: instead of costs, of who is taxed as a person; `approved`: what an employer may pay."""

FULL_TENTHS: Final = 100_000
"""10,000 miles, in tenths: ITTOIA 2005 s94F(3), of the business; ITEPA 2003 s230(2), of the employee."""
PASSENGER: Final = 5
"""Pence a mile for each, where both are employees on business (ITEPA 2003 s233 and s234). None in s94F."""
BANDED: Final = frozenset({"car", "van"})


class Rate(NamedTuple):
    """Pence a mile from a day of a tax year on: of the first 10,000, and after that."""

    since: str
    scheme: Scheme
    kinds: frozenset[str]
    full: int
    rest: int


_RATES: Final = (
    # ITTOIA 2005 s94F(2), inserted by Finance Act 2013 Sch 5 for 2013-14 on.
    Rate("2013-04-06", "fixed", BANDED, 45, 25),
    Rate("2013-04-06", "fixed", frozenset({"motorcycle"}), 24, 24),
    # ITEPA 2003 s230(2); 45p since 2011-12 (SI 2011/896).
    Rate("2011-04-06", "approved", BANDED, 45, 25),
    Rate("2011-04-06", "approved", frozenset({"motorcycle"}), 24, 24),
    Rate("2011-04-06", "approved", frozenset({"bicycle"}), 20, 20),
    # 55p was announced on 21 May 2026 for all of 2026-27 (GOV.UK, Travel: mileage and fuel rates and allowances).
    Rate("2026-04-06", "approved", BANDED, 55, 25),
)
UNSETTLED: Final = "2026-04-06"
"""From this day the approved rate is 55p. Whether regulations under s94F(6) did the same to the fixed one is not known
here: the rate that the Act has is used, which is the lower, and each answer says so.
"""
PROPERTY_SINCE: Final = "2017-04-06"
"""The first day of the fixed rates for property (Finance (No. 2) Act 2017 Sch 2 and its successor; PIM2220)."""


class Miles(NamedTuple):
    """A journey as the rates see it. `tenths` of a mile; `passengers` count where the scheme pays for them.

    `full_tenths` and `pence` are what a journey of a closed period keeps; None: it is reckoned.
    """

    id: str
    rate: Rate
    kind: VehicleKind
    tenths: int
    passengers: int
    full_tenths: int | None = None
    pence: int | None = None


class Reckoned(NamedTuple):
    """How many tenths of a mile are at the higher rate, and what all of the journey comes to, in pence."""

    full_tenths: int
    pence: int


def rate_on(scheme: Scheme, kind: VehicleKind, date: str) -> Rate | None:
    """The rate on an ISO date; None: none is published, as of bicycles under the fixed rates, or of earlier years."""
    found = [each for each in _RATES if each.scheme == scheme and kind in each.kinds and each.since <= date]
    return max(found, key=lambda each: each.since, default=None)


def reckon(journeys: Sequence[Miles]) -> dict[str, Reckoned]:
    """What each journey of one tax year comes to, by its id, in the order of their days.

    Whatever a closed period keeps stands; the others share what it leaves of the 10,000 miles, and are rounded so that
    all together come to the rates times the miles, to the nearest penny, half a penny up.
    """
    kept = [each for each in journeys if each.pence is not None]
    left = FULL_TENTHS - sum(each.full_tenths or 0 for each in kept if each.kind in BANDED)
    over = _tenths_of_pence(kept) - 10 * sum(each.pence or 0 for each in kept)
    exact, told = over, 0
    found = {}
    for each in journeys:
        if each.pence is not None:
            continue
        full = min(each.tenths, max(0, left)) if each.kind in BANDED else each.tenths
        left -= full if each.kind in BANDED else 0
        exact += _worth(each, full)
        pence = max(1, (exact + 5) // 10 - told)  # an entry is of a penny at least: the next makes up for it
        told += pence
        found[each.id] = Reckoned(full, pence)
    return found


def _tenths_of_pence(journeys: Iterable[Miles]) -> int:
    return sum(_worth(each, each.full_tenths or 0) for each in journeys)


def _worth(journey: Miles, full_tenths: int) -> int:
    """In tenths of a penny."""
    rate = journey.rate
    at_rates = full_tenths * rate.full + (journey.tenths - full_tenths) * rate.rest
    return at_rates + (journey.tenths * journey.passengers * PASSENGER if rate.scheme == "approved" else 0)
