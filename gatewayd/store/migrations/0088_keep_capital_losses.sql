-- Allowable losses of tax years: what came of assets that are not kept here, and when the losses of a year were claimed.
CREATE TABLE capital_losses (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    tax_year TEXT NOT NULL,                     -- 2026-27
    elsewhere INTEGER NOT NULL CHECK (elsewhere >= 0), -- pence
    claimed_date TEXT,                          -- NULL: not known to be claimed
    notes TEXT,
    PRIMARY KEY (org_id, legal_entity_id, tax_year)
) STRICT, WITHOUT ROWID;

-- Whether it is listed on a recognised stock exchange, as somebody told; NULL: nobody did.
ALTER TABLE instruments ADD COLUMN listed INTEGER CHECK (listed = 0 OR listed = 1);
