"""Portfolios of a legal entity: facts on which its archive and its type depend. Reads only."""

from gatewayd.store import ReadTx

_SELECT_LIVE = """
SELECT id FROM asset_portfolios
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND archived_at IS NULL ORDER BY id LIMIT 1
"""
_SELECT_POOLED = """
SELECT id FROM asset_portfolios
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND archived_at IS NULL
    AND cost_basis_method = 'section_104'
ORDER BY id LIMIT 1
"""
_SELECT_HOLDING = """
SELECT instrument_id FROM asset_holdings WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id LIMIT 1
"""


def live(tx: ReadTx, legal_entity_id: str) -> str | None:
    """The id of a portfolio that is not archived; None where there is none."""
    found: str | None = tx.value(_SELECT_LIVE, legal_entity_id=legal_entity_id)
    return found


def pooled(tx: ReadTx, legal_entity_id: str) -> str | None:
    """The id of a portfolio that is not archived and whose cost is that of section 104 holdings."""
    found: str | None = tx.value(_SELECT_POOLED, legal_entity_id=legal_entity_id)
    return found


def ever_held(tx: ReadTx, legal_entity_id: str) -> bool:
    """Whether its accounts hold anything, or did."""
    return tx.value(_SELECT_HOLDING, legal_entity_id=legal_entity_id) is not None
