"""Whether the amounts of a CSV agree with the balances behind them, and which of its readings does. Pure.

Amounts and balances are in minor units, in the order of the file. A balance may stand behind each row, or behind the
last of a day alone; rows may be newest or oldest first, or in no order within their days.
"""

import itertools
from array import array
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

_IN_NO_ORDER_MAX: Final = 200_000  # Chosen: rows that are looked at as a whole where one by one does not fit
_SAME_BALANCE_ROWS: Final = 3  # Chosen: so many rows behind which one balance stands have none that runs
_NONE: Final = -(2**63)
Order = Literal["oldest_first", "newest_first", "none"]


class Fit(NamedTuple):
    """How far the balances bear the amounts out: `steps` could be looked at, of which `fits` fit, in this order."""

    steps: int
    fits: int
    order: Order


class Ends(NamedTuple):
    """Opening and closing balance. `adds_up`: each row follows from another, but where rows could not be read."""

    opening: int
    closing: int
    adds_up: bool


class Movements:
    """What the rows of one statement moved, and the balances behind them.

    `breaks` are rows whose amount could not be read: there the balance may jump. `descends`: the newest day is first.
    """

    def __init__(self) -> None:
        self.breaks = 0
        self.descends = False
        self.lines = array("q")
        self._amounts = array("q")
        self._balances = array("q")

    def add(self, line: int, amount: int, balance: int | None) -> None:
        """One row more. `balance` None: none stands behind it."""
        self.lines.append(line)
        self._amounts.append(amount)
        self._balances.append(_NONE if balance is None else balance)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def tells(self) -> bool:
        """Whether there are balances that run: not one and the same behind whatever was moved."""
        rows, first, has_moved = 0, _NONE, False
        for amount, balance in zip(self._amounts, self._balances, strict=True):
            if balance == _NONE:
                continue
            rows, has_moved = rows + 1, has_moved or amount != 0
            if first not in (_NONE, balance):
                return True
            first = balance
        return rows > 0 and (rows < _SAME_BALANCE_ROWS or not has_moved)

    def fit(self, sign: int) -> Fit:
        """How the balances bear out the amounts times `sign`."""
        oldest = newest = steps = 0
        for before, after in self._steps():
            steps += 1
            oldest += before == sign * after[0]
            newest += before == -sign * after[1]
        order: Order = "newest_first" if newest > oldest or (newest == oldest and self.descends) else "oldest_first"
        fits = max(oldest, newest)
        if fits < steps - self.breaks and self._starts(sign)[0] == 1:
            return Fit(steps, steps, "none")
        return Fit(steps, fits, order)

    def bears_out(self, sign: int) -> bool:
        """Whether all of it fits."""
        fit = self.fit(sign)
        return fit.fits >= fit.steps - self.breaks

    def follows(self, sign: int, last: int) -> bool:
        """Whether the only row with a balance follows from that of the statement before."""
        is_one = len(self) == 1 and self._balances[0] != _NONE
        return is_one and self._balances[0] - sign * self._amounts[0] == last

    def ends(self, sign: int) -> Ends | None:
        """Opening and closing balance of the amounts times `sign`; None where no balance is told."""
        if not self.tells:
            return None
        fit = self.fit(sign)
        if fit.order == "none":
            _, opening, closing = self._starts(sign)
            return Ends(opening, closing, adds_up=True)
        start = next(at for at in range(len(self)) if self._balances[at] != _NONE)
        end = next(at for at in reversed(range(len(self))) if self._balances[at] != _NONE)
        first, last = self._balances[start], self._balances[end]
        adds_up = fit.fits >= fit.steps - self.breaks
        if fit.order == "oldest_first":
            before, behind = self._moved(0, start + 1), self._moved(end + 1, len(self))
            return Ends(first - sign * before, last + sign * behind, adds_up)
        before, behind = self._moved(0, start), self._moved(end, len(self))
        return Ends(last - sign * behind, first + sign * before, adds_up)

    def contradicted(self, sign: int) -> Iterator[int]:
        """The lines of rows by which the balance moved the other way, while it agrees with their neighbours."""
        fit = self.fit(sign)
        if fit.order == "none" or fit.fits == fit.steps:
            return
        step = self._step_before if fit.order == "oldest_first" else self._step_behind
        for at in range(len(self)):
            amount = sign * self._amounts[at]
            moved = step(at)
            if moved is None or not amount or moved != -amount:
                continue
            around = (
                step(place) == sign * self._amounts[place] for place in (at - 1, at + 1) if step(place) is not None
            )
            if all(around):
                yield self.lines[at]

    def borne_out(self, sign: int) -> Iterator[int]:
        """The lines of rows that the balance moved by as they say."""
        order = self.fit(sign).order
        step = self._step_before if order == "oldest_first" else self._step_behind
        for at in range(len(self)):
            if order == "none" or step(at) == sign * self._amounts[at]:
                yield self.lines[at]

    # -- steps

    def _steps(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """From one balance to the next: by how much, and what the rows moved if the oldest or the newest are first."""
        last: int | None = None
        since = 0  # behind the row with the last balance
        for at, amount in enumerate(self._amounts):
            since += amount
            if self._balances[at] == _NONE:
                continue
            if last is not None:
                moved = self._balances[at] - self._balances[last]
                yield moved, (since, since - amount + self._amounts[last])
            last, since = at, 0

    def _step_before(self, at: int) -> int | None:
        """What the balance moved by from the row before to this one."""
        if at < 1 or at >= len(self) or _NONE in (self._balances[at - 1], self._balances[at]):
            return None
        return self._balances[at] - self._balances[at - 1]

    def _step_behind(self, at: int) -> int | None:
        """The same, where the newest row is first."""
        if at < 0 or at + 1 >= len(self) or _NONE in (self._balances[at], self._balances[at + 1]):
            return None
        return self._balances[at] - self._balances[at + 1]

    def _moved(self, start: int, end: int) -> int:
        return sum(itertools.islice(self._amounts, start, end))

    def _starts(self, sign: int) -> tuple[int, int, int]:
        """How many runs of rows follow from each other in whatever order; the balances before and behind the first.

        Each row leads from a balance to another: where all are there, one balance alone is left and never come to.
        """
        if len(self) > _IN_NO_ORDER_MAX or _NONE in self._balances:
            return 1 << 62, 0, 0
        degrees: dict[int, int] = {}
        for amount, balance in zip(self._amounts, self._balances, strict=True):
            before = balance - sign * amount
            degrees[before] = degrees.get(before, 0) + 1
            degrees[balance] = degrees.get(balance, 0) - 1
        starts = [balance for balance, degree in degrees.items() if degree > 0]
        if not starts:  # it ends where it began
            return 1, self._balances[-1], self._balances[-1]
        opening = starts[0]
        closing = next(balance for balance, degree in degrees.items() if degree < 0)
        return sum(degree for degree in degrees.values() if degree > 0), opening, closing


def better_sign(movements: Sequence[Movements]) -> int:
    """1 where the amounts stand as they are, -1 where the balances show them the other way round."""
    told = [movement for movement in movements if movement.tells]
    as_it_is, turned = ([movement.fit(sign) for movement in told] for sign in (1, -1))
    steps = sum(fit.steps for fit in as_it_is)
    kept, other = sum(fit.fits for fit in as_it_is), sum(fit.fits for fit in turned)
    return -1 if other > kept and 2 * other > steps else 1
