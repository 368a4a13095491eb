-- All that a database has after the migration 0101_name_what_is_made.sql of SQLite, made by `make generate`.
-- SQLite's own, and not here: vault_vocabulary, vault_words.

CREATE TABLE allocation_rules (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    mode text COLLATE "C" NOT NULL CHECK (mode = 'propose' OR mode = 'apply'),
    priority bigint NOT NULL,                  -- the lowest decides first
    enabled bigint NOT NULL CHECK (enabled IN (0, 1)),
    conditions text COLLATE "C" NOT NULL,                   -- JSON
    outcome text COLLATE "C" NOT NULL,                      -- JSON
    learned_from text COLLATE "C",                          -- for people: the choices that it follows; NULL: a person wrote it
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, external_id text COLLATE "C");

CREATE INDEX allocation_rules_by_change ON allocation_rules (org_id, updated_at, id);

CREATE UNIQUE INDEX allocation_rules_by_external_id ON allocation_rules (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX allocation_rules_by_id ON allocation_rules (org_id, id);

CREATE TABLE allocations (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    source_type text COLLATE "C" NOT NULL CHECK (
        source_type = 'bank' OR source_type = 'invoice' OR source_type = 'manual' OR source_type = 'import'
    ),
    source_id text COLLATE "C",                             -- the bank transaction; NULL where there is none
    import_id text COLLATE "C",                             -- the import that brought the bank transaction
    legal_entity_id text COLLATE "C",
    business_id text COLLATE "C",
    property_id text COLLATE "C",
    unit_id text COLLATE "C",
    tenancy_id text COLLATE "C",
    mortgage_id text COLLATE "C",
    invoice_id text COLLATE "C",                            -- the invoice that it pays
    counterpart_id text COLLATE "C",                        -- the bank transaction at the other end of a transfer
    date text COLLATE "C" NOT NULL,                         -- of the money
    document_date text COLLATE "C",                         -- of the bill, where it is known
    direction text COLLATE "C" NOT NULL CHECK (direction = 'in' OR direction = 'out'),
    amount bigint NOT NULL CHECK (amount > 0), -- gross, minor units
    vat_amount bigint NOT NULL CHECK (vat_amount >= 0 AND vat_amount <= amount),
    disallowable_amount bigint NOT NULL CHECK (disallowable_amount >= 0 AND disallowable_amount <= amount),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    fx_rate text COLLATE "C",                               -- units of the business's currency for one of its own
    category text COLLATE "C" NOT NULL,
    purpose text COLLATE "C" CHECK ((purpose IS NULL) = (category <> 'not_pnl')),
    description text COLLATE "C" NOT NULL,
    matched_by text COLLATE "C" NOT NULL CHECK (matched_by = 'rule' OR matched_by = 'user' OR matched_by = 'import'),
    rule_id text COLLATE "C",
    reason text COLLATE "C",                                -- why a rule chose this, for people
    document_ids text COLLATE "C" NOT NULL,                 -- JSON
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, vat_code text COLLATE "C", external_id text COLLATE "C", interest_source text COLLATE "C"
    CHECK (interest_source = 'statement' OR interest_source = 'computed'), capital_goods bigint NOT NULL DEFAULT 0 CHECK (capital_goods IN (0, 1)));

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

CREATE INDEX allocations_of_lets ON allocations (org_id, date, id, property_id)
WHERE property_id IS NOT NULL;

CREATE INDEX allocations_of_loans ON allocations (
    org_id, mortgage_id, date, interest_source, currency, direction, amount
) WHERE interest_source IS NOT NULL;

CREATE INDEX allocations_of_property_by_bill ON allocations (org_id, property_id, document_date)
WHERE document_date IS NOT NULL AND property_id IS NOT NULL;

CREATE INDEX allocations_written_off ON allocations (org_id, purpose, business_id, property_id, tenancy_id)
WHERE purpose = 'rent_written_off';

CREATE TABLE api_keys (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    hash bytea NOT NULL UNIQUE,                  -- SHA-256 of the whole key
    hint text COLLATE "C" NOT NULL,                         -- what lists show of it
    scopes text COLLATE "C" NOT NULL,                       -- space separated; '' is a legacy full-access key
    networks text COLLATE "C" NOT NULL,                     -- space separated CIDR; '' is anywhere
    tax_approved_at bigint,
    expires_at bigint,
    last_used_day text COLLATE "C",                         -- YYYY-MM-DD, UTC
    revoked_at bigint,
    replaced_by text COLLATE "C",  -- the key it was rotated to
    created_at bigint NOT NULL
);

CREATE INDEX api_keys_of_org ON api_keys (org_id, id);

CREATE TABLE asset_accounts (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    portfolio_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL, -- that of the portfolio
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL CHECK (
        type = 'brokerage' OR type = 'savings' OR type = 'cash' OR type = 'pension' OR type = 'crypto'
        OR type = 'property' OR type = 'other'
    ),
    tax_wrapper text COLLATE "C" NOT NULL CHECK (
        tax_wrapper = 'none' OR tax_wrapper = 'isa' OR tax_wrapper = 'lisa' OR tax_wrapper = 'jisa'
        OR tax_wrapper = 'ifisa' OR tax_wrapper = 'sipp' OR tax_wrapper = 'ssas' OR tax_wrapper = 'workplace_pension'
        OR tax_wrapper = 'offshore_bond' OR tax_wrapper = 'onshore_bond' OR tax_wrapper = 'vct' OR tax_wrapper = 'eis'
        OR tax_wrapper = 'seis' OR tax_wrapper = 'premium_bonds' OR tax_wrapper = 'other'
    ),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    institution_name text COLLATE "C",
    account_number text COLLATE "C",
    tracking_mode text COLLATE "C" NOT NULL CHECK (tracking_mode = 'transactions' OR tracking_mode = 'holdings'),
    allow_short bigint NOT NULL CHECK (allow_short = 0 OR allow_short = 1),
    status text COLLATE "C" NOT NULL CHECK (status = 'open' OR status = 'closed'),
    opened_date text COLLATE "C",
    closed_date text COLLATE "C",
    bank_account_id text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE INDEX asset_accounts_by_change ON asset_accounts (org_id, updated_at, id);

CREATE UNIQUE INDEX asset_accounts_by_external_id ON asset_accounts (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX asset_accounts_by_id ON asset_accounts (org_id, id);

CREATE INDEX asset_accounts_of_entity ON asset_accounts (org_id, legal_entity_id, id);

CREATE INDEX asset_accounts_of_portfolio ON asset_accounts (org_id, portfolio_id, id);

CREATE TABLE asset_cash (
    org_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    balance bigint NOT NULL,                   -- minor units
    PRIMARY KEY (org_id, account_id, currency)
);

CREATE TABLE asset_days (
    org_id text COLLATE "C" NOT NULL,
    scope_id text COLLATE "C" NOT NULL,
    instrument_id text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,
    inputs text COLLATE "C" NOT NULL,                       -- JSON: what is acquired, disposed of, added, moved and adjusted
    outcome text COLLATE "C" NOT NULL,                      -- JSON: the matches of its disposals, and quantity and cost after it
    disposes bigint NOT NULL CHECK (disposes = 0 OR disposes = 1), -- it has a gain
    gain bigint,                               -- minor units of the base currency; by the pool, or the account's average
    fifo_gain bigint,
    PRIMARY KEY (org_id, scope_id, instrument_id, date)
);

CREATE INDEX asset_days_of_disposals ON asset_days (org_id, scope_id, date, instrument_id) WHERE disposes = 1;

CREATE INDEX asset_days_of_gains ON asset_days (org_id, scope_id, instrument_id, date, gain, fifo_gain)
WHERE disposes = 1;

CREATE TABLE asset_holdings (
    org_id text COLLATE "C" NOT NULL,
    scope_id text COLLATE "C" NOT NULL,                     -- of an account, or of a legal entity
    instrument_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    portfolio_id text COLLATE "C",                          -- NULL: the pool of a legal entity
    quantity text COLLATE "C" NOT NULL,                     -- what is held; a fraction: 100/3, below 0 when short
    is_open bigint NOT NULL CHECK (is_open = 0 OR is_open = 1), -- quantity is not 0
    cost text COLLATE "C" NOT NULL,                         -- of the pool, or at the account's average; exact, in the base currency
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3), -- the base currency
    fifo_cost text COLLATE "C",                             -- of an account: what the lots left cost, first in, first out
    first_acquired_date text COLLATE "C",                   -- since it was last 0; NULL: it is 0
    last_date text COLLATE "C" NOT NULL,                    -- the last of asset_days
    PRIMARY KEY (org_id, scope_id, instrument_id)
);

CREATE INDEX asset_holdings_of_entity ON asset_holdings (org_id, legal_entity_id, portfolio_id, instrument_id);

CREATE INDEX asset_holdings_of_instrument ON asset_holdings (org_id, instrument_id, scope_id);

CREATE TABLE asset_holdings_to_compute (
    org_id text COLLATE "C" NOT NULL,
    scope_id text COLLATE "C" NOT NULL,
    instrument_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, scope_id, instrument_id)
);

CREATE TABLE asset_income_years (
    org_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    year bigint NOT NULL,                      -- 2026 is 2026-27
    instrument_id text COLLATE "C" NOT NULL,                -- '' is of none, such as interest on cash
    type text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    base_currency text COLLATE "C" NOT NULL CHECK (length(base_currency) = 3),
    withheld bigint NOT NULL CHECK (withheld = 0 OR withheld = 1), -- tax was
    events bigint NOT NULL,
    gross bigint NOT NULL,                     -- minor units of currency
    gross_base bigint NOT NULL,                -- minor units of base_currency
    taxes bigint NOT NULL,
    PRIMARY KEY (org_id, account_id, year, instrument_id, type, currency, base_currency, withheld)
);

CREATE INDEX asset_income_years_of_instrument ON asset_income_years (org_id, instrument_id, year);

CREATE TABLE asset_instruments_to_enter (
    org_id text COLLATE "C" NOT NULL,
    instrument_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, instrument_id)
);

