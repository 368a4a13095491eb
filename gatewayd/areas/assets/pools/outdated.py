"""What a migration has marked to be computed anew. Owns `asset_holdings_to_compute` and `asset_instruments_to_enter`.

Of an instrument the days are entered as transactions bring them now; of a holding what follows from its days is
computed. Those of an organization are done in one transaction: what one carries to another would meet days that are
wrong still. After a kill the organization is done once more.
"""

from typing import NamedTuple

from gatewayd.areas.assets.pools import reading, reconciling, recording
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.ledger import period_locks
from gatewayd.store import ReadTx, WriteTx

_SELECT_ORGANIZATIONS_ANY_ORG = """
SELECT org_id FROM asset_holdings_to_compute UNION SELECT org_id FROM asset_instruments_to_enter ORDER BY org_id
"""
_SELECT = """
SELECT scope_id, instrument_id FROM asset_holdings_to_compute WHERE org_id = :org_id ORDER BY scope_id, instrument_id
"""
_SELECT_INSTRUMENTS = (
    "SELECT instrument_id FROM asset_instruments_to_enter WHERE org_id = :org_id ORDER BY instrument_id"
)
_SELECT_POOLS = """
SELECT DISTINCT scope_id FROM asset_holdings WHERE org_id = :org_id AND portfolio_id IS NULL ORDER BY scope_id
"""
_DELETE = "DELETE FROM asset_holdings_to_compute WHERE org_id = :org_id"
_DELETE_INSTRUMENTS = "DELETE FROM asset_instruments_to_enter WHERE org_id = :org_id"


class ClosedGain(NamedTuple):
    """A gain of a closed day that is another than it was; minor units of pounds, None: there is none."""

    legal_entity_id: str
    instrument_id: str
    date: str
    before: int | None
    after: int | None


class Done(NamedTuple):
    """How many holdings and instruments were done, and what became another on closed days."""

    holdings: int
    instruments: int
    closed: list[ClosedGain]


def organizations(tx: ReadTx) -> list[str]:
    """The organizations that have any."""
    return [row[0] for row in tx.rows(_SELECT_ORGANIZATIONS_ANY_ORG)]


def compute(tx: WriteTx) -> Done:
    """Do those of the organization. Raises `Problem` as `compute_anew`."""
    before = _closed_gains(tx)
    instruments = [row[0] for row in tx.rows(_SELECT_INSTRUMENTS)]
    for instrument_id in instruments:
        recording.enter_anew(tx, reconciling.faults_of(tx, instrument_id))
    marked = [Key(scope_id, instrument_id) for scope_id, instrument_id in tx.rows(_SELECT)]
    recording.compute_anew(tx, marked)
    tx.run(_DELETE)
    tx.run(_DELETE_INSTRUMENTS)
    after = _closed_gains(tx)
    changed = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    closed = [ClosedGain(*key, before.get(key), after.get(key)) for key in changed]
    return Done(len(marked), len(instruments), closed)


def _closed_gains(tx: ReadTx) -> dict[tuple[str, str, str], int | None]:
    """The gains of closed days, by legal entity, instrument and date. A person's pool has the person's id."""
    return {
        (id_, instrument_id, day.date): day.gain
        for (id_,) in tx.rows(_SELECT_POOLS)
        for closed in period_locks.closed_ranges(tx, id_, overrides=False)
        for instrument_id, day in reading.disposals(tx, id_, Range(*closed))
    }
