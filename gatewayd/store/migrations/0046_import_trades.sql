-- Runs of brokers' files stand beside those of banks. The table is made anew, for an account is of either kind and a run
-- says which.
CREATE TABLE import_runs_next (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    account_id TEXT NOT NULL,                   -- of bank_accounts or asset_accounts, by the kind
    kind TEXT NOT NULL CHECK (kind = 'bank' OR kind = 'broker'),
    source TEXT NOT NULL CHECK (source = 'api' OR source = 'command_line'),
    file_name TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
    format TEXT,                                -- of the file, once it is known
    profile TEXT,
    mapping TEXT,                               -- JSON: how its columns were read
    status TEXT NOT NULL CHECK (
        status = 'uploaded' OR status = 'previewed' OR status = 'applying' OR status = 'applied'
        OR status = 'reverting' OR status = 'reverted' OR status = 'failed'
    ),
    -- what is worked at; allocating: rules allocate what was applied; NULL: nothing
    stage TEXT CHECK (stage = 'reading' OR stage = 'applying' OR stage = 'allocating' OR stage = 'reverting'),
    moved_to INTEGER,                           -- how far staged rows were moved; NULL: none are left
    rows INTEGER NOT NULL,
    added INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    refused_rows INTEGER NOT NULL,
    refused TEXT NOT NULL,                      -- JSON: the first of them, with line and reason
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    from_date TEXT,
    to_date TEXT,
    opening_balance INTEGER,
    closing_balance INTEGER,
    balanced INTEGER CHECK (balanced = 0 OR balanced = 1), -- NULL: the file does not tell
    error TEXT,
    proposal TEXT,                              -- JSON: what has to be settled before it can be read
    makes_account INTEGER NOT NULL DEFAULT 0 CHECK (makes_account = 0 OR makes_account = 1),
    overrides_closing INTEGER NOT NULL DEFAULT 0 CHECK (overrides_closing = 0 OR overrides_closing = 1),
    applied_at INTEGER,
    reverted_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

INSERT INTO import_runs_next (id, org_id, account_id, kind, source, file_name, size_bytes, sha256, format, profile,
    mapping, status, stage, moved_to, rows, added, duplicates, replaced, refused_rows, refused, currency, from_date,
    to_date, opening_balance, closing_balance, balanced, error, proposal, makes_account, overrides_closing,
    applied_at, reverted_at, created_at, updated_at, version)
SELECT id, org_id, account_id, kind, source, file_name, size_bytes, sha256, format, profile,
    mapping, status, stage, moved_to, rows, added, duplicates, replaced, refused_rows, refused, currency, from_date,
    to_date, opening_balance, closing_balance, balanced, error, proposal, makes_account, overrides_closing,
    applied_at, reverted_at, created_at, updated_at, version
FROM import_runs;

DROP TABLE import_runs;
ALTER TABLE import_runs_next RENAME TO import_runs;

-- the list of one kind, newest first
CREATE INDEX import_runs_of_kind ON import_runs (org_id, kind, id);
-- the list with updatedSince
CREATE INDEX import_runs_by_change ON import_runs (org_id, updated_at, id);
-- the list of one account
CREATE INDEX import_runs_of_account ON import_runs (org_id, account_id, id);
-- the same file again
CREATE INDEX import_runs_by_content ON import_runs (org_id, account_id, sha256);
-- one run at a time works on an account
CREATE UNIQUE INDEX import_runs_at_work ON import_runs (org_id, account_id) WHERE stage IS NOT NULL;
-- runs that still have rows staged, to be forgotten or given up in time
CREATE INDEX import_runs_staged ON import_runs (id) WHERE moved_to IS NOT NULL;

-- what a broker's file holds, until it is applied; of what was applied, the rows that were refused or there already
CREATE TABLE import_trades (
    org_id TEXT NOT NULL,
    import_id TEXT NOT NULL REFERENCES import_runs (id),
    position INTEGER NOT NULL,                  -- from 1, in the order of the file
    line INTEGER NOT NULL,
    action TEXT NOT NULL CHECK (action = 'add' OR action = 'duplicate' OR action = 'replace' OR action = 'refuse'),
    reason TEXT,
    transaction_id TEXT,                        -- what it became; NULL: it has not come in
    existing_transaction_id TEXT,               -- of the transaction that it is
    date TEXT NOT NULL,
    holding TEXT NOT NULL,                      -- what the file calls the instrument by; empty: cash alone
    rank INTEGER NOT NULL,                      -- within a day: splits, then what is acquired, then the rest
    record_id TEXT,                             -- the broker's own
    trade TEXT NOT NULL,                        -- JSON: the row as it was read
    PRIMARY KEY (org_id, import_id, position)
) STRICT;
-- the rows of one day, to be compared with those that are there
CREATE INDEX import_trades_by_date ON import_trades (org_id, import_id, date, position);
-- a preview of one kind of rows; what was applied and is to be forgotten
CREATE INDEX import_trades_by_action ON import_trades (org_id, import_id, action, position);
-- what is still to come in, one instrument after the other, each from its first day on
CREATE INDEX import_trades_waiting ON import_trades (org_id, import_id, holding, date, rank, position)
WHERE action = 'add' AND transaction_id IS NULL;

-- by what brokers call their transactions: the same record again adds nothing
CREATE TABLE broker_records (
    org_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES asset_accounts (id),
    record_id TEXT NOT NULL,                    -- the broker's own
    transaction_id TEXT NOT NULL REFERENCES asset_transactions (id),
    PRIMARY KEY (org_id, account_id, record_id, transaction_id)
) STRICT;
-- what is undone
CREATE INDEX broker_records_of_transaction ON broker_records (org_id, transaction_id);