CREATE TABLE asset_portfolios (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    legal_entity_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    base_currency text COLLATE "C" NOT NULL CHECK (length(base_currency) = 3),
    cost_basis_method text COLLATE "C" NOT NULL CHECK (
        cost_basis_method = 'section_104' OR cost_basis_method = 'average_cost' OR cost_basis_method = 'fifo'
    ),
    description text COLLATE "C",
    is_default bigint NOT NULL CHECK (is_default = 0 OR is_default = 1),
    archived_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE INDEX asset_portfolios_by_change ON asset_portfolios (org_id, updated_at, id);

CREATE UNIQUE INDEX asset_portfolios_by_external_id ON asset_portfolios (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX asset_portfolios_by_id ON asset_portfolios (org_id, id);

CREATE INDEX asset_portfolios_of_entity ON asset_portfolios (org_id, legal_entity_id, id);

CREATE TABLE asset_prices (
    org_id text COLLATE "C" NOT NULL,
    instrument_id text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,
    price text COLLATE "C" NOT NULL,                        -- canonical decimal, in major units of currency
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    source text COLLATE "C" NOT NULL CHECK (source = 'manual' OR source = 'import' OR source = 'feed'),
    import_id text COLLATE "C",
    PRIMARY KEY (org_id, instrument_id, date)
);

CREATE TABLE asset_transactions (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    account_id text COLLATE "C" NOT NULL,
    portfolio_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    instrument_id text COLLATE "C",
    type text COLLATE "C" NOT NULL CHECK (
        type = 'buy' OR type = 'sell' OR type = 'transfer_in' OR type = 'transfer_out' OR type = 'deposit'
        OR type = 'withdrawal' OR type = 'dividend' OR type = 'interest' OR type = 'distribution'
        OR type = 'notional_distribution' OR type = 'equalisation' OR type = 'return_of_capital' OR type = 'fee'
        OR type = 'tax' OR type = 'split' OR type = 'bonus_issue' OR type = 'rights_issue' OR type = 'spin_off'
        OR type = 'merger' OR type = 'stock_dividend' OR type = 'excess_reportable_income'
        OR type = 'opening_position' OR type = 'reversal'
    ),
    trade_date text COLLATE "C" NOT NULL,
    settlement_date text COLLATE "C",
    ex_date text COLLATE "C",
    trade_time text COLLATE "C",
    quantity text COLLATE "C",                              -- canonical decimal above 0
    unit_price text COLLATE "C",
    gross_amount bigint CHECK (gross_amount >= 0),   -- minor units of currency, as are the next three
    fees bigint NOT NULL CHECK (fees >= 0),
    taxes bigint NOT NULL CHECK (taxes >= 0),
    net_amount bigint NOT NULL,                -- signed effect on cash
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    fx_rate text COLLATE "C" NOT NULL,                      -- the portfolio's base currency for 1 of currency
    base_currency text COLLATE "C" NOT NULL CHECK (length(base_currency) = 3),
    gross_base bigint,                         -- gross_amount in minor units of base_currency
    split_ratio text COLLATE "C",                           -- JSON: numerator, denominator
    from_instrument_id text COLLATE "C", -- what a spin-off or merger comes out of
    from_quantity text COLLATE "C",                         -- of a merger: how much of it goes
    cost_share text COLLATE "C",                            -- of a spin-off: the part of the cost that goes with it, 0 to 1
    counter_account_id text COLLATE "C",
    linked_transaction_id text COLLATE "C",
    spouse_transfer bigint NOT NULL CHECK (spouse_transfer = 0 OR spouse_transfer = 1),
    reverses_transaction_id text COLLATE "C",
    reversed_by_id text COLLATE "C",
    source text COLLATE "C" NOT NULL CHECK (source = 'api' OR source = 'import' OR source = 'manual'),
    import_id text COLLATE "C",
    notes text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, income_date text COLLATE "C", fx_rate_source text COLLATE "C" CHECK (
    fx_rate_source = 'given' OR fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'
), fx_rate_date text COLLATE "C", remaining_value bigint CHECK (remaining_value >= 0), small_distribution bigint
    CHECK (small_distribution = 0 OR small_distribution = 1), taxed_as_dividend bigint
    CHECK (taxed_as_dividend = 0 OR taxed_as_dividend = 1));

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
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C",  -- NULL where it concerns the whole instance
    at bigint NOT NULL,
    actor text COLLATE "C" NOT NULL,                        -- a user id, or 'operator' for the command line
    action text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,                      -- the id it was done to
    detail text COLLATE "C" NOT NULL                        -- a JSON object without secrets
);

CREATE INDEX audit_log_of_org ON audit_log (org_id, id);

CREATE TABLE authorization_codes (
    hash bytea PRIMARY KEY,                              -- SHA-256 of the code
    grant_id text COLLATE "C" NOT NULL,
    redirect_uri text COLLATE "C" NOT NULL,                         -- as it was sent: the token request repeats it
    code_challenge text COLLATE "C" NOT NULL,                       -- S256
    key_thumbprint text COLLATE "C",                                -- dpop_jkt of the authorization request (RFC 9449 §10)
    expires_at bigint NOT NULL,
    used_at bigint
);

CREATE INDEX authorization_codes_by_expiry ON authorization_codes (expires_at);

CREATE INDEX authorization_codes_of_grant ON authorization_codes (grant_id);

CREATE TABLE authorization_requests (
    hash bytea PRIMARY KEY,                              -- SHA-256 of the handle
    client_id text COLLATE "C" NOT NULL,
    pushed bigint NOT NULL CHECK (pushed IN (0, 1)),
    parameters bytea NOT NULL,                           -- JSON, checked
    session_id text COLLATE "C",           -- the browser session it was bound to at its first page
    expires_at bigint NOT NULL,
    created_at bigint NOT NULL
);

CREATE INDEX authorization_requests_by_expiry ON authorization_requests (expires_at);

CREATE INDEX authorization_requests_of_client ON authorization_requests (client_id);

CREATE INDEX authorization_requests_of_session ON authorization_requests (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE bank_accounts (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    legal_entity_id text COLLATE "C",
    institution_id text COLLATE "C",                        -- of the list of institutions; NULL: none of them
    name text COLLATE "C" NOT NULL,
    nickname text COLLATE "C",
    holder_name text COLLATE "C",
    type text COLLATE "C" NOT NULL CHECK (
        type = 'current' OR type = 'savings' OR type = 'card' OR type = 'loan' OR type = 'mortgage' OR type = 'other'
    ),
    usage text COLLATE "C" NOT NULL CHECK (usage = 'business' OR usage = 'personal'),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    sort_code text COLLATE "C" CHECK (length(sort_code) = 6),
    account_number text COLLATE "C",
    iban text COLLATE "C",
    bic text COLLATE "C",
    status text COLLATE "C" NOT NULL CHECK (status = 'active' OR status = 'closed' OR status = 'expired_consent'),
    overdraft_limit bigint CHECK (overdraft_limit >= 0),
    business_ids text COLLATE "C" NOT NULL,                 -- JSON
    balances text COLLATE "C" NOT NULL,                     -- JSON
    coverage text COLLATE "C" NOT NULL,                     -- JSON: the days that its statements hold
    csv_mapping text COLLATE "C",                           -- JSON: how the columns of its CSV files were read last
    last_import_id text COLLATE "C",                        -- the latest that is applied
    last_import_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, statement_name text COLLATE "C");

CREATE INDEX bank_accounts_by_change ON bank_accounts (org_id, updated_at, id);

CREATE UNIQUE INDEX bank_accounts_by_external_id ON bank_accounts (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX bank_accounts_by_id ON bank_accounts (org_id, id);

CREATE TABLE bank_statements (
    org_id text COLLATE "C" NOT NULL,
    import_id text COLLATE "C" NOT NULL,
    statement bigint NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    applied bigint NOT NULL CHECK (applied = 0 OR applied = 1),
    from_date text COLLATE "C",
    to_date text COLLATE "C",
    opening_balance bigint,
    closing_balance bigint,
    available_balance bigint,
    balanced bigint CHECK (balanced = 0 OR balanced = 1), -- NULL: it does not tell
    PRIMARY KEY (org_id, import_id, statement)
);

CREATE INDEX bank_statements_of_account ON bank_statements (org_id, account_id, from_date) WHERE applied = 1;

CREATE TABLE bank_transactions (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,                         -- of booking, else of value, else of import: what lists are ordered by
    amount bigint NOT NULL,                    -- minor units, + in, - out
    allocated bigint NOT NULL DEFAULT 0,       -- the sum of its allocations, signed as amount is
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    status text COLLATE "C" NOT NULL CHECK (
        status = 'pending' OR status = 'booked' OR status = 'rejected' OR status = 'information'
    ),
    booking_date text COLLATE "C" CHECK ((booking_date IS NULL) = (status = 'pending')),
    value_date text COLLATE "C",
    original_amount bigint,                    -- minor units of original_currency
    original_currency text COLLATE "C" CHECK (length(original_currency) = 3),
    fx_rate text COLLATE "C",
    description text COLLATE "C" NOT NULL,
    raw_description text COLLATE "C" NOT NULL,
    counterparty_name text COLLATE "C",
    counterparty_account text COLLATE "C",
    reference text COLLATE "C",
    end_to_end_id text COLLATE "C",
    bank_reference text COLLATE "C",
    fit_id text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    bank_transaction_code text COLLATE "C",
    merchant_category_code text COLLATE "C",
    balance_after bigint,
    source text COLLATE "C" NOT NULL CHECK (source = 'import' OR source = 'manual'),
    import_id text COLLATE "C",
    fingerprint text COLLATE "C" NOT NULL,                  -- hexadecimal SHA-256
    match_key text COLLATE "C" NOT NULL,                    -- who it is with: the description without numbers and dates, folded
    search_text text COLLATE "C" NOT NULL,                  -- case-folded
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    CHECK (abs(allocated) <= abs(amount) AND (allocated = 0 OR (allocated > 0) = (amount > 0)))
);

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

CREATE TABLE broker_records (
    org_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    record_id text COLLATE "C" NOT NULL,                    -- the broker's own
    transaction_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, account_id, record_id, transaction_id)
);

CREATE INDEX broker_records_of_transaction ON broker_records (transaction_id, org_id);

CREATE TABLE businesses (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    type text COLLATE "C" NOT NULL CHECK (type IN (
        'self_employment', 'uk_property', 'foreign_property', 'property_unspecified', 'company_trade', 'other')),
    name text COLLATE "C" NOT NULL,
    trading_name text COLLATE "C",
    trading_type text COLLATE "C",
    -- pending is active with a commencement date to come; archived is archived_at
    status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'dormant', 'ceased')),
    commencement_date text COLLATE "C",
    cessation_date text COLLATE "C",
    accounting_basis text COLLATE "C" NOT NULL CHECK (accounting_basis IN ('cash', 'accruals')),
    quarterly_period_type text COLLATE "C" NOT NULL CHECK (quarterly_period_type IN ('standard', 'calendar')),
    quarterly_period_tax_year text COLLATE "C",             -- of the choice; NULL: none was made
    uses_consolidated_expenses bigint NOT NULL CHECK (uses_consolidated_expenses IN (0, 1)),
    address text COLLATE "C",                               -- JSON
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    bank_account_ids text COLLATE "C" NOT NULL,             -- JSON
    owner_share_percent text COLLATE "C" NOT NULL,
    tax_business_id text COLLATE "C",                       -- the tax authority's own name for it
    tax_sync_status text COLLATE "C" NOT NULL CHECK (tax_sync_status IN ('never', 'in_sync', 'differs', 'failed', 'not_found')),
    tax_sync_synced_at bigint,
    tax_sync_error text COLLATE "C",
    tax_sync_latency text COLLATE "C",                           -- JSON
    tax_sync_year_of_migration text COLLATE "C",
    archive_reason text COLLATE "C",
    archived_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    wire bytea NOT NULL, archived_on text COLLATE "C",                         -- the JSON without status and the closing brace
    CHECK (status <> 'ceased' OR cessation_date IS NOT NULL),
    CHECK (archive_reason IS NULL OR archived_at IS NOT NULL)
);

CREATE INDEX businesses_changes ON businesses (org_id, updated_at, id);

