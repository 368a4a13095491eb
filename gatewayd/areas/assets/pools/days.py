"""One day of a holding in numbers: what its transactions bring, merged. Pure; `asset_days` holds it as text."""

from dataclasses import dataclass, field
from fractions import Fraction

from gatewayd.areas.assets.pools.exact import cost_of, cost_text, quantity_of, quantity_text
from gatewayd.areas.assets.pools.shapes import Departure, Distribution, Inputs, Leaving

ZERO = Fraction(0)
_QUANTITIES = ("acquired", "disposed", "bonus", "added")


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
        """What stands by its transaction."""
        if sign < 0:
            self.staying |= {one.transaction_id for one in other.leaving}
            self.staying |= {one.transaction_id for one in other.distributions}
            return
        self.staying |= other.staying
        left = [one for one in self.leaving if one.transaction_id not in other.staying]
        self.leaving = sorted([*left, *other.leaving], key=lambda one: one.transaction_id)
        paid = [one for one in self.distributions if one.transaction_id not in other.staying]
        self.distributions = sorted([*paid, *other.distributions], key=lambda one: one.transaction_id)

    @property
    def passed(self) -> Fraction:
        """How much goes to the spouse: it leaves as a disposal does, without gain or loss (TCGA 1992 s58)."""
        return sum((quantity_of(one.quantity) for one in self.leaving if one.kind == "passed"), ZERO)

    @property
    def departed(self) -> Fraction:
        """How much leaves by transfers and mergers, which are matched with nothing."""
        kinds = ("moved", "removed")
        return sum((quantity_of(one.quantity) for one in self.leaving if one.kind in kinds), ZERO)


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
    """What a holding takes over, at what it cost where it left: on average, and by lots, which no pool has."""
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
