CREATE TABLE bank_accounts (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    legal_entity_id TEXT REFERENCES legal_entities (id),
    institution_id TEXT,                        -- of the list of institutions; NULL: none of them
    name TEXT NOT NULL,
    nickname TEXT,
    holder_name TEXT,
    type TEXT NOT NULL CHECK (
        type = 'current' OR type = 'savings' OR type = 'card' OR type = 'loan' OR type = 'mortgage' OR type = 'other'
    ),
    usage TEXT NOT NULL CHECK (usage = 'business' OR usage = 'personal'),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    sort_code TEXT CHECK (length(sort_code) = 6),
    account_number TEXT,
    iban TEXT,
    bic TEXT,
    status TEXT NOT NULL CHECK (status = 'active' OR status = 'closed' OR status = 'expired_consent'),
    overdraft_limit INTEGER CHECK (overdraft_limit >= 0),
    business_ids TEXT NOT NULL,                 -- JSON
    balances TEXT NOT NULL,                     -- JSON
    coverage TEXT NOT NULL,                     -- JSON: the days that its statements hold
    csv_mapping TEXT,                           -- JSON: how the columns of its CSV files were read last
    last_import_id TEXT,                        -- the latest that is applied
    last_import_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX bank_accounts_by_external_id ON bank_accounts (org_id, external_id) WHERE external_id IS NOT NULL;
-- the list, newest first
CREATE INDEX bank_accounts_by_id ON bank_accounts (org_id, id);
-- the list with updatedSince
CREATE INDEX bank_accounts_by_change ON bank_accounts (org_id, updated_at, id);

CREATE TABLE bank_transactions (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    date TEXT NOT NULL,                         -- of booking, else of value, else of import: what lists are ordered by
    amount INTEGER NOT NULL,                    -- minor units, + in, - out
    allocated INTEGER NOT NULL DEFAULT 0,       -- the sum of its allocations, signed as amount is
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    status TEXT NOT NULL CHECK (
        status = 'pending' OR status = 'booked' OR status = 'rejected' OR status = 'information'
    ),
    booking_date TEXT CHECK ((booking_date IS NULL) = (status = 'pending')),
    value_date TEXT,
    original_amount INTEGER,                    -- minor units of original_currency
    original_currency TEXT CHECK (length(original_currency) = 3),
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
    source TEXT NOT NULL CHECK (source = 'import' OR source = 'manual'),
    import_id TEXT,
    fingerprint TEXT NOT NULL,                  -- hexadecimal SHA-256
    match_key TEXT NOT NULL,                    -- who it is with: the description without numbers and dates, folded
    search_text TEXT NOT NULL,                  -- case-folded
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK (abs(allocated) <= abs(amount) AND (allocated = 0 OR (allocated > 0) = (amount > 0)))
) STRICT;
-- an account's list, newest booking first; what its lines come to, from the index alone
CREATE INDEX bank_transactions_by_date ON bank_transactions (org_id, account_id, date, id, status, amount, import_id);
-- an account's list with updatedSince
CREATE INDEX bank_transactions_by_change ON bank_transactions (org_id, account_id, updated_at, id);
-- what still waits to be allocated
CREATE INDEX bank_transactions_unallocated ON bank_transactions (org_id, account_id, date, id)
WHERE allocated <> amount AND status = 'booked';
-- duplicates, by the bank's own id; those of one day are found by date
CREATE INDEX bank_transactions_by_fit_id ON bank_transactions (org_id, account_id, fit_id) WHERE fit_id IS NOT NULL;
-- what was chosen for lines with the same counterparty
CREATE INDEX bank_transactions_by_match_key ON bank_transactions (org_id, match_key, date) WHERE allocated <> 0;
-- what an import brought, and whether any of it lies in a closed period
CREATE INDEX bank_transactions_by_import ON bank_transactions (org_id, import_id, date);

CREATE TABLE allocations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    source_type TEXT NOT NULL CHECK (
        source_type = 'bank' OR source_type = 'invoice' OR source_type = 'manual' OR source_type = 'import'
    ),
    source_id TEXT,                             -- the bank transaction; NULL where there is none
    import_id TEXT,                             -- the import that brought the bank transaction
    legal_entity_id TEXT REFERENCES legal_entities (id),
    business_id TEXT REFERENCES businesses (id),
    property_id TEXT,
    unit_id TEXT,
    tenancy_id TEXT,
    mortgage_id TEXT,
    invoice_id TEXT,                            -- the invoice that it pays
    counterpart_id TEXT,                        -- the bank transaction at the other end of a transfer
    date TEXT NOT NULL,                         -- of the money
    document_date TEXT,                         -- of the bill, where it is known
    direction TEXT NOT NULL CHECK (direction = 'in' OR direction = 'out'),
    amount INTEGER NOT NULL CHECK (amount > 0), -- gross, minor units
    vat_amount INTEGER NOT NULL CHECK (vat_amount >= 0 AND vat_amount <= amount),
    disallowable_amount INTEGER NOT NULL CHECK (disallowable_amount >= 0 AND disallowable_amount <= amount),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    fx_rate TEXT,                               -- units of the business's currency for one of its own
    category TEXT NOT NULL,
    purpose TEXT CHECK ((purpose IS NULL) = (category <> 'not_pnl')),
    description TEXT NOT NULL,
    matched_by TEXT NOT NULL CHECK (matched_by = 'rule' OR matched_by = 'user' OR matched_by = 'import'),
    rule_id TEXT,
    reason TEXT,                                -- why a rule chose this, for people
    document_ids TEXT NOT NULL,                 -- JSON
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- the allocations of one bank line
CREATE INDEX allocations_by_source ON allocations (org_id, source_id, date, id) WHERE source_id IS NOT NULL;
-- what a business had and cost
CREATE INDEX allocations_by_business ON allocations (org_id, business_id, date, id, currency, direction, amount);
-- the list, latest money first, and with each of its filters: totals come from the index alone
CREATE INDEX allocations_by_date ON allocations (org_id, date, id, currency, direction, amount);
CREATE INDEX allocations_by_category ON allocations (org_id, category, date, id, currency, direction, amount);
CREATE INDEX allocations_by_direction ON allocations (org_id, direction, date, id, currency, amount);
CREATE INDEX allocations_by_matching ON allocations (org_id, matched_by, date, id, currency, direction, amount);
-- what a property had and cost
CREATE INDEX allocations_by_property ON allocations (org_id, property_id, date, id, currency, direction, amount)
WHERE property_id IS NOT NULL;
-- what came of a tenancy
CREATE INDEX allocations_by_tenancy ON allocations (org_id, tenancy_id, date, id, currency, direction, amount)
WHERE tenancy_id IS NOT NULL;
-- the list with updatedSince
CREATE INDEX allocations_by_change ON allocations (org_id, updated_at, id);
-- payments of an invoice
CREATE INDEX allocations_by_invoice ON allocations (org_id, invoice_id, date, id) WHERE invoice_id IS NOT NULL;
