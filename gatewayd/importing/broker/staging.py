"""What is read of a broker's file becomes rows that are staged, each with what the file calls its instrument by."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gatewayd.areas.assets.imports import rows
from gatewayd.areas.assets.imports.rows import Staged
from gatewayd.importing.file_counts import FileCounts
from gatewayd.statements.shapes import Ignored, Instrument, Opened, Part, Refused, Trade, Unreadable
from gatewayd.store import WriteTx

INSTRUMENTS_MAX: Final = 20_000  # Chosen: of one file, so that what it calls them by fits in memory


@dataclass(slots=True)
class TradeRows:
    """The rows of one file, a few parts at a time, and what is known of it at the end."""

    import_id: str
    counts: FileCounts = field(default_factory=FileCounts)
    first: Opened | None = None
    from_date: str | None = None
    to_date: str | None = None
    _position: int = 0
    _holdings: dict[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether it has no row."""
        return self.counts.rows == 0

    def stage(self, tx: WriteTx, parts: Sequence[Part]) -> None:
        """Keep the rows of some more parts. Raises `Unreadable` for a file with too many instruments."""
        rows.stage(tx, self.import_id, self._take(parts))

    def _take(self, parts: Iterable[Part]) -> Iterator[Staged]:
        for part in parts:
            if isinstance(part, Trade):
                yield self._trade(part)
            elif isinstance(part, Refused):
                self.counts.rows += 1
                self.counts.refuse(part.line, part.reason)
            elif isinstance(part, Ignored):
                self.counts.ignore(part)
            elif isinstance(part, Opened) and self.first is None:
                self.first = part

    def _trade(self, trade: Trade) -> Staged:
        self.counts.rows += 1
        self._position += 1
        self.from_date = min(self.from_date or trade.date, trade.date)
        self.to_date = max(self.to_date or trade.date, trade.date)
        return Staged(self._position, self._holding(trade.instrument), trade)

    def _holding(self, instrument: Instrument | None) -> str:
        """One name for all that a row calls its instrument by, whichever of them another row has."""
        if instrument is None:
            return ""
        name = None if instrument.name is None else instrument.name.casefold()
        numbers = (instrument.isin, instrument.sedol, instrument.figi, instrument.cusip, instrument.symbol, name)
        called = [f"{at}:{number}" for at, number in enumerate(numbers) if number is not None]
        found = next((self._holdings[one] for one in called if one in self._holdings), called[0])
        if len(self._holdings) > INSTRUMENTS_MAX * len(numbers):
            raise Unreadable(None, f"The file has more than {INSTRUMENTS_MAX} shares and funds.")
        for one in called:
            self._holdings.setdefault(one, found)
        return found
