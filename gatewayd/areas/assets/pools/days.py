"""Days of holdings: what is stored of one (decision 0022), and what its transactions bring in numbers. Pure.

Texts are exact: a quantity may be a fraction, `100/3`. A scope is an account, or a person: the pool of all their
accounts without a wrapper.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from gatewayd.areas.assets.pools.exact import cost_of, cost_text, quantity_of, quantity_text

Rule = Literal["same_day", "thirty_days", "pool", "later"]
"""What a disposal is identified with (Domain C5): acquisitions of the day, of the 30 days after it, the pool; and of a
short position, which nothing covers yet, the next acquisitions whenever they come."""

Departure = Literal["passed", "moved", "removed", "spun_off"]
"""How cost leaves other than by a sale: to the spouse, to another account of one's own, by a merger, by a spin-off."""
ZERO = Fraction(0)
_QUANTITIES = ("acquired", "disposed", "bonus", "added")


class Leaving(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of what is held that leaves at cost, and where the cost goes. `to_scope` None: out of our sight.

    `passed` takes part in matching as a disposal does. Of `spun_off` no quantity leaves: `quantity` is what the report
    was about, and its part of the cost leaves by `share`, or as the `amount` that was told.
    """

    transaction_id: str
    kind: Departure
    quantity: str
    share: str | None = None
    amount: str | None = None
    to_scope: str | None = None
    to_instrument: str | None = None


class Distribution(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Money for shares of which none is sold (TCGA 1992 s122): how many, and what was paid in the base currency.

    `remaining` is what those shares are worth after it, None: nobody said. `small`: whether it comes off the cost,
    None: by its amount. Of a merger the shares leave by the `Leaving` of its transaction, and `remaining` is of the new
    ones.
    """

    transaction_id: str
    quantity: str
    amount: str
    remaining: str | None = None
    small: bool | None = None


class Inputs(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the transactions of one day bring to a scope, merged: costs and proceeds in the base currency."""

    acquired: str = "0"  # bought, or got from somebody else: takes part in matching
    acquired_cost: str = "0"
    disposed: str = "0"  # sold, or given to somebody else
    proceeds: str = "0"
    bonus: str = "0"  # restates what is held at the start of the day (TCGA 1992 s127)
    added: str = "0"  # rights, spin-offs, mergers, own transfers: joins what is held, and is matched with nothing
    added_cost: str = "0"
    lot_difference: str = "0"  # what came at cost: how much more it cost first in, first out, than on average
    adjustment: str = "0"  # of the cost: notional distributions +, equalisation -
    leaving: list[Leaving] = []  # by transaction
    distributions: list[Distribution] = []  # by transaction
    transactions: int = 0  # how many there are; a day without any is deleted


class Match(Struct, frozen=True, kw_only=True):
    """A part of a day's disposals and what it is identified with. `date` is the acquisition's; None: the pool."""

    rule: Rule
    date: str | None
    quantity: str  # in units of the disposal's day
    cost: str


class Carried(Struct, frozen=True, kw_only=True):
    """The cost that one `Leaving` took along: of the pool or on average, and by lots."""

    cost: str
    lot_cost: str


class Lots(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What first in, first out makes of an account's day. A day's acquisitions are one lot.

    Quantities are in units of the very first day. `base` is the cost of the day's lot before any adjustment, as the
    index `scale` has it: what is left of a lot costs base x scale. Adjustments of the cost change the index alone.
    """

    lot: str = "0"
    base: str = "0"
    first: str | None = None  # the day of the first lot that is not used up
    taken: str = "0"  # how much of it is
    cost: str = "0"  # of all that is left
    loose: str = "0"  # the part of it that is of no lot: an adjustment of what had no cost
    scale: str | None = None  # in units of 1e-40; None: 1
    worthless: str | None = None  # lots up to this day have no cost left
    disposal_cost: str = "0"  # what the day's disposals cost


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What follows from a day. `quantity` is what is held after it, of a short position below 0.

    `pool_quantity` and `pool_cost` are those of the section 104 holding, which nothing enters or leaves that is matched
    by days; below 0 is a short position that nothing covers yet. Of an account they are what it holds and what that
    cost on average. `matches` are of all that the day's inputs dispose of and pass on, `cost` is of what they dispose
    of: its gain counts as far as it is matched.
    """

    quantity: str
    pool_quantity: str
    pool_cost: str
    factor: str = "1"  # units of this day for one of the very first: by splits and bonus issues
    since: str | None = None  # when what is held was first acquired, after nothing was
    cost: str = "0"
    matches: list[Match] = []
    carried: list[Carried] = []  # one for each of `leaving`
    capital_gain: str = "0"  # what an equalisation or a small distribution was beyond the cost that was left
    distributed: str = "0"  # proceeds of distributions that are disposals of a part
    distributed_cost: str = "0"  # and what those parts cost
    small: str = "0"  # distributions that come off the cost, and what of it was not there
    lots: Lots | None = None  # of accounts alone


# -- in numbers


@dataclass(slots=True)
class Day:
    """What `Inputs` tells, in numbers that add up. Costs are in 1e-20 of the base currency.

    Of a change of a day, `staying` are the transactions by which nothing leaves or is distributed any more.
    """

    date: str
    acquired: Fraction = ZERO
    acquired_cost: int = 0
    disposed: Fraction = ZERO
    proceeds: int = 0
    bonus: Fraction = ZERO
    added: Fraction = ZERO
    added_cost: int = 0
    lot_difference: int = 0
    adjustment: int = 0
    leaving: list[Leaving] = field(default_factory=list)
    distributions: list[Distribution] = field(default_factory=list)
    staying: set[str] = field(default_factory=set)
    transactions: int = 0

    def add(self, other: "Day", sign: int = 1) -> None:
        """Add what another day brings, or take it out again where `sign` is -1."""
        for name in _QUANTITIES:
            quantity = getattr(other, name)
            if quantity:  # most are 0, and fractions are slow
                setattr(self, name, getattr(self, name) + (quantity if sign > 0 else -quantity))
        self.acquired_cost += sign * other.acquired_cost
        self.proceeds += sign * other.proceeds
        self.added_cost += sign * other.added_cost
        self.lot_difference += sign * other.lot_difference
        self.adjustment += sign * other.adjustment
        self.transactions += sign * other.transactions
        if other.leaving or other.distributions or other.staying:
            self._change_named(other, sign)

    def _change_named(self, other: "Day", sign: int) -> None:
        """Change what stands by its transaction: what leaves, and distributions."""
        if sign < 0:
            self.staying |= {leaving.transaction_id for leaving in other.leaving}
            self.staying |= {distribution.transaction_id for distribution in other.distributions}
            return
        self.staying |= other.staying
        left = [leaving for leaving in self.leaving if leaving.transaction_id not in other.staying]
        self.leaving = sorted([*left, *other.leaving], key=lambda leaving: leaving.transaction_id)
        paid = [distribution for distribution in self.distributions if distribution.transaction_id not in other.staying]
        self.distributions = sorted([*paid, *other.distributions], key=lambda distribution: distribution.transaction_id)

    @property
    def passed(self) -> Fraction:
        """How much goes to the spouse: it leaves as a disposal does, without gain or loss (TCGA 1992 s58)."""
        return sum((quantity_of(leaving.quantity) for leaving in self.leaving if leaving.kind == "passed"), ZERO)

    @property
    def departed(self) -> Fraction:
        """How much leaves by transfers and mergers, which are matched with nothing."""
        kinds = ("moved", "removed")
        return sum((quantity_of(leaving.quantity) for leaving in self.leaving if leaving.kind in kinds), ZERO)


def read_day(date: str, inputs: Inputs) -> Day:
    """The numbers of a stored day."""
    return Day(
        date=date,
        acquired=_quantity(inputs.acquired),
        acquired_cost=_cost(inputs.acquired_cost),
        disposed=_quantity(inputs.disposed),
        proceeds=_cost(inputs.proceeds),
        bonus=_quantity(inputs.bonus),
        added=_quantity(inputs.added),
        added_cost=_cost(inputs.added_cost),
        lot_difference=_cost(inputs.lot_difference),
        adjustment=_cost(inputs.adjustment),
        leaving=inputs.leaving,
        distributions=inputs.distributions,
        transactions=inputs.transactions,
    )


def arriving(date: str, kind: Departure, cost: int, lot_cost: int, *, pooled: bool) -> Day:
    """What a holding takes over at the cost that it had where it left: on average, and by lots, which no pool has."""
    day = Day(date, lot_difference=0 if pooled else lot_cost - cost)
    if kind == "passed":
        day.acquired_cost = cost
    else:
        day.added_cost = cost
    return day


def inputs_of(day: Day) -> Inputs:
    """The day as it is stored."""
    return Inputs(
        acquired=quantity_text(day.acquired),
        acquired_cost=cost_text(day.acquired_cost),
        disposed=quantity_text(day.disposed),
        proceeds=cost_text(day.proceeds),
        bonus=quantity_text(day.bonus),
        added=quantity_text(day.added),
        added_cost=cost_text(day.added_cost),
        lot_difference=cost_text(day.lot_difference),
        adjustment=cost_text(day.adjustment),
        leaving=day.leaving,
        distributions=day.distributions,
        transactions=day.transactions,
    )


def _quantity(text: str) -> Fraction:
    return ZERO if text == "0" else quantity_of(text)


def _cost(text: str) -> int:
    return 0 if text == "0" else cost_of(text)
