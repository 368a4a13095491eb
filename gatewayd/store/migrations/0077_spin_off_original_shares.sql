-- A spin-off takes its part of the cost of the original shares alone (TCGA 1992 s126): holdings of which one left follow
-- otherwise from their days where something was bought on its day, and are computed anew before the daemon serves.
INSERT INTO asset_holdings_to_compute (org_id, scope_id, instrument_id)
SELECT h.org_id, h.scope_id, h.instrument_id FROM asset_holdings AS h
WHERE EXISTS (
    SELECT 1 FROM asset_transactions AS t
    WHERE t.org_id = h.org_id AND t.from_instrument_id = h.instrument_id AND t.type = 'spin_off'
) AND NOT EXISTS (
    SELECT 1 FROM asset_holdings_to_compute AS c
    WHERE c.org_id = h.org_id AND c.scope_id = h.scope_id AND c.instrument_id = h.instrument_id
);