CREATE UNIQUE INDEX businesses_external_id ON businesses (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX businesses_of_entity ON businesses (org_id, legal_entity_id, id);

CREATE INDEX businesses_page ON businesses (org_id, id);

CREATE UNIQUE INDEX businesses_tax_business_id ON businesses (org_id, legal_entity_id, tax_business_id)
    WHERE tax_business_id IS NOT NULL;

CREATE TABLE calendar_feeds (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",                                       -- whose membership it ends with; NULL: the operator made it
    hash bytea NOT NULL UNIQUE,                          -- SHA-256 of the token
    name text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C",    -- NULL: of all that the organization has
    created_by text COLLATE "C" NOT NULL,
    revoked_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, external_id text COLLATE "C");

CREATE UNIQUE INDEX calendar_feeds_by_external_id ON calendar_feeds (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX calendar_feeds_changes ON calendar_feeds (org_id, updated_at, id);

CREATE INDEX calendar_feeds_of_user ON calendar_feeds (user_id);

CREATE INDEX calendar_feeds_page ON calendar_feeds (org_id, id);

CREATE TABLE calendars (
    legal_entity_id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    made_for text COLLATE "C" NOT NULL                              -- the tax year and the edition of the rules: 2026-27.1
);

CREATE TABLE capital_losses (
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    tax_year text COLLATE "C" NOT NULL,                     -- 2026-27
    elsewhere bigint NOT NULL CHECK (elsewhere >= 0), -- pence
    claimed_date text COLLATE "C",                          -- NULL: not known to be claimed
    notes text COLLATE "C",
    PRIMARY KEY (org_id, legal_entity_id, tax_year)
);

CREATE TABLE certificates (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    property_id text COLLATE "C" NOT NULL,
    unit_id text COLLATE "C", -- NULL: the whole property
    tenancy_id text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    title text COLLATE "C",
    reference text COLLATE "C",
    issued_date text COLLATE "C" NOT NULL,
    expiry_date text COLLATE "C",
    issuer_name text COLLATE "C",
    issuer_registration text COLLATE "C",
    result text COLLATE "C" CHECK (result = 'satisfactory' OR result = 'unsatisfactory' OR result = 'not_applicable'),
    rating text COLLATE "C",
    score bigint,
    remedial_due_date text COLLATE "C",
    remedial_done_date text COLLATE "C",
    served_date text COLLATE "C",
    document_id text COLLATE "C",
    cost bigint CHECK (cost >= 0),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    superseded_by_id text COLLATE "C", -- the next of its chain
    superseded_date text COLLATE "C",                       -- when that one was issued
    chain text COLLATE "C" NOT NULL,                        -- what those of a property and type share that follow each other
    valid_until text COLLATE "C" NOT NULL,                  -- 9999-12-31: without an end; empty: it found faults
    expiring_told_for text COLLATE "C",                     -- the expiry date that `certificate.expiring` told of
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    CHECK (expiry_date >= issued_date),
    CHECK ((superseded_by_id IS NULL) = (superseded_date IS NULL))
);

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

CREATE TABLE clients (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    name text COLLATE "C" NOT NULL,
    name_folded text COLLATE "C" NOT NULL,                  -- case-folded, single spaces: what duplicates are found by
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('company', 'person', 'public_body')),
    contact_name text COLLATE "C",
    email text COLLATE "C",
    cc_emails text COLLATE "C" NOT NULL,                    -- JSON array
    phone text COLLATE "C",
    billing_address text COLLATE "C",                       -- JSON
    company_number text COLLATE "C",
    vat_number text COLLATE "C",                            -- GB: digits alone; elsewhere with the country's letters
    vat_check_valid bigint CHECK (vat_check_valid IN (0, 1)),
    vat_check_checked_at bigint,
    vat_check_consultation_number text COLLATE "C",
    country_code text COLLATE "C" NOT NULL CHECK (length(country_code) = 2),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    payment_terms_days bigint NOT NULL CHECK (payment_terms_days BETWEEN 0 AND 365),
    default_vat_treatment text COLLATE "C",
    cis_contractor bigint NOT NULL CHECK (cis_contractor IN (0, 1)),
    end_user bigint NOT NULL CHECK (end_user IN (0, 1)),
    language text COLLATE "C" NOT NULL,
    notes text COLLATE "C",
    archived_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    search_text text COLLATE "C" NOT NULL,                  -- names, address of email and numbers, case-folded
    wire bytea NOT NULL                          -- the JSON without balances and the closing brace
);

CREATE INDEX clients_changes ON clients (org_id, updated_at, id);

CREATE INDEX clients_company_numbers ON clients (org_id, company_number) WHERE company_number IS NOT NULL;

CREATE UNIQUE INDEX clients_external_id ON clients (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX clients_names ON clients (org_id, name_folded);

CREATE INDEX clients_page ON clients (org_id, id, archived_at, search_text);

CREATE INDEX clients_vat_numbers ON clients (org_id, vat_number) WHERE vat_number IS NOT NULL;

CREATE TABLE credit_allotments (
    org_id text COLLATE "C" PRIMARY KEY,
    anchor_date text COLLATE "C" NOT NULL,                   -- the months are counted from here
    month bigint NOT NULL CHECK (month >= 0),   -- the last one that was granted
    granted bigint NOT NULL CHECK (granted >= 0) -- millionths of a credit, of that month
);

CREATE TABLE credit_costs (
    operation text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL CHECK (unit = 'call' OR unit = 'page' OR unit = 'mb'),
    credits bigint NOT NULL CHECK (credits >= 0), -- of one unit
    effective_from text COLLATE "C" NOT NULL,
    effective_to text COLLATE "C",                          -- the last day; NULL: until further notice
    description text COLLATE "C",
    created_at bigint NOT NULL,
    PRIMARY KEY (operation, unit, effective_from),
    CHECK (effective_to >= effective_from)
);

CREATE TABLE credit_entries (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL CHECK (sequence >= 1), -- without gaps
    type text COLLATE "C" NOT NULL CHECK (
        type = 'grant' OR type = 'purchase' OR type = 'usage' OR type = 'expiry' OR type = 'void' OR type = 'refund'
        OR type = 'adjustment'
    ),
    amount bigint NOT NULL CHECK (amount <> 0),
    balance_after bigint NOT NULL,
    lifetime_granted bigint NOT NULL,          -- up to this entry
    lifetime_used bigint NOT NULL,             -- up to this entry
    grant_id text COLLATE "C", -- NULL: of no grant, as usage beyond the last credit
    operation text COLLATE "C",
    operation_id text COLLATE "C",                          -- of the work that is charged, once
    part bigint NOT NULL CHECK (part >= 1),    -- of the entries of one charge, each of another grant
    subject_type text COLLATE "C",
    subject_id text COLLATE "C",
    description text COLLATE "C",
    occurred_at bigint NOT NULL,
    booked_at bigint NOT NULL,
    reversal_of text COLLATE "C",
    import_id text COLLATE "C",
    external_id text COLLATE "C",
    UNIQUE (org_id, sequence)
);

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
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL CHECK (
        source = 'grant' OR source = 'purchase' OR source = 'plan' OR source = 'refund' OR source = 'adjustment'
    ),
    category text COLLATE "C" NOT NULL CHECK (category = 'promotional' OR category = 'paid'),
    priority bigint NOT NULL CHECK (priority >= 0), -- the lower is drawn from first
    amount bigint NOT NULL CHECK (amount > 0),
    used bigint NOT NULL CHECK (used >= 0),
    expired bigint NOT NULL CHECK (expired >= 0),
    voided bigint NOT NULL CHECK (voided >= 0),
    remaining bigint NOT NULL CHECK (remaining >= 0 AND remaining = amount - used - expired - voided),
    held bigint NOT NULL CHECK (held >= 0 AND held <= remaining), -- of `remaining`, by open holds
    description text COLLATE "C",
    expires_at bigint,
    voided_at bigint,
    created_at bigint NOT NULL
);

CREATE INDEX credit_grants_by_id ON credit_grants (org_id, id);

CREATE INDEX credit_grants_due ON credit_grants (expires_at, org_id) WHERE remaining > held AND expires_at IS NOT NULL;

CREATE INDEX credit_grants_expiring ON credit_grants (org_id, expires_at, id)
WHERE remaining > held AND expires_at IS NOT NULL;

CREATE INDEX credit_grants_to_draw ON credit_grants (
    org_id, priority, (expires_at IS NULL), expires_at, category DESC, id
) WHERE remaining > held;

CREATE TABLE credit_hold_draws (
    org_id text COLLATE "C" NOT NULL,
    hold_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    PRIMARY KEY (org_id, hold_id, position)
);

CREATE TABLE credit_holds (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    operation_id text COLLATE "C" NOT NULL,
    most bigint NOT NULL CHECK (most > 0),
    status text COLLATE "C" NOT NULL CHECK (status = 'open' OR status = 'settled' OR status = 'released' OR status = 'expired'),
    expires_at bigint NOT NULL,
    created_at bigint NOT NULL,
    closed_at bigint,
    CHECK ((status = 'open') = (closed_at IS NULL)),
    UNIQUE (org_id, operation_id)
);

CREATE INDEX credit_holds_by_time ON credit_holds (org_id, created_at);

CREATE INDEX credit_holds_due ON credit_holds (expires_at, org_id) WHERE status = 'open';

CREATE INDEX credit_holds_open ON credit_holds (org_id, expires_at, id) WHERE status = 'open';

CREATE TABLE credit_plans (
    id text COLLATE "C" PRIMARY KEY,
    code text COLLATE "C" NOT NULL UNIQUE,
    name text COLLATE "C" NOT NULL,
    description text COLLATE "C",
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    price_monthly bigint CHECK (price_monthly >= 0),
    price_yearly bigint CHECK (price_yearly >= 0),
    included_credits bigint NOT NULL CHECK (included_credits >= 0), -- each month
    rollover text COLLATE "C" NOT NULL CHECK (rollover = 'none' OR rollover = 'full' OR rollover = 'capped'),
    soft_limit bigint NOT NULL CHECK (soft_limit = 0 OR soft_limit = 1), -- 1: nothing is refused for want of credits
    features text COLLATE "C" NOT NULL,                     -- JSON
    limits text COLLATE "C" NOT NULL,                       -- JSON
    status text COLLATE "C" NOT NULL CHECK (status = 'active' OR status = 'retired'),
    retired_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    CHECK ((status = 'retired') = (retired_at IS NOT NULL))
);

CREATE TABLE credit_subscriptions (
    org_id text COLLATE "C" PRIMARY KEY,
    plan_id text COLLATE "C" NOT NULL,
    since_at bigint NOT NULL,
    anchor_date text COLLATE "C" NOT NULL,                  -- the months are counted from here
    months bigint NOT NULL CHECK (months >= 0), -- how many of them were granted
    next_at bigint                             -- when the next is granted; NULL: the plan includes nothing
);

CREATE INDEX credit_subscriptions_due ON credit_subscriptions (next_at, org_id) WHERE next_at IS NOT NULL;

CREATE TABLE credit_usage (
    org_id text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    quarter bigint NOT NULL,                   -- since the epoch
    credits bigint NOT NULL CHECK (credits >= 0),
    operations bigint NOT NULL CHECK (operations >= 0),
    PRIMARY KEY (org_id, quarter, operation)
);

CREATE TABLE credit_usage_blocks (
    org_id text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    block bigint NOT NULL,                     -- of six hours, since the epoch
    credits bigint NOT NULL CHECK (credits >= 0),
    operations bigint NOT NULL CHECK (operations >= 0),
    PRIMARY KEY (org_id, block, operation)
);

CREATE TABLE csv_mappings (
    org_id text COLLATE "C" NOT NULL,
    headings text COLLATE "C" NOT NULL,                     -- hexadecimal SHA-256 of the heading line
    mapping text COLLATE "C" NOT NULL,                      -- JSON
    updated_at bigint NOT NULL,
    PRIMARY KEY (org_id, headings)
);

CREATE TABLE deliveries (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,                      -- outlives its subscription, as evidence
    event_id text COLLATE "C" NOT NULL,
    event text COLLATE "C" NOT NULL,                                -- the event's kind
    status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'retrying', 'succeeded', 'exhausted', 'cancelled')),
    attempts bigint NOT NULL CHECK (attempts >= 0),    -- counted when begun, before the POST
    in_flight bigint NOT NULL CHECK (in_flight IN (0, 1)),
    due_at bigint,                                     -- next attempt or, in flight, end of the lease; NULL: finished
    response_code bigint,
    last_error text COLLATE "C",
    last_attempt_at bigint,
    duration_ms bigint CHECK (duration_ms >= 0),
    completed_at bigint,
    replayed_from text COLLATE "C",
    created_at bigint NOT NULL, test bigint NOT NULL DEFAULT 0 CHECK (test IN (0, 1)), original_id text COLLATE "C" CHECK (original_id IS NULL OR replayed_from IS NOT NULL), interruptions bigint NOT NULL DEFAULT 0
    CHECK (interruptions >= 0 AND interruptions <= attempts),
    CHECK ((due_at IS NOT NULL) = (status IN ('pending', 'retrying'))),
    CHECK ((completed_at IS NULL) = (due_at IS NOT NULL)),
    CHECK (in_flight = 0 OR (due_at IS NOT NULL AND attempts > 0))
);

CREATE INDEX deliveries_of_event ON deliveries (event_id);

CREATE INDEX deliveries_of_subscription ON deliveries (subscription_id, id);

CREATE INDEX deliveries_queue ON deliveries (subscription_id, due_at, id) WHERE due_at IS NOT NULL;

CREATE INDEX deliveries_replays ON deliveries (replayed_from) WHERE replayed_from IS NOT NULL;

CREATE INDEX deliveries_troubled ON deliveries (subscription_id, status, id)
    WHERE status IN ('retrying', 'exhausted', 'cancelled');

CREATE TABLE delivery_attempts (
    delivery_id text COLLATE "C" NOT NULL,
    attempt bigint NOT NULL CHECK (attempt >= 1),
    org_id text COLLATE "C" NOT NULL,
    wire bytea NOT NULL,                                 -- its record as `include=attempts` shows it, serialized once
    PRIMARY KEY (delivery_id, attempt)
);

CREATE TABLE event_followers (
    org_id text COLLATE "C" NOT NULL,
    kinds text COLLATE "C" NOT NULL,                                -- kinds and patterns, space separated, in their order
    since bigint NOT NULL,                             -- from then on they are recorded without a gap
    until bigint NOT NULL,
    PRIMARY KEY (org_id, kinds)
);

CREATE TABLE events (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),   -- the closed set is EVENT_KINDS of events.py
    data bytea NOT NULL,                                 -- JSON, serialized once
    created_at bigint NOT NULL
, test bigint NOT NULL DEFAULT 0 CHECK (test IN (0, 1)), recorded_at bigint NOT NULL DEFAULT 0);

CREATE INDEX events_as_recorded ON events (org_id, recorded_at, id);

CREATE INDEX events_of_org ON events (org_id, id);

CREATE TABLE "exchange_rates" (
    org_id text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    base_currency text COLLATE "C" NOT NULL CHECK (length(base_currency) = 3),
    date text COLLATE "C" NOT NULL,                         -- of one of HMRC's the first day of its month
    rate text COLLATE "C" NOT NULL,                         -- base currency for 1 of currency
    source text COLLATE "C" NOT NULL CHECK (source = 'manual' OR source = 'import' OR source = 'feed' OR source = 'hmrc'),
    import_id text COLLATE "C",
    PRIMARY KEY (org_id, currency, base_currency, date)
);

CREATE INDEX exchange_rates_by_date ON exchange_rates (org_id, date DESC, currency, base_currency);

CREATE TABLE former_owner_shares (
    org_id text COLLATE "C" NOT NULL,
    business_id text COLLATE "C" NOT NULL,
    property_id text COLLATE "C" NOT NULL,                  -- empty: of the business itself
    last_day text COLLATE "C" NOT NULL,                     -- as above
    percent text COLLATE "C",                               -- NULL: of a property, as the business says
    PRIMARY KEY (org_id, business_id, property_id, last_day)
);

CREATE TABLE former_vat_terms (
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    last_day text COLLATE "C" NOT NULL,                     -- ISO date; from the day after that of the row before it on
    scheme text COLLATE "C",                                -- all of these as in legal_entities
    flat_rate_category text COLLATE "C",
    flat_rate_percent text COLLATE "C",
    flat_rate_start_date text COLLATE "C",
    registered_from text COLLATE "C",                       -- from which the discount of the first year counts
    PRIMARY KEY (org_id, legal_entity_id, last_day)
);

CREATE TABLE grants (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    client_id text COLLATE "C" NOT NULL,
    scopes text COLLATE "C" NOT NULL,                               -- space separated
    session_id text COLLATE "C" NOT NULL,  -- `sid` of ID tokens
    authenticated_at bigint NOT NULL,                  -- `auth_time`
    methods text COLLATE "C" NOT NULL,                              -- `amr`
    nonce text COLLATE "C",
    key_thumbprint text COLLATE "C",                                -- RFC 9449: tokens are bound to this key; NULL: bearer
    generation bigint NOT NULL CHECK (generation >= 0),    -- of the newest refresh token; 0: none was issued
    expires_at bigint NOT NULL,                        -- 30 days from the consent: no refresh after it
    last_used_day text COLLATE "C",
    revoked_at bigint,
    revoked_reason text COLLATE "C" CHECK (revoked_reason IN
        ('user', 'client', 'operator', 'code_replayed', 'refresh_reused', 'password_changed', 'member_removed')),
    created_at bigint NOT NULL, redirect_host text COLLATE "C", resource text COLLATE "C",
    CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
);

CREATE INDEX grants_of_client ON grants (client_id, id);

CREATE INDEX grants_of_org ON grants (org_id, id);

CREATE INDEX grants_of_session ON grants (session_id);

CREATE INDEX grants_of_user ON grants (user_id, id);

CREATE TABLE hidden_imports (
    org_id text COLLATE "C" NOT NULL,
    import_id text COLLATE "C" NOT NULL, since bigint,
    PRIMARY KEY (org_id, import_id)
);

CREATE TABLE idempotency_keys (
    org_id text COLLATE "C" NOT NULL,
    credential_id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    request_hash bytea NOT NULL,
    operation text COLLATE "C" NOT NULL,
    response bytea,                  -- NULL while a call is under way
    sealed bigint NOT NULL CHECK (sealed IN (0, 1)),
    created_at bigint NOT NULL, lease_until bigint CHECK ((lease_until IS NULL) = (response IS NOT NULL)),
    PRIMARY KEY (org_id, credential_id, key)
);

CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE import_rows (
    org_id text COLLATE "C" NOT NULL,
    import_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,                  -- from 1, in the order of the file
    line bigint NOT NULL,
    statement bigint NOT NULL,
    action text COLLATE "C" NOT NULL CHECK (action = 'add' OR action = 'duplicate' OR action = 'replace' OR action = 'refuse'),
    reason text COLLATE "C",
    transaction_id text COLLATE "C" NOT NULL,               -- the id it gets where it is added
    existing_transaction_id text COLLATE "C",               -- of the transaction that it is or replaces
    before text COLLATE "C",                                -- JSON: what a replaced row was
    date text COLLATE "C" NOT NULL,
    amount bigint NOT NULL,
    currency text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    booking_date text COLLATE "C",
    value_date text COLLATE "C",
    original_amount bigint,
    original_currency text COLLATE "C",
    fx_rate text COLLATE "C",
    description text COLLATE "C" NOT NULL,
    raw_description text COLLATE "C" NOT NULL,
    counterparty_name text COLLATE "C",
    counterparty_account text COLLATE "C",
    reference text COLLATE "C",
    end_to_end_id text COLLATE "C",
    bank_reference text COLLATE "C",
    fit_id text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    bank_transaction_code text COLLATE "C",
    merchant_category_code text COLLATE "C",
    balance_after bigint,
    fingerprint text COLLATE "C" NOT NULL,
    match_key text COLLATE "C" NOT NULL,
    search_text text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, import_id, position)
);

CREATE INDEX import_rows_by_action ON import_rows (org_id, import_id, action, position);

CREATE INDEX import_rows_by_date ON import_rows (org_id, import_id, date, position);

