-- What somebody's tax return of a year came to: it decides what is asked of later years.
CREATE TABLE tax_year_figures (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    first_year INTEGER NOT NULL,   -- 2024 is 2024-25
    qualifying_income INTEGER CHECK (qualifying_income >= 0), -- pence, before expenses; NULL: nobody said
    tax_assessed INTEGER CHECK (tax_assessed >= 0),           -- pence; NULL: nobody said
    tax_deducted INTEGER CHECK (tax_deducted >= 0),           -- of it, at source
    is_exempt INTEGER NOT NULL CHECK (is_exempt IN (0, 1)),   -- from quarterly updates in this year
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, legal_entity_id, first_year)
) STRICT, WITHOUT ROWID;
-- An update of which nobody knows yet whether it is asked for, and a payment that follows from figures of the year before.
ALTER TABLE obligations ADD COLUMN undecided INTEGER NOT NULL DEFAULT 0 CHECK (undecided IN (0, 1));
ALTER TABLE obligations ADD COLUMN calculated INTEGER NOT NULL DEFAULT 0 CHECK (calculated IN (0, 1));
