-- What was owed of VAT in a year, and what HMRC said of payments on account: it decides of the periods that follow.
CREATE TABLE vat_years (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    end_date TEXT NOT NULL,                                   -- of the last VAT period in it
    liability INTEGER CHECK (liability >= 0),                 -- pence, on the returns; NULL: as the books have it
    import_vat INTEGER NOT NULL DEFAULT 0 CHECK (import_vat >= 0), -- pence, on no return
    method TEXT CHECK (method IN ('instalments', 'actual', 'none')), -- NULL: HMRC said nothing
    instalment INTEGER CHECK (instalment >= 0),               -- pence, as HMRC set it
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, legal_entity_id, end_date)
) STRICT, WITHOUT ROWID;
-- What was payable on the return of a closed VAT period.
CREATE TABLE vat_period_liabilities (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    period_id TEXT NOT NULL REFERENCES periods (id),
    liability INTEGER NOT NULL CHECK (liability >= 0),        -- pence; 0 where VAT is repaid
    PRIMARY KEY (org_id, period_id)
) STRICT, WITHOUT ROWID;