CREATE TABLE "import_runs" (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,                   -- of bank_accounts or asset_accounts, by the kind
    kind text COLLATE "C" NOT NULL CHECK (kind = 'bank' OR kind = 'broker'),
    source text COLLATE "C" NOT NULL CHECK (source = 'api' OR source = 'command_line'),
    file_name text COLLATE "C" NOT NULL,
    size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
    sha256 text COLLATE "C" NOT NULL CHECK (length(sha256) = 64),
    format text COLLATE "C",                                -- of the file, once it is known
    profile text COLLATE "C",
    mapping text COLLATE "C",                               -- JSON: how its columns were read
    status text COLLATE "C" NOT NULL CHECK (
        status = 'uploaded' OR status = 'previewed' OR status = 'applying' OR status = 'applied'
        OR status = 'reverting' OR status = 'reverted' OR status = 'failed'
    ),
    -- what is worked at; allocating: rules allocate what was applied; NULL: nothing
    stage text COLLATE "C" CHECK (stage = 'reading' OR stage = 'applying' OR stage = 'allocating' OR stage = 'reverting'),
    moved_to bigint,                           -- how far staged rows were moved; NULL: none are left
    rows bigint NOT NULL,
    added bigint NOT NULL,
    duplicates bigint NOT NULL,
    replaced bigint NOT NULL,
    refused_rows bigint NOT NULL,
    refused text COLLATE "C" NOT NULL,                      -- JSON: the first of them, with line and reason
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    from_date text COLLATE "C",
    to_date text COLLATE "C",
    opening_balance bigint,
    closing_balance bigint,
    balanced bigint CHECK (balanced = 0 OR balanced = 1), -- NULL: the file does not tell
    error text COLLATE "C",
    proposal text COLLATE "C",                              -- JSON: what has to be settled before it can be read
    makes_account bigint NOT NULL DEFAULT 0 CHECK (makes_account = 0 OR makes_account = 1),
    overrides_closing bigint NOT NULL DEFAULT 0 CHECK (overrides_closing = 0 OR overrides_closing = 1),
    applied_at bigint,
    reverted_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, ignored_rows bigint NOT NULL DEFAULT 0, ignored text COLLATE "C" NOT NULL DEFAULT '[]', supposed text COLLATE "C" NOT NULL DEFAULT '[]', other_accounts text COLLATE "C" NOT NULL DEFAULT '[]', file_account text COLLATE "C", gave text COLLATE "C" NOT NULL DEFAULT '[]');

CREATE UNIQUE INDEX import_runs_at_work ON import_runs (org_id, account_id) WHERE stage IS NOT NULL;

CREATE INDEX import_runs_by_change ON import_runs (org_id, updated_at, id);

CREATE INDEX import_runs_by_content ON import_runs (org_id, account_id, sha256);

CREATE INDEX import_runs_of_account ON import_runs (org_id, account_id, id);

CREATE INDEX import_runs_of_file ON import_runs (org_id, sha256);

CREATE INDEX import_runs_of_kind ON import_runs (org_id, kind, id);

CREATE INDEX import_runs_staged ON import_runs (id) WHERE moved_to IS NOT NULL;

CREATE TABLE import_trades (
    org_id text COLLATE "C" NOT NULL,
    import_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,                  -- from 1, in the order of the file
    line bigint NOT NULL,
    action text COLLATE "C" NOT NULL CHECK (action = 'add' OR action = 'duplicate' OR action = 'replace' OR action = 'refuse'),
    reason text COLLATE "C",
    transaction_id text COLLATE "C",                        -- what it became; NULL: it has not come in
    existing_transaction_id text COLLATE "C",               -- of the transaction that it is
    date text COLLATE "C" NOT NULL,
    holding text COLLATE "C" NOT NULL,                      -- what the file calls the instrument by; empty: cash alone
    rank bigint NOT NULL,                      -- within a day: splits, then what is acquired, then the rest
    record_id text COLLATE "C",                             -- the broker's own
    trade text COLLATE "C" NOT NULL, differs text COLLATE "C" NOT NULL DEFAULT '[]',                        -- JSON: the row as it was read
    PRIMARY KEY (org_id, import_id, position)
);

CREATE INDEX import_trades_by_action ON import_trades (org_id, import_id, action, position);

CREATE INDEX import_trades_by_date ON import_trades (org_id, import_id, date, position);

CREATE INDEX import_trades_waiting ON import_trades (org_id, import_id, holding, date, rank, position)
WHERE action = 'add' AND transaction_id IS NULL;

CREATE TABLE instrument_words (
    org_id text COLLATE "C" NOT NULL,
    word text COLLATE "C" NOT NULL,
    instrument_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, word, instrument_id)
);

CREATE INDEX instrument_words_of_instrument ON instrument_words (org_id, instrument_id, word);

CREATE TABLE instruments (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    symbol text COLLATE "C",
    exchange_mic text COLLATE "C" CHECK (length(exchange_mic) = 4),
    isin text COLLATE "C" CHECK (length(isin) = 12),
    sedol text COLLATE "C" CHECK (length(sedol) = 7),
    figi text COLLATE "C" CHECK (length(figi) = 12),
    cusip text COLLATE "C" CHECK (length(cusip) = 9),
    asset_class text COLLATE "C" NOT NULL CHECK (
        asset_class = 'equity' OR asset_class = 'fixed_income' OR asset_class = 'fund' OR asset_class = 'cash'
        OR asset_class = 'commodity' OR asset_class = 'real_estate' OR asset_class = 'crypto'
        OR asset_class = 'alternative'
    ),
    asset_sub_class text COLLATE "C",
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    domicile_country text COLLATE "C" CHECK (length(domicile_country) = 2),
    reporting_fund bigint CHECK (reporting_fund = 0 OR reporting_fund = 1), -- NULL: not an offshore fund, or not known
    cgt_exempt bigint NOT NULL CHECK (cgt_exempt = 0 OR cgt_exempt = 1),
    splits text COLLATE "C" NOT NULL,                       -- JSON: date, numerator, denominator; oldest first
    last_price text COLLATE "C",                            -- the latest of asset_prices
    last_price_date text COLLATE "C",
    price_source text COLLATE "C" CHECK (price_source = 'manual' OR price_source = 'import' OR price_source = 'feed'),
    is_active bigint NOT NULL CHECK (is_active = 0 OR is_active = 1),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, name_folded text COLLATE "C" NOT NULL DEFAULT '', listed bigint CHECK (listed = 0 OR listed = 1));

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

CREATE TABLE invoice_lines (
    org_id text COLLATE "C" NOT NULL,
    invoice_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL CHECK (position >= 1),
    description text COLLATE "C" NOT NULL,
    quantity text COLLATE "C" NOT NULL,
    unit text COLLATE "C",
    unit_price text COLLATE "C" NOT NULL,                   -- major units
    discount_percent text COLLATE "C" NOT NULL,
    vat_code text COLLATE "C" NOT NULL,
    vat_rate_percent text COLLATE "C" NOT NULL,
    category text COLLATE "C",
    net bigint NOT NULL,
    vat bigint NOT NULL,
    gross bigint NOT NULL CHECK (gross = net + vat),
    reverse_charge_vat bigint NOT NULL,
    property_id text COLLATE "C",
    cis_labour bigint NOT NULL CHECK (cis_labour IN (0, 1)), vat_code_defaulted bigint NOT NULL DEFAULT 0
    CHECK (vat_code_defaulted IN (0, 1)), credits_line bigint CHECK (credits_line >= 1), capital_goods bigint NOT NULL DEFAULT 0 CHECK (capital_goods IN (0, 1)),
    PRIMARY KEY (invoice_id, position)
);

CREATE TABLE invoice_payments (
    org_id text COLLATE "C" NOT NULL,
    invoice_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL CHECK (position >= 1),
    date text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    bank_transaction_id text COLLATE "C",
    method text COLLATE "C",
    reference text COLLATE "C",
    created_at bigint NOT NULL, fx_rate text COLLATE "C", fx_rate_source text COLLATE "C" CHECK (
    fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'
),
    PRIMARY KEY (invoice_id, position)
);

CREATE INDEX invoice_payments_by_date ON invoice_payments (org_id, date, invoice_id);

CREATE TABLE invoice_sequences (
    org_id text COLLATE "C" NOT NULL,
    seller_key text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
    year text COLLATE "C" NOT NULL CHECK (length(year) IN (0, 4)),
    pattern text COLLATE "C" NOT NULL,                      -- INV-{yyyy}-{000001}; the same in all years
    last_number bigint NOT NULL CHECK (last_number >= 0),
    PRIMARY KEY (org_id, seller_key, kind, year)
);

CREATE TABLE invoices (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    -- What a page reads comes first: SQLite finds early columns sooner
    open_due_date text COLLATE "C",                         -- the due date where money is still due
    head_length bigint NOT NULL,               -- bytes of wire before its lines
    wire bytea NOT NULL,                         -- the JSON, lines last, without isOverdue and the closing brace
    external_id text COLLATE "C",
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
    -- OR, not IN: for a list of three or more SQLite fills a table at every insert, a fifth of what the insert costs
    origin text COLLATE "C" NOT NULL CHECK (origin = 'system' OR origin = 'imported' OR origin = 'extracted'),
    status text COLLATE "C" NOT NULL CHECK (
        status = 'draft' OR status = 'issued' OR status = 'sent' OR status = 'part_paid' OR status = 'paid'
        OR status = 'void'
    ),
    number text COLLATE "C" CHECK ((number IS NULL) = (status = 'draft')),
    seller_key text COLLATE "C" NOT NULL,                   -- the legal entity, or the organization that sells itself
    legal_entity_id text COLLATE "C",
    business_id text COLLATE "C",
    client_id text COLLATE "C" NOT NULL,
    credits_invoice_id text COLLATE "C",
    client_snapshot text COLLATE "C",                       -- JSON, NULL while draft
    seller_snapshot text COLLATE "C",                       -- JSON, NULL while draft
    issue_date text COLLATE "C" NOT NULL,
    supply_date text COLLATE "C" NOT NULL,
    due_date text COLLATE "C" NOT NULL CHECK (due_date >= issue_date),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    base_currency text COLLATE "C" NOT NULL CHECK (length(base_currency) = 3),
    fx_rate text COLLATE "C",                               -- units of the base currency for one of the invoice's
    amounts_are text COLLATE "C" NOT NULL CHECK (
        amounts_are = 'exclusive' OR amounts_are = 'inclusive' OR amounts_are = 'no_vat'
    ),
    vat_rounding text COLLATE "C" NOT NULL CHECK (vat_rounding = 'line' OR vat_rounding = 'total' OR vat_rounding = 'total_down'),
    net_total bigint NOT NULL,
    vat_total bigint NOT NULL,
    gross_total bigint NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total >= 0),
    discount_amount bigint NOT NULL CHECK (discount_amount >= 0),
    discount_total bigint NOT NULL,
    reverse_charge_vat bigint NOT NULL,
    vat_total_base bigint,                     -- minor units of the base currency
    vat_summary text COLLATE "C" NOT NULL,                  -- JSON array
    cis_deduction bigint NOT NULL CHECK (cis_deduction >= 0),
    cis_rate bigint CHECK (cis_rate = 0 OR cis_rate = 20 OR cis_rate = 30),
    paid_total bigint NOT NULL CHECK (paid_total >= 0),
    credited_total bigint NOT NULL,
    balance_due bigint NOT NULL,
    reference text COLLATE "C",
    po_number text COLLATE "C",
    notes text COLLATE "C",
    terms text COLLATE "C",
    bank_account_id text COLLATE "C",
    property_id text COLLATE "C",
    sent_at bigint,
    viewed_at bigint,
    paid_date text COLLATE "C",
    voided_at bigint,
    void_reason text COLLATE "C",
    pdf_document_id text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    search_text text COLLATE "C" NOT NULL, fx_rate_source text COLLATE "C" CHECK (fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'), fx_rate_date text COLLATE "C",                  -- number and reference, case-folded
    -- Kept, not generated: an index that holds a generated column never covers a query
    CHECK (
        open_due_date IS NOT DISTINCT FROM CASE
            WHEN (status = 'issued' OR status = 'sent' OR status = 'part_paid') AND balance_due > 0 THEN due_date
        END
    ),
    CHECK (head_length > 0 AND head_length < length(wire)),
    CHECK ((kind = 'credit_note') = (credits_invoice_id IS NOT NULL))
);

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

CREATE INDEX invoices_open ON invoices (org_id, client_id, currency, open_due_date, balance_due)
    WHERE open_due_date IS NOT NULL;

CREATE INDEX invoices_open_by_balance ON invoices (org_id, balance_due, id) WHERE open_due_date IS NOT NULL;

CREATE INDEX invoices_open_by_date ON invoices (org_id, open_due_date, id) WHERE open_due_date IS NOT NULL;

CREATE INDEX invoices_page ON invoices (org_id, id, currency, business_id, search_text);

CREATE INDEX invoices_states ON invoices (org_id, status, id, open_due_date);

CREATE INDEX invoices_supplied ON invoices (org_id, legal_entity_id, supply_date);

CREATE TABLE known_devices (
    hash bytea NOT NULL,                                 -- SHA-256 of the cookie's token
    user_id text COLLATE "C" NOT NULL,
    failures bigint NOT NULL CHECK (failures >= 0),    -- since the last sign-in
    last_used_at bigint NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (hash, user_id)
);

CREATE INDEX known_devices_by_age ON known_devices (last_used_at);

CREATE INDEX known_devices_of_user ON known_devices (user_id, last_used_at);

