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
