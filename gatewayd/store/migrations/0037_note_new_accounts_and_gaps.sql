-- The account was made for this import, and goes with it where that fails.
ALTER TABLE import_runs ADD COLUMN makes_account INTEGER NOT NULL DEFAULT 0 CHECK (
    makes_account = 0 OR makes_account = 1
);

-- Days of an import's statements whose lines came with another import, which was undone since.
CREATE TABLE statement_gaps (
    org_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    import_id TEXT NOT NULL REFERENCES import_runs (id),
    date TEXT NOT NULL,
    PRIMARY KEY (org_id, account_id, import_id, date)
) STRICT;
