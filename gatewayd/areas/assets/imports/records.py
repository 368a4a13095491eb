"""Rows of one id of the broker: the same transaction once more, or one that differs, which is told (domain model E).

in one file    rows of an id and a type are one transaction: what equals an earlier row is there already, and what
               differs from it is refused, as nobody knows which of them is right. A dividend and the tax on it are
               two, whatever id they share.
across files   the transaction of that id is there, and keeps its amounts: what the row tells otherwise is named.
"""

from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.assets.imports.rows import Decision
from gatewayd.ledger.imports.import_shapes import SupposedReading
from gatewayd.money import canonical
from gatewayd.statements.shapes import Trade
from gatewayd.store import ReadTx

_SELECT_REPEATED: Final = """
SELECT record_id, position, line, trade FROM import_trades
WHERE org_id = :org_id AND import_id = :import_id AND record_id IN (
    SELECT record_id FROM import_trades
    WHERE org_id = :org_id AND import_id = :import_id AND record_id IS NOT NULL
    GROUP BY record_id HAVING count(position) > 1
)
ORDER BY position
"""
_SELECT_DIFFERING: Final = """
SELECT line FROM import_trades
WHERE org_id = :org_id AND import_id = :import_id AND action = 'duplicate' AND differs <> '[]' ORDER BY line
"""
_LINES_NAMED: Final = 20
_OF_UNITS: Final = frozenset({"split", "transfer_in", "transfer_out"})
_decode = msgspec.json.Decoder(Trade).decode


class RowFacts(NamedTuple):
    """What a transaction is, as far as a file tells it. Amounts are in minor units of the currency."""

    trade_date: str
    type: str
    quantity: str | None
    gross_amount: int | None
    fees: int
    taxes: int
    currency: str


class Repeated(NamedTuple):
    """What was decided on rows of a file, and the ids that several of its rows have."""

    decisions: list[Decision]
    ids: frozenset[str]

    @property
    def positions(self) -> frozenset[int]:
        """Of the rows that were decided on."""
        return frozenset(decision.position for decision in self.decisions)


def told(trade: Trade) -> RowFacts:
    """What a row tells."""
    quantity = None if trade.quantity is None else canonical(trade.quantity)
    return RowFacts(trade.date, trade.type, quantity, trade.gross, trade.fees, trade.taxes, trade.currency)


def differing(first: RowFacts, second: RowFacts) -> tuple[str, ...]:
    """The fields of the API in which two differ. Of splits and transfers, amounts and currency don't count."""
    names = RowFacts._fields[:3] if first.type in _OF_UNITS and second.type in _OF_UNITS else RowFacts._fields
    return tuple(_camel(name) for name in names if getattr(first, name) != getattr(second, name))


def repeated(tx: ReadTx, import_id: str) -> Repeated:
    """What becomes of rows whose id an earlier row of the file has, with the same type."""
    first: dict[tuple[str, str], tuple[int, Trade]] = {}
    decisions = []
    for record_id, position, line, text in tx.each(_SELECT_REPEATED, import_id=import_id):
        trade = _decode(text)
        at, earlier = first.setdefault((record_id, trade.type), (line, trade))
        if at != line:
            decisions.append(_decision_of_two(at, earlier, trade, position))
    return Repeated(decisions, frozenset(record_id for record_id, _ in first))


def _decision_of_two(at: int, earlier: Trade, trade: Trade, position: int) -> Decision:
    """What becomes of a row whose id and type an earlier one has, on line `at`."""
    fields = differing(told(earlier), told(trade))
    if earlier.instrument != trade.instrument:
        fields = (*fields, "instrument")
    if not fields:
        return Decision(position, "duplicate", f"Line {at} is the same, with the same id.")
    reason = f"Line {at} has the same id and differs in {', '.join(fields)}: which of them is right?"
    return Decision(position, "refuse", reason)


def of_import(tx: ReadTx, import_id: str) -> list[SupposedReading]:
    """Which rows are there already, by their ids, and differ from what is there; while rows are staged."""
    lines = [str(row[0]) for row in tx.rows(_SELECT_DIFFERING, import_id=import_id)]
    if not lines:
        return []
    named = ", ".join(lines[:_LINES_NAMED]) + (", ..." if len(lines) > _LINES_NAMED else "")
    which = f"The row on line {named} is" if len(lines) == 1 else f"The rows on lines {named} are"
    reason = f"{which} there already by the broker's id, but for amounts or days: what is there stays."
    return [SupposedReading(field="transactionId", value="duplicate", reason=reason)]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
