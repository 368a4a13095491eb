-- Generated from the migrations by `make generate`: read it, change them.

CREATE TABLE allocation_rules (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode = 'propose' OR mode = 'apply'),
    priority INTEGER NOT NULL,                  -- the lowest decides first
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    conditions TEXT NOT NULL,                   -- JSON
    outcome TEXT NOT NULL,                      -- JSON
    learned_from TEXT,                          -- for people: the choices that it follows; NULL: a person wrote it
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
, external_id TEXT) STRICT;

CREATE INDEX allocation_rules_by_change ON allocation_rules (org_id, updated_at, id);

CREATE UNIQUE INDEX allocation_rules_by_external_id ON allocation_rules (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX allocation_rules_by_id ON allocation_rules (org_id, id);

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
, vat_code TEXT, external_id TEXT, interest_source TEXT
    CHECK (interest_source = 'statement' OR interest_source = 'computed'), capital_goods INTEGER NOT NULL DEFAULT 0 CHECK (capital_goods IN (0, 1)), bill_id TEXT REFERENCES bills (id)) STRICT;

CREATE INDEX allocations_by_bill ON allocations (
    org_id, business_id, document_date, category, direction, currency, amount, vat_amount, disallowable_amount,
    document_ids, vat_code, capital_goods
) WHERE document_date IS NOT NULL;

CREATE INDEX allocations_by_business ON allocations (org_id, business_id, date, id, currency, direction, amount);

CREATE INDEX allocations_by_category ON allocations (org_id, category, date, id, currency, direction, amount);

CREATE INDEX allocations_by_change ON allocations (org_id, updated_at, id);

CREATE INDEX allocations_by_date ON allocations (org_id, date, id, currency, direction, amount);

CREATE INDEX allocations_by_direction ON allocations (org_id, direction, date, id, currency, amount);

CREATE UNIQUE INDEX allocations_by_external_id ON allocations (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX allocations_by_invoice ON allocations (org_id, invoice_id, date, id) WHERE invoice_id IS NOT NULL;

CREATE INDEX allocations_by_matching ON allocations (org_id, matched_by, date, id, currency, direction, amount);

CREATE INDEX allocations_by_money ON allocations (
    org_id, business_id, date, id, document_date, category, direction, currency, amount, vat_amount,
    disallowable_amount, document_ids, vat_code, capital_goods
);

CREATE INDEX allocations_by_mortgage ON allocations (org_id, mortgage_id, date, id, currency, direction, amount)
WHERE mortgage_id IS NOT NULL;

CREATE INDEX allocations_by_property ON allocations (org_id, property_id, date, id, currency, direction, amount)
WHERE property_id IS NOT NULL;

CREATE INDEX allocations_by_rule ON allocations (org_id, rule_id, date, id, currency, direction, amount)
WHERE rule_id IS NOT NULL;

CREATE INDEX allocations_by_source ON allocations (org_id, source_id, date, id) WHERE source_id IS NOT NULL;

CREATE INDEX allocations_by_tenancy ON allocations (
    org_id, tenancy_id, date, id, currency, direction, amount, category
) WHERE tenancy_id IS NOT NULL;

CREATE INDEX allocations_by_unit ON allocations (org_id, unit_id, date, id, currency, direction, amount)
WHERE unit_id IS NOT NULL;

CREATE INDEX allocations_of_bills ON allocations (bill_id, org_id, date, id) WHERE bill_id IS NOT NULL;

CREATE INDEX allocations_of_lets ON allocations (org_id, date, id, property_id)
WHERE property_id IS NOT NULL;

CREATE INDEX allocations_of_loans ON allocations (
    org_id, mortgage_id, date, interest_source, currency, direction, amount
) WHERE interest_source IS NOT NULL;

CREATE INDEX allocations_of_property_by_bill ON allocations (org_id, property_id, document_date)
WHERE document_date IS NOT NULL AND property_id IS NOT NULL;

CREATE INDEX allocations_written_off ON allocations (org_id, purpose, business_id, property_id, tenancy_id)
WHERE purpose = 'rent_written_off';

CREATE TABLE api_key_uses (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    day TEXT NOT NULL,                          -- YYYY-MM-DD, UTC
    operation TEXT NOT NULL,
    times INTEGER NOT NULL CHECK (times > 0),
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, key_id, day, operation)
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_uses_by_day ON api_key_uses (day);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    hash BLOB NOT NULL UNIQUE,                  -- SHA-256 of the whole key
    hint TEXT NOT NULL,                         -- what lists show of it
    scopes TEXT NOT NULL,                       -- space separated; '' is a legacy full-access key
    networks TEXT NOT NULL,                     -- space separated CIDR; '' is anywhere
    tax_approved_at INTEGER,
    expires_at INTEGER,
    last_used_day TEXT,                         -- YYYY-MM-DD, UTC
    revoked_at INTEGER,
    replaced_by TEXT REFERENCES api_keys (id),  -- the key it was rotated to
    created_at INTEGER NOT NULL
, role TEXT CHECK (role = 'admin' OR role = 'member'), held_entities TEXT, held_from TEXT, held_to TEXT) STRICT;

CREATE INDEX api_keys_of_org ON api_keys (org_id, id);