CREATE TABLE leads (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    source text COLLATE "C" NOT NULL CHECK (length(source) BETWEEN 1 AND 64),
    name text COLLATE "C",
    email text COLLATE "C",
    phone text COLLATE "C",
    company text COLLATE "C",
    notes text COLLATE "C",
    status text COLLATE "C" NOT NULL CHECK (status IN ('new', 'contacted', 'qualified', 'disqualified', 'converted')),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE INDEX leads_changes ON leads (org_id, updated_at, id);

CREATE UNIQUE INDEX leads_external_id ON leads (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX leads_page ON leads (org_id, id);

CREATE TABLE legal_entities (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    name text COLLATE "C" NOT NULL,
    legal_name text COLLATE "C",
    type text COLLATE "C" NOT NULL CHECK (type IN (
        'individual', 'sole_trader', 'limited_company', 'llp', 'partnership', 'trust', 'charity', 'club', 'other')),
    company_number text COLLATE "C",
    utr_hint text COLLATE "C",
    nino_sealed bytea,                           -- encrypted at rest
    nino_hint text COLLATE "C",                             -- the last three characters
    vat_number text COLLATE "C",                            -- nine digits, without GB
    vat_status text COLLATE "C" NOT NULL CHECK (vat_status IN ('not_registered', 'registered', 'deregistered', 'pending')),
    vat_effective_date text COLLATE "C",
    vat_deregistration_date text COLLATE "C",
    vat_scheme text COLLATE "C" CHECK (vat_scheme IN ('standard', 'cash', 'flat_rate', 'annual')),
    vat_return_frequency text COLLATE "C" CHECK (vat_return_frequency IN ('monthly', 'quarterly', 'annual')),
    vat_stagger_group bigint CHECK (vat_stagger_group BETWEEN 1 AND 3),
    vat_period_end_month bigint CHECK (vat_period_end_month BETWEEN 1 AND 12),
    vat_flat_rate_category text COLLATE "C",
    vat_flat_rate_percent text COLLATE "C",
    vat_flat_rate_start_date text COLLATE "C",
    accounting_year_end_month bigint NOT NULL CHECK (accounting_year_end_month BETWEEN 1 AND 12),
    accounting_year_end_day bigint NOT NULL CHECK (accounting_year_end_day BETWEEN 1 AND 31),
    base_currency text COLLATE "C" NOT NULL CHECK (length(base_currency) = 3),
    country_code text COLLATE "C" NOT NULL CHECK (length(country_code) = 2),
    tax_residency text COLLATE "C" CHECK (tax_residency IN ('england_ni', 'scotland', 'wales', 'non_uk')),
    address text COLLATE "C",                               -- JSON
    email text COLLATE "C",
    phone text COLLATE "C",
    website text COLLATE "C",
    cis_contractor bigint NOT NULL CHECK (cis_contractor IN (0, 1)),
    cis_subcontractor bigint NOT NULL CHECK (cis_subcontractor IN (0, 1)),
    cis_verified_rate bigint CHECK (cis_verified_rate IN (0, 20, 30)),
    archived_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    search_text text COLLATE "C" NOT NULL,                  -- names and numbers, case-folded
    wire bytea NOT NULL                          -- the JSON without utr, nino and the closing brace
, numbered_as_organization bigint NOT NULL DEFAULT 0
    CHECK (numbered_as_organization IN (0, 1)), incorporation_date text COLLATE "C", itsa_status_tax_year text COLLATE "C", itsa_status_status text COLLATE "C", itsa_status_reason text COLLATE "C", itsa_status_fetched_at bigint, utr_sealed bytea);

CREATE INDEX legal_entities_changes ON legal_entities (org_id, updated_at, id);

CREATE UNIQUE INDEX legal_entities_company_number ON legal_entities (org_id, company_number)
    WHERE company_number IS NOT NULL;

CREATE UNIQUE INDEX legal_entities_external_id ON legal_entities (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE UNIQUE INDEX legal_entities_numbered_as_organization ON legal_entities (org_id)
    WHERE numbered_as_organization = 1;

CREATE INDEX legal_entities_page ON legal_entities (org_id, id);

CREATE UNIQUE INDEX legal_entities_vat_number ON legal_entities (org_id, vat_number) WHERE vat_number IS NOT NULL;

CREATE TABLE line_documents (
    org_id text COLLATE "C" NOT NULL,
    bank_transaction_id text COLLATE "C" NOT NULL,          -- without a reference: an import that is undone takes its lines along
    document_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, bank_transaction_id, document_id)
);

CREATE INDEX line_documents_of_document ON line_documents (document_id, org_id);

CREATE TABLE memberships (
    org_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    created_at bigint NOT NULL,
    PRIMARY KEY (org_id, user_id)
);

CREATE INDEX memberships_of_user ON memberships (user_id, org_id);

CREATE TABLE mortgages (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    property_id text COLLATE "C" NOT NULL,
    lender text COLLATE "C" NOT NULL,
    account_number_masked text COLLATE "C",
    type text COLLATE "C" NOT NULL CHECK (type = 'repayment' OR type = 'interest_only' OR type = 'part_and_part'),
    rate_type text COLLATE "C" CHECK (
        rate_type = 'fixed' OR rate_type = 'tracker' OR rate_type = 'variable' OR rate_type = 'discount'
        OR rate_type = 'offset'
    ),
    interest_rate text COLLATE "C" NOT NULL,                -- percent a year; the last of its history
    rate_history text COLLATE "C" NOT NULL,                 -- JSON, oldest first; the first is of the start
    rate_end_date text COLLATE "C",
    reversion_rate text COLLATE "C",
    original_amount bigint NOT NULL CHECK (original_amount > 0),
    start_date text COLLATE "C" NOT NULL,
    term_months bigint CHECK (term_months > 0),
    monthly_payment bigint CHECK (monthly_payment > 0),
    current_balance bigint CHECK (current_balance >= 0), -- the last of its history
    balance_date text COLLATE "C",
    balance_history text COLLATE "C" NOT NULL,              -- JSON, oldest first
    erc_until_date text COLLATE "C",
    erc_percent text COLLATE "C",
    business_purpose_percent text COLLATE "C" NOT NULL,
    redeemed_date text COLLATE "C",
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1), owed_by_month bytea NOT NULL DEFAULT '\x',
    CHECK ((current_balance IS NULL) = (balance_date IS NULL))
);

CREATE INDEX mortgages_by_change ON mortgages (org_id, updated_at, id);

CREATE UNIQUE INDEX mortgages_by_external_id ON mortgages (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX mortgages_by_id ON mortgages (org_id, id);

CREATE INDEX mortgages_by_rate_end ON mortgages (org_id, rate_end_date, id) WHERE rate_end_date IS NOT NULL;

CREATE INDEX mortgages_of_property ON mortgages (org_id, property_id, id);

CREATE INDEX mortgages_redeemed ON mortgages (org_id, id) WHERE redeemed_date IS NOT NULL;

CREATE INDEX mortgages_to_compute ON mortgages (id) WHERE length(owed_by_month) = 0;

CREATE TABLE oauth_clients (
    id text COLLATE "C" PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 2048),  -- ours, or the https URL of a metadata document
    origin text COLLATE "C" NOT NULL CHECK (origin IN ('registered', 'document')),
    name text COLLATE "C" NOT NULL,                                 -- what it calls itself: shown, never believed
    metadata bytea NOT NULL,                             -- JSON: what is honoured (RFC 7591 §2)
    tax_approved_at bigint,
    document_fresh_until bigint,                       -- the cached document is used without asking until then
    revoked_at bigint,
    last_used_day text COLLATE "C",                                 -- YYYY-MM-DD, UTC
    created_at bigint NOT NULL,
    CHECK ((document_fresh_until IS NOT NULL) = (origin = 'document'))
);

CREATE INDEX oauth_clients_by_age ON oauth_clients (created_at);

CREATE TABLE obligation_events (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    obligation_id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL CHECK (type IN (
        'confirmed', 'due_date_changed', 'fulfilled', 'reopened', 'not_required', 'required')),
    at bigint NOT NULL,
    noted_by text COLLATE "C",                                      -- NULL: the calendar, or the tax authority
    detail text COLLATE "C"
);

CREATE INDEX obligation_events_of ON obligation_events (org_id, obligation_id, id);

CREATE TABLE obligations (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    kind text COLLATE "C" NOT NULL CHECK (kind IN (
        'vat_return', 'vat_payment', 'itsa_quarterly_update', 'itsa_final_declaration', 'self_assessment_payment',
        'payment_on_account', 'corporation_tax_return', 'corporation_tax_payment', 'annual_accounts',
        'confirmation_statement', 'cgt_property_report', 'paye', 'cis_return', 'certificate_renewal', 'custom')),
    name text COLLATE "C",                                          -- of what a person entered
    legal_entity_id text COLLATE "C" NOT NULL,
    business_id text COLLATE "C",
    period_id text COLLATE "C",
    slot text COLLATE "C" NOT NULL,             -- '' for the one of its kind and period; else what tells several apart
    period_start_date text COLLATE "C" NOT NULL,
    period_end_date text COLLATE "C" NOT NULL CHECK (period_end_date >= period_start_date),
    due_date text COLLATE "C" NOT NULL,
    predicted_due_date text COLLATE "C",                            -- what the calendar says; NULL: it does not know of this
    status text COLLATE "C" NOT NULL CHECK (status IN ('open', 'fulfilled', 'not_required')),   -- overdue depends on today
    dismissed bigint NOT NULL CHECK (dismissed IN (0, 1)),     -- not required because a person said so
    received_date text COLLATE "C",
    fulfilled_at bigint,                               -- when that was noted here
    period_key text COLLATE "C",
    source text COLLATE "C" NOT NULL CHECK (source IN ('tax_authority', 'local')),
    confidence text COLLATE "C" NOT NULL CHECK (confidence IN ('confirmed', 'predicted')),
    penalty text COLLATE "C",                                       -- JSON
    amount_due bigint,                                 -- minor units of currency
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    last_checked_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1), due_soon_for text COLLATE "C", overdue_for text COLLATE "C", undecided bigint NOT NULL DEFAULT 0 CHECK (undecided IN (0, 1)), calculated bigint NOT NULL DEFAULT 0 CHECK (calculated IN (0, 1)),
    CHECK (dismissed = 0 OR status = 'not_required'),
    CHECK ((fulfilled_at IS NULL) = (status <> 'fulfilled'))
);

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
    hash bytea PRIMARY KEY,                              -- SHA-256 of the token in the link
    user_id text COLLATE "C" NOT NULL,
    purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('sign_in', 'reset_password')),
    expires_at bigint NOT NULL,
    used_at bigint,
    created_at bigint NOT NULL
);

CREATE INDEX one_time_links_by_expiry ON one_time_links (expires_at);

