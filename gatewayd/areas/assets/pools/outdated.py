"""Holdings whose days are to be computed anew, as a migration has marked them. Owns `asset_holdings_to_compute`.

Those of an organization are computed in one transaction: what one carries to another would meet days that are wrong
still. After a kill the organization is computed once more.
"""

from gatewayd.areas.assets.pools import recording
from gatewayd.areas.assets.pools.day_rows import Key
from gatewayd.store import ReadTx, WriteTx

_SELECT_ORGANIZATIONS_ANY_ORG = "SELECT DISTINCT org_id FROM asset_holdings_to_compute ORDER BY org_id"
_SELECT = """
SELECT scope_id, instrument_id FROM asset_holdings_to_compute WHERE org_id = :org_id ORDER BY scope_id, instrument_id
"""
_DELETE = "DELETE FROM asset_holdings_to_compute WHERE org_id = :org_id"


def organizations(tx: ReadTx) -> list[str]:
    """The organizations that have any."""
    return [row[0] for row in tx.rows(_SELECT_ORGANIZATIONS_ANY_ORG)]


def compute(tx: WriteTx) -> int:
    """Compute those of the organization anew; answers how many that were. Raises `Problem` as `compute_anew`."""
    marked = [Key(scope_id, instrument_id) for scope_id, instrument_id in tx.rows(_SELECT)]
    recording.compute_anew(tx, marked)
    tx.run(_DELETE)
    return len(marked)
