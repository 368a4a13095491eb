CREATE TABLE import_runs (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    kind TEXT NOT NULL CHECK (kind = 'bank'),
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
    moved_to INTEGER,                           -- the position up to which staged rows were moved; NULL: none are left
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
    applied_at INTEGER,
    reverted_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- the list, newest first
CREATE INDEX import_runs_by_id ON import_runs (org_id, id);
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

-- what a file holds, until it is applied; of what was applied, the rows that were replaced or were there already
CREATE TABLE import_rows (
    org_id TEXT NOT NULL,
    import_id TEXT NOT NULL REFERENCES import_runs (id),
    position INTEGER NOT NULL,                  -- from 1, in the order of the file
    line INTEGER NOT NULL,
    statement INTEGER NOT NULL,
    action TEXT NOT NULL CHECK (action = 'add' OR action = 'duplicate' OR action = 'replace' OR action = 'refuse'),
    reason TEXT,
    transaction_id TEXT NOT NULL,               -- the id it gets where it is added
    existing_transaction_id TEXT,               -- of the transaction that it is or replaces
    before TEXT,                                -- JSON: what a replaced row was
    date TEXT NOT NULL,
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    status TEXT NOT NULL,
    booking_date TEXT,
    value_date TEXT,
    original_amount INTEGER,
    original_currency TEXT,
    fx_rate TEXT,
    description TEXT NOT NULL,
    raw_description TEXT NOT NULL,
    counterparty_name TEXT,
    counterparty_account TEXT,
    reference TEXT,
    end_to_end_id TEXT,
    bank_reference TEXT,
    fit_id TEXT,
    type TEXT NOT NULL,
    bank_transaction_code TEXT,
    merchant_category_code TEXT,
    balance_after INTEGER,
    fingerprint TEXT NOT NULL,
    match_key TEXT NOT NULL,
    search_text TEXT NOT NULL,
    PRIMARY KEY (org_id, import_id, position)
) STRICT;
-- the rows of one day, to be compared with those that are there
CREATE INDEX import_rows_by_date ON import_rows (org_id, import_id, date, position);
-- a preview of one kind of rows; what was applied and is to be forgotten
CREATE INDEX import_rows_by_action ON import_rows (org_id, import_id, action, position);

-- the statements of runs, which cover an account once their run is applied
CREATE TABLE bank_statements (
    org_id TEXT NOT NULL,
    import_id TEXT NOT NULL REFERENCES import_runs (id),
    statement INTEGER NOT NULL,
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    applied INTEGER NOT NULL CHECK (applied = 0 OR applied = 1),
    from_date TEXT,
    to_date TEXT,
    opening_balance INTEGER,
    closing_balance INTEGER,
    available_balance INTEGER,
    balanced INTEGER CHECK (balanced = 0 OR balanced = 1), -- NULL: it does not tell
    PRIMARY KEY (org_id, import_id, statement)
) STRICT;
-- the coverage of an account
CREATE INDEX bank_statements_of_account ON bank_statements (org_id, account_id, from_date) WHERE applied = 1;

-- runs whose rows are being moved in or out: nobody sees these rows
CREATE TABLE hidden_imports (
    org_id TEXT NOT NULL,
    import_id TEXT NOT NULL REFERENCES import_runs (id),
    PRIMARY KEY (org_id, import_id)
) STRICT;

-- how files with the same headings were read
CREATE TABLE csv_mappings (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    headings TEXT NOT NULL,                     -- hexadecimal SHA-256 of the heading line
    mapping TEXT NOT NULL,                      -- JSON
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, headings)
) STRICT;

-- an account's pending lines
CREATE INDEX bank_transactions_pending ON bank_transactions (org_id, account_id, date, id) WHERE status = 'pending';
-- an account's money in, and its money out
CREATE INDEX bank_transactions_in ON bank_transactions (org_id, account_id, date, id) WHERE amount >= 0;
CREATE INDEX bank_transactions_out ON bank_transactions (org_id, account_id, date, id) WHERE amount < 0;
-- an account's lines of certain amounts
CREATE INDEX bank_transactions_by_amount ON bank_transactions (org_id, account_id, amount, id);
-- an account's lines that are allocated whole
CREATE INDEX bank_transactions_allocated ON bank_transactions (org_id, account_id, date, id)
WHERE allocated = amount AND status = 'booked';
-- whether anything of an account, or of an import, is allocated
CREATE INDEX bank_transactions_in_use ON bank_transactions (org_id, account_id, import_id) WHERE allocated <> 0;
