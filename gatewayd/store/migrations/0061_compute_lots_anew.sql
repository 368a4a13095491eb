-- Holdings of which all days are to be computed anew before the daemon serves: how they follow from their inputs has
-- changed, or was wrong.
CREATE TABLE asset_holdings_to_compute (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    scope_id TEXT NOT NULL,
    instrument_id TEXT NOT NULL,
    PRIMARY KEY (org_id, scope_id, instrument_id)
) STRICT, WITHOUT ROWID;

-- What was reversed, undone or entered in the past may have left later days with lots that were not there any more.
-- Accounts alone have lots; a pool has no portfolio.
INSERT INTO asset_holdings_to_compute (org_id, scope_id, instrument_id)
SELECT org_id, scope_id, instrument_id FROM asset_holdings WHERE portfolio_id IS NOT NULL;