CREATE TABLE opportunities (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    lead_id text COLLATE "C",
    name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    pipeline_id text COLLATE "C" NOT NULL CHECK (length(pipeline_id) BETWEEN 1 AND 64),
    stage text COLLATE "C" NOT NULL CHECK (length(stage) BETWEEN 1 AND 64),
    amount bigint CHECK (amount >= 0),                 -- minor units
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE INDEX opportunities_changes ON opportunities (org_id, updated_at, id);

CREATE UNIQUE INDEX opportunities_external_id ON opportunities (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX opportunities_of_lead ON opportunities (lead_id, id) WHERE lead_id IS NOT NULL;

CREATE INDEX opportunities_page ON opportunities (org_id, id);

CREATE TABLE organizations (
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    created_at bigint NOT NULL
, suspended_at bigint, suspended_reason text COLLATE "C" CHECK (length(suspended_reason) <= 1000), deleting_since bigint, time_zone text COLLATE "C" NOT NULL DEFAULT 'Europe/London'
    CHECK (length(time_zone) BETWEEN 1 AND 64));

CREATE TABLE passkeys (
    credential_id bytea PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL,
    public_key bytea NOT NULL,                           -- COSE
    sign_count bigint NOT NULL CHECK (sign_count >= 0),
    transports text COLLATE "C" NOT NULL,                           -- space separated
    name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    backed_up bigint NOT NULL CHECK (backed_up IN (0, 1)),
    last_used_at bigint,
    created_at bigint NOT NULL
);

CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

CREATE TABLE "period_locks" (
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    business_id text COLLATE "C",        -- NULL: all that the entity keeps
    start_date text COLLATE "C" NOT NULL,
    end_date text COLLATE "C" NOT NULL CHECK (end_date >= start_date),
    closed_at bigint NOT NULL
, closing bigint NOT NULL DEFAULT 0 CHECK (closing IN (0, 1)));

CREATE UNIQUE INDEX period_locks_key
    ON period_locks (org_id, legal_entity_id, coalesce(business_id, ''), start_date, end_date, closing);

CREATE TABLE period_seals (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    period_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL CHECK (number >= 1),    -- of the period: 1 for the first
    sealed_at bigint NOT NULL,
    sealed_by text COLLATE "C" NOT NULL,
    size_bytes bigint NOT NULL CHECK (size_bytes > 0),
    sha256 text COLLATE "C" NOT NULL,                       -- of the file, hexadecimal
    contents_sha256 text COLLATE "C" NOT NULL,              -- of what is in it: the same for the same books
    key_fingerprint text COLLATE "C" NOT NULL,
    files text COLLATE "C" NOT NULL,                        -- JSON: path, bytes, rows, sha256
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE INDEX period_seals_of_file ON period_seals (sha256);

CREATE UNIQUE INDEX period_seals_of_period ON period_seals (org_id, period_id, number);

CREATE TABLE periods (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    business_id text COLLATE "C",        -- NULL: of the entity as a whole
    type text COLLATE "C" NOT NULL CHECK (type IN ('vat_period', 'itsa_quarter', 'tax_year', 'financial_year', 'month')),
    label text COLLATE "C" NOT NULL,
    tax_year text COLLATE "C",
    start_date text COLLATE "C" NOT NULL,
    end_date text COLLATE "C" NOT NULL CHECK (end_date >= start_date),
    cumulative bigint NOT NULL CHECK (cumulative IN (0, 1)),
    filing_due_date text COLLATE "C",                               -- NULL: nothing is filed for it
    status text COLLATE "C" NOT NULL CHECK (status IN ('open', 'closing', 'closed')),
    locked_through_date text COLLATE "C",
    closed_at bigint,
    closed_by text COLLATE "C",
    forced_reason text COLLATE "C",                                 -- why it was closed with points of the checklist undone
    reopened_count bigint NOT NULL CHECK (reopened_count >= 0),
    reopened_reason text COLLATE "C",                               -- of the last time
    archived_at bigint,                                -- since when it applies no more
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    CHECK ((closed_at IS NULL) = (status <> 'closed')),
    CHECK ((locked_through_date IS NULL) = (status <> 'closed')),
    CHECK (archived_at IS NULL OR status = 'open')
);

CREATE INDEX periods_changes ON periods (org_id, updated_at, id);

CREATE UNIQUE INDEX periods_key ON periods (org_id, legal_entity_id, coalesce(business_id, ''), type, end_date);

CREATE INDEX periods_of_business ON periods (org_id, business_id, end_date, id);

CREATE INDEX periods_of_entity ON periods (org_id, legal_entity_id, end_date, id, type);

CREATE INDEX periods_page ON periods (org_id, end_date, id, type);

CREATE TABLE properties (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    business_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    address text COLLATE "C",                               -- JSON
    uprn text COLLATE "C",
    jurisdiction text COLLATE "C" NOT NULL CHECK (
        jurisdiction = 'england' OR jurisdiction = 'wales' OR jurisdiction = 'scotland'
        OR jurisdiction = 'northern_ireland' OR jurisdiction = 'other'
    ),
    type text COLLATE "C" NOT NULL CHECK (
        type = 'house' OR type = 'flat' OR type = 'maisonette' OR type = 'bungalow' OR type = 'hmo' OR type = 'studio'
        OR type = 'block' OR type = 'commercial' OR type = 'mixed_use' OR type = 'land' OR type = 'garage'
        OR type = 'other'
    ),
    use text COLLATE "C" NOT NULL CHECK (
        use = 'residential_let' OR use = 'commercial_let' OR use = 'mixed' OR use = 'holiday_let'
        OR use = 'rent_a_room' OR use = 'own_use' OR use = 'vacant'
    ),
    tenure text COLLATE "C" CHECK (tenure = 'freehold' OR tenure = 'leasehold' OR tenure = 'commonhold' OR tenure = 'other'),
    lease_expiry_date text COLLATE "C",
    ground_rent_annual bigint,
    service_charge_annual bigint,
    furnished text COLLATE "C" CHECK (furnished = 'furnished' OR furnished = 'part_furnished' OR furnished = 'unfurnished'),
    bedrooms bigint,
    area_sqm text COLLATE "C",
    owners text COLLATE "C" NOT NULL,                       -- JSON; empty: the entity of the business alone
    owner_share_percent text COLLATE "C",                   -- of the entity of the business; NULL: as the business says
    acquisition_date text COLLATE "C",
    purchase_price bigint,
    acquisition_costs bigint,
    improvement_costs bigint,
    disposal_date text COLLATE "C",
    disposal_proceeds bigint,
    disposal_costs bigint,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    local_authority text COLLATE "C",
    council_tax_band text COLLATE "C",
    licensing text COLLATE "C" NOT NULL CHECK (
        licensing = 'none' OR licensing = 'mandatory_hmo' OR licensing = 'additional_hmo' OR licensing = 'selective'
        OR licensing = 'unknown'
    ),
    gas_supply bigint CHECK (gas_supply = 0 OR gas_supply = 1),
    foreign_property_id text COLLATE "C",
    status text COLLATE "C" NOT NULL CHECK (status = 'active' OR status = 'under_offer' OR status = 'sold' OR status = 'archived'),
    archived_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    search_text text COLLATE "C" NOT NULL, postcode_key text COLLATE "C" NOT NULL DEFAULT '', may_lack bigint NOT NULL DEFAULT 1 CHECK (may_lack = 0 OR may_lack = 1),                  -- names and address, case-folded
    CHECK ((status = 'archived') = (archived_at IS NOT NULL))
);

CREATE INDEX properties_by_change ON properties (org_id, updated_at, id);

CREATE UNIQUE INDEX properties_by_external_id ON properties (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX properties_by_id ON properties (org_id, id, archived_at, status, use, search_text);

CREATE INDEX properties_by_postcode ON properties (org_id, postcode_key, id);

CREATE INDEX properties_lacking ON properties (org_id, id) WHERE may_lack = 1;

CREATE INDEX properties_of_business ON properties (org_id, business_id, id);

CREATE TABLE property_units (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    property_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,                     -- case-folded
    type text COLLATE "C" NOT NULL CHECK (
        type = 'whole' OR type = 'room' OR type = 'flat' OR type = 'commercial_unit' OR type = 'parking'
        OR type = 'storage' OR type = 'other'
    ),
    floor text COLLATE "C",
    bedrooms bigint,
    area_sqm text COLLATE "C",
    market_rent bigint,
    rent_frequency text COLLATE "C" CHECK (
        rent_frequency = 'weekly' OR rent_frequency = 'fortnightly' OR rent_frequency = 'four_weekly'
        OR rent_frequency = 'monthly' OR rent_frequency = 'quarterly' OR rent_frequency = 'annually'
    ),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    archived_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, let_until text COLLATE "C" NOT NULL DEFAULT '');

CREATE INDEX property_units_by_change ON property_units (org_id, updated_at, id);

CREATE UNIQUE INDEX property_units_by_external_id ON property_units (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX property_units_by_id ON property_units (org_id, id, archived_at, property_id);

CREATE UNIQUE INDEX property_units_by_name ON property_units (org_id, property_id, name_key);

CREATE INDEX property_units_let ON property_units (org_id, id) WHERE let_until = '9999-12-31';

CREATE INDEX property_units_not_let ON property_units (org_id, id) WHERE let_until < '9999-12-31';

CREATE INDEX property_units_of_property ON property_units (org_id, property_id, id);

CREATE TABLE property_valuations (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    property_id text COLLATE "C" NOT NULL,
    valuation_date text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    method text COLLATE "C" NOT NULL CHECK (
        method = 'purchase' OR method = 'surveyor' OR method = 'agent' OR method = 'automated'
        OR method = 'house_price_index' OR method = 'owner_estimate' OR method = 'tribunal'
    ),
    source text COLLATE "C",
    confidence text COLLATE "C" CHECK (confidence = 'low' OR confidence = 'medium' OR confidence = 'high'),
    document_id text COLLATE "C",
    notes text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE INDEX property_valuations_by_change ON property_valuations (org_id, updated_at, id);

CREATE INDEX property_valuations_by_date ON property_valuations (org_id, valuation_date, id);

CREATE UNIQUE INDEX property_valuations_by_external_id ON property_valuations (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX property_valuations_of_property ON property_valuations (org_id, property_id, valuation_date, id);

CREATE TABLE quarter_choices (
    org_id text COLLATE "C" NOT NULL,
    business_id text COLLATE "C" NOT NULL,
    first_year bigint NOT NULL,                -- in which the tax year begins; 0: nobody knows since when
    type text COLLATE "C" NOT NULL CHECK (type IN ('standard', 'calendar')),
    PRIMARY KEY (org_id, business_id, first_year)
);

CREATE TABLE recovery_codes (
    user_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,                                 -- SHA-256 of the code, which is random
    used_at bigint,
    PRIMARY KEY (user_id, hash)
);

CREATE TABLE refresh_tokens (
    hash bytea PRIMARY KEY,                              -- SHA-256 of the token
    grant_id text COLLATE "C" NOT NULL,
    generation bigint NOT NULL CHECK (generation >= 1),
    superseded_at bigint,
    answer_sealed bytea,                                 -- the answer that superseded it, encrypted, for the grace window
    created_at bigint NOT NULL,
    CHECK ((superseded_at IS NULL) = (answer_sealed IS NULL))
);

CREATE UNIQUE INDEX refresh_tokens_of_grant ON refresh_tokens (grant_id, generation);

CREATE TABLE removals (
    org_id text COLLATE "C" NOT NULL,
    resource text COLLATE "C" NOT NULL,                             -- the name of its table
    removed_at bigint NOT NULL,                        -- in the order of `updated_at`
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, resource, removed_at, id)
);

CREATE INDEX removals_by_age ON removals (removed_at);

CREATE TABLE removals_forgotten (
    org_id text COLLATE "C" NOT NULL,
    resource text COLLATE "C" NOT NULL,
    latest bigint NOT NULL,                            -- when the last of those was removed that are no longer kept
    PRIMARY KEY (org_id, resource)
);

CREATE TABLE rents_received (
    org_id text COLLATE "C" NOT NULL,
    tenancy_id text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    amount bigint NOT NULL, unpaid_from text COLLATE "C",                    -- minor units, of all dates; below 0: more was given back
    PRIMARY KEY (org_id, tenancy_id, currency)
);

CREATE INDEX rents_received_unpaid ON rents_received (org_id, unpaid_from, tenancy_id, currency, amount)
WHERE unpaid_from IS NOT NULL;

CREATE TABLE restores (
    restored_at bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    backup_made_at bigint NOT NULL
);

CREATE TABLE seal_keys (
    kid text COLLATE "C" PRIMARY KEY,                       -- its thumbprint (RFC 7638)
    private_sealed bytea NOT NULL,               -- the private JWK, encrypted at rest
    public_jwk text COLLATE "C" NOT NULL,                   -- JSON
    created_at bigint NOT NULL
);

CREATE TABLE sessions (
    id text COLLATE "C" PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,                          -- SHA-256 of the cookie's token
    user_id text COLLATE "C" NOT NULL,
    methods text COLLATE "C" NOT NULL CHECK (length(methods) > 0),  -- space separated amr values (RFC 8176)
    authenticated_at bigint NOT NULL,                  -- auth_time: when the password or passkey was last given
    user_agent text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,                              -- '' on a unix socket
    last_seen_at bigint NOT NULL,                      -- written at most every few minutes
    expires_at bigint NOT NULL,
    ended_at bigint,
    created_at bigint NOT NULL
);

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE INDEX sessions_of_user ON sessions (user_id, id);

CREATE TABLE sign_in_failures (
    subject text COLLATE "C" PRIMARY KEY,                           -- 'account:<folded address>' or 'network:<prefix>'
    failures bigint NOT NULL CHECK (failures >= 1),
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    locked_until bigint                                -- NULL: not locked
);

CREATE INDEX sign_in_failures_by_age ON sign_in_failures (last_at);

CREATE TABLE signing_keys (
    kid text COLLATE "C" PRIMARY KEY,
    alg text COLLATE "C" NOT NULL CHECK (alg IN ('ES256', 'RS256')),
    private_sealed bytea NOT NULL,                       -- the private JWK, encrypted at rest
    public_jwk text COLLATE "C" NOT NULL,                           -- JSON
    signs_from bigint NOT NULL,
    signs_until bigint,                                -- NULL: until the next one is made
    published_until bigint,                            -- NULL with signs_until; then later by the longest token's life
    created_at bigint NOT NULL
);

CREATE TABLE stated_balances (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,
    opens_on text COLLATE "C" NOT NULL,                     -- the day after, which it is the opening balance of
    balance bigint NOT NULL,                   -- minor units
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    note text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE UNIQUE INDEX stated_balances_of_day ON stated_balances (org_id, account_id, date);

CREATE TABLE statement_gaps (
    org_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    import_id text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, account_id, import_id, date)
);

CREATE TABLE tax_calls (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    credential_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    operation text COLLATE "C" NOT NULL,
    status bigint NOT NULL,                            -- what the caller was answered
    code text COLLATE "C",                                          -- the code of a problem of ours; NULL: the upstream's answer
    correlation_id text COLLATE "C",                                -- the upstream's own name for the call
    milliseconds bigint NOT NULL
, legal_entity_id text COLLATE "C", warnings text COLLATE "C");

CREATE INDEX tax_calls_of_org ON tax_calls (org_id, id);

CREATE TABLE "tax_connections" (
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C",    -- NULL: of every entity that has no grant of its own
    access_sealed bytea NOT NULL,                        -- bearer token, encrypted at rest
    refresh_sealed bytea,                                -- NULL: cannot be refreshed
    scope text COLLATE "C" NOT NULL,
    expires_at bigint,                                 -- of the access token; NULL: not known
    generation bigint NOT NULL CHECK (generation >= 1),    -- counts the replacements
    connected_by text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);

CREATE UNIQUE INDEX tax_connections_key ON tax_connections (org_id, coalesce(legal_entity_id, ''));

CREATE TABLE tax_requests (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C",          -- of the key; NULL: a client belongs to the instance
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('key', 'client')),
    subject text COLLATE "C" NOT NULL,                              -- the key's or the client's id
    status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'approved', 'refused')),
    attestation text COLLATE "C",                                   -- what the vendor declared, word for word
    requested_by text COLLATE "C" NOT NULL,
    decided_by text COLLATE "C",
    decided_at bigint,
    reason text COLLATE "C",                                        -- why it was refused
    created_at bigint NOT NULL,
    CHECK ((status = 'pending') = (decided_at IS NULL)),
    CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
    CHECK ((kind = 'key') = (org_id IS NOT NULL))
);

CREATE INDEX tax_requests_by_status ON tax_requests (status, id);

CREATE INDEX tax_requests_of_subject ON tax_requests (kind, subject, id);

CREATE UNIQUE INDEX tax_requests_pending ON tax_requests (kind, subject) WHERE status = 'pending';

CREATE TABLE "tax_standings" (
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C",    -- NULL: of every entity that has none of its own
    vat bigint NOT NULL CHECK (vat IN (0, 1)),
    itsa bigint NOT NULL CHECK (itsa IN (0, 1)),
    expires_at bigint NOT NULL                         -- of the grant, not of the access token
);

CREATE UNIQUE INDEX tax_standings_key ON tax_standings (org_id, coalesce(legal_entity_id, ''));

CREATE TABLE tax_year_figures (
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    first_year bigint NOT NULL,   -- 2024 is 2024-25
    qualifying_income bigint CHECK (qualifying_income >= 0), -- pence, before expenses; NULL: nobody said
    tax_assessed bigint CHECK (tax_assessed >= 0),           -- pence; NULL: nobody said
    tax_deducted bigint CHECK (tax_deducted >= 0),           -- of it, at source
    is_exempt bigint NOT NULL CHECK (is_exempt IN (0, 1)),   -- from quarterly updates in this year
    updated_at bigint NOT NULL, residence text COLLATE "C" CHECK (
    residence = 'resident' OR residence = 'not_resident' OR residence = 'split'
),
    PRIMARY KEY (org_id, legal_entity_id, first_year)
);

CREATE TABLE tenancies (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    property_id text COLLATE "C" NOT NULL,
    unit_id text COLLATE "C", -- NULL: the whole property
    tenant_ids text COLLATE "C" NOT NULL,                   -- JSON, the lead first
    type text COLLATE "C" NOT NULL CHECK (
        type = 'assured_periodic' OR type = 'assured_shorthold' OR type = 'occupation_contract'
        OR type = 'private_residential_tenancy' OR type = 'private_tenancy_ni' OR type = 'regulated' OR type = 'lodger'
        OR type = 'company_let' OR type = 'commercial_lease' OR type = 'other'
    ),
    start_date text COLLATE "C" NOT NULL,
    term_end_date text COLLATE "C",                         -- of the agreement
    end_date text COLLATE "C",                              -- after all
    rent_frequency text COLLATE "C" NOT NULL CHECK (
        rent_frequency = 'weekly' OR rent_frequency = 'fortnightly' OR rent_frequency = 'four_weekly'
        OR rent_frequency = 'monthly' OR rent_frequency = 'quarterly' OR rent_frequency = 'annually'
    ),
    rent_due_day bigint NOT NULL CHECK (rent_due_day BETWEEN 1 AND 31),
    bills_included bigint NOT NULL CHECK (bills_included = 0 OR bills_included = 1),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    rent_history text COLLATE "C" NOT NULL,                 -- JSON, oldest first; the first is of the start
    deposit_amount bigint,
    deposit_scheme text COLLATE "C" CHECK (
        deposit_scheme = 'dps' OR deposit_scheme = 'tds' OR deposit_scheme = 'mydeposits'
        OR deposit_scheme = 'safedeposits_scotland' OR deposit_scheme = 'lps_scotland' OR deposit_scheme = 'tdsni'
        OR deposit_scheme = 'none'
    ),
    deposit_reference text COLLATE "C",
    deposit_protected_date text COLLATE "C",
    deposit_returned_amount bigint,
    deposit_returned_date text COLLATE "C",
    notice_served_date text COLLATE "C",
    notice_by text COLLATE "C" CHECK (notice_by = 'landlord' OR notice_by = 'tenant'),
    notice_expiry_date text COLLATE "C",
    notes text COLLATE "C",
    cancelled_at bigint,
    ending_told_for text COLLATE "C",                       -- the last day that `tenancy.ending` told of
    rent_told_for text COLLATE "C",                         -- the latest due date that `rent.overdue` told of
    rent_looked_at_on text COLLATE "C" NOT NULL DEFAULT '', -- the latest day on which its rent was looked at
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    last_day text COLLATE "C",                              -- of the tenancy, by law, notice and what was said; NULL: it goes on
    rent_total bigint                          -- of all its days; NULL: it goes on
, last_rent bigint, last_rent_from text COLLATE "C", expected_end text COLLATE "C", tenant_spans text COLLATE "C" NOT NULL DEFAULT '[]', last_rent_frequency text COLLATE "C", deposit_received_date text COLLATE "C", notice_kind text COLLATE "C", notice_grounds text COLLATE "C" NOT NULL DEFAULT '[]', rent_quarter_days text COLLATE "C" CHECK (
    rent_quarter_days IS NULL OR rent_frequency = 'quarterly'
        AND (rent_quarter_days = 'english' OR rent_quarter_days = 'scottish' OR rent_quarter_days = 'modern')
));

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
    org_id text COLLATE "C" NOT NULL,
    tenancy_id text COLLATE "C" NOT NULL,
    tenant_id text COLLATE "C" NOT NULL, to_date text COLLATE "C",
    PRIMARY KEY (org_id, tenancy_id, tenant_id)
);

CREATE INDEX tenancy_tenants_of_tenant ON tenancy_tenants (org_id, tenant_id, tenancy_id, to_date);

CREATE TABLE tenants (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    kind text COLLATE "C" NOT NULL CHECK (kind = 'person' OR kind = 'company'),
    first_name text COLLATE "C",
    last_name text COLLATE "C",
    company_name text COLLATE "C",
    company_number text COLLATE "C",
    email text COLLATE "C",
    phone text COLLATE "C",
    correspondence_address text COLLATE "C",                -- JSON
    right_to_rent_status text COLLATE "C" NOT NULL CHECK (
        right_to_rent_status = 'not_checked' OR right_to_rent_status = 'passed'
        OR right_to_rent_status = 'time_limited' OR right_to_rent_status = 'failed' OR right_to_rent_status = 'exempt'
    ),
    right_to_rent_checked_date text COLLATE "C",
    right_to_rent_expiry_date text COLLATE "C",
    guarantor text COLLATE "C",                             -- JSON
    notes text COLLATE "C",
    anonymised_at bigint,
    anonymised_reason text COLLATE "C",                     -- why before records had been kept for long enough
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    search_text text COLLATE "C" NOT NULL                   -- names, email and phone, case-folded
, lets_until text COLLATE "C");

CREATE INDEX tenants_by_change ON tenants (org_id, updated_at, id);

CREATE UNIQUE INDEX tenants_by_external_id ON tenants (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX tenants_by_id ON tenants (org_id, id);

CREATE INDEX tenants_leaving ON tenants (org_id, id) WHERE lets_until < '9999-12-31';

CREATE INDEX tenants_never_let ON tenants (org_id, id) WHERE lets_until IS NULL;

CREATE INDEX tenants_staying ON tenants (org_id, id) WHERE lets_until = '9999-12-31';

CREATE TABLE totp_secrets (
    user_id text COLLATE "C" PRIMARY KEY,
    secret_sealed bytea NOT NULL,                        -- encrypted at rest
    confirmed_at bigint,                               -- NULL: shown, and not yet proved
    last_step bigint NOT NULL,                         -- the newest time step used: a code works once (RFC 6238 §5.2)
    created_at bigint NOT NULL
);

CREATE TABLE users (
    id text COLLATE "C" PRIMARY KEY,
    email text COLLATE "C" NOT NULL,
    email_folded text COLLATE "C" NOT NULL UNIQUE,          -- lower case: one account per address
    name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    password_hash text COLLATE "C",                         -- argon2id, NULL where none was set
    instance_admin bigint NOT NULL CHECK (instance_admin IN (0, 1)),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
, disabled_at bigint, addresses_since bigint NOT NULL DEFAULT 0);

CREATE TABLE vat_period_liabilities (
    org_id text COLLATE "C" NOT NULL,
    period_id text COLLATE "C" NOT NULL,
    liability bigint NOT NULL CHECK (liability >= 0),        -- pence; 0 where VAT is repaid
    PRIMARY KEY (org_id, period_id)
);

CREATE TABLE vat_years (
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C" NOT NULL,
    end_date text COLLATE "C" NOT NULL,                                   -- of the last VAT period in it
    liability bigint CHECK (liability >= 0),                 -- pence, on the returns; NULL: as the books have it
    import_vat bigint NOT NULL DEFAULT 0 CHECK (import_vat >= 0), -- pence, on no return
    method text COLLATE "C" CHECK (method IN ('instalments', 'actual', 'none')), -- NULL: HMRC said nothing
    instalment bigint CHECK (instalment >= 0),               -- pence, as HMRC set it
    updated_at bigint NOT NULL,
    PRIMARY KEY (org_id, legal_entity_id, end_date)
);

CREATE TABLE vault_accesses (
    org_id text COLLATE "C" NOT NULL,
    reader text COLLATE "C" NOT NULL,                       -- the user, or the credential that is nobody's
    document_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (org_id, reader, document_id)
);

CREATE INDEX vault_accesses_by_reader ON vault_accesses (org_id, reader, at, document_id);

CREATE INDEX vault_accesses_of_document ON vault_accesses (document_id, at);

CREATE TABLE vault_chunks (
    number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    n bigint NOT NULL CHECK (n >= 0),
    page bigint NOT NULL,                      -- 0: the name alone
    start bigint NOT NULL,                     -- in characters of the page
    length bigint NOT NULL,
    digest bytea NOT NULL,                       -- of what is embedded
    model text COLLATE "C" NOT NULL,                        -- whose vector it is; empty: of none yet
    vector bytea,                                -- float32, little-endian, of length 1
    code bytea                                   -- the signs of the vector, a bit each
);

CREATE INDEX vault_chunks_by_model ON vault_chunks (model, number);

CREATE UNIQUE INDEX vault_chunks_of_document ON vault_chunks (org_id, document_id, n);

CREATE INDEX vault_chunks_with_code ON vault_chunks (org_id, model, number, code, document_id) WHERE code IS NOT NULL;

CREATE TABLE vault_documents (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,                     -- case-folded
    date_key text COLLATE "C" NOT NULL,                     -- the date of the document; empty: nobody said
    size_key bigint NOT NULL,                  -- of its bytes; -1: there are none
    original_name text COLLATE "C" NOT NULL,
    mime_type text COLLATE "C" NOT NULL,
    size_bytes bigint,                         -- of what was received; NULL: nothing was
    sha256 text COLLATE "C",
    page_count bigint,
    folder_id text COLLATE "C", -- NULL: at the top
    starred bigint NOT NULL CHECK (starred = 0 OR starred = 1),
    thumbnail_url text COLLATE "C",
    contract_id text COLLATE "C",
    document_date text COLLATE "C",
    status text COLLATE "C" NOT NULL CHECK (status = 'pending_upload' OR status = 'uploaded' OR status = 'deleted'),
    on_duplicate text COLLATE "C" NOT NULL CHECK (on_duplicate = 'allow' OR on_duplicate = 'reject'),
    links text COLLATE "C" NOT NULL,                        -- JSON
    upload_hash bytea,                           -- SHA-256 of the token in the URL; NULL: it is used up
    upload_expires_at bigint NOT NULL,
    declared_size_bytes bigint,
    declared_sha256 text COLLATE "C",
    received_at bigint,
    confirmed_at bigint,
    created_by text COLLATE "C" NOT NULL,
    deleted_at bigint,
    archive_until_date text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

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
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,                     -- case-folded
    parent_id text COLLATE "C", -- NULL: at the top
    created_by text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE UNIQUE INDEX vault_folders_by_external_id ON vault_folders (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE UNIQUE INDEX vault_folders_by_name ON vault_folders (org_id, coalesce(parent_id, ''), name_key);

CREATE INDEX vault_folders_of_parent ON vault_folders (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE vault_index_parts (
    number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    first_page bigint NOT NULL,                -- 0: it has its name alone
    last_page bigint NOT NULL
);

CREATE INDEX vault_index_parts_of_document ON vault_index_parts (org_id, document_id, number);

CREATE TABLE vault_index_queue (
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,                  -- of what is to be indexed: it may change while that is done
    queued_at bigint NOT NULL,
    PRIMARY KEY (org_id, document_id)
);

CREATE INDEX vault_index_queue_oldest ON vault_index_queue (org_id, queued_at, document_id);

CREATE TABLE vault_links (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    token_hash bytea NOT NULL,                   -- SHA-256
    expires_at bigint,                         -- NULL: it is permanent
    password_hash text COLLATE "C",
    wrong_passwords bigint NOT NULL DEFAULT 0, -- in a row
    locked_until bigint,                       -- no password is looked at before
    max_downloads bigint,
    downloads bigint NOT NULL,
    variant text COLLATE "C" NOT NULL,
    last_accessed_at bigint,
    revoked_at bigint,
    created_by text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
, user_id text COLLATE "C");

CREATE UNIQUE INDEX vault_links_by_token ON vault_links (token_hash);

CREATE INDEX vault_links_of_document ON vault_links (document_id, org_id, id);

CREATE INDEX vault_links_open ON vault_links (org_id, id) WHERE revoked_at IS NULL;

CREATE TABLE vault_pages (
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL CHECK (number >= 1),
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, document_id, number)
);

CREATE INDEX vault_pages_of_document ON vault_pages (document_id);

CREATE TABLE vault_parse_attempts (
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    n bigint NOT NULL CHECK (n >= 1),
    status text COLLATE "C" NOT NULL CHECK (
        status = 'running' OR status = 'succeeded' OR status = 'failed' OR status = 'skipped'
        OR status = 'interrupted'
    ),
    engine text COLLATE "C",
    started_at bigint NOT NULL,
    finished_at bigint,
    error_code text COLLATE "C",
    error_message text COLLATE "C",
    PRIMARY KEY (org_id, document_id, n)
);

CREATE INDEX vault_parse_attempts_of_document ON vault_parse_attempts (document_id);

CREATE TABLE vault_parses (
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL CHECK (
        status = 'queued' OR status = 'running' OR status = 'succeeded' OR status = 'failed' OR status = 'skipped'
    ),
    attempt bigint NOT NULL CHECK (attempt >= 1),
    retries bigint NOT NULL DEFAULT 0 CHECK (retries >= 0), -- that were begun by themselves since it was last asked for
    due_at bigint,                             -- when it may be claimed; NULL: it need not be any more
    started_at bigint,
    finished_at bigint,
    error_code text COLLATE "C",
    error_message text COLLATE "C",
    engine text COLLATE "C",
    text_chars bigint,
    language text COLLATE "C",
    extracted text COLLATE "C",                             -- JSON; NULL: nothing was found
    PRIMARY KEY (org_id, document_id)
);

CREATE INDEX vault_parses_by_status ON vault_parses (org_id, status, document_id);

CREATE INDEX vault_parses_due ON vault_parses (org_id, due_at, document_id) WHERE due_at IS NOT NULL;

CREATE INDEX vault_parses_of_document ON vault_parses (document_id);

CREATE INDEX vault_parses_running ON vault_parses (org_id, document_id) WHERE status = 'running';

CREATE TABLE "vault_proposals" (
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind = 'bank_line' OR kind = 'certificate'),
    decision text COLLATE "C" CHECK (decision = 'accepted' OR decision = 'dismissed'), -- NULL: nobody has decided
    target_id text COLLATE "C",                             -- what was accepted: the bank line, or the certificate that was made
    decided_by text COLLATE "C",
    decided_at bigint,
    PRIMARY KEY (org_id, document_id)
);

CREATE INDEX vault_proposals_of_document ON vault_proposals (document_id);

CREATE INDEX vault_proposals_open ON vault_proposals (org_id, document_id) WHERE decision IS NULL;

CREATE INDEX vault_proposals_open_by_kind ON vault_proposals (org_id, kind, document_id) WHERE decision IS NULL;

CREATE TABLE vault_usage (
    org_id text COLLATE "C" PRIMARY KEY,
    documents bigint NOT NULL CHECK (documents >= 0), -- that have bytes
    bytes bigint NOT NULL CHECK (bytes >= 0)
);

CREATE TABLE vault_variants (
    org_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    variant text COLLATE "C" NOT NULL CHECK (variant = 'searchable_pdf' OR variant = 'text' OR variant = 'thumbnail'),
    page bigint NOT NULL,                      -- 0: the whole document
    width bigint NOT NULL,                     -- that was asked for, in pixels; 0: it is no picture
    drawn_width bigint NOT NULL DEFAULT 0,     -- what it has: a small picture is not made larger
    height bigint NOT NULL,
    mime_type text COLLATE "C" NOT NULL,
    size_bytes bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (org_id, document_id, variant, page, width)
);

CREATE INDEX vault_variants_by_content ON vault_variants (sha256);

CREATE INDEX vault_variants_of_document ON vault_variants (document_id);

CREATE TABLE vault_vector_revisions (
    org_id text COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL                   -- counts what was changed
);

CREATE TABLE "webhook_subscriptions" (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    events text COLLATE "C" NOT NULL CHECK (length(events) > 0),    -- event kinds, space separated, in the subscriber's order
    enabled bigint NOT NULL CHECK (enabled IN (0, 1)),
    disabled_reason text COLLATE "C" CHECK (disabled_reason IN ('caller', 'receiver_gone', 'failing', 'maker_left', 'restored')),
    disabled_at bigint,
    failing_since bigint,                              -- the first failed attempt after the last success
    failing_told_at bigint,                            -- when it was announced that it will be disabled
    secret_sealed bytea NOT NULL,                        -- encrypted at rest
    secret_prefix text COLLATE "C" NOT NULL,                        -- what lists show of it
    previous_secret_sealed bytea,                        -- signs beside the new one during a rotation
    previous_secret_expires_at bigint,
    user_id text COLLATE "C",                                       -- with whose membership it ends; NULL: with nobody's
    created_by text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1), external_id text COLLATE "C",
    CHECK ((disabled_reason IS NULL) = (enabled = 1)),
    CHECK ((disabled_at IS NULL) = (enabled = 1)),
    CHECK (failing_told_at IS NULL OR failing_since IS NOT NULL),
    CHECK ((previous_secret_sealed IS NULL) = (previous_secret_expires_at IS NULL))
);

CREATE UNIQUE INDEX webhook_subscriptions_by_external_id ON webhook_subscriptions (org_id, external_id)
WHERE external_id IS NOT NULL;

CREATE INDEX webhook_subscriptions_of_org ON webhook_subscriptions (org_id, id);

CREATE TABLE write_check (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY CHECK (id = 1),
    checked_at bigint NOT NULL,
    filler bytea
);

ALTER TABLE allocation_rules ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE allocations ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE allocations ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE allocations ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE api_keys ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE api_keys ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE api_keys ADD FOREIGN KEY (replaced_by) REFERENCES api_keys (id);

ALTER TABLE asset_accounts ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE asset_accounts ADD FOREIGN KEY (portfolio_id) REFERENCES asset_portfolios (id);

ALTER TABLE asset_accounts ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE asset_accounts ADD FOREIGN KEY (bank_account_id) REFERENCES bank_accounts (id);

ALTER TABLE asset_cash ADD FOREIGN KEY (account_id) REFERENCES asset_accounts (id);

ALTER TABLE asset_holdings ADD FOREIGN KEY (instrument_id) REFERENCES instruments (id);

ALTER TABLE asset_holdings_to_compute ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE asset_income_years ADD FOREIGN KEY (account_id) REFERENCES asset_accounts (id);

ALTER TABLE asset_instruments_to_enter ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE asset_portfolios ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE asset_portfolios ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE asset_prices ADD FOREIGN KEY (instrument_id) REFERENCES instruments (id);

ALTER TABLE asset_transactions ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE asset_transactions ADD FOREIGN KEY (account_id) REFERENCES asset_accounts (id);

ALTER TABLE asset_transactions ADD FOREIGN KEY (portfolio_id) REFERENCES asset_portfolios (id);

ALTER TABLE asset_transactions ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE asset_transactions ADD FOREIGN KEY (instrument_id) REFERENCES instruments (id);

ALTER TABLE asset_transactions ADD FOREIGN KEY (from_instrument_id) REFERENCES instruments (id);

ALTER TABLE asset_transactions ADD FOREIGN KEY (counter_account_id) REFERENCES asset_accounts (id);

ALTER TABLE audit_log ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE authorization_codes ADD FOREIGN KEY (grant_id) REFERENCES grants (id) ON DELETE CASCADE;

ALTER TABLE authorization_requests ADD FOREIGN KEY (client_id) REFERENCES oauth_clients (id) ON DELETE CASCADE;

ALTER TABLE authorization_requests ADD FOREIGN KEY (session_id) REFERENCES sessions (id);

ALTER TABLE bank_accounts ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE bank_accounts ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE bank_statements ADD FOREIGN KEY (import_id) REFERENCES import_runs (id);

ALTER TABLE bank_statements ADD FOREIGN KEY (account_id) REFERENCES bank_accounts (id);

ALTER TABLE bank_transactions ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE bank_transactions ADD FOREIGN KEY (account_id) REFERENCES bank_accounts (id);

ALTER TABLE broker_records ADD FOREIGN KEY (account_id) REFERENCES asset_accounts (id);

ALTER TABLE broker_records ADD FOREIGN KEY (transaction_id) REFERENCES asset_transactions (id);

ALTER TABLE businesses ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE businesses ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE calendar_feeds ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE calendar_feeds ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE calendars ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE calendars ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE capital_losses ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE capital_losses ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE certificates ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE certificates ADD FOREIGN KEY (property_id) REFERENCES properties (id);

ALTER TABLE certificates ADD FOREIGN KEY (unit_id) REFERENCES property_units (id);

ALTER TABLE certificates ADD FOREIGN KEY (tenancy_id) REFERENCES tenancies (id);

ALTER TABLE certificates ADD FOREIGN KEY (superseded_by_id) REFERENCES certificates (id);

ALTER TABLE clients ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE credit_allotments ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE credit_entries ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE credit_entries ADD FOREIGN KEY (grant_id) REFERENCES credit_grants (id);

ALTER TABLE credit_entries ADD FOREIGN KEY (reversal_of) REFERENCES credit_entries (id);

ALTER TABLE credit_grants ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE credit_hold_draws ADD FOREIGN KEY (hold_id) REFERENCES credit_holds (id);

ALTER TABLE credit_hold_draws ADD FOREIGN KEY (grant_id) REFERENCES credit_grants (id);

ALTER TABLE credit_holds ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE credit_subscriptions ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE credit_subscriptions ADD FOREIGN KEY (plan_id) REFERENCES credit_plans (id);

ALTER TABLE credit_usage ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE credit_usage_blocks ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE csv_mappings ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE deliveries ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE deliveries ADD FOREIGN KEY (event_id) REFERENCES events (id);

ALTER TABLE delivery_attempts ADD FOREIGN KEY (delivery_id) REFERENCES deliveries (id) ON DELETE CASCADE;

ALTER TABLE event_followers ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE events ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE exchange_rates ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE former_owner_shares ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE former_owner_shares ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE former_vat_terms ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE former_vat_terms ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE grants ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE grants ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE grants ADD FOREIGN KEY (client_id) REFERENCES oauth_clients (id);

ALTER TABLE grants ADD FOREIGN KEY (session_id) REFERENCES sessions (id);

ALTER TABLE hidden_imports ADD FOREIGN KEY (import_id) REFERENCES import_runs (id);

ALTER TABLE import_rows ADD FOREIGN KEY (import_id) REFERENCES import_runs (id);

ALTER TABLE import_runs ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE import_trades ADD FOREIGN KEY (import_id) REFERENCES import_runs (id);

ALTER TABLE instrument_words ADD FOREIGN KEY (instrument_id) REFERENCES instruments (id);

ALTER TABLE instruments ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE invoice_lines ADD FOREIGN KEY (invoice_id) REFERENCES invoices (id);

ALTER TABLE invoice_payments ADD FOREIGN KEY (invoice_id) REFERENCES invoices (id);

ALTER TABLE invoice_sequences ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE invoices ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE invoices ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE invoices ADD FOREIGN KEY (client_id) REFERENCES clients (id);

ALTER TABLE invoices ADD FOREIGN KEY (credits_invoice_id) REFERENCES invoices (id);

ALTER TABLE known_devices ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE leads ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE legal_entities ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE line_documents ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE line_documents ADD FOREIGN KEY (document_id) REFERENCES vault_documents (id);

ALTER TABLE memberships ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE memberships ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE mortgages ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE mortgages ADD FOREIGN KEY (property_id) REFERENCES properties (id);

ALTER TABLE obligation_events ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE obligation_events ADD FOREIGN KEY (obligation_id) REFERENCES obligations (id);

ALTER TABLE obligations ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE obligations ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE obligations ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE obligations ADD FOREIGN KEY (period_id) REFERENCES periods (id);

ALTER TABLE one_time_links ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE opportunities ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE opportunities ADD FOREIGN KEY (lead_id) REFERENCES leads (id);

ALTER TABLE passkeys ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE period_locks ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE period_locks ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE period_locks ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE period_seals ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE period_seals ADD FOREIGN KEY (period_id) REFERENCES periods (id);

ALTER TABLE periods ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE periods ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE periods ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE properties ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE properties ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE property_units ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE property_units ADD FOREIGN KEY (property_id) REFERENCES properties (id);

ALTER TABLE property_valuations ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE property_valuations ADD FOREIGN KEY (property_id) REFERENCES properties (id);

ALTER TABLE quarter_choices ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE quarter_choices ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE recovery_codes ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE refresh_tokens ADD FOREIGN KEY (grant_id) REFERENCES grants (id) ON DELETE CASCADE;

ALTER TABLE removals ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE removals_forgotten ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE rents_received ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE rents_received ADD FOREIGN KEY (tenancy_id) REFERENCES tenancies (id);

ALTER TABLE sessions ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE stated_balances ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE stated_balances ADD FOREIGN KEY (account_id) REFERENCES bank_accounts (id);

ALTER TABLE statement_gaps ADD FOREIGN KEY (account_id) REFERENCES bank_accounts (id);

ALTER TABLE statement_gaps ADD FOREIGN KEY (import_id) REFERENCES import_runs (id);

ALTER TABLE tax_calls ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE tax_connections ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE tax_connections ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE tax_requests ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE tax_standings ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE tax_standings ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE tax_year_figures ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE tax_year_figures ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE tenancies ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE tenancies ADD FOREIGN KEY (property_id) REFERENCES properties (id);

ALTER TABLE tenancies ADD FOREIGN KEY (unit_id) REFERENCES property_units (id);

ALTER TABLE tenancy_tenants ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE tenancy_tenants ADD FOREIGN KEY (tenancy_id) REFERENCES tenancies (id);

ALTER TABLE tenancy_tenants ADD FOREIGN KEY (tenant_id) REFERENCES tenants (id);

ALTER TABLE tenants ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE totp_secrets ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE vat_period_liabilities ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vat_period_liabilities ADD FOREIGN KEY (period_id) REFERENCES periods (id);

ALTER TABLE vat_years ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vat_years ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE vault_accesses ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_accesses ADD FOREIGN KEY (document_id) REFERENCES vault_documents (id);

ALTER TABLE vault_chunks ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_documents ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_documents ADD FOREIGN KEY (folder_id) REFERENCES vault_folders (id);

ALTER TABLE vault_folders ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_folders ADD FOREIGN KEY (parent_id) REFERENCES vault_folders (id);

ALTER TABLE vault_index_parts ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_index_queue ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_links ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_links ADD FOREIGN KEY (document_id) REFERENCES vault_documents (id);

ALTER TABLE vault_pages ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_pages ADD FOREIGN KEY (document_id) REFERENCES vault_documents (id);

ALTER TABLE vault_parse_attempts ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_parse_attempts ADD FOREIGN KEY (document_id) REFERENCES vault_documents (id);

ALTER TABLE vault_parses ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_parses ADD FOREIGN KEY (document_id) REFERENCES vault_documents (id);

ALTER TABLE vault_proposals ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_proposals ADD FOREIGN KEY (document_id) REFERENCES vault_documents (id);

ALTER TABLE vault_usage ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_variants ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE vault_variants ADD FOREIGN KEY (document_id) REFERENCES vault_documents (id);

ALTER TABLE vault_vector_revisions ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE webhook_subscriptions ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

INSERT INTO write_check (id, checked_at, filler) VALUES (1, 0, NULL);

-- PostgreSQL's own: the row that counts what is committed, and the last commit of each that writes.

CREATE TABLE pulse (
    id bigint PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL,
    now bigint NOT NULL,                       -- the instant of the last commit: it never goes back
    accepted_latest bigint NOT NULL DEFAULT 0, -- what `now` was when an operator last said that the clock was right
    accepted_at bigint NOT NULL DEFAULT 0,     -- and when that was
    key_check bytea                            -- sealed by the instance key, which all hosts must have
);

CREATE TABLE pulse_writers (
    writer text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    beat_at bigint NOT NULL
);

-- What SQLite has a table for, which not every commit writes.
CREATE VIEW update_clock AS SELECT id, now AS latest, accepted_latest, accepted_at FROM pulse;

INSERT INTO pulse (id, version, now) VALUES (1, 0, 0);

-- What documents are found by, of each part of vault_index_parts: in place of SQLite's vault_words.
CREATE TABLE vault_part_words (
    number bigint PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL REFERENCES organizations (id),
    words tsvector NOT NULL,                   -- stems and codes behind their organization, with how often as labels
    name text COLLATE "C" NOT NULL,            -- stems in their order, each in spaces of its own
    body text COLLATE "C" NOT NULL,
    length bigint NOT NULL                     -- words, numbers and codes
);

CREATE INDEX vault_part_words_by_word ON vault_part_words USING gin (words);

-- In how many parts each word is, and in how many as a number or code: for spelling, and for what is rare.
CREATE TABLE vault_terms (
    org_id text COLLATE "C" NOT NULL REFERENCES organizations (id),
    term text COLLATE "C" NOT NULL,
    parts bigint NOT NULL,
    exact_parts bigint NOT NULL,
    PRIMARY KEY (org_id, term)
) WITH (fillfactor = 80);

CREATE TABLE vault_part_totals (
    org_id text COLLATE "C" PRIMARY KEY REFERENCES organizations (id),
    parts bigint NOT NULL,
    length bigint NOT NULL
);
