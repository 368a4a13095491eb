"""Which rows of a broker's file are there already (domain model E). Reads only.

    1  by the broker's own id; where it tells something else, that is named
    2  by day, type, instrument, quantity and effect on cash, where either has no id of the broker

Each stored transaction is paired once, so that two equal rows of a day stay two, the same file again adds nothing, and
files that overlap add what is new. A transaction that was reversed is still there: its row does not come back.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from gatewayd.areas.assets.imports import records, rows
from gatewayd.areas.assets.imports.records import Repeated
from gatewayd.areas.assets.imports.requests import inline, net_of
from gatewayd.areas.assets.imports.rows import Decision, Known, Waiting
from gatewayd.areas.assets.instruments import finding
from gatewayd.errors import Problem
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.money import canonical
from gatewayd.statements.shapes import Instrument, Trade
from gatewayd.store import ReadTx

_SELECT_STORED: Final = """
SELECT stored.id, stored.trade_date, stored.type, stored.instrument_id, stored.quantity, stored.net_amount,
    stored.currency, (SELECT count(known.transaction_id) FROM broker_records AS known
        WHERE known.org_id = :org_id AND known.transaction_id = stored.id)
FROM asset_transactions AS stored
WHERE stored.org_id = :org_id AND stored.account_id = :account_id AND stored.trade_date >= :first
    AND stored.trade_date <= :last
ORDER BY stored.trade_date, stored.id
"""


_OF_UNITS: Final = frozenset({"split", "transfer_in", "transfer_out"})
"""What is the same by what it moves, whatever amount and currency are told with it."""


class _Key(NamedTuple):
    """What two rows share that are the same transaction. `net` is in minor units of the currency."""

    date: str
    type: str
    instrument_id: str | None
    quantity: str | None
    net: int
    currency: str


class Finder:
    """Finds the rows of one file that its account has already, some days at a time."""

    def __init__(self, run: ImportRunRow, repeated: Repeated) -> None:
        """`repeated` is what is decided already of rows with an id that others have."""
        self._run = run
        self._settled = repeated.positions
        self._shared = repeated.ids
        self._instruments: dict[Instrument, str | None] = {}

    def of_days(self, tx: ReadTx, first: str, last: str) -> list[Decision]:
        """The rows of some days that are there."""
        candidates = [row for row in rows.of_days(tx, self._run.id, first, last) if row.position not in self._settled]
        by_record = rows.records(tx, self._run.account_id, self._run.id, first, last)
        decisions, waiting = self._by_record(candidates, by_record)
        taken = {decision.existing_id for decision in decisions}
        stored: dict[_Key, list[tuple[str, bool]]] = {}
        stored_rows = tx.rows(_SELECT_STORED, account_id=self._run.account_id, first=first, last=last)
        for id_, date, type_, instrument_id, quantity, net, currency, known in reversed(stored_rows):
            if id_ not in taken:
                money = (0, "") if type_ in _OF_UNITS else (net, currency)
                key = _Key(date, type_, instrument_id, quantity, *money)
                stored.setdefault(key, []).append((id_, known > 0))
        return decisions + [decision for row in waiting if (decision := self._by_content(tx, row, stored)) is not None]

    def _by_record(
        self, candidates: Sequence[Waiting], by_record: dict[str, list[Known]]
    ) -> tuple[list[Decision], list[Waiting]]:
        """The rows whose record is there, each paired with another transaction, and the rows that are left.

        Equal ones are paired first, then those of the same type, then those that share the id alone. Of an id that rows
        of several types share, another type is another transaction.
        """
        decisions: list[Decision] = []
        for rank in range(3):
            waiting = []
            for row in candidates:
                left = by_record.get(row.record_id, []) if row.record_id is not None else []
                most = rank if row.record_id not in self._shared else min(rank, 1)
                known = next((transaction for transaction in left if _rank(row.trade, transaction) <= most), None)
                if known is None:
                    waiting.append(row)
                    continue
                left.remove(known)
                decisions.append(_duplicate_of(row, known))
            candidates = waiting
        return decisions, list(candidates)

    def instrument_id(self, tx: ReadTx, instrument: Instrument) -> str | None:
        """The instrument of that name; None: there is none yet, or it is not certain which."""
        if instrument not in self._instruments:
            try:
                known = finding.find(tx, inline(instrument), "instrument")
            except Problem:
                known = None
            self._instruments[instrument] = None if known is None else known.id
        return self._instruments[instrument]

    def _by_content(self, tx: ReadTx, row: Waiting, stored: dict[_Key, list[tuple[str, bool]]]) -> Decision | None:
        trade = row.trade
        instrument_id = None
        if trade.instrument is not None:
            instrument_id = self.instrument_id(tx, trade.instrument)
            if instrument_id is None:
                return None
        left = stored.get(_content_key(trade, instrument_id), [])
        for at in range(len(left) - 1, -1, -1):
            id_, has_record = left[at]
            if row.record_id is None or not has_record:
                del left[at]
                return Decision(row.position, "duplicate", "It is there.", id_)
        return None


def _rank(trade: Trade, known: Known) -> int:
    """How near a row is to a transaction of its id: 0, it is equal; 1, it is of the same type; 2, it is not."""
    if not records.differing(records.told(trade), records.RowFacts(*known[1:])):
        return 0
    return 1 if trade.type == known.type else 2


def _duplicate_of(row: Waiting, known: Known) -> Decision:
    fields = records.differing(records.told(row.trade), records.RowFacts(*known[1:]))
    said = f", and differs in {', '.join(fields)}: what is there stays" if fields else ""
    return Decision(row.position, "duplicate", f"It is there, with the same id{said}.", known.id, fields)


def _content_key(trade: Trade, instrument_id: str | None) -> _Key:
    """What a row would be stored as, to be compared with what is."""
    quantity = None if trade.quantity is None else canonical(trade.quantity)
    money = (0, "") if trade.type in _OF_UNITS else (net_of(trade), trade.currency)
    return _Key(trade.date, trade.type, instrument_id, quantity, *money)
