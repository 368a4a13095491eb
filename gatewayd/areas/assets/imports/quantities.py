"""Which rows of a broker's file would sell more than is held, before any of them comes in. Reads only.

Chosen: each row is looked at on its own day alone. Where a stored transaction would lack units on a later day, the row
is refused as it comes in.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.imports import rows
from gatewayd.areas.assets.imports.duplicates import Finder
from gatewayd.areas.assets.imports.requests import ACQUIRING, DISPOSING
from gatewayd.areas.assets.imports.rows import Decision
from gatewayd.areas.assets.pools import splits
from gatewayd.areas.assets.pools.exact import quantity_text
from gatewayd.areas.assets.pools.reading import quantity_held
from gatewayd.clock import days_after
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.statements.shapes import Trade
from gatewayd.store import ReadTx


@dataclass(slots=True)
class _Holding:
    """What the rows of the file bring of one instrument, in units of the last day that was looked at."""

    instrument_id: str | None
    splits: list[tuple[str, Fraction]]  # known ones, and those of the file
    brought: Fraction = Fraction(0)
    date: str = ""
    told: list[tuple[str, Fraction]] = field(default_factory=list)  # by the file alone

    def go_to(self, date: str) -> None:
        """Count in units of this day."""
        for day, ratio in self.splits:
            if self.date < day <= date:
                self.brought *= ratio
        self.date = date

    def tell_split(self, date: str, ratio: Fraction) -> None:
        """A split that the file tells, unless it is known."""
        near = (days_after(date, -splits.SAME_WITHIN_DAYS), days_after(date, splits.SAME_WITHIN_DAYS))
        if not any(near[0] <= day <= near[1] and known == ratio for day, known in self.splits):
            self.brought *= ratio
            self.splits.append((date, ratio))
            self.told.append((date, ratio))


def short(tx: ReadTx, run: ImportRunRow, finder: Finder) -> list[Decision]:
    """The rows that sell more than the account holds on their day, with what earlier rows bring."""
    if ACCOUNTS.get(tx, run.account_id).allow_short:
        return []
    return list(_short(tx, run, finder))


def _short(tx: ReadTx, run: ImportRunRow, finder: Finder) -> Iterator[Decision]:
    name, holding = "", _Holding(None, [])
    for position, holding_name, trade in rows.in_order(tx, run.id):
        if holding_name != name:
            name, holding = holding_name, _begun(tx, trade, finder)
        holding.go_to(trade.date)
        quantity = Fraction(trade.quantity or "0")
        if trade.split is not None:
            holding.tell_split(trade.date, Fraction(*trade.split))
        elif trade.type in ACQUIRING:
            holding.brought += quantity
        elif trade.type in DISPOSING:
            held = holding.brought + _stored_quantity(tx, run.account_id, holding)
            if quantity > held:
                reason = f"It sells {quantity_text(quantity)}, and {quantity_text(max(held, Fraction(0)))} are held."
                yield Decision(position, "refuse", reason)
            else:
                holding.brought -= quantity


def _begun(tx: ReadTx, trade: Trade, finder: Finder) -> _Holding:
    instrument_id = None if trade.instrument is None else finder.instrument_id(tx, trade.instrument)
    facts = [] if instrument_id is None else splits.of_instrument(tx, instrument_id)
    known = [(split.date, split.ratio) for split in facts]
    return _Holding(instrument_id, known)


def _stored_quantity(tx: ReadTx, account_id: str, holding: _Holding) -> Fraction:
    """What the account has of it without the file, in units of the day."""
    if holding.instrument_id is None:
        return Fraction(0)
    held = quantity_held(tx, account_id, holding.instrument_id, holding.date)
    for _, ratio in holding.told:
        held *= ratio
    return held
