"""Capital distributions: money for shares of which none is sold (TCGA 1992 s122), among them a takeover's cash. Pure.

One is a disposal of a part of what it was paid on: of the cost, A / (A + B) is of that part, where A is what was paid
and B what the shares are worth after it (s42, s129; CG57826, CG52587). One that is small comes off the cost instead
(s122(2)), and where it is more than the cost, what is beyond is the gain, with no cost left (s122(4)). Small is what is
not above 3,000 pounds, or 5 % of what the shares were worth before it (CG57835), or what somebody told to be.

Chosen: s122(4) is taken to be elected, for who does not elect has a larger gain at once. One of which nobody told what
the shares are worth comes off the cost too, whatever its amount; who is shown a figure is warned of it.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from gatewayd.areas.assets.pools.days import Distribution, Leaving
from gatewayd.areas.assets.pools.exact import COST_UNIT, cost_of, part

SMALL_CURRENCY: Final = "GBP"
SMALL_AMOUNT: Final = 3_000  # pounds: CG57835
_SMALL_PART: Final = Fraction(5, 100)


class Judged(NamedTuple):
    """The distributions of a day. Costs are in 1e-20 of the base currency.

    `small` comes off the cost of what is held. `parts` are disposals of a part of what is held. `merged` are by the
    transaction by which all that they were paid on leaves: they concern the cost of that.
    """

    small: int
    parts: list["Part"]
    merged: dict[str, "Part"]


class Part(NamedTuple):
    """A distribution that was judged. `share`: of the cost, what goes with it; None: it is small.

    `place` is where it stands among the distributions of the day.
    """

    place: int
    amount: int
    share: Fraction | None


class Taken(NamedTuple):
    """What a distribution does to a cost: what it takes off, and of that what is the cost of a disposal.

    `proceeds` are those of that disposal; `excess` is how much a small one is more than the cost.
    """

    off: int
    cost: int
    proceeds: int
    excess: int


NONE: Final = Judged(0, [], {})


def judge(distributions: Sequence[Distribution], leaving: Iterable[Leaving], currency: str) -> Judged:
    """What the distributions of one day of a holding are, in its base currency.

    Chosen: whether they are small is asked of all of a day together, as of one shareholding (CG57840).
    """
    removed = {departure.transaction_id for departure in leaving if departure.kind == "removed"}
    together = _are_small(distributions, currency)
    judged = Judged(0, [], {})
    for place, distribution in enumerate(distributions):
        part_ = Part(place, cost_of(distribution.amount), _share(distribution, together=together))
        if distribution.transaction_id in removed:
            judged.merged[distribution.transaction_id] = part_
        elif part_.share is None:
            judged = judged._replace(small=judged.small + part_.amount)
        else:
            judged.parts.append(part_)
    return judged


def take(paid: Part, cost: int) -> Taken:
    """What a distribution does to what the shares cost that it was paid on."""
    if paid.share is None:
        off = min(paid.amount, cost)
        return Taken(off, 0, 0, paid.amount - off)
    off = part(cost, paid.share.numerator, paid.share.denominator)
    return Taken(off, off, paid.amount, 0)


def _share(distribution: Distribution, *, together: bool) -> Fraction | None:
    small = together if distribution.small is None else distribution.small
    if small or distribution.remaining is None:
        return None
    amount = cost_of(distribution.amount)
    return Fraction(amount, amount + cost_of(distribution.remaining))


def _are_small(distributions: Sequence[Distribution], currency: str) -> bool:
    amount = sum(cost_of(distribution.amount) for distribution in distributions)
    if currency == SMALL_CURRENCY and amount <= SMALL_AMOUNT * COST_UNIT:
        return True
    if any(distribution.remaining is None for distribution in distributions):
        return False
    return amount <= _SMALL_PART * (
        amount + sum(cost_of(distribution.remaining or "0") for distribution in distributions)
    )