CREATE TABLE asset_accounts (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    portfolio_id TEXT NOT NULL REFERENCES asset_portfolios (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id), -- that of the portfolio
    name TEXT NOT NULL,
    type TEXT NOT NULL CHECK (
        type = 'brokerage' OR type = 'savings' OR type = 'cash' OR type = 'pension' OR type = 'crypto'
        OR type = 'property' OR type = 'other'
    ),
    tax_wrapper TEXT NOT NULL CHECK (
        tax_wrapper = 'none' OR tax_wrapper = 'isa' OR tax_wrapper = 'lisa' OR tax_wrapper = 'jisa'
        OR tax_wrapper = 'ifisa' OR tax_wrapper = 'sipp' OR tax_wrapper = 'ssas' OR tax_wrapper = 'workplace_pension'
        OR tax_wrapper = 'offshore_bond' OR tax_wrapper = 'onshore_bond' OR tax_wrapper = 'vct' OR tax_wrapper = 'eis'
        OR tax_wrapper = 'seis' OR tax_wrapper = 'premium_bonds' OR tax_wrapper = 'other'
    ),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    institution_name TEXT,
    account_number TEXT,
    tracking_mode TEXT NOT NULL CHECK (tracking_mode = 'transactions' OR tracking_mode = 'holdings'),
    allow_short INTEGER NOT NULL CHECK (allow_short = 0 OR allow_short = 1),
    status TEXT NOT NULL CHECK (status = 'open' OR status = 'closed'),
    opened_date TEXT,
    closed_date TEXT,
    bank_account_id TEXT REFERENCES bank_accounts (id),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX asset_accounts_by_change ON asset_accounts (org_id, updated_at, id);

CREATE UNIQUE INDEX asset_accounts_by_external_id ON asset_accounts (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX asset_accounts_by_id ON asset_accounts (org_id, id);

CREATE INDEX asset_accounts_of_entity ON asset_accounts (org_id, legal_entity_id, id);

CREATE INDEX asset_accounts_of_portfolio ON asset_accounts (org_id, portfolio_id, id);

CREATE TABLE asset_cash (
    org_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES asset_accounts (id),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    balance INTEGER NOT NULL,                   -- minor units
    PRIMARY KEY (org_id, account_id, currency)
) STRICT;

CREATE TABLE asset_days (
    org_id TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    instrument_id TEXT NOT NULL,
    date TEXT NOT NULL,
    inputs TEXT NOT NULL,                       -- JSON: what is acquired, disposed of, added, moved and adjusted
    outcome TEXT NOT NULL,                      -- JSON: the matches of its disposals, and quantity and cost after it
    disposes INTEGER NOT NULL CHECK (disposes = 0 OR disposes = 1), -- it has a gain
    gain INTEGER,                               -- minor units of the base currency; by the pool, or the account's average
    fifo_gain INTEGER,
    PRIMARY KEY (org_id, scope_id, instrument_id, date)
) STRICT;

CREATE INDEX asset_days_of_disposals ON asset_days (org_id, scope_id, date, instrument_id) WHERE disposes = 1;

CREATE INDEX asset_days_of_gains ON asset_days (org_id, scope_id, instrument_id, date, gain, fifo_gain)
WHERE disposes = 1;

CREATE TABLE asset_holdings (
    org_id TEXT NOT NULL,
    scope_id TEXT NOT NULL,                     -- of an account, or of a legal entity
    instrument_id TEXT NOT NULL REFERENCES instruments (id),
    legal_entity_id TEXT NOT NULL,
    portfolio_id TEXT,                          -- NULL: the pool of a legal entity
    quantity TEXT NOT NULL,                     -- what is held; a fraction: 100/3, below 0 when short
    is_open INTEGER NOT NULL CHECK (is_open = 0 OR is_open = 1), -- quantity is not 0
    cost TEXT NOT NULL,                         -- of the pool, or at the account's average; exact, in the base currency
    currency TEXT NOT NULL CHECK (length(currency) = 3), -- the base currency
    fifo_cost TEXT,                             -- of an account: what the lots left cost, first in, first out
    first_acquired_date TEXT,                   -- since it was last 0; NULL: it is 0
    last_date TEXT NOT NULL,                    -- the last of asset_days
    PRIMARY KEY (org_id, scope_id, instrument_id)
) STRICT;

CREATE INDEX asset_holdings_of_entity ON asset_holdings (org_id, legal_entity_id, portfolio_id, instrument_id);

CREATE INDEX asset_holdings_of_instrument ON asset_holdings (org_id, instrument_id, scope_id);

CREATE TABLE asset_holdings_to_compute (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    scope_id TEXT NOT NULL,
    instrument_id TEXT NOT NULL,
    PRIMARY KEY (org_id, scope_id, instrument_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE asset_income_years (
    org_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES asset_accounts (id),
    year INTEGER NOT NULL,                      -- 2026 is 2026-27
    instrument_id TEXT NOT NULL,                -- '' is of none, such as interest on cash
    type TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    withheld INTEGER NOT NULL CHECK (withheld = 0 OR withheld = 1), -- tax was
    events INTEGER NOT NULL,
    gross INTEGER NOT NULL,                     -- minor units of currency
    gross_base INTEGER NOT NULL,                -- minor units of base_currency
    taxes INTEGER NOT NULL,
    PRIMARY KEY (org_id, account_id, year, instrument_id, type, currency, base_currency, withheld)
) STRICT;

CREATE INDEX asset_income_years_of_instrument ON asset_income_years (org_id, instrument_id, year);

CREATE TABLE asset_instruments_to_enter (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    instrument_id TEXT NOT NULL,
    PRIMARY KEY (org_id, instrument_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE asset_portfolios (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    name TEXT NOT NULL,
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    cost_basis_method TEXT NOT NULL CHECK (
        cost_basis_method = 'section_104' OR cost_basis_method = 'average_cost' OR cost_basis_method = 'fifo'
    ),
    description TEXT,
    is_default INTEGER NOT NULL CHECK (is_default = 0 OR is_default = 1),
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX asset_portfolios_by_change ON asset_portfolios (org_id, updated_at, id);

CREATE UNIQUE INDEX asset_portfolios_by_external_id ON asset_portfolios (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX asset_portfolios_by_id ON asset_portfolios (org_id, id);

CREATE INDEX asset_portfolios_of_entity ON asset_portfolios (org_id, legal_entity_id, id);

CREATE TABLE asset_prices (
    org_id TEXT NOT NULL,
    instrument_id TEXT NOT NULL REFERENCES instruments (id),
    date TEXT NOT NULL,
    price TEXT NOT NULL,                        -- canonical decimal, in major units of currency
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    source TEXT NOT NULL CHECK (source = 'manual' OR source = 'import' OR source = 'feed'),
    import_id TEXT,
    PRIMARY KEY (org_id, instrument_id, date)
) STRICT;

CREATE TABLE asset_transactions (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    account_id TEXT NOT NULL REFERENCES asset_accounts (id),
    portfolio_id TEXT NOT NULL REFERENCES asset_portfolios (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    instrument_id TEXT REFERENCES instruments (id),
    type TEXT NOT NULL CHECK (
        type = 'buy' OR type = 'sell' OR type = 'transfer_in' OR type = 'transfer_out' OR type = 'deposit'
        OR type = 'withdrawal' OR type = 'dividend' OR type = 'interest' OR type = 'distribution'
        OR type = 'notional_distribution' OR type = 'equalisation' OR type = 'return_of_capital' OR type = 'fee'
        OR type = 'tax' OR type = 'split' OR type = 'bonus_issue' OR type = 'rights_issue' OR type = 'spin_off'
        OR type = 'merger' OR type = 'stock_dividend' OR type = 'excess_reportable_income'
        OR type = 'opening_position' OR type = 'reversal'
    ),
    trade_date TEXT NOT NULL,
    settlement_date TEXT,
    ex_date TEXT,
    trade_time TEXT,
    quantity TEXT,                              -- canonical decimal above 0
    unit_price TEXT,
    gross_amount INTEGER CHECK (gross_amount >= 0),   -- minor units of currency, as are the next three
    fees INTEGER NOT NULL CHECK (fees >= 0),
    taxes INTEGER NOT NULL CHECK (taxes >= 0),
    net_amount INTEGER NOT NULL,                -- signed effect on cash
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    fx_rate TEXT NOT NULL,                      -- the portfolio's base currency for 1 of currency
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    gross_base INTEGER,                         -- gross_amount in minor units of base_currency
    split_ratio TEXT,                           -- JSON: numerator, denominator
    from_instrument_id TEXT REFERENCES instruments (id), -- what a spin-off or merger comes out of
    from_quantity TEXT,                         -- of a merger: how much of it goes
    cost_share TEXT,                            -- of a spin-off: the part of the cost that goes with it, 0 to 1
    counter_account_id TEXT REFERENCES asset_accounts (id),
    linked_transaction_id TEXT,
    spouse_transfer INTEGER NOT NULL CHECK (spouse_transfer = 0 OR spouse_transfer = 1),
    reverses_transaction_id TEXT,
    reversed_by_id TEXT,
    source TEXT NOT NULL CHECK (source = 'api' OR source = 'import' OR source = 'manual'),
    import_id TEXT,
    notes TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
, income_date TEXT, fx_rate_source TEXT CHECK (
    fx_rate_source = 'given' OR fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'
), fx_rate_date TEXT, remaining_value INTEGER CHECK (remaining_value >= 0), small_distribution INTEGER
    CHECK (small_distribution = 0 OR small_distribution = 1), taxed_as_dividend INTEGER
    CHECK (taxed_as_dividend = 0 OR taxed_as_dividend = 1)) STRICT;

CREATE INDEX asset_income_by_date ON asset_transactions (org_id, income_date, id) WHERE income_date > '';

CREATE INDEX asset_income_of_account ON asset_transactions (org_id, account_id, income_date, id)
WHERE income_date IS NOT NULL;

CREATE INDEX asset_income_of_entity ON asset_transactions (org_id, legal_entity_id, income_date, id)
WHERE income_date IS NOT NULL;

CREATE INDEX asset_income_of_instrument ON asset_transactions (org_id, instrument_id, income_date, id)
WHERE income_date IS NOT NULL AND instrument_id IS NOT NULL;

CREATE INDEX asset_income_of_portfolio ON asset_transactions (org_id, portfolio_id, income_date, id)
WHERE income_date IS NOT NULL;

CREATE INDEX asset_transactions_by_change ON asset_transactions (org_id, updated_at, id);

CREATE INDEX asset_transactions_by_date ON asset_transactions (org_id, trade_date, id);

CREATE UNIQUE INDEX asset_transactions_by_external_id ON asset_transactions (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX asset_transactions_of_account ON asset_transactions (org_id, account_id, trade_date, id);

CREATE INDEX asset_transactions_of_account_and_type ON asset_transactions (org_id, account_id, type, trade_date, id);

CREATE INDEX asset_transactions_of_entity ON asset_transactions (org_id, legal_entity_id, trade_date, id);

CREATE INDEX asset_transactions_of_import ON asset_transactions (org_id, import_id, id) WHERE import_id IS NOT NULL;

CREATE INDEX asset_transactions_of_import_by_date ON asset_transactions (org_id, import_id, trade_date, id)
WHERE import_id IS NOT NULL;

CREATE INDEX asset_transactions_of_instrument ON asset_transactions (org_id, instrument_id, trade_date, id)
WHERE instrument_id IS NOT NULL;

CREATE INDEX asset_transactions_of_portfolio ON asset_transactions (org_id, portfolio_id, trade_date, id);

CREATE INDEX asset_transactions_of_portfolio_and_type ON asset_transactions (org_id, portfolio_id, type, trade_date, id);

CREATE INDEX asset_transactions_of_rate ON asset_transactions (org_id, currency, base_currency, trade_date)
WHERE currency <> base_currency AND type <> 'reversal' AND reversed_by_id IS NULL AND fx_rate_source = 'given';

CREATE INDEX asset_transactions_of_source ON asset_transactions (org_id, source, trade_date, id);

CREATE INDEX asset_transactions_of_type ON asset_transactions (org_id, type, trade_date, id);

CREATE TABLE audit_log (
    id TEXT PRIMARY KEY,
    org_id TEXT REFERENCES organizations (id),  -- NULL where it concerns the whole instance
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,                        -- a user id, or 'operator' for the command line
    action TEXT NOT NULL,
    subject TEXT NOT NULL,                      -- the id it was done to
    detail TEXT NOT NULL                        -- a JSON object without secrets
) STRICT;

CREATE INDEX audit_log_by_action ON audit_log (action, id);

CREATE INDEX audit_log_by_actor ON audit_log (actor, id);

CREATE INDEX audit_log_by_subject ON audit_log (subject, id);

CREATE INDEX audit_log_of_org ON audit_log (org_id, id);

CREATE TABLE authority_sign_ins (
    state_hash BLOB PRIMARY KEY,
    session_id TEXT NOT NULL,                   -- whose browser began it
    org_id TEXT NOT NULL,
    legal_entity_id TEXT,                       -- NULL: the organization as a whole
    replaces INTEGER,                           -- `since` of the connection that is agreed to be lost
    begun_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX authority_sign_ins_by_begin ON authority_sign_ins (begun_at);

CREATE INDEX authority_sign_ins_of_session ON authority_sign_ins (session_id, begun_at);

CREATE TABLE authorization_codes (
    hash BLOB PRIMARY KEY,                              -- SHA-256 of the code
    grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,                         -- as it was sent: the token request repeats it
    code_challenge TEXT NOT NULL,                       -- S256
    key_thumbprint TEXT,                                -- dpop_jkt of the authorization request (RFC 9449 §10)
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX authorization_codes_by_expiry ON authorization_codes (expires_at);

CREATE INDEX authorization_codes_of_grant ON authorization_codes (grant_id);

CREATE TABLE authorization_requests (
    hash BLOB PRIMARY KEY,                              -- SHA-256 of the handle
    client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
    pushed INTEGER NOT NULL CHECK (pushed IN (0, 1)),
    parameters BLOB NOT NULL,                           -- JSON, checked
    session_id TEXT REFERENCES sessions (id),           -- the browser session it was bound to at its first page
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX authorization_requests_by_expiry ON authorization_requests (expires_at);

CREATE INDEX authorization_requests_of_client ON authorization_requests (client_id);

CREATE INDEX authorization_requests_of_session ON authorization_requests (session_id) WHERE session_id IS NOT NULL;

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
, statement_name TEXT) STRICT;

CREATE INDEX bank_accounts_by_change ON bank_accounts (org_id, updated_at, id);

CREATE UNIQUE INDEX bank_accounts_by_external_id ON bank_accounts (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX bank_accounts_by_id ON bank_accounts (org_id, id);

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

CREATE INDEX bank_statements_of_account ON bank_statements (org_id, account_id, from_date) WHERE applied = 1;

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

CREATE INDEX bank_transactions_allocated ON bank_transactions (org_id, account_id, date, id)
WHERE allocated = amount AND status = 'booked';

CREATE INDEX bank_transactions_by_amount ON bank_transactions (org_id, account_id, amount, date, id);

CREATE INDEX bank_transactions_by_change ON bank_transactions (org_id, account_id, updated_at, id);

CREATE INDEX bank_transactions_by_date ON bank_transactions (org_id, account_id, date, id, status, amount, import_id);

CREATE INDEX bank_transactions_by_fit_id ON bank_transactions (org_id, account_id, fit_id) WHERE fit_id IS NOT NULL;

CREATE INDEX bank_transactions_by_import ON bank_transactions (org_id, import_id, date);

CREATE INDEX bank_transactions_by_match_key ON bank_transactions (org_id, match_key, date) WHERE allocated <> 0;

CREATE INDEX bank_transactions_in ON bank_transactions (org_id, account_id, date, id) WHERE amount >= 0;

CREATE INDEX bank_transactions_in_use ON bank_transactions (org_id, account_id, import_id) WHERE allocated <> 0;

CREATE INDEX bank_transactions_out ON bank_transactions (org_id, account_id, date, id) WHERE amount < 0;

CREATE INDEX bank_transactions_pending ON bank_transactions (org_id, account_id, date, id) WHERE status = 'pending';

CREATE INDEX bank_transactions_unallocated ON bank_transactions (org_id, account_id, date, id)
WHERE allocated <> amount AND status = 'booked';

CREATE TABLE bill_lines (
    org_id TEXT NOT NULL,
    bill_id TEXT NOT NULL REFERENCES bills (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    description TEXT NOT NULL,
    category TEXT NOT NULL,
    vat_code TEXT,                              -- NULL: nobody said
    net INTEGER NOT NULL,
    vat INTEGER NOT NULL,
    gross INTEGER NOT NULL CHECK (gross = net + vat),
    accounted_vat INTEGER NOT NULL,             -- that the buyer accounts for
    disallowable INTEGER NOT NULL,              -- of gross
    disallowable_percent TEXT,                  -- NULL: as it is for the category
    capital_goods INTEGER NOT NULL CHECK (capital_goods IN (0, 1)),
    property_id TEXT,
    unit_id TEXT,
    tenancy_id TEXT,
    PRIMARY KEY (bill_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE bill_payments (
    org_id TEXT NOT NULL,
    bill_id TEXT NOT NULL REFERENCES bills (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount <> 0),    -- below zero: the supplier paid it back
    bank_transaction_id TEXT,
    method TEXT,
    reference TEXT,
    fx_rate TEXT,
    fx_rate_source TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (bill_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX bill_payments_dates ON bill_payments (org_id, date, bill_id);

CREATE TABLE bills (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind = 'bill' OR kind = 'expense_claim' OR kind = 'credit_note'),
    status TEXT NOT NULL CHECK (
        status = 'draft' OR status = 'awaiting_payment' OR status = 'part_paid' OR status = 'paid' OR status = 'void'
    ),
    supplier_id TEXT REFERENCES clients (id),   -- NULL: an expense claim alone may name none
    claimant TEXT CHECK ((claimant IS NULL) = (kind <> 'expense_claim')),
    number TEXT,                                -- the supplier's
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT NOT NULL REFERENCES businesses (id),
    credits_bill_id TEXT REFERENCES bills (id),
    bill_date TEXT NOT NULL,
    tax_point TEXT NOT NULL,
    due_date TEXT NOT NULL CHECK (due_date >= bill_date),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    fx_rate TEXT CHECK ((fx_rate IS NULL) = (currency = base_currency)),    -- units of the business's currency for one
    fx_rate_source TEXT,
    fx_rate_date TEXT,
    amounts_are TEXT NOT NULL CHECK (amounts_are = 'exclusive' OR amounts_are = 'inclusive'),
    net_total INTEGER NOT NULL,
    vat_total INTEGER NOT NULL,
    gross_total INTEGER NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total > 0),
    paid_total INTEGER NOT NULL,
    credited_total INTEGER NOT NULL CHECK (credited_total >= 0 AND credited_total <= gross_total),
    balance_due INTEGER NOT NULL,
    notes TEXT,
    document_ids TEXT NOT NULL,                 -- JSON
    paid_date TEXT,
    voided_at INTEGER,
    void_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    open_due_date TEXT,                         -- the due date where money is still due
    repay_vat_on TEXT,                          -- when VAT goes back of what is not paid
    number_folded TEXT,                         -- case-folded, letters and digits alone: what duplicates are found by
    CHECK ((kind = 'credit_note') = (credits_bill_id IS NOT NULL)),
    CHECK (supplier_id IS NOT NULL OR kind = 'expense_claim')
) STRICT;

CREATE INDEX bills_changes ON bills (org_id, updated_at, id);

CREATE INDEX bills_credits ON bills (credits_bill_id) WHERE credits_bill_id IS NOT NULL;

CREATE UNIQUE INDEX bills_external_id ON bills (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX bills_of_business ON bills (org_id, business_id, tax_point);

CREATE INDEX bills_of_entity ON bills (org_id, legal_entity_id, tax_point);

CREATE INDEX bills_of_supplier ON bills (org_id, supplier_id, id) WHERE supplier_id IS NOT NULL;

CREATE INDEX bills_open ON bills (org_id, open_due_date, id) WHERE open_due_date IS NOT NULL;

CREATE INDEX bills_open_balances ON bills (org_id, balance_due, id) WHERE open_due_date IS NOT NULL;

CREATE INDEX bills_page ON bills (org_id, id, status, kind);

CREATE INDEX bills_unpaid_vat ON bills (org_id, legal_entity_id, repay_vat_on) WHERE repay_vat_on IS NOT NULL;

CREATE TABLE broker_records (
    org_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES asset_accounts (id),
    record_id TEXT NOT NULL,                    -- the broker's own
    transaction_id TEXT NOT NULL REFERENCES asset_transactions (id),
    PRIMARY KEY (org_id, account_id, record_id, transaction_id)
) STRICT;

CREATE INDEX broker_records_of_transaction ON broker_records (transaction_id, org_id);

CREATE TABLE businesses (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    external_id TEXT,
    type TEXT NOT NULL CHECK (type IN (
        'self_employment', 'uk_property', 'foreign_property', 'property_unspecified', 'company_trade', 'other')),
    name TEXT NOT NULL,
    trading_name TEXT,
    trading_type TEXT,
    -- pending is active with a commencement date to come; archived is archived_at
    status TEXT NOT NULL CHECK (status IN ('active', 'dormant', 'ceased')),
    commencement_date TEXT,
    cessation_date TEXT,
    accounting_basis TEXT NOT NULL CHECK (accounting_basis IN ('cash', 'accruals')),
    quarterly_period_type TEXT NOT NULL CHECK (quarterly_period_type IN ('standard', 'calendar')),
    quarterly_period_tax_year TEXT,             -- of the choice; NULL: none was made
    uses_consolidated_expenses INTEGER NOT NULL CHECK (uses_consolidated_expenses IN (0, 1)),
    address TEXT,                               -- JSON
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    bank_account_ids TEXT NOT NULL,             -- JSON
    owner_share_percent TEXT NOT NULL,
    tax_business_id TEXT,                       -- the tax authority's own name for it
    tax_sync_status TEXT NOT NULL CHECK (tax_sync_status IN ('never', 'in_sync', 'differs', 'failed', 'not_found')),
    tax_sync_synced_at INTEGER,
    tax_sync_error TEXT,
    tax_sync_latency TEXT,                           -- JSON
    tax_sync_year_of_migration TEXT,
    archive_reason TEXT,
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    wire BLOB NOT NULL, archived_on TEXT,                         -- the JSON without status and the closing brace
    CHECK (status <> 'ceased' OR cessation_date IS NOT NULL),
    CHECK (archive_reason IS NULL OR archived_at IS NOT NULL)
) STRICT;

CREATE INDEX businesses_changes ON businesses (org_id, updated_at, id);

CREATE UNIQUE INDEX businesses_external_id ON businesses (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX businesses_of_entity ON businesses (org_id, legal_entity_id, id);

CREATE INDEX businesses_page ON businesses (org_id, id);

CREATE UNIQUE INDEX businesses_tax_business_id ON businesses (org_id, legal_entity_id, tax_business_id)
    WHERE tax_business_id IS NOT NULL;

CREATE TABLE calendar_feeds (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT,                                       -- whose membership it ends with; NULL: the operator made it
    hash BLOB NOT NULL UNIQUE,                          -- SHA-256 of the token
    name TEXT NOT NULL,
    legal_entity_id TEXT REFERENCES legal_entities (id),    -- NULL: of all that the organization has
    created_by TEXT NOT NULL,
    revoked_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
, external_id TEXT) STRICT;

CREATE UNIQUE INDEX calendar_feeds_by_external_id ON calendar_feeds (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX calendar_feeds_changes ON calendar_feeds (org_id, updated_at, id);

CREATE INDEX calendar_feeds_of_user ON calendar_feeds (user_id);

CREATE INDEX calendar_feeds_page ON calendar_feeds (org_id, id);

CREATE TABLE calendars (
    legal_entity_id TEXT PRIMARY KEY REFERENCES legal_entities (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    made_for TEXT NOT NULL                              -- the tax year and the edition of the rules: 2026-27.1
) STRICT;

CREATE TABLE capital_losses (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    tax_year TEXT NOT NULL,                     -- 2026-27
    elsewhere INTEGER NOT NULL CHECK (elsewhere >= 0), -- pence
    claimed_date TEXT,                          -- NULL: not known to be claimed
    notes TEXT,
    PRIMARY KEY (org_id, legal_entity_id, tax_year)
) STRICT, WITHOUT ROWID;

CREATE TABLE certificates (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    unit_id TEXT REFERENCES property_units (id), -- NULL: the whole property
    tenancy_id TEXT REFERENCES tenancies (id),
    type TEXT NOT NULL,
    title TEXT,
    reference TEXT,
    issued_date TEXT NOT NULL,
    expiry_date TEXT,
    issuer_name TEXT,
    issuer_registration TEXT,
    result TEXT CHECK (result = 'satisfactory' OR result = 'unsatisfactory' OR result = 'not_applicable'),
    rating TEXT,
    score INTEGER,
    remedial_due_date TEXT,
    remedial_done_date TEXT,
    served_date TEXT,
    document_id TEXT,
    cost INTEGER CHECK (cost >= 0),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    superseded_by_id TEXT REFERENCES certificates (id), -- the next of its chain
    superseded_date TEXT,                       -- when that one was issued
    chain TEXT NOT NULL,                        -- what those of a property and type share that follow each other
    valid_until TEXT NOT NULL,                  -- 9999-12-31: without an end; empty: it found faults
    expiring_told_for TEXT,                     -- the expiry date that `certificate.expiring` told of
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK (expiry_date >= issued_date),
    CHECK ((superseded_by_id IS NULL) = (superseded_date IS NULL))
) STRICT;

CREATE INDEX certificates_by_change ON certificates (org_id, updated_at, id);

CREATE INDEX certificates_by_expiry ON certificates (org_id, valid_until, id) WHERE superseded_by_id IS NULL;

CREATE UNIQUE INDEX certificates_by_external_id ON certificates (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX certificates_by_id ON certificates (org_id, id);

CREATE INDEX certificates_by_issue ON certificates (org_id, issued_date, property_id);

CREATE INDEX certificates_by_succession ON certificates (org_id, superseded_date) WHERE superseded_date IS NOT NULL;

CREATE INDEX certificates_by_type ON certificates (org_id, type, id);

CREATE INDEX certificates_of_document ON certificates (org_id, document_id) WHERE document_id IS NOT NULL;

CREATE INDEX certificates_of_property ON certificates (org_id, property_id, type, chain, issued_date, id);

CREATE INDEX certificates_of_property_by_expiry ON certificates (org_id, property_id, valid_until, id)
WHERE superseded_by_id IS NULL;

CREATE INDEX certificates_of_property_by_id ON certificates (org_id, property_id, id);

CREATE INDEX certificates_of_successor ON certificates (superseded_by_id) WHERE superseded_by_id IS NOT NULL;

CREATE INDEX certificates_superseded ON certificates (org_id, id) WHERE superseded_by_id IS NOT NULL;

CREATE INDEX certificates_to_tell ON certificates (expiry_date, id)
WHERE superseded_by_id IS NULL AND (expiring_told_for IS NULL OR expiring_told_for <> expiry_date);

CREATE TABLE client_payments (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('payment', 'refund', 'credit')),
    client_id TEXT NOT NULL REFERENCES clients (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),
    date TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amount INTEGER NOT NULL CHECK (amount > 0), -- that came, went back, or was set against invoices
    on_account INTEGER NOT NULL CHECK (kind = 'payment' OR on_account <= 0), -- what the client's credit grew by
    bank_transaction_id TEXT,
    method TEXT,
    reference TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX client_payments_by_date ON client_payments (org_id, date, id);

CREATE INDEX client_payments_changes ON client_payments (org_id, updated_at, id);

CREATE UNIQUE INDEX client_payments_external_id ON client_payments (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE UNIQUE INDEX client_payments_of_line ON client_payments (org_id, bank_transaction_id)
WHERE bank_transaction_id IS NOT NULL;

CREATE INDEX client_payments_on_account ON client_payments (org_id, client_id, currency, legal_entity_id, date, on_account);

CREATE INDEX client_payments_page ON client_payments (org_id, id, client_id);

CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL,                  -- case-folded, single spaces: what duplicates are found by
    kind TEXT NOT NULL CHECK (kind IN ('company', 'person', 'public_body')),
    contact_name TEXT,
    email TEXT,
    cc_emails TEXT NOT NULL,                    -- JSON array
    phone TEXT,
    billing_address TEXT,                       -- JSON
    company_number TEXT,
    vat_number TEXT,                            -- GB: digits alone; elsewhere with the country's letters
    vat_check_valid INTEGER CHECK (vat_check_valid IN (0, 1)),
    vat_check_checked_at INTEGER,
    vat_check_consultation_number TEXT,
    country_code TEXT NOT NULL CHECK (length(country_code) = 2),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    payment_terms_days INTEGER NOT NULL CHECK (payment_terms_days BETWEEN 0 AND 365),
    default_vat_treatment TEXT,
    cis_contractor INTEGER NOT NULL CHECK (cis_contractor IN (0, 1)),
    end_user INTEGER NOT NULL CHECK (end_user IN (0, 1)),
    language TEXT NOT NULL,
    notes TEXT,
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL,                  -- names, address of email and numbers, case-folded
    wire BLOB NOT NULL                          -- the JSON without balances and the closing brace
) STRICT;

CREATE INDEX clients_changes ON clients (org_id, updated_at, id);

CREATE INDEX clients_company_numbers ON clients (org_id, company_number) WHERE company_number IS NOT NULL;

CREATE UNIQUE INDEX clients_external_id ON clients (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX clients_names ON clients (org_id, name_folded);

CREATE INDEX clients_page ON clients (org_id, id, archived_at, search_text);

CREATE INDEX clients_vat_numbers ON clients (org_id, vat_number) WHERE vat_number IS NOT NULL;

CREATE TABLE credit_allotments (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    anchor_date TEXT NOT NULL,                   -- the months are counted from here
    month INTEGER NOT NULL CHECK (month >= 0),   -- the last one that was granted
    granted INTEGER NOT NULL CHECK (granted >= 0) -- millionths of a credit, of that month
) STRICT;

CREATE TABLE credit_costs (
    operation TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit = 'call' OR unit = 'page' OR unit = 'mb'),
    credits INTEGER NOT NULL CHECK (credits >= 0), -- of one unit
    effective_from TEXT NOT NULL,
    effective_to TEXT,                          -- the last day; NULL: until further notice
    description TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (operation, unit, effective_from),
    CHECK (effective_to >= effective_from)
) STRICT;

CREATE TABLE credit_entries (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    sequence INTEGER NOT NULL CHECK (sequence >= 1), -- without gaps
    type TEXT NOT NULL CHECK (
        type = 'grant' OR type = 'purchase' OR type = 'usage' OR type = 'expiry' OR type = 'void' OR type = 'refund'
        OR type = 'adjustment'
    ),
    amount INTEGER NOT NULL CHECK (amount <> 0),
    balance_after INTEGER NOT NULL,
    lifetime_granted INTEGER NOT NULL,          -- up to this entry
    lifetime_used INTEGER NOT NULL,             -- up to this entry
    grant_id TEXT REFERENCES credit_grants (id), -- NULL: of no grant, as usage beyond the last credit
    operation TEXT,
    operation_id TEXT,                          -- of the work that is charged, once
    part INTEGER NOT NULL CHECK (part >= 1),    -- of the entries of one charge, each of another grant
    subject_type TEXT,
    subject_id TEXT,
    description TEXT,
    occurred_at INTEGER NOT NULL,
    booked_at INTEGER NOT NULL,
    reversal_of TEXT REFERENCES credit_entries (id),
    import_id TEXT,
    external_id TEXT,
    UNIQUE (org_id, sequence)
) STRICT;

CREATE UNIQUE INDEX credit_entries_by_external_id ON credit_entries (org_id, external_id, part)
WHERE external_id IS NOT NULL;

CREATE INDEX credit_entries_by_operation ON credit_entries (org_id, operation, occurred_at, sequence)
WHERE operation IS NOT NULL;

CREATE INDEX credit_entries_by_time ON credit_entries (org_id, occurred_at, sequence);

CREATE INDEX credit_entries_by_type ON credit_entries (org_id, type, occurred_at, sequence) WHERE type <> 'usage';

CREATE UNIQUE INDEX credit_entries_charged ON credit_entries (org_id, operation_id, part)
WHERE operation_id IS NOT NULL;

CREATE INDEX credit_entries_reversing ON credit_entries (org_id, reversal_of) WHERE reversal_of IS NOT NULL;

CREATE TABLE credit_grants (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    source TEXT NOT NULL CHECK (
        source = 'grant' OR source = 'purchase' OR source = 'plan' OR source = 'refund' OR source = 'adjustment'
    ),
    category TEXT NOT NULL CHECK (category = 'promotional' OR category = 'paid'),
    priority INTEGER NOT NULL CHECK (priority >= 0), -- the lower is drawn from first
    amount INTEGER NOT NULL CHECK (amount > 0),
    used INTEGER NOT NULL CHECK (used >= 0),
    expired INTEGER NOT NULL CHECK (expired >= 0),
    voided INTEGER NOT NULL CHECK (voided >= 0),
    remaining INTEGER NOT NULL CHECK (remaining >= 0 AND remaining = amount - used - expired - voided),
    held INTEGER NOT NULL CHECK (held >= 0 AND held <= remaining), -- of `remaining`, by open holds
    description TEXT,
    expires_at INTEGER,
    voided_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX credit_grants_by_id ON credit_grants (org_id, id);

CREATE INDEX credit_grants_due ON credit_grants (expires_at, org_id) WHERE remaining > held AND expires_at IS NOT NULL;

CREATE INDEX credit_grants_expiring ON credit_grants (org_id, expires_at, id)
WHERE remaining > held AND expires_at IS NOT NULL;

CREATE INDEX credit_grants_to_draw ON credit_grants (
    org_id, priority, (expires_at IS NULL), expires_at, category DESC, id
) WHERE remaining > held;

CREATE TABLE credit_hold_draws (
    org_id TEXT NOT NULL,
    hold_id TEXT NOT NULL REFERENCES credit_holds (id),
    position INTEGER NOT NULL,
    grant_id TEXT NOT NULL REFERENCES credit_grants (id),
    amount INTEGER NOT NULL CHECK (amount > 0),
    PRIMARY KEY (org_id, hold_id, position)
) STRICT;

CREATE TABLE credit_holds (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    operation TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    most INTEGER NOT NULL CHECK (most > 0),
    status TEXT NOT NULL CHECK (status = 'open' OR status = 'settled' OR status = 'released' OR status = 'expired'),
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    closed_at INTEGER,
    CHECK ((status = 'open') = (closed_at IS NULL)),
    UNIQUE (org_id, operation_id)
) STRICT;

CREATE INDEX credit_holds_by_time ON credit_holds (org_id, created_at);

CREATE INDEX credit_holds_due ON credit_holds (expires_at, org_id) WHERE status = 'open';

CREATE INDEX credit_holds_open ON credit_holds (org_id, expires_at, id) WHERE status = 'open';

CREATE TABLE credit_plans (
    id TEXT PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    price_monthly INTEGER CHECK (price_monthly >= 0),
    price_yearly INTEGER CHECK (price_yearly >= 0),
    included_credits INTEGER NOT NULL CHECK (included_credits >= 0), -- each month
    rollover TEXT NOT NULL CHECK (rollover = 'none' OR rollover = 'full' OR rollover = 'capped'),
    soft_limit INTEGER NOT NULL CHECK (soft_limit = 0 OR soft_limit = 1), -- 1: nothing is refused for want of credits
    features TEXT NOT NULL,                     -- JSON
    limits TEXT NOT NULL,                       -- JSON
    status TEXT NOT NULL CHECK (status = 'active' OR status = 'retired'),
    retired_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((status = 'retired') = (retired_at IS NOT NULL))
) STRICT;

CREATE TABLE credit_subscriptions (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    plan_id TEXT NOT NULL REFERENCES credit_plans (id),
    since_at INTEGER NOT NULL,
    anchor_date TEXT NOT NULL,                  -- the months are counted from here
    months INTEGER NOT NULL CHECK (months >= 0), -- how many of them were granted
    next_at INTEGER                             -- when the next is granted; NULL: the plan includes nothing
) STRICT;

CREATE INDEX credit_subscriptions_due ON credit_subscriptions (next_at, org_id) WHERE next_at IS NOT NULL;

CREATE TABLE credit_usage (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    operation TEXT NOT NULL,
    quarter INTEGER NOT NULL,                   -- since the epoch
    credits INTEGER NOT NULL CHECK (credits >= 0),
    operations INTEGER NOT NULL CHECK (operations >= 0),
    PRIMARY KEY (org_id, quarter, operation)
) STRICT;

CREATE TABLE credit_usage_blocks (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    operation TEXT NOT NULL,
    block INTEGER NOT NULL,                     -- of six hours, since the epoch
    credits INTEGER NOT NULL CHECK (credits >= 0),
    operations INTEGER NOT NULL CHECK (operations >= 0),
    PRIMARY KEY (org_id, block, operation)
) STRICT;

CREATE TABLE csv_mappings (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    headings TEXT NOT NULL,                     -- hexadecimal SHA-256 of the heading line
    mapping TEXT NOT NULL,                      -- JSON
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, headings)
) STRICT;

CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    subscription_id TEXT NOT NULL,                      -- outlives its subscription, as evidence
    event_id TEXT NOT NULL REFERENCES events (id),
    event TEXT NOT NULL,                                -- the event's kind
    status TEXT NOT NULL CHECK (status IN ('pending', 'retrying', 'succeeded', 'exhausted', 'cancelled')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),    -- counted when begun, before the POST
    in_flight INTEGER NOT NULL CHECK (in_flight IN (0, 1)),
    due_at INTEGER,                                     -- next attempt or, in flight, end of the lease; NULL: finished
    response_code INTEGER,
    last_error TEXT,
    last_attempt_at INTEGER,
    duration_ms INTEGER CHECK (duration_ms >= 0),
    completed_at INTEGER,
    replayed_from TEXT,
    created_at INTEGER NOT NULL, test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1)), original_id TEXT CHECK (original_id IS NULL OR replayed_from IS NOT NULL), interruptions INTEGER NOT NULL DEFAULT 0
    CHECK (interruptions >= 0 AND interruptions <= attempts),
    CHECK ((due_at IS NOT NULL) = (status IN ('pending', 'retrying'))),
    CHECK ((completed_at IS NULL) = (due_at IS NOT NULL)),
    CHECK (in_flight = 0 OR (due_at IS NOT NULL AND attempts > 0))
) STRICT;

CREATE INDEX deliveries_of_event ON deliveries (event_id);

CREATE INDEX deliveries_of_subscription ON deliveries (subscription_id, id);

CREATE INDEX deliveries_queue ON deliveries (subscription_id, due_at, id) WHERE due_at IS NOT NULL;

CREATE INDEX deliveries_replays ON deliveries (replayed_from) WHERE replayed_from IS NOT NULL;

CREATE INDEX deliveries_troubled ON deliveries (subscription_id, status, id)
    WHERE status IN ('retrying', 'exhausted', 'cancelled');

CREATE TABLE delivery_attempts (
    delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    org_id TEXT NOT NULL,
    wire BLOB NOT NULL,                                 -- its record as `include=attempts` shows it, serialized once
    PRIMARY KEY (delivery_id, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_followers (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    kinds TEXT NOT NULL,                                -- kinds and patterns, space separated, in their order
    since INTEGER NOT NULL,                             -- from then on they are recorded without a gap
    until INTEGER NOT NULL,
    PRIMARY KEY (org_id, kinds)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),   -- the closed set is EVENT_KINDS of events.py
    data BLOB NOT NULL,                                 -- JSON, serialized once
    created_at INTEGER NOT NULL
, test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1)), recorded_at INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX events_as_recorded ON events (org_id, recorded_at, id);

CREATE INDEX events_of_org ON events (org_id, id);

CREATE TABLE "exchange_rates" (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    date TEXT NOT NULL,                         -- of one of HMRC's the first day of its month
    rate TEXT NOT NULL,                         -- base currency for 1 of currency
    source TEXT NOT NULL CHECK (source = 'manual' OR source = 'import' OR source = 'feed' OR source = 'hmrc'),
    import_id TEXT,
    PRIMARY KEY (org_id, currency, base_currency, date)
) STRICT;

CREATE INDEX exchange_rates_by_date ON exchange_rates (org_id, date DESC, currency, base_currency);

CREATE TABLE files_place (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    mark TEXT NOT NULL,                         -- what a file in the place says
    marked_at INTEGER                           -- NULL: the file may not be there yet
) STRICT;

CREATE TABLE former_owner_shares (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    business_id TEXT NOT NULL REFERENCES businesses (id),
    property_id TEXT NOT NULL,                  -- empty: of the business itself
    last_day TEXT NOT NULL,                     -- as above
    percent TEXT,                               -- NULL: of a property, as the business says
    PRIMARY KEY (org_id, business_id, property_id, last_day)
) STRICT, WITHOUT ROWID;

CREATE TABLE former_vat_terms (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    last_day TEXT NOT NULL,                     -- ISO date; from the day after that of the row before it on
    scheme TEXT,                                -- all of these as in legal_entities
    flat_rate_category TEXT,
    flat_rate_percent TEXT,
    flat_rate_start_date TEXT,
    registered_from TEXT,                       -- from which the discount of the first year counts
    PRIMARY KEY (org_id, legal_entity_id, last_day)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    client_id TEXT NOT NULL REFERENCES oauth_clients (id),
    scopes TEXT NOT NULL,                               -- space separated
    session_id TEXT NOT NULL REFERENCES sessions (id),  -- `sid` of ID tokens
    authenticated_at INTEGER NOT NULL,                  -- `auth_time`
    methods TEXT NOT NULL,                              -- `amr`
    nonce TEXT,
    key_thumbprint TEXT,                                -- RFC 9449: tokens are bound to this key; NULL: bearer
    generation INTEGER NOT NULL CHECK (generation >= 0),    -- of the newest refresh token; 0: none was issued
    expires_at INTEGER NOT NULL,                        -- 30 days from the consent: no refresh after it
    last_used_day TEXT,
    revoked_at INTEGER,
    revoked_reason TEXT CHECK (revoked_reason IN
        ('user', 'client', 'operator', 'code_replayed', 'refresh_reused', 'password_changed', 'member_removed')),
    created_at INTEGER NOT NULL, redirect_host TEXT, resource TEXT,
    CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
) STRICT;

CREATE INDEX grants_of_client ON grants (client_id, id);

CREATE INDEX grants_of_org ON grants (org_id, id);

CREATE INDEX grants_of_session ON grants (session_id);

CREATE INDEX grants_of_user ON grants (user_id, id);

CREATE TABLE hidden_imports (
    org_id TEXT NOT NULL,
    import_id TEXT NOT NULL REFERENCES import_runs (id), since INTEGER,
    PRIMARY KEY (org_id, import_id)
) STRICT;

CREATE TABLE idempotency_keys (
    org_id TEXT NOT NULL,
    credential_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    operation TEXT NOT NULL,
    response BLOB,                  -- NULL while a call is under way
    sealed INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    created_at INTEGER NOT NULL, lease_until INTEGER CHECK ((lease_until IS NULL) = (response IS NOT NULL)),
    PRIMARY KEY (org_id, credential_id, key)
) STRICT;

CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE INDEX idempotency_keys_open ON idempotency_keys (lease_until) WHERE response IS NULL;

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

CREATE INDEX import_rows_by_action ON import_rows (org_id, import_id, action, position);

CREATE INDEX import_rows_by_date ON import_rows (org_id, import_id, date, position);

CREATE TABLE "import_runs" (
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
, ignored_rows INTEGER NOT NULL DEFAULT 0, ignored TEXT NOT NULL DEFAULT '[]', supposed TEXT NOT NULL DEFAULT '[]', other_accounts TEXT NOT NULL DEFAULT '[]', file_account TEXT, gave TEXT NOT NULL DEFAULT '[]') STRICT;

CREATE UNIQUE INDEX import_runs_at_work ON import_runs (org_id, account_id) WHERE stage IS NOT NULL;

CREATE INDEX import_runs_by_change ON import_runs (org_id, updated_at, id);

CREATE INDEX import_runs_by_content ON import_runs (org_id, account_id, sha256);

CREATE INDEX import_runs_of_account ON import_runs (org_id, account_id, id);

CREATE INDEX import_runs_of_file ON import_runs (org_id, sha256);

CREATE INDEX import_runs_of_kind ON import_runs (org_id, kind, id);

CREATE INDEX import_runs_staged ON import_runs (id) WHERE moved_to IS NOT NULL;

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
    trade TEXT NOT NULL, differs TEXT NOT NULL DEFAULT '[]',                        -- JSON: the row as it was read
    PRIMARY KEY (org_id, import_id, position)
) STRICT;

CREATE INDEX import_trades_by_action ON import_trades (org_id, import_id, action, position);

CREATE INDEX import_trades_by_date ON import_trades (org_id, import_id, date, position);

CREATE INDEX import_trades_waiting ON import_trades (org_id, import_id, holding, date, rank, position)
WHERE action = 'add' AND transaction_id IS NULL;

CREATE TABLE instrument_words (
    org_id TEXT NOT NULL,
    word TEXT NOT NULL,
    instrument_id TEXT NOT NULL REFERENCES instruments (id),
    PRIMARY KEY (org_id, word, instrument_id)
) STRICT;

CREATE INDEX instrument_words_of_instrument ON instrument_words (org_id, instrument_id, word);

CREATE TABLE instruments (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    symbol TEXT,
    exchange_mic TEXT CHECK (length(exchange_mic) = 4),
    isin TEXT CHECK (length(isin) = 12),
    sedol TEXT CHECK (length(sedol) = 7),
    figi TEXT CHECK (length(figi) = 12),
    cusip TEXT CHECK (length(cusip) = 9),
    asset_class TEXT NOT NULL CHECK (
        asset_class = 'equity' OR asset_class = 'fixed_income' OR asset_class = 'fund' OR asset_class = 'cash'
        OR asset_class = 'commodity' OR asset_class = 'real_estate' OR asset_class = 'crypto'
        OR asset_class = 'alternative'
    ),
    asset_sub_class TEXT,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    domicile_country TEXT CHECK (length(domicile_country) = 2),
    reporting_fund INTEGER CHECK (reporting_fund = 0 OR reporting_fund = 1), -- NULL: not an offshore fund, or not known
    cgt_exempt INTEGER NOT NULL CHECK (cgt_exempt = 0 OR cgt_exempt = 1),
    splits TEXT NOT NULL,                       -- JSON: date, numerator, denominator; oldest first
    last_price TEXT,                            -- the latest of asset_prices
    last_price_date TEXT,
    price_source TEXT CHECK (price_source = 'manual' OR price_source = 'import' OR price_source = 'feed'),
    is_active INTEGER NOT NULL CHECK (is_active = 0 OR is_active = 1),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
, name_folded TEXT NOT NULL DEFAULT '', listed INTEGER CHECK (listed = 0 OR listed = 1)) STRICT;

CREATE INDEX instruments_by_change ON instruments (org_id, updated_at, id);

CREATE INDEX instruments_by_cusip ON instruments (org_id, cusip) WHERE cusip IS NOT NULL;

CREATE UNIQUE INDEX instruments_by_figi ON instruments (org_id, figi) WHERE figi IS NOT NULL;

CREATE INDEX instruments_by_id ON instruments (org_id, id);

CREATE UNIQUE INDEX instruments_by_isin ON instruments (org_id, isin) WHERE isin IS NOT NULL;

CREATE INDEX instruments_by_name ON instruments (org_id, name_folded, id);

CREATE UNIQUE INDEX instruments_by_sedol ON instruments (org_id, sedol) WHERE sedol IS NOT NULL;

CREATE UNIQUE INDEX instruments_by_symbol ON instruments (org_id, symbol, exchange_mic)
WHERE symbol IS NOT NULL AND exchange_mic IS NOT NULL;

CREATE INDEX instruments_by_ticker ON instruments (org_id, symbol, id) WHERE symbol IS NOT NULL;

CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT REFERENCES users (id),         -- who invites, and with whose membership it ends; NULL: the operator
    hash BLOB NOT NULL UNIQUE,                  -- SHA-256 of the token
    email TEXT NOT NULL,                        -- whose account joins, as it was given
    email_folded TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    new_user_id TEXT NOT NULL,                  -- of the account that is made by it, where the address has none
    created_by TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    accepted_at INTEGER,
    accepted_by TEXT REFERENCES users (id),
    revoked_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX invitations_accepted ON invitations (accepted_by);

CREATE INDEX invitations_by_expiry ON invitations (expires_at);

CREATE INDEX invitations_of_user ON invitations (user_id);

CREATE INDEX invitations_page ON invitations (org_id, id);

CREATE TABLE invoice_lines (
    org_id TEXT NOT NULL,
    invoice_id TEXT NOT NULL REFERENCES invoices (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    description TEXT NOT NULL,
    quantity TEXT NOT NULL,
    unit TEXT,
    unit_price TEXT NOT NULL,                   -- major units
    discount_percent TEXT NOT NULL,
    vat_code TEXT NOT NULL,
    vat_rate_percent TEXT NOT NULL,
    category TEXT,
    net INTEGER NOT NULL,
    vat INTEGER NOT NULL,
    gross INTEGER NOT NULL CHECK (gross = net + vat),
    reverse_charge_vat INTEGER NOT NULL,
    property_id TEXT,
    cis_labour INTEGER NOT NULL CHECK (cis_labour IN (0, 1)), vat_code_defaulted INTEGER NOT NULL DEFAULT 0
    CHECK (vat_code_defaulted IN (0, 1)), credits_line INTEGER CHECK (credits_line >= 1), capital_goods INTEGER NOT NULL DEFAULT 0 CHECK (capital_goods IN (0, 1)),
    PRIMARY KEY (invoice_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE "invoice_payments" (
    org_id TEXT NOT NULL,
    invoice_id TEXT NOT NULL REFERENCES invoices (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0 OR (amount < 0 AND client_payment_id IS NOT NULL)),
    bank_transaction_id TEXT,
    method TEXT,
    reference TEXT,
    created_at INTEGER NOT NULL,
    fx_rate TEXT,
    fx_rate_source TEXT CHECK (fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'),
    client_payment_id TEXT REFERENCES client_payments (id),
    PRIMARY KEY (invoice_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX invoice_payments_by_date ON invoice_payments (org_id, date, invoice_id);

CREATE INDEX invoice_payments_of_client ON invoice_payments (client_payment_id, org_id, invoice_id)
WHERE client_payment_id IS NOT NULL;

CREATE TABLE "invoice_sequences" (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    seller_key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('invoice', 'credit_note', 'quote')),
    year TEXT NOT NULL CHECK (length(year) IN (0, 4)),
    pattern TEXT NOT NULL,                      -- INV-{yyyy}-{000001}; the same in all years
    last_number INTEGER NOT NULL CHECK (last_number >= 0),
    PRIMARY KEY (org_id, seller_key, kind, year)
) STRICT, WITHOUT ROWID;

CREATE TABLE invoice_write_offs (
    org_id TEXT NOT NULL,
    invoice_id TEXT PRIMARY KEY REFERENCES invoices (id),
    date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0), -- as it was written off; what comes after all lessens it
    reason TEXT NOT NULL,
    vat_relief TEXT NOT NULL CHECK (
        vat_relief IN (
            'claimed', 'not_claimed', 'too_late', 'no_vat', 'cash_accounting', 'flat_rate', 'deregistered'
        )
    ),
    vat_relief_date TEXT CHECK ((vat_relief_date IS NOT NULL) = (vat_relief = 'claimed')),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX invoice_write_offs_by_date ON invoice_write_offs (org_id, date, invoice_id);

CREATE TABLE invoices (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    -- What a page reads comes first: SQLite finds early columns sooner
    open_due_date TEXT,                         -- the due date where money is still due
    head_length INTEGER NOT NULL,               -- bytes of wire before its lines
    wire BLOB NOT NULL,                         -- the JSON, lines last, without isOverdue and the closing brace
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
    -- OR, not IN: for a list of three or more SQLite fills a table at every insert, a fifth of what the insert costs
    origin TEXT NOT NULL CHECK (origin = 'system' OR origin = 'imported' OR origin = 'extracted'),
    status TEXT NOT NULL CHECK (
        status = 'draft' OR status = 'issued' OR status = 'sent' OR status = 'part_paid' OR status = 'paid'
        OR status = 'void'
    ),
    number TEXT CHECK ((number IS NULL) = (status = 'draft')),
    seller_key TEXT NOT NULL,                   -- the legal entity, or the organization that sells itself
    legal_entity_id TEXT REFERENCES legal_entities (id),
    business_id TEXT,
    client_id TEXT NOT NULL REFERENCES clients (id),
    credits_invoice_id TEXT REFERENCES invoices (id),
    client_snapshot TEXT,                       -- JSON, NULL while draft
    seller_snapshot TEXT,                       -- JSON, NULL while draft
    issue_date TEXT NOT NULL,
    supply_date TEXT NOT NULL,
    due_date TEXT NOT NULL CHECK (due_date >= issue_date),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    fx_rate TEXT,                               -- units of the base currency for one of the invoice's
    amounts_are TEXT NOT NULL CHECK (
        amounts_are = 'exclusive' OR amounts_are = 'inclusive' OR amounts_are = 'no_vat'
    ),
    vat_rounding TEXT NOT NULL CHECK (vat_rounding = 'line' OR vat_rounding = 'total' OR vat_rounding = 'total_down'),
    net_total INTEGER NOT NULL,
    vat_total INTEGER NOT NULL,
    gross_total INTEGER NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total >= 0),
    discount_amount INTEGER NOT NULL CHECK (discount_amount >= 0),
    discount_total INTEGER NOT NULL,
    reverse_charge_vat INTEGER NOT NULL,
    vat_total_base INTEGER,                     -- minor units of the base currency
    vat_summary TEXT NOT NULL,                  -- JSON array
    cis_deduction INTEGER NOT NULL CHECK (cis_deduction >= 0),
    cis_rate INTEGER CHECK (cis_rate = 0 OR cis_rate = 20 OR cis_rate = 30),
    paid_total INTEGER NOT NULL CHECK (paid_total >= 0),
    credited_total INTEGER NOT NULL,
    balance_due INTEGER NOT NULL,
    reference TEXT,
    po_number TEXT,
    notes TEXT,
    terms TEXT,
    bank_account_id TEXT,
    property_id TEXT,
    sent_at INTEGER,
    viewed_at INTEGER,
    paid_date TEXT,
    voided_at INTEGER,
    void_reason TEXT,
    pdf_document_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL, fx_rate_source TEXT CHECK (fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'), fx_rate_date TEXT, recurring_id TEXT REFERENCES recurring_invoices (id), quote_id TEXT REFERENCES quotes (id), overdue_for TEXT,                  -- number and reference, case-folded
    -- Kept, not generated: an index that holds a generated column never covers a query
    CHECK (
        open_due_date IS CASE
            WHEN (status = 'issued' OR status = 'sent' OR status = 'part_paid') AND balance_due > 0 THEN due_date
        END
    ),
    CHECK (head_length > 0 AND head_length < length(wire)),
    CHECK ((kind = 'credit_note') = (credits_invoice_id IS NOT NULL))
) STRICT;

CREATE INDEX invoices_by_supply ON invoices (org_id, supply_date, business_id, legal_entity_id);

CREATE INDEX invoices_changes ON invoices (org_id, updated_at, id);

CREATE INDEX invoices_credits ON invoices (credits_invoice_id, org_id, id) WHERE credits_invoice_id IS NOT NULL;

CREATE INDEX invoices_credits_by_issue ON invoices (org_id, issue_date, credits_invoice_id)
WHERE credits_invoice_id IS NOT NULL;

CREATE INDEX invoices_credits_by_supply ON invoices (org_id, supply_date, credits_invoice_id)
WHERE credits_invoice_id IS NOT NULL;

CREATE INDEX invoices_due_dates ON invoices (org_id, due_date, id);

CREATE UNIQUE INDEX invoices_external_id ON invoices (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX invoices_issue_dates ON invoices (org_id, issue_date, id);

CREATE UNIQUE INDEX invoices_number ON invoices (org_id, seller_key, number) WHERE number IS NOT NULL;

CREATE INDEX invoices_of_business ON invoices (org_id, business_id, id) WHERE business_id IS NOT NULL;

CREATE INDEX invoices_of_client ON invoices (org_id, client_id, id);

CREATE INDEX invoices_of_quote ON invoices (quote_id, org_id, id) WHERE quote_id IS NOT NULL;

CREATE INDEX invoices_of_recurring ON invoices (org_id, recurring_id, id) WHERE recurring_id IS NOT NULL;

CREATE INDEX invoices_open ON invoices (
    org_id, client_id, currency, open_due_date, balance_due, legal_entity_id, id
) WHERE open_due_date IS NOT NULL;

CREATE INDEX invoices_open_by_balance ON invoices (org_id, balance_due, id) WHERE open_due_date IS NOT NULL;

CREATE INDEX invoices_open_by_date ON invoices (org_id, open_due_date, id) WHERE open_due_date IS NOT NULL;

CREATE INDEX invoices_overpaid ON invoices (org_id, client_id, currency, balance_due)
WHERE balance_due < 0;

CREATE INDEX invoices_page ON invoices (
    org_id, id, currency, business_id, legal_entity_id, kind, property_id, search_text
);

CREATE INDEX invoices_passed ON invoices (open_due_date, id)
    WHERE open_due_date IS NOT NULL AND (overdue_for IS NULL OR overdue_for <> open_due_date);

CREATE INDEX invoices_states ON invoices (org_id, status, id, open_due_date);

CREATE INDEX invoices_supplied ON invoices (org_id, legal_entity_id, supply_date);

CREATE TABLE journeys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT NOT NULL REFERENCES businesses (id),
    tax_year TEXT NOT NULL,
    date TEXT NOT NULL,
    vehicle_kind TEXT NOT NULL CHECK (vehicle_kind IN ('car', 'van', 'motorcycle', 'bicycle')),
    vehicle TEXT NOT NULL,
    driver TEXT,                                -- NULL: the 10,000 miles are the business's
    miles TEXT NOT NULL,                        -- decimal
    from_place TEXT NOT NULL,
    to_place TEXT NOT NULL,
    purpose TEXT NOT NULL,
    passengers INTEGER NOT NULL CHECK (passengers >= 0),
    full_rate_miles TEXT NOT NULL,              -- decimal: of these, at the higher rate
    amount INTEGER NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL CHECK (currency = 'GBP'),
    allocation_id TEXT NOT NULL UNIQUE REFERENCES allocations (id),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX journeys_changes ON journeys (org_id, updated_at, id);

CREATE UNIQUE INDEX journeys_external_id ON journeys (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX journeys_of_vehicle ON journeys (org_id, business_id, vehicle, allocation_id);

CREATE INDEX journeys_of_year ON journeys (org_id, legal_entity_id, tax_year, date, id);

CREATE INDEX journeys_page ON journeys (org_id, id);

CREATE TABLE known_devices (
    hash BLOB NOT NULL,                                 -- SHA-256 of the cookie's token
    user_id TEXT NOT NULL REFERENCES users (id),
    failures INTEGER NOT NULL CHECK (failures >= 0),    -- since the last sign-in
    last_used_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (hash, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX known_devices_by_age ON known_devices (last_used_at);

CREATE INDEX known_devices_of_user ON known_devices (user_id, last_used_at);

CREATE TABLE leads (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    source TEXT NOT NULL CHECK (length(source) BETWEEN 1 AND 64),
    name TEXT,
    email TEXT,
    phone TEXT,
    company TEXT,
    notes TEXT,
    status TEXT NOT NULL CHECK (status IN ('new', 'contacted', 'qualified', 'disqualified', 'converted')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX leads_changes ON leads (org_id, updated_at, id);

CREATE UNIQUE INDEX leads_external_id ON leads (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX leads_page ON leads (org_id, id);

CREATE TABLE leases (
    org_id TEXT NOT NULL,
    subject TEXT NOT NULL,                      -- a kind and an id
    holder TEXT NOT NULL,                       -- a process
    until INTEGER NOT NULL,
    PRIMARY KEY (org_id, subject)
) STRICT;

CREATE TABLE legal_entities (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    name TEXT NOT NULL,
    legal_name TEXT,
    type TEXT NOT NULL CHECK (type IN (
        'individual', 'sole_trader', 'limited_company', 'llp', 'partnership', 'trust', 'charity', 'club', 'other')),
    company_number TEXT,
    utr_hint TEXT,
    nino_sealed BLOB,                           -- encrypted at rest
    nino_hint TEXT,                             -- the last three characters
    vat_number TEXT,                            -- nine digits, without GB
    vat_status TEXT NOT NULL CHECK (vat_status IN ('not_registered', 'registered', 'deregistered', 'pending')),
    vat_effective_date TEXT,
    vat_deregistration_date TEXT,
    vat_scheme TEXT CHECK (vat_scheme IN ('standard', 'cash', 'flat_rate', 'annual')),
    vat_return_frequency TEXT CHECK (vat_return_frequency IN ('monthly', 'quarterly', 'annual')),
    vat_stagger_group INTEGER CHECK (vat_stagger_group BETWEEN 1 AND 3),
    vat_period_end_month INTEGER CHECK (vat_period_end_month BETWEEN 1 AND 12),
    vat_flat_rate_category TEXT,
    vat_flat_rate_percent TEXT,
    vat_flat_rate_start_date TEXT,
    accounting_year_end_month INTEGER NOT NULL CHECK (accounting_year_end_month BETWEEN 1 AND 12),
    accounting_year_end_day INTEGER NOT NULL CHECK (accounting_year_end_day BETWEEN 1 AND 31),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    country_code TEXT NOT NULL CHECK (length(country_code) = 2),
    tax_residency TEXT CHECK (tax_residency IN ('england_ni', 'scotland', 'wales', 'non_uk')),
    address TEXT,                               -- JSON
    email TEXT,
    phone TEXT,
    website TEXT,
    cis_contractor INTEGER NOT NULL CHECK (cis_contractor IN (0, 1)),
    cis_subcontractor INTEGER NOT NULL CHECK (cis_subcontractor IN (0, 1)),
    cis_verified_rate INTEGER CHECK (cis_verified_rate IN (0, 20, 30)),
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL,                  -- names and numbers, case-folded
    wire BLOB NOT NULL                          -- the JSON without utr, nino and the closing brace
, numbered_as_organization INTEGER NOT NULL DEFAULT 0
    CHECK (numbered_as_organization IN (0, 1)), incorporation_date TEXT, itsa_status_tax_year TEXT, itsa_status_status TEXT, itsa_status_reason TEXT, itsa_status_fetched_at INTEGER, utr_sealed BLOB) STRICT;

CREATE INDEX legal_entities_changes ON legal_entities (org_id, updated_at, id);

CREATE UNIQUE INDEX legal_entities_company_number ON legal_entities (org_id, company_number)
    WHERE company_number IS NOT NULL;

CREATE UNIQUE INDEX legal_entities_external_id ON legal_entities (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE UNIQUE INDEX legal_entities_numbered_as_organization ON legal_entities (org_id)
    WHERE numbered_as_organization = 1;

CREATE INDEX legal_entities_page ON legal_entities (org_id, id);

CREATE UNIQUE INDEX legal_entities_vat_number ON legal_entities (org_id, vat_number) WHERE vat_number IS NOT NULL;

CREATE TABLE line_documents (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    bank_transaction_id TEXT NOT NULL,          -- without a reference: an import that is undone takes its lines along
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    PRIMARY KEY (org_id, bank_transaction_id, document_id)
) STRICT;

CREATE INDEX line_documents_of_document ON line_documents (document_id, org_id);

CREATE TABLE mail_attempts (
    mail_id TEXT NOT NULL REFERENCES mails (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    begun_at INTEGER NOT NULL,
    duration_ms INTEGER CHECK (duration_ms >= 0), -- NULL: nobody knows when it ended
    outcome TEXT NOT NULL CHECK (outcome IN ('sent', 'retried', 'failed', 'bounced', 'interrupted')),
    code INTEGER,                               -- of the server's answer; NULL: there was none
    answer TEXT,                                -- what it said, or what went wrong
    PRIMARY KEY (mail_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE mails (
    id TEXT PRIMARY KEY,
    org_id TEXT REFERENCES organizations (id),  -- NULL: about a person's own account
    queue TEXT NOT NULL,                        -- among which it takes its turn: the organization's; '' where of none
    kind TEXT NOT NULL,
    about TEXT,                                 -- the id of what it tells of; NULL: nothing that has one
    recipient TEXT NOT NULL,                    -- the address, as it was given
    recipient_folded TEXT NOT NULL,
    recipient_name TEXT NOT NULL,               -- '': nobody knows it
    subject TEXT NOT NULL,
    letter_sealed BLOB NOT NULL,                -- what it says, with links that open something; empty once it was sent
    status TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'bounced')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0), -- counted when begun, before the server is spoken to
    interruptions INTEGER NOT NULL CHECK (interruptions >= 0 AND interruptions <= attempts), -- of these
    holder TEXT,                                -- which process is sending it; NULL: none
    due_at INTEGER,                             -- next attempt or, under way, end of its lease; NULL: it is over
    last_code INTEGER,                          -- what the server answered last; NULL: nothing
    last_error TEXT,                            -- in words
    last_attempt_at INTEGER,
    completed_at INTEGER,
    expires_at INTEGER,                         -- when what it says is over; NULL: never
    created_at INTEGER NOT NULL,
    CHECK ((due_at IS NOT NULL) = (status = 'queued')),
    CHECK ((completed_at IS NULL) = (due_at IS NOT NULL)),
    CHECK (holder IS NULL OR (due_at IS NOT NULL AND attempts > 0))
) STRICT;

CREATE INDEX mails_about ON mails (org_id, about, id) WHERE about IS NOT NULL;

CREATE INDEX mails_by_end ON mails (completed_at, id) WHERE completed_at IS NOT NULL;

CREATE INDEX mails_ended ON mails (queue, completed_at);

CREATE INDEX mails_held ON mails (holder) WHERE holder IS NOT NULL;

CREATE INDEX mails_of_organization ON mails (org_id, id);

CREATE INDEX mails_queue ON mails (queue, due_at, id) WHERE due_at IS NOT NULL;

CREATE INDEX mails_to ON mails (recipient_folded, completed_at);

CREATE TABLE memberships (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, user_id)
) STRICT;

CREATE INDEX memberships_of_user ON memberships (user_id, org_id);

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE mortgages (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    lender TEXT NOT NULL,
    account_number_masked TEXT,
    type TEXT NOT NULL CHECK (type = 'repayment' OR type = 'interest_only' OR type = 'part_and_part'),
    rate_type TEXT CHECK (
        rate_type = 'fixed' OR rate_type = 'tracker' OR rate_type = 'variable' OR rate_type = 'discount'
        OR rate_type = 'offset'
    ),
    interest_rate TEXT NOT NULL,                -- percent a year; the last of its history
    rate_history TEXT NOT NULL,                 -- JSON, oldest first; the first is of the start
    rate_end_date TEXT,
    reversion_rate TEXT,
    original_amount INTEGER NOT NULL CHECK (original_amount > 0),
    start_date TEXT NOT NULL,
    term_months INTEGER CHECK (term_months > 0),
    monthly_payment INTEGER CHECK (monthly_payment > 0),
    current_balance INTEGER CHECK (current_balance >= 0), -- the last of its history
    balance_date TEXT,
    balance_history TEXT NOT NULL,              -- JSON, oldest first
    erc_until_date TEXT,
    erc_percent TEXT,
    business_purpose_percent TEXT NOT NULL,
    redeemed_date TEXT,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1), owed_by_month BLOB NOT NULL DEFAULT x'',
    CHECK ((current_balance IS NULL) = (balance_date IS NULL))
) STRICT;

CREATE INDEX mortgages_by_change ON mortgages (org_id, updated_at, id);

CREATE UNIQUE INDEX mortgages_by_external_id ON mortgages (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX mortgages_by_id ON mortgages (org_id, id);

CREATE INDEX mortgages_by_rate_end ON mortgages (org_id, rate_end_date, id) WHERE rate_end_date IS NOT NULL;

CREATE INDEX mortgages_of_property ON mortgages (org_id, property_id, id);

CREATE INDEX mortgages_redeemed ON mortgages (org_id, id) WHERE redeemed_date IS NOT NULL;

CREATE INDEX mortgages_to_compute ON mortgages (id) WHERE length(owed_by_month) = 0;

CREATE TABLE oauth_client_secrets (
    hash BLOB PRIMARY KEY,                      -- SHA-256 of the secret, which is shown once
    client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
    ends_at INTEGER,                            -- NULL: until it is rotated
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX oauth_client_secrets_of_client ON oauth_client_secrets (client_id);

CREATE TABLE oauth_clients (
    id TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 2048),  -- ours, or the https URL of a metadata document
    origin TEXT NOT NULL CHECK (origin IN ('registered', 'document')),
    name TEXT NOT NULL,                                 -- what it calls itself: shown, never believed
    metadata BLOB NOT NULL,                             -- JSON: what is honoured (RFC 7591 §2)
    tax_approved_at INTEGER,
    document_fresh_until INTEGER,                       -- the cached document is used without asking until then
    revoked_at INTEGER,
    last_used_day TEXT,                                 -- YYYY-MM-DD, UTC
    created_at INTEGER NOT NULL, by_operator INTEGER NOT NULL DEFAULT 0 CHECK (by_operator IN (0, 1)),
    CHECK ((document_fresh_until IS NOT NULL) = (origin = 'document'))
) STRICT;

CREATE INDEX oauth_clients_by_age ON oauth_clients (created_at);

CREATE INDEX oauth_clients_of_operator ON oauth_clients (by_operator, id);

CREATE TABLE obligation_events (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    obligation_id TEXT NOT NULL REFERENCES obligations (id),
    type TEXT NOT NULL CHECK (type IN (
        'confirmed', 'due_date_changed', 'fulfilled', 'reopened', 'not_required', 'required')),
    at INTEGER NOT NULL,
    noted_by TEXT,                                      -- NULL: the calendar, or the tax authority
    detail TEXT
) STRICT;

CREATE INDEX obligation_events_of ON obligation_events (org_id, obligation_id, id);

CREATE TABLE obligations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN (
        'vat_return', 'vat_payment', 'itsa_quarterly_update', 'itsa_final_declaration', 'self_assessment_payment',
        'payment_on_account', 'corporation_tax_return', 'corporation_tax_payment', 'annual_accounts',
        'confirmation_statement', 'cgt_property_report', 'paye', 'cis_return', 'certificate_renewal', 'custom')),
    name TEXT,                                          -- of what a person entered
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT REFERENCES businesses (id),
    period_id TEXT REFERENCES periods (id),
    slot TEXT NOT NULL,             -- '' for the one of its kind and period; else what tells several apart
    period_start_date TEXT NOT NULL,
    period_end_date TEXT NOT NULL CHECK (period_end_date >= period_start_date),
    due_date TEXT NOT NULL,
    predicted_due_date TEXT,                            -- what the calendar says; NULL: it does not know of this
    status TEXT NOT NULL CHECK (status IN ('open', 'fulfilled', 'not_required')),   -- overdue depends on today
    dismissed INTEGER NOT NULL CHECK (dismissed IN (0, 1)),     -- not required because a person said so
    received_date TEXT,
    fulfilled_at INTEGER,                               -- when that was noted here
    period_key TEXT,
    source TEXT NOT NULL CHECK (source IN ('tax_authority', 'local')),
    confidence TEXT NOT NULL CHECK (confidence IN ('confirmed', 'predicted')),
    penalty TEXT,                                       -- JSON
    amount_due INTEGER,                                 -- minor units of currency
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    last_checked_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1), due_soon_for TEXT, overdue_for TEXT, undecided INTEGER NOT NULL DEFAULT 0 CHECK (undecided IN (0, 1)), calculated INTEGER NOT NULL DEFAULT 0 CHECK (calculated IN (0, 1)),
    CHECK (dismissed = 0 OR status = 'not_required'),
    CHECK ((fulfilled_at IS NULL) = (status <> 'fulfilled'))
) STRICT;

CREATE INDEX obligations_changes ON obligations (org_id, updated_at, id);

CREATE UNIQUE INDEX obligations_external_id ON obligations (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE UNIQUE INDEX obligations_key
    ON obligations (org_id, legal_entity_id, coalesce(business_id, ''), kind, period_end_date, slot);

CREATE INDEX obligations_of_business ON obligations (org_id, business_id, due_date, id);

CREATE INDEX obligations_of_entity ON obligations (org_id, legal_entity_id, due_date, id);

CREATE INDEX obligations_of_kind ON obligations (org_id, kind, due_date, id);

CREATE INDEX obligations_of_period ON obligations (org_id, period_id, id);

CREATE INDEX obligations_of_resource ON obligations (org_id, slot) WHERE slot <> '';

CREATE INDEX obligations_of_status ON obligations (org_id, status, due_date, id);

CREATE INDEX obligations_page ON obligations (org_id, due_date, id);

CREATE INDEX obligations_passed ON obligations (due_date, id)
    WHERE status = 'open' AND (overdue_for IS NULL OR overdue_for <> due_date);

CREATE INDEX obligations_to_come ON obligations (due_date, id)
    WHERE status = 'open' AND (due_soon_for IS NULL OR due_soon_for <> due_date);

CREATE TABLE one_time_links (
    hash BLOB PRIMARY KEY,                              -- SHA-256 of the token in the link
    user_id TEXT NOT NULL REFERENCES users (id),
    purpose TEXT NOT NULL CHECK (purpose IN ('sign_in', 'reset_password')),
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX one_time_links_by_expiry ON one_time_links (expires_at);

CREATE TABLE opportunities (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    lead_id TEXT REFERENCES leads (id),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    pipeline_id TEXT NOT NULL CHECK (length(pipeline_id) BETWEEN 1 AND 64),
    stage TEXT NOT NULL CHECK (length(stage) BETWEEN 1 AND 64),
    amount INTEGER CHECK (amount >= 0),                 -- minor units
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX opportunities_changes ON opportunities (org_id, updated_at, id);

CREATE UNIQUE INDEX opportunities_external_id ON opportunities (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX opportunities_of_lead ON opportunities (lead_id, id) WHERE lead_id IS NOT NULL;

CREATE INDEX opportunities_page ON opportunities (org_id, id);

CREATE TABLE organizations (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    created_at INTEGER NOT NULL
, suspended_at INTEGER, suspended_reason TEXT CHECK (length(suspended_reason) <= 1000), deleting_since INTEGER, time_zone TEXT NOT NULL DEFAULT 'Europe/London'
    CHECK (length(time_zone) BETWEEN 1 AND 64)) STRICT;

CREATE TABLE paper_links (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    about TEXT NOT NULL,                        -- the invoice or quote that it shows
    hash BLOB NOT NULL,                         -- of the token in the address
    token_sealed BLOB NOT NULL,                 -- the token, to say the address again; empty: it is lost, and works
    created_at INTEGER NOT NULL,
    ended_at INTEGER                            -- NULL: it works
) STRICT;

CREATE UNIQUE INDEX paper_links_hash ON paper_links (hash);

CREATE UNIQUE INDEX paper_links_of ON paper_links (org_id, about)
    WHERE ended_at IS NULL AND length(token_sealed) > 0;

CREATE TABLE papers (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    seller_key TEXT NOT NULL,                   -- the legal entity, or the organization that sells in its own name
    legal_entity_id TEXT REFERENCES legal_entities (id), -- NULL: the organization
    trading_name TEXT,
    owners TEXT,
    accent_color TEXT,                          -- #rrggbb
    logo_document_id TEXT,
    bank_account_id TEXT,
    register TEXT,
    registered_office TEXT,                     -- JSON
    terms TEXT,
    footer TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT;

CREATE INDEX papers_of_entity ON papers (legal_entity_id);

CREATE UNIQUE INDEX papers_of_seller ON papers (org_id, seller_key);

CREATE TABLE passkeys (
    credential_id BLOB PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    public_key BLOB NOT NULL,                           -- COSE
    sign_count INTEGER NOT NULL CHECK (sign_count >= 0),
    transports TEXT NOT NULL,                           -- space separated
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    backed_up INTEGER NOT NULL CHECK (backed_up IN (0, 1)),
    last_used_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

CREATE TABLE "period_locks" (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT REFERENCES businesses (id),        -- NULL: all that the entity keeps
    start_date TEXT NOT NULL,
    end_date TEXT NOT NULL CHECK (end_date >= start_date),
    closed_at INTEGER NOT NULL
, closing INTEGER NOT NULL DEFAULT 0 CHECK (closing IN (0, 1))) STRICT;

CREATE UNIQUE INDEX period_locks_key
    ON period_locks (org_id, legal_entity_id, coalesce(business_id, ''), start_date, end_date, closing);

CREATE TABLE period_seals (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    period_id TEXT NOT NULL REFERENCES periods (id),
    number INTEGER NOT NULL CHECK (number >= 1),    -- of the period: 1 for the first
    sealed_at INTEGER NOT NULL,
    sealed_by TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes > 0),
    sha256 TEXT NOT NULL,                       -- of the file, hexadecimal
    contents_sha256 TEXT NOT NULL,              -- of what is in it: the same for the same books
    key_fingerprint TEXT NOT NULL,
    files TEXT NOT NULL,                        -- JSON: path, bytes, rows, sha256
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX period_seals_of_file ON period_seals (sha256);

CREATE UNIQUE INDEX period_seals_of_period ON period_seals (org_id, period_id, number);

CREATE TABLE periods (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT REFERENCES businesses (id),        -- NULL: of the entity as a whole
    type TEXT NOT NULL CHECK (type IN ('vat_period', 'itsa_quarter', 'tax_year', 'financial_year', 'month')),
    label TEXT NOT NULL,
    tax_year TEXT,
    start_date TEXT NOT NULL,
    end_date TEXT NOT NULL CHECK (end_date >= start_date),
    cumulative INTEGER NOT NULL CHECK (cumulative IN (0, 1)),
    filing_due_date TEXT,                               -- NULL: nothing is filed for it
    status TEXT NOT NULL CHECK (status IN ('open', 'closing', 'closed')),
    locked_through_date TEXT,
    closed_at INTEGER,
    closed_by TEXT,
    forced_reason TEXT,                                 -- why it was closed with points of the checklist undone
    reopened_count INTEGER NOT NULL CHECK (reopened_count >= 0),
    reopened_reason TEXT,                               -- of the last time
    archived_at INTEGER,                                -- since when it applies no more
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((closed_at IS NULL) = (status <> 'closed')),
    CHECK ((locked_through_date IS NULL) = (status <> 'closed')),
    CHECK (archived_at IS NULL OR status = 'open')
) STRICT;

CREATE INDEX periods_changes ON periods (org_id, updated_at, id);

CREATE UNIQUE INDEX periods_key ON periods (org_id, legal_entity_id, coalesce(business_id, ''), type, end_date);

CREATE INDEX periods_of_business ON periods (org_id, business_id, end_date, id);

CREATE INDEX periods_of_entity ON periods (org_id, legal_entity_id, end_date, id, type);

CREATE INDEX periods_page ON periods (org_id, end_date, id, type);

CREATE TABLE proof_counts (
    kind TEXT NOT NULL,
    thumbprint TEXT NOT NULL,                   -- '': of all keys together
    minute INTEGER NOT NULL,                    -- since 1970
    used INTEGER NOT NULL,
    PRIMARY KEY (kind, thumbprint, minute)
) STRICT, WITHOUT ROWID;

CREATE INDEX proof_counts_by_minute ON proof_counts (minute);

CREATE TABLE properties (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    business_id TEXT NOT NULL REFERENCES businesses (id),
    name TEXT NOT NULL,
    address TEXT,                               -- JSON
    uprn TEXT,
    jurisdiction TEXT NOT NULL CHECK (
        jurisdiction = 'england' OR jurisdiction = 'wales' OR jurisdiction = 'scotland'
        OR jurisdiction = 'northern_ireland' OR jurisdiction = 'other'
    ),
    type TEXT NOT NULL CHECK (
        type = 'house' OR type = 'flat' OR type = 'maisonette' OR type = 'bungalow' OR type = 'hmo' OR type = 'studio'
        OR type = 'block' OR type = 'commercial' OR type = 'mixed_use' OR type = 'land' OR type = 'garage'
        OR type = 'other'
    ),
    use TEXT NOT NULL CHECK (
        use = 'residential_let' OR use = 'commercial_let' OR use = 'mixed' OR use = 'holiday_let'
        OR use = 'rent_a_room' OR use = 'own_use' OR use = 'vacant'
    ),
    tenure TEXT CHECK (tenure = 'freehold' OR tenure = 'leasehold' OR tenure = 'commonhold' OR tenure = 'other'),
    lease_expiry_date TEXT,
    ground_rent_annual INTEGER,
    service_charge_annual INTEGER,
    furnished TEXT CHECK (furnished = 'furnished' OR furnished = 'part_furnished' OR furnished = 'unfurnished'),
    bedrooms INTEGER,
    area_sqm TEXT,
    owners TEXT NOT NULL,                       -- JSON; empty: the entity of the business alone
    owner_share_percent TEXT,                   -- of the entity of the business; NULL: as the business says
    acquisition_date TEXT,
    purchase_price INTEGER,
    acquisition_costs INTEGER,
    improvement_costs INTEGER,
    disposal_date TEXT,
    disposal_proceeds INTEGER,
    disposal_costs INTEGER,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    local_authority TEXT,
    council_tax_band TEXT,
    licensing TEXT NOT NULL CHECK (
        licensing = 'none' OR licensing = 'mandatory_hmo' OR licensing = 'additional_hmo' OR licensing = 'selective'
        OR licensing = 'unknown'
    ),
    gas_supply INTEGER CHECK (gas_supply = 0 OR gas_supply = 1),
    foreign_property_id TEXT,
    status TEXT NOT NULL CHECK (status = 'active' OR status = 'under_offer' OR status = 'sold' OR status = 'archived'),
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL, postcode_key TEXT NOT NULL DEFAULT '', may_lack INTEGER NOT NULL DEFAULT 1 CHECK (may_lack = 0 OR may_lack = 1),                  -- names and address, case-folded
    CHECK ((status = 'archived') = (archived_at IS NOT NULL))
) STRICT;

CREATE INDEX properties_by_change ON properties (org_id, updated_at, id);

CREATE UNIQUE INDEX properties_by_external_id ON properties (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX properties_by_id ON properties (org_id, id, archived_at, status, use, search_text);

CREATE INDEX properties_by_postcode ON properties (org_id, postcode_key, id);

CREATE INDEX properties_lacking ON properties (org_id, id) WHERE may_lack = 1;

CREATE INDEX properties_of_business ON properties (org_id, business_id, id);

CREATE TABLE property_units (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,                     -- case-folded
    type TEXT NOT NULL CHECK (
        type = 'whole' OR type = 'room' OR type = 'flat' OR type = 'commercial_unit' OR type = 'parking'
        OR type = 'storage' OR type = 'other'
    ),
    floor TEXT,
    bedrooms INTEGER,
    area_sqm TEXT,
    market_rent INTEGER,
    rent_frequency TEXT CHECK (
        rent_frequency = 'weekly' OR rent_frequency = 'fortnightly' OR rent_frequency = 'four_weekly'
        OR rent_frequency = 'monthly' OR rent_frequency = 'quarterly' OR rent_frequency = 'annually'
    ),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
, let_until TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX property_units_by_change ON property_units (org_id, updated_at, id);

CREATE UNIQUE INDEX property_units_by_external_id ON property_units (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX property_units_by_id ON property_units (org_id, id, archived_at, property_id);

CREATE UNIQUE INDEX property_units_by_name ON property_units (org_id, property_id, name_key);

CREATE INDEX property_units_let ON property_units (org_id, id) WHERE let_until = '9999-12-31';

CREATE INDEX property_units_not_let ON property_units (org_id, id) WHERE let_until < '9999-12-31';

CREATE INDEX property_units_of_property ON property_units (org_id, property_id, id);

CREATE TABLE property_valuations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    valuation_date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    method TEXT NOT NULL CHECK (
        method = 'purchase' OR method = 'surveyor' OR method = 'agent' OR method = 'automated'
        OR method = 'house_price_index' OR method = 'owner_estimate' OR method = 'tribunal'
    ),
    source TEXT,
    confidence TEXT CHECK (confidence = 'low' OR confidence = 'medium' OR confidence = 'high'),
    document_id TEXT,
    notes TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX property_valuations_by_change ON property_valuations (org_id, updated_at, id);

CREATE INDEX property_valuations_by_date ON property_valuations (org_id, valuation_date, id);

CREATE UNIQUE INDEX property_valuations_by_external_id ON property_valuations (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX property_valuations_of_property ON property_valuations (org_id, property_id, valuation_date, id);

CREATE TABLE quarter_choices (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    business_id TEXT NOT NULL REFERENCES businesses (id),
    first_year INTEGER NOT NULL,                -- in which the tax year begins; 0: nobody knows since when
    type TEXT NOT NULL CHECK (type IN ('standard', 'calendar')),
    PRIMARY KEY (org_id, business_id, first_year)
) STRICT, WITHOUT ROWID;

CREATE TABLE quotes (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('draft', 'sent', 'accepted', 'declined', 'invoiced')),
    number TEXT CHECK ((number IS NULL) = (state = 'draft')),
    seller_key TEXT NOT NULL,                   -- the legal entity, or the organization that sells itself
    client_id TEXT NOT NULL REFERENCES clients (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),
    business_id TEXT,
    client_snapshot TEXT,                       -- JSON, NULL while draft
    seller_snapshot TEXT,                       -- JSON, NULL while draft
    issue_date TEXT NOT NULL,
    valid_until TEXT NOT NULL CHECK (valid_until >= issue_date),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amounts_are TEXT NOT NULL CHECK (amounts_are IN ('exclusive', 'inclusive', 'no_vat')),
    vat_rounding TEXT NOT NULL CHECK (vat_rounding IN ('line', 'total', 'total_down')),
    net_total INTEGER NOT NULL,
    vat_total INTEGER NOT NULL,
    gross_total INTEGER NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total >= 0),
    discount_amount INTEGER NOT NULL CHECK (discount_amount >= 0),
    discount_total INTEGER NOT NULL,
    reverse_charge_vat INTEGER NOT NULL,
    vat_summary TEXT NOT NULL,                  -- JSON array
    cis_deduction INTEGER NOT NULL CHECK (cis_deduction >= 0),
    cis_rate INTEGER CHECK (cis_rate IN (0, 20, 30)),
    invoiced_total INTEGER NOT NULL,
    reference TEXT,
    po_number TEXT,
    notes TEXT,
    terms TEXT,
    property_id TEXT,
    asked TEXT NOT NULL,                        -- JSON array: the lines as they were asked for
    lines TEXT NOT NULL,                        -- JSON array: with what they come to
    sent_at INTEGER,
    accepted_date TEXT,
    declined_at INTEGER,
    decline_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
, viewed_at INTEGER, answered_by TEXT) STRICT;

CREATE INDEX quotes_changes ON quotes (org_id, updated_at, id);

CREATE UNIQUE INDEX quotes_external_id ON quotes (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE UNIQUE INDEX quotes_number ON quotes (org_id, seller_key, number) WHERE number IS NOT NULL;

CREATE INDEX quotes_page ON quotes (org_id, id, state, client_id);

CREATE TABLE recovery_codes (
    user_id TEXT NOT NULL REFERENCES users (id),
    hash BLOB NOT NULL,                                 -- SHA-256 of the code, which is random
    used_at INTEGER,
    PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE recurring_days (
    org_id TEXT NOT NULL,
    recurring_id TEXT NOT NULL REFERENCES recurring_invoices (id),
    date TEXT NOT NULL,
    invoice_id TEXT,                            -- NULL: somebody chose to leave it out
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, recurring_id, date)
) STRICT, WITHOUT ROWID;

CREATE TABLE "recurring_invoices" (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'halted', 'ended')),
    client_id TEXT NOT NULL REFERENCES clients (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),
    business_id TEXT,
    every INTEGER NOT NULL CHECK (every BETWEEN 1 AND 120),
    unit TEXT NOT NULL CHECK (unit IN ('week', 'month')),
    start_date TEXT NOT NULL,
    day_of_month INTEGER CHECK (day_of_month BETWEEN 1 AND 31),
    end_date TEXT,
    times INTEGER CHECK (times >= 1),
    makes TEXT NOT NULL CHECK (makes IN ('draft', 'issued', 'sent')),
    next_date TEXT,                             -- the next day that is due; NULL: ended
    next_index INTEGER NOT NULL CHECK (next_index >= 0), -- how many days of the rhythm are behind it
    made_count INTEGER NOT NULL CHECK (made_count >= 0),
    charged TEXT,                               -- JSON: VAT code and rate of each line; NULL: what holds next time
    payment_terms_days INTEGER,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amounts_are TEXT NOT NULL CHECK (amounts_are IN ('exclusive', 'inclusive', 'no_vat')),
    vat_rounding TEXT NOT NULL CHECK (vat_rounding IN ('line', 'total', 'total_down')),
    discount_amount INTEGER NOT NULL CHECK (discount_amount >= 0),
    reference TEXT,
    po_number TEXT,
    notes TEXT,
    terms TEXT,
    bank_account_id TEXT,
    property_id TEXT,
    lines TEXT NOT NULL,                        -- JSON array
    halted_code TEXT,
    halted_reason TEXT,
    halted_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((status = 'ended') = (next_date IS NULL)),
    CHECK ((status = 'halted') = (halted_reason IS NOT NULL))
) STRICT;

CREATE INDEX recurring_invoices_changes ON recurring_invoices (org_id, updated_at, id);

CREATE INDEX recurring_invoices_due ON recurring_invoices (next_date, org_id, id) WHERE status = 'active';

CREATE UNIQUE INDEX recurring_invoices_external_id ON recurring_invoices (org_id, external_id)
    WHERE external_id IS NOT NULL;

CREATE INDEX recurring_invoices_page ON recurring_invoices (org_id, id, status, client_id);

CREATE TABLE refresh_tokens (
    hash BLOB PRIMARY KEY,                              -- SHA-256 of the token
    grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL CHECK (generation >= 1),
    superseded_at INTEGER,
    answer_sealed BLOB,                                 -- the answer that superseded it, encrypted, for the grace window
    created_at INTEGER NOT NULL,
    CHECK ((superseded_at IS NULL) = (answer_sealed IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX refresh_tokens_of_grant ON refresh_tokens (grant_id, generation);

CREATE TABLE removals (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    resource TEXT NOT NULL,                             -- the name of its table
    removed_at INTEGER NOT NULL,                        -- in the order of `updated_at`
    id TEXT NOT NULL,
    PRIMARY KEY (org_id, resource, removed_at, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX removals_by_age ON removals (removed_at);

CREATE TABLE removals_forgotten (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    resource TEXT NOT NULL,
    latest INTEGER NOT NULL,                            -- when the last of those was removed that are no longer kept
    PRIMARY KEY (org_id, resource)
) STRICT, WITHOUT ROWID;

CREATE TABLE rents_received (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    tenancy_id TEXT NOT NULL REFERENCES tenancies (id),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amount INTEGER NOT NULL, unpaid_from TEXT,                    -- minor units, of all dates; below 0: more was given back
    PRIMARY KEY (org_id, tenancy_id, currency)
) STRICT, WITHOUT ROWID;

CREATE INDEX rents_received_unpaid ON rents_received (org_id, unpaid_from, tenancy_id, currency, amount)
WHERE unpaid_from IS NOT NULL;

CREATE TABLE restores (
    restored_at INTEGER PRIMARY KEY,
    backup_made_at INTEGER NOT NULL
) STRICT;

CREATE TABLE seal_keys (
    kid TEXT PRIMARY KEY,                       -- its thumbprint (RFC 7638)
    private_sealed BLOB NOT NULL,               -- the private JWK, encrypted at rest
    public_jwk TEXT NOT NULL,                   -- JSON
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,                          -- SHA-256 of the cookie's token
    user_id TEXT NOT NULL REFERENCES users (id),
    methods TEXT NOT NULL CHECK (length(methods) > 0),  -- space separated amr values (RFC 8176)
    authenticated_at INTEGER NOT NULL,                  -- auth_time: when the password or passkey was last given
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL,                              -- '' on a unix socket
    last_seen_at INTEGER NOT NULL,                      -- written at most every few minutes
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE INDEX sessions_of_user ON sessions (user_id, id);

CREATE TABLE sign_in_failures (
    subject TEXT PRIMARY KEY,                           -- 'account:<folded address>' or 'network:<prefix>'
    failures INTEGER NOT NULL CHECK (failures >= 1),
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    locked_until INTEGER                                -- NULL: not locked
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_in_failures_by_age ON sign_in_failures (last_at);

CREATE TABLE signing_keys (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL CHECK (alg IN ('ES256', 'RS256')),
    private_sealed BLOB NOT NULL,                       -- the private JWK, encrypted at rest
    public_jwk TEXT NOT NULL,                           -- JSON
    signs_from INTEGER NOT NULL,
    signs_until INTEGER,                                -- NULL: until the next one is made
    published_until INTEGER,                            -- NULL with signs_until; then later by the longest token's life
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE stated_balances (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    date TEXT NOT NULL,
    opens_on TEXT NOT NULL,                     -- the day after, which it is the opening balance of
    balance INTEGER NOT NULL,                   -- minor units
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    note TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE UNIQUE INDEX stated_balances_of_day ON stated_balances (org_id, account_id, date);

CREATE TABLE statement_gaps (
    org_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    import_id TEXT NOT NULL REFERENCES import_runs (id),
    date TEXT NOT NULL,
    PRIMARY KEY (org_id, account_id, import_id, date)
) STRICT;

CREATE TABLE tax_calls (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    credential_id TEXT NOT NULL,
    user_id TEXT,
    operation TEXT NOT NULL,
    status INTEGER NOT NULL,                            -- what the caller was answered
    code TEXT,                                          -- the code of a problem of ours; NULL: the upstream's answer
    correlation_id TEXT,                                -- the upstream's own name for the call
    milliseconds INTEGER NOT NULL
, legal_entity_id TEXT, warnings TEXT) STRICT;

CREATE INDEX tax_calls_of_org ON tax_calls (org_id, id);

CREATE TABLE "tax_connections" (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),    -- NULL: of every entity that has no grant of its own
    access_sealed BLOB NOT NULL,                        -- bearer token, encrypted at rest
    refresh_sealed BLOB,                                -- NULL: cannot be refreshed
    scope TEXT NOT NULL,
    expires_at INTEGER,                                 -- of the access token; NULL: not known
    generation INTEGER NOT NULL CHECK (generation >= 1),    -- counts the replacements
    connected_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX tax_connections_key ON tax_connections (org_id, coalesce(legal_entity_id, ''));

CREATE TABLE tax_requests (
    id TEXT PRIMARY KEY,
    org_id TEXT REFERENCES organizations (id),          -- of the key; NULL: a client belongs to the instance
    kind TEXT NOT NULL CHECK (kind IN ('key', 'client')),
    subject TEXT NOT NULL,                              -- the key's or the client's id
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'refused')),
    attestation TEXT,                                   -- what the vendor declared, word for word
    requested_by TEXT NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    reason TEXT,                                        -- why it was refused
    created_at INTEGER NOT NULL,
    CHECK ((status = 'pending') = (decided_at IS NULL)),
    CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
    CHECK ((kind = 'key') = (org_id IS NOT NULL))
) STRICT;

CREATE INDEX tax_requests_by_status ON tax_requests (status, id);

CREATE INDEX tax_requests_of_subject ON tax_requests (kind, subject, id);

CREATE UNIQUE INDEX tax_requests_pending ON tax_requests (kind, subject) WHERE status = 'pending';

CREATE TABLE "tax_standings" (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),    -- NULL: of every entity that has none of its own
    vat INTEGER NOT NULL CHECK (vat IN (0, 1)),
    itsa INTEGER NOT NULL CHECK (itsa IN (0, 1)),
    expires_at INTEGER NOT NULL                         -- of the grant, not of the access token
) STRICT;

CREATE UNIQUE INDEX tax_standings_key ON tax_standings (org_id, coalesce(legal_entity_id, ''));

CREATE TABLE tax_year_figures (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    first_year INTEGER NOT NULL,   -- 2024 is 2024-25
    qualifying_income INTEGER CHECK (qualifying_income >= 0), -- pence, before expenses; NULL: nobody said
    tax_assessed INTEGER CHECK (tax_assessed >= 0),           -- pence; NULL: nobody said
    tax_deducted INTEGER CHECK (tax_deducted >= 0),           -- of it, at source
    is_exempt INTEGER NOT NULL CHECK (is_exempt IN (0, 1)),   -- from quarterly updates in this year
    updated_at INTEGER NOT NULL, residence TEXT CHECK (
    residence = 'resident' OR residence = 'not_resident' OR residence = 'split'
),
    PRIMARY KEY (org_id, legal_entity_id, first_year)
) STRICT, WITHOUT ROWID;

CREATE TABLE tenancies (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    unit_id TEXT REFERENCES property_units (id), -- NULL: the whole property
    tenant_ids TEXT NOT NULL,                   -- JSON, the lead first
    type TEXT NOT NULL CHECK (
        type = 'assured_periodic' OR type = 'assured_shorthold' OR type = 'occupation_contract'
        OR type = 'private_residential_tenancy' OR type = 'private_tenancy_ni' OR type = 'regulated' OR type = 'lodger'
        OR type = 'company_let' OR type = 'commercial_lease' OR type = 'other'
    ),
    start_date TEXT NOT NULL,
    term_end_date TEXT,                         -- of the agreement
    end_date TEXT,                              -- after all
    rent_frequency TEXT NOT NULL CHECK (
        rent_frequency = 'weekly' OR rent_frequency = 'fortnightly' OR rent_frequency = 'four_weekly'
        OR rent_frequency = 'monthly' OR rent_frequency = 'quarterly' OR rent_frequency = 'annually'
    ),
    rent_due_day INTEGER NOT NULL CHECK (rent_due_day BETWEEN 1 AND 31),
    bills_included INTEGER NOT NULL CHECK (bills_included = 0 OR bills_included = 1),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    rent_history TEXT NOT NULL,                 -- JSON, oldest first; the first is of the start
    deposit_amount INTEGER,
    deposit_scheme TEXT CHECK (
        deposit_scheme = 'dps' OR deposit_scheme = 'tds' OR deposit_scheme = 'mydeposits'
        OR deposit_scheme = 'safedeposits_scotland' OR deposit_scheme = 'lps_scotland' OR deposit_scheme = 'tdsni'
        OR deposit_scheme = 'none'
    ),
    deposit_reference TEXT,
    deposit_protected_date TEXT,
    deposit_returned_amount INTEGER,
    deposit_returned_date TEXT,
    notice_served_date TEXT,
    notice_by TEXT CHECK (notice_by = 'landlord' OR notice_by = 'tenant'),
    notice_expiry_date TEXT,
    notes TEXT,
    cancelled_at INTEGER,
    ending_told_for TEXT,                       -- the last day that `tenancy.ending` told of
    rent_told_for TEXT,                         -- the latest due date that `rent.overdue` told of
    rent_looked_at_on TEXT NOT NULL DEFAULT '', -- the latest day on which its rent was looked at
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    last_day TEXT,                              -- of the tenancy, by law, notice and what was said; NULL: it goes on
    rent_total INTEGER                          -- of all its days; NULL: it goes on
, last_rent INTEGER, last_rent_from TEXT, expected_end TEXT, tenant_spans TEXT NOT NULL DEFAULT '[]', last_rent_frequency TEXT, deposit_received_date TEXT, notice_kind TEXT, notice_grounds TEXT NOT NULL DEFAULT '[]', rent_quarter_days TEXT CHECK (
    rent_quarter_days IS NULL OR rent_frequency = 'quarterly'
        AND (rent_quarter_days = 'english' OR rent_quarter_days = 'scottish' OR rent_quarter_days = 'modern')
)) STRICT;

CREATE INDEX tenancies_by_change ON tenancies (org_id, updated_at, id);

CREATE INDEX tenancies_by_deposit_return ON tenancies (org_id, deposit_returned_date)
WHERE deposit_returned_date IS NOT NULL;

CREATE INDEX tenancies_by_expected_end ON tenancies (org_id, expected_end, id)
WHERE expected_end IS NOT NULL AND cancelled_at IS NULL;

CREATE UNIQUE INDEX tenancies_by_external_id ON tenancies (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX tenancies_by_id ON tenancies (org_id, id, start_date, last_day, cancelled_at);

CREATE INDEX tenancies_by_last_day ON tenancies (org_id, last_day, id, property_id, unit_id);

CREATE INDEX tenancies_by_start ON tenancies (org_id, start_date, id);

CREATE INDEX tenancies_cancelled ON tenancies (org_id, id) WHERE cancelled_at IS NOT NULL;

CREATE INDEX tenancies_going_on ON tenancies (org_id, start_date) WHERE last_day IS NULL AND cancelled_at IS NULL;

CREATE INDEX tenancies_in_property ON tenancies (org_id, property_id, id);

CREATE INDEX tenancies_noticed ON tenancies (
    org_id, notice_served_date, id, property_id, unit_id, last_day, cancelled_at
)
WHERE last_day IS NULL AND notice_served_date IS NOT NULL AND cancelled_at IS NULL;

CREATE INDEX tenancies_occupying ON tenancies (
    org_id, property_id, start_date, unit_id, last_day, notice_served_date, cancelled_at
) WHERE cancelled_at IS NULL;

CREATE INDEX tenancies_of_property ON tenancies (org_id, property_id, start_date, id);

CREATE INDEX tenancies_of_unit ON tenancies (org_id, unit_id, id) WHERE unit_id IS NOT NULL;

CREATE INDEX tenancies_that_may_owe ON tenancies (
    org_id, id, currency, last_day, property_id, rent_total, cancelled_at
)
WHERE last_day IS NOT NULL AND cancelled_at IS NULL;

CREATE INDEX tenancies_to_look_at ON tenancies (rent_looked_at_on, id) WHERE cancelled_at IS NULL;

CREATE INDEX tenancies_to_tell ON tenancies (expected_end, id)
WHERE cancelled_at IS NULL AND (ending_told_for IS NULL OR ending_told_for <> expected_end);

CREATE INDEX tenancies_with_an_end ON tenancies (org_id, id, last_day) WHERE last_day IS NOT NULL AND cancelled_at IS NULL;

CREATE INDEX tenancies_with_deposit_held ON tenancies (org_id, start_date)
WHERE deposit_amount IS NOT NULL AND deposit_returned_date IS NULL;

CREATE TABLE tenancy_tenants (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    tenancy_id TEXT NOT NULL REFERENCES tenancies (id),
    tenant_id TEXT NOT NULL REFERENCES tenants (id), to_date TEXT,
    PRIMARY KEY (org_id, tenancy_id, tenant_id)
) STRICT;

CREATE INDEX tenancy_tenants_of_tenant ON tenancy_tenants (org_id, tenant_id, tenancy_id, to_date);

CREATE TABLE tenants (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind = 'person' OR kind = 'company'),
    first_name TEXT,
    last_name TEXT,
    company_name TEXT,
    company_number TEXT,
    email TEXT,
    phone TEXT,
    correspondence_address TEXT,                -- JSON
    right_to_rent_status TEXT NOT NULL CHECK (
        right_to_rent_status = 'not_checked' OR right_to_rent_status = 'passed'
        OR right_to_rent_status = 'time_limited' OR right_to_rent_status = 'failed' OR right_to_rent_status = 'exempt'
    ),
    right_to_rent_checked_date TEXT,
    right_to_rent_expiry_date TEXT,
    guarantor TEXT,                             -- JSON
    notes TEXT,
    anonymised_at INTEGER,
    anonymised_reason TEXT,                     -- why before records had been kept for long enough
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL                   -- names, email and phone, case-folded
, lets_until TEXT) STRICT;

CREATE INDEX tenants_by_change ON tenants (org_id, updated_at, id);

CREATE UNIQUE INDEX tenants_by_external_id ON tenants (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX tenants_by_id ON tenants (org_id, id);

CREATE INDEX tenants_leaving ON tenants (org_id, id) WHERE lets_until < '9999-12-31';

CREATE INDEX tenants_never_let ON tenants (org_id, id) WHERE lets_until IS NULL;

CREATE INDEX tenants_staying ON tenants (org_id, id) WHERE lets_until = '9999-12-31';

CREATE TABLE totp_secrets (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    secret_sealed BLOB NOT NULL,                        -- encrypted at rest
    confirmed_at INTEGER,                               -- NULL: shown, and not yet proved
    last_step INTEGER NOT NULL,                         -- the newest time step used: a code works once (RFC 6238 §5.2)
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE update_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    latest INTEGER NOT NULL
, accepted_latest INTEGER NOT NULL DEFAULT 0, accepted_at INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE upload_files (
    org_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    file TEXT NOT NULL,                         -- in the folder of uploads
    writer TEXT,                                -- a request; NULL: none appends now
    PRIMARY KEY (org_id, document_id)
) STRICT;

CREATE TABLE used_assertions (
    hash BLOB PRIMARY KEY,                      -- SHA-256 of client and jti
    ends_at INTEGER NOT NULL
) STRICT;

CREATE INDEX used_assertions_by_end ON used_assertions (ends_at);

CREATE TABLE used_challenges (
    nonce BLOB PRIMARY KEY,
    ends_at INTEGER NOT NULL                    -- from then on its challenge is too old anyway
) STRICT, WITHOUT ROWID;

CREATE INDEX used_challenges_by_end ON used_challenges (ends_at);

CREATE TABLE used_proofs (
    kind TEXT NOT NULL,                         -- what they were used for: each kind has quotas of its own
    proof BLOB NOT NULL,                        -- a hash of key and jti
    ends_at INTEGER NOT NULL,
    PRIMARY KEY (kind, proof)
) STRICT, WITHOUT ROWID;

CREATE INDEX used_proofs_by_end ON used_proofs (ends_at);

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    email_folded TEXT NOT NULL UNIQUE,          -- lower case: one account per address
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    password_hash TEXT,                         -- argon2id, NULL where none was set
    instance_admin INTEGER NOT NULL CHECK (instance_admin IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
, disabled_at INTEGER, addresses_since INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE vat_period_liabilities (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    period_id TEXT NOT NULL REFERENCES periods (id),
    liability INTEGER NOT NULL CHECK (liability >= 0),        -- pence; 0 where VAT is repaid
    PRIMARY KEY (org_id, period_id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE vault_accesses (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    reader TEXT NOT NULL,                       -- the user, or the credential that is nobody's
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    at INTEGER NOT NULL,
    PRIMARY KEY (org_id, reader, document_id)
) STRICT;

CREATE INDEX vault_accesses_by_reader ON vault_accesses (org_id, reader, at, document_id);

CREATE INDEX vault_accesses_of_document ON vault_accesses (document_id, at);

CREATE TABLE vault_chunks (
    number INTEGER PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 0),
    page INTEGER NOT NULL,                      -- 0: the name alone
    start INTEGER NOT NULL,                     -- in characters of the page
    length INTEGER NOT NULL,
    digest BLOB NOT NULL,                       -- of what is embedded
    model TEXT NOT NULL,                        -- whose vector it is; empty: of none yet
    vector BLOB,                                -- float32, little-endian, of length 1
    code BLOB                                   -- the signs of the vector, a bit each
) STRICT;

CREATE INDEX vault_chunks_by_model ON vault_chunks (model, number);

CREATE UNIQUE INDEX vault_chunks_of_document ON vault_chunks (org_id, document_id, n);

CREATE INDEX vault_chunks_with_code ON vault_chunks (org_id, model, number, code, document_id) WHERE code IS NOT NULL;

CREATE TABLE vault_documents (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,                     -- case-folded
    date_key TEXT NOT NULL,                     -- the date of the document; empty: nobody said
    size_key INTEGER NOT NULL,                  -- of its bytes; -1: there are none
    original_name TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    size_bytes INTEGER,                         -- of what was received; NULL: nothing was
    sha256 TEXT,
    page_count INTEGER,
    folder_id TEXT REFERENCES vault_folders (id), -- NULL: at the top
    starred INTEGER NOT NULL CHECK (starred = 0 OR starred = 1),
    thumbnail_url TEXT,
    contract_id TEXT,
    document_date TEXT,
    status TEXT NOT NULL CHECK (status = 'pending_upload' OR status = 'uploaded' OR status = 'deleted'),
    on_duplicate TEXT NOT NULL CHECK (on_duplicate = 'allow' OR on_duplicate = 'reject'),
    links TEXT NOT NULL,                        -- JSON
    upload_hash BLOB,                           -- SHA-256 of the token in the URL; NULL: it is used up
    upload_expires_at INTEGER NOT NULL,
    declared_size_bytes INTEGER,
    declared_sha256 TEXT,
    received_at INTEGER,
    confirmed_at INTEGER,
    created_by TEXT NOT NULL,
    deleted_at INTEGER,
    archive_until_date TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX vault_documents_awaited ON vault_documents (org_id, id) WHERE upload_hash IS NOT NULL;

CREATE INDEX vault_documents_by_change ON vault_documents (org_id, updated_at, id);

CREATE INDEX vault_documents_by_content ON vault_documents (sha256) WHERE sha256 IS NOT NULL;

CREATE INDEX vault_documents_by_creation ON vault_documents (org_id, coalesce(folder_id, ''), id)
WHERE status <> 'deleted';

CREATE INDEX vault_documents_by_date ON vault_documents (org_id, coalesce(folder_id, ''), date_key, id)
WHERE status <> 'deleted';

CREATE INDEX vault_documents_by_document_date ON vault_documents (org_id, date_key, id) WHERE status <> 'deleted';

CREATE UNIQUE INDEX vault_documents_by_external_id ON vault_documents (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX vault_documents_by_id ON vault_documents (org_id, id) WHERE status <> 'deleted';

CREATE INDEX vault_documents_by_name ON vault_documents (org_id, coalesce(folder_id, ''), name_key, id)
WHERE status <> 'deleted';

CREATE INDEX vault_documents_by_size ON vault_documents (org_id, coalesce(folder_id, ''), size_key, id)
WHERE status <> 'deleted';

CREATE UNIQUE INDEX vault_documents_by_upload ON vault_documents (upload_hash) WHERE upload_hash IS NOT NULL;

CREATE INDEX vault_documents_deleted ON vault_documents (deleted_at, id, archive_until_date, org_id)
WHERE deleted_at IS NOT NULL;

CREATE INDEX vault_documents_in_trash ON vault_documents (org_id, id) WHERE status = 'deleted';

CREATE INDEX vault_documents_of_contract ON vault_documents (org_id, contract_id, id)
WHERE contract_id IS NOT NULL AND status <> 'deleted';

CREATE INDEX vault_documents_of_folder ON vault_documents (folder_id) WHERE folder_id IS NOT NULL;

CREATE INDEX vault_documents_starred ON vault_documents (org_id, starred, id) WHERE starred = 1 AND status <> 'deleted';

CREATE INDEX vault_documents_to_come ON vault_documents (org_id, status, id) WHERE status = 'pending_upload';

CREATE TABLE vault_folders (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,                     -- case-folded
    parent_id TEXT REFERENCES vault_folders (id), -- NULL: at the top
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE UNIQUE INDEX vault_folders_by_external_id ON vault_folders (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE UNIQUE INDEX vault_folders_by_name ON vault_folders (org_id, coalesce(parent_id, ''), name_key);

CREATE INDEX vault_folders_of_parent ON vault_folders (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE vault_index_parts (
    number INTEGER PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL,
    first_page INTEGER NOT NULL,                -- 0: it has its name alone
    last_page INTEGER NOT NULL
) STRICT;

CREATE INDEX vault_index_parts_of_document ON vault_index_parts (org_id, document_id, number);

CREATE TABLE vault_index_queue (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL,
    revision INTEGER NOT NULL,                  -- of what is to be indexed: it may change while that is done
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, document_id)
) STRICT;

CREATE INDEX vault_index_queue_oldest ON vault_index_queue (org_id, queued_at, document_id);

CREATE TABLE vault_learned (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    sender_key TEXT NOT NULL,                   -- a VAT number, a bank account or the letters of a name, each with its kind
    field TEXT NOT NULL,
    value TEXT,                                 -- what it always is; NULL: what stands behind the label
    label TEXT,                                 -- the letters before the right value
    learned_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, sender_key, field),
    CHECK ((value IS NULL) <> (label IS NULL))
) STRICT;

CREATE INDEX vault_learned_by_age ON vault_learned (org_id, learned_at, sender_key, field);

CREATE TABLE vault_links (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    token_hash BLOB NOT NULL,                   -- SHA-256
    expires_at INTEGER,                         -- NULL: it is permanent
    password_hash TEXT,
    wrong_passwords INTEGER NOT NULL DEFAULT 0, -- in a row
    locked_until INTEGER,                       -- no password is looked at before
    max_downloads INTEGER,
    downloads INTEGER NOT NULL,
    variant TEXT NOT NULL,
    last_accessed_at INTEGER,
    revoked_at INTEGER,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
, user_id TEXT) STRICT;

CREATE UNIQUE INDEX vault_links_by_token ON vault_links (token_hash);

CREATE INDEX vault_links_of_document ON vault_links (document_id, org_id, id);

CREATE INDEX vault_links_open ON vault_links (org_id, id) WHERE revoked_at IS NULL;

CREATE TABLE vault_pages (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    number INTEGER NOT NULL CHECK (number >= 1),
    text TEXT NOT NULL,
    PRIMARY KEY (org_id, document_id, number)
) STRICT;

CREATE INDEX vault_pages_of_document ON vault_pages (document_id);

CREATE TABLE vault_parse_attempts (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    n INTEGER NOT NULL CHECK (n >= 1),
    status TEXT NOT NULL CHECK (
        status = 'running' OR status = 'succeeded' OR status = 'failed' OR status = 'skipped'
        OR status = 'interrupted'
    ),
    engine TEXT,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    error_code TEXT,
    error_message TEXT,
    PRIMARY KEY (org_id, document_id, n)
) STRICT;

CREATE INDEX vault_parse_attempts_of_document ON vault_parse_attempts (document_id);

CREATE TABLE vault_parses (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    status TEXT NOT NULL CHECK (
        status = 'queued' OR status = 'running' OR status = 'succeeded' OR status = 'failed' OR status = 'skipped'
    ),
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    retries INTEGER NOT NULL DEFAULT 0 CHECK (retries >= 0), -- that were begun by themselves since it was last asked for
    due_at INTEGER,                             -- when it may be claimed; NULL: it need not be any more
    started_at INTEGER,
    finished_at INTEGER,
    error_code TEXT,
    error_message TEXT,
    engine TEXT,
    text_chars INTEGER,
    language TEXT,
    extracted TEXT, is_cut INTEGER NOT NULL DEFAULT 0 CHECK (is_cut = 0 OR is_cut = 1), corrected TEXT,                             -- JSON; NULL: nothing was found
    PRIMARY KEY (org_id, document_id)
) STRICT;

CREATE INDEX vault_parses_by_status ON vault_parses (org_id, status, document_id);

CREATE INDEX vault_parses_due ON vault_parses (org_id, due_at, document_id) WHERE due_at IS NOT NULL;

CREATE INDEX vault_parses_of_document ON vault_parses (document_id);

CREATE INDEX vault_parses_running ON vault_parses (org_id, document_id) WHERE status = 'running';

CREATE TABLE "vault_proposals" (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    kind TEXT NOT NULL CHECK (kind = 'bank_line' OR kind = 'certificate'),
    decision TEXT CHECK (decision = 'accepted' OR decision = 'dismissed'), -- NULL: nobody has decided
    target_id TEXT,                             -- what was accepted: the bank line, or the certificate that was made
    decided_by TEXT,
    decided_at INTEGER,
    PRIMARY KEY (org_id, document_id)
) STRICT;

CREATE INDEX vault_proposals_of_document ON vault_proposals (document_id);

CREATE INDEX vault_proposals_open ON vault_proposals (org_id, document_id) WHERE decision IS NULL;

CREATE INDEX vault_proposals_open_by_kind ON vault_proposals (org_id, kind, document_id) WHERE decision IS NULL;

CREATE TABLE vault_usage (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    documents INTEGER NOT NULL CHECK (documents >= 0), -- that have bytes
    bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;

CREATE TABLE vault_variants (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    variant TEXT NOT NULL CHECK (variant = 'searchable_pdf' OR variant = 'text' OR variant = 'thumbnail'),
    page INTEGER NOT NULL,                      -- 0: the whole document
    width INTEGER NOT NULL,                     -- that was asked for, in pixels; 0: it is no picture
    drawn_width INTEGER NOT NULL DEFAULT 0,     -- what it has: a small picture is not made larger
    height INTEGER NOT NULL,
    mime_type TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, document_id, variant, page, width)
) STRICT;

CREATE INDEX vault_variants_by_content ON vault_variants (sha256);

CREATE INDEX vault_variants_of_document ON vault_variants (document_id);

CREATE TABLE vault_vector_revisions (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    revision INTEGER NOT NULL                   -- counts what was changed
) STRICT;

CREATE VIRTUAL TABLE vault_vocabulary USING fts5vocab (vault_words, row);

CREATE VIRTUAL TABLE vault_words USING fts5 (
    name, body, exact, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_.'"
);

CREATE TABLE "webhook_subscriptions" (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    events TEXT NOT NULL CHECK (length(events) > 0),    -- event kinds, space separated, in the subscriber's order
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    disabled_reason TEXT CHECK (disabled_reason IN ('caller', 'receiver_gone', 'failing', 'maker_left', 'restored')),
    disabled_at INTEGER,
    failing_since INTEGER,                              -- the first failed attempt after the last success
    failing_told_at INTEGER,                            -- when it was announced that it will be disabled
    secret_sealed BLOB NOT NULL,                        -- encrypted at rest
    secret_prefix TEXT NOT NULL,                        -- what lists show of it
    previous_secret_sealed BLOB,                        -- signs beside the new one during a rotation
    previous_secret_expires_at INTEGER,
    user_id TEXT,                                       -- with whose membership it ends; NULL: with nobody's
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1), external_id TEXT,
    CHECK ((disabled_reason IS NULL) = (enabled = 1)),
    CHECK ((disabled_at IS NULL) = (enabled = 1)),
    CHECK (failing_told_at IS NULL OR failing_since IS NOT NULL),
    CHECK ((previous_secret_sealed IS NULL) = (previous_secret_expires_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX webhook_subscriptions_by_external_id ON webhook_subscriptions (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX webhook_subscriptions_of_org ON webhook_subscriptions (org_id, id);

CREATE TABLE write_check (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    checked_at INTEGER NOT NULL,
    filler BLOB
) STRICT;
