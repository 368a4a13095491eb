"""A broker's CSV, row by row; the two rows by which Trading 212 tells of a split are one."""

from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO, NamedTuple

from gatewayd.statements.csv_rows import Row
from gatewayd.statements.csv_sample import body_rows
from gatewayd.statements.shapes import Hints, Instrument, Opened, Part, Refused, Trade, Unreadable
from gatewayd.statements.text import TextLines
from gatewayd.statements.trades.csv_plan import Plan, plan_of
from gatewayd.statements.trades.csv_rows import RowReader

_HALVES = {"stock split open": True, "stock split close": False}
_HALVES_MAX = 10_000  # Chosen: splits of one file whose other half has not come yet
_TIDY = 1000  # Chosen: a ratio of more than this was not announced; held fractions blur it


class _Half(NamedTuple):
    """One of the two rows of a split. `quantity` is what is held after it, or before."""

    line: int
    date: str
    instrument: Instrument
    quantity: Fraction


def read_csv_trades(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a broker's CSV. Raises `Unreadable`, with a proposal where its mapping has to be settled first."""
    plan = plan_of(stream, hints)
    lines = TextLines(stream, plan.encoding, hints.limits)
    yield Opened(
        statement=0,
        format="csv",
        profile=plan.mapping.profile,
        mapping=plan.mapping,
        currency=plan.currency,
        bank_name=plan.profile.broker if plan.profile else None,
    )
    try:
        yield from _Reader(plan).parts(body_rows(lines, plan.mapping))
    finally:
        lines.detach()


class _Reader:
    """Reads rows; `_halves` are those of splits whose other half has not come yet, by instrument and half."""

    def __init__(self, plan: Plan) -> None:
        self._rows = RowReader(plan)
        self._halves: dict[tuple[str, bool], _Half] = {}

    def parts(self, rows: Iterator[Row]) -> Iterator[Part]:
        for row in rows:
            if row.fault is not None:
                yield Refused(line=row.line, reason=row.fault)
            elif not self._rows.is_no_transaction(row.cells):
                try:
                    yield from self._taken(row)
                except ValueError as error:
                    yield Refused(line=row.line, reason=_sentence(str(error)))
        for half in self._halves.values():
            yield Refused(line=half.line, reason="It is one half of a split, and the file has not the other.")

    def _taken(self, row: Row) -> Iterator[Part]:
        is_open = _HALVES.get(self._rows.word(row.cells).casefold())
        if is_open is None:
            yield self._rows.trade(row.line, row.cells)
            return
        instrument, date, quantity = self._rows.split_half(row.cells)
        if instrument is None:
            raise ValueError("it names no share or fund")
        half = _Half(row.line, date, instrument, Fraction(quantity))
        key = instrument.isin or instrument.symbol or instrument.name or ""
        other = self._halves.pop((key, not is_open), None)
        if other is not None:
            yield _split(half, other) if is_open else _split(other, half)
            return
        if len(self._halves) >= _HALVES_MAX:
            raise Unreadable(row.line, f"the file has more than {_HALVES_MAX} splits without their other half")
        self._halves[key, is_open] = half


def _split(after: _Half, before: _Half) -> Trade:
    """The split of which these are the halves. Raises `ValueError`."""
    exact = after.quantity / before.quantity
    ratio = exact.limit_denominator(_TIDY)
    if ratio == 0 or abs(ratio - exact) > exact / 10_000:
        raise ValueError(f"{float(before.quantity):g} became {float(after.quantity):g}, which is no ratio")
    return Trade(
        line=after.line,
        type="split",
        date=after.date,
        currency="GBP",
        description=f"Split {ratio.numerator} for {ratio.denominator}",
        instrument=after.instrument,
        split=(ratio.numerator, ratio.denominator),
    )


def _sentence(reason: str) -> str:
    """The reason as people read it."""
    return f"{reason[0].upper()}{reason[1:]}{'' if reason.endswith('?') else '.'}" if reason else reason
