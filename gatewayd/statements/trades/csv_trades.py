"""A broker's CSV, row by row; the two rows by which Trading 212 tells of a split are one."""

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO, NamedTuple

from gatewayd.statements.csv.rows import Row
from gatewayd.statements.csv.sample import body_rows
from gatewayd.statements.shapes import Hints, Ignored, Instrument, Opened, Part, Refused, Trade, Unreadable
from gatewayd.statements.text import TextLines
from gatewayd.statements.trades.columns import TradeRow
from gatewayd.statements.trades.csv_plan import Plan, plan_of
from gatewayd.statements.trades.csv_rows import RowReader
from gatewayd.statements.trades.flex import delimiter_of_flex, read_flex_csv
from gatewayd.statements.trades.reasons import reason_of, sentence

_HALVES = {"stock split open": True, "stock split close": False}
_HALVES_MAX = 10_000  # Chosen: splits of one file whose other half has not come yet
_TIDY = 1000  # Chosen: a ratio of more than this was not announced; held fractions blur it


class _Half(NamedTuple):
    """One of the two rows of a split. `quantity` is what is held after it, or before."""

    line: int
    date: str
    instrument: Instrument
    quantity: Fraction
    record_id: str | None


def read_csv_trades(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a broker's CSV. Raises `Unreadable`, with a proposal where its mapping has to be settled first."""
    delimiter = (
        None if hints.mapping is not None and hints.mapping.date is not None else delimiter_of_flex(stream, hints)
    )
    if delimiter is not None:
        yield from read_flex_csv(stream, hints, delimiter)
        return
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
    width = len(plan.headings) or None
    try:
        yield from _Reader(plan).parts(body_rows(lines, plan.mapping, width))
    finally:
        lines.detach()


class _Reader:
    """Reads rows; `_halves` are those of splits whose other half has not come yet, by instrument and half."""

    def __init__(self, plan: Plan) -> None:
        self._rows = RowReader(plan)
        self._halves: dict[tuple[str, bool], deque[_Half]] = {}
        self._waiting = 0

    def parts(self, rows: Iterator[Row]) -> Iterator[Part]:
        """A part for each row that is not blank, halves of splits without the other at the end."""
        for file_row in rows:
            if file_row.fault is not None:
                yield Refused(line=file_row.line, reason=sentence(file_row.fault))
                continue
            row = self._rows.row(file_row.cells)
            if row.is_blank:
                continue
            kind = row.no_transaction()
            if kind is not None:
                yield Ignored(line=file_row.line, kind=kind)
                continue
            try:
                row.check_width()
                yield from self._taken(file_row.line, row)
            except (ValueError, ArithmeticError) as error:
                yield Refused(line=file_row.line, reason=reason_of(error))
        for halves in self._halves.values():
            for half in halves:
                yield Refused(line=half.line, reason="It is one half of a split, and the file has not the other.")

    def _taken(self, line: int, row: TradeRow) -> Iterator[Part]:
        is_open = _HALVES.get(row.cell("type").casefold())
        if is_open is None:
            yield self._rows.trade(line, row)
            return
        instrument, date, quantity = self._rows.split_half(row)
        half = _Half(line, date, instrument, Fraction(quantity), row.cell("transaction_id") or None)
        key = instrument.isin or instrument.symbol or instrument.name or ""
        others = self._halves.get((key, not is_open))
        if others:
            self._waiting -= 1
            yield from _joined_halves(half, others.popleft(), is_open=is_open)
            return
        self._waiting += 1
        if self._waiting > _HALVES_MAX:
            raise Unreadable(line, f"the file has more than {_HALVES_MAX} splits without their other half")
        self._halves.setdefault((key, is_open), deque()).append(half)


def _joined_halves(half: _Half, other: _Half, *, is_open: bool) -> Iterator[Part]:
    """What two halves come to: a split and a row that is told by it, or two that are refused."""
    try:
        yield _split(half, other) if is_open else _split(other, half)
    except ValueError as error:
        yield from (Refused(line=either.line, reason=reason_of(error)) for either in (other, half))
        return
    yield Ignored(line=other.line if is_open else half.line, kind="split_half")


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
        record_id=after.record_id,
    )
