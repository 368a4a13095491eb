"""What is counted while the lines of a statement go by."""

from gatewayd.statements.shapes import Closed, Line


class Tally:
    """Counts a statement's lines, adds up those booked in its currency, and remembers their first and last day."""

    def __init__(self, statement: int, currency: str) -> None:
        self.statement = statement
        self._currency = currency
        self.lines = 0
        self.sum = 0
        self.first: str | None = None
        self.last: str | None = None

    def add(self, line: Line) -> Line:
        """The line, counted."""
        self.lines += 1
        day = line.booking_date
        if line.status == "booked" and line.currency == self._currency:
            self.sum += line.amount
        if day is not None:
            self.first = day if self.first is None or day < self.first else self.first
            self.last = day if self.last is None or day > self.last else self.last
        return line

    def closed(
        self,
        *,
        opening: int | None = None,
        closing: int | None = None,
        closing_date: str | None = None,
        available: int | None = None,
        dates: tuple[str | None, str | None] = (None, None),
        is_interim: bool = False,
    ) -> Closed:
        """The end of the statement; `dates` are those that the file gives for it."""
        return Closed(
            statement=self.statement,
            lines=self.lines,
            sum=self.sum,
            opening_balance=opening,
            closing_balance=closing,
            closing_date=closing_date,
            available_balance=available,
            from_date=dates[0] or self.first,
            to_date=dates[1] or self.last,
            is_interim=is_interim,
        )


class RunningBalance:
    """Follows the balance that stands behind each row, newest or oldest first, and says what it began and ended with.

    `breaks` are rows between which some are missing, as those that were refused: there the balance may jump.
    """

    def __init__(self) -> None:
        self.breaks = 0
        self._first: Line | None = None
        self._last: Line | None = None
        self._oldest_first = 0
        self._newest_first = 0
        self._steps = 0
        self._is_complete = True

    def add(self, line: Line) -> None:
        """One booked line more, in the file's order."""
        if line.balance_after is None:
            self._is_complete = False
            return
        if self._last is not None and self._last.balance_after is not None:
            self._steps += 1
            self._oldest_first += self._last.balance_after + line.amount == line.balance_after
            self._newest_first += line.balance_after + self._last.amount == self._last.balance_after
        self._first = self._first or line
        self._last = line

    def ends(self) -> tuple[int, int, str | None] | None:
        """Opening and closing balance with the day of the latter; None where the rows don't follow from each other."""
        first, last = self._first, self._last
        if not self._is_complete or first is None or last is None:
            return None
        if max(self._oldest_first, self._newest_first) < self._steps - self.breaks:
            return None
        oldest, newest = (first, last) if self._oldest_first >= self._newest_first else (last, first)
        if oldest.balance_after is None or newest.balance_after is None:
            return None
        return oldest.balance_after - oldest.amount, newest.balance_after, newest.booking_date
