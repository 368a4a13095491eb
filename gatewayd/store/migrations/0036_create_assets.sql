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
-- externalId, once in an organization
CREATE UNIQUE INDEX asset_portfolios_by_external_id ON asset_portfolios (org_id, external_id)
WHERE external_id IS NOT NULL;
-- the list, newest first
CREATE INDEX asset_portfolios_by_id ON asset_portfolios (org_id, id);
-- the list with updatedSince
CREATE INDEX asset_portfolios_by_change ON asset_portfolios (org_id, updated_at, id);
-- the portfolios of a legal entity
CREATE INDEX asset_portfolios_of_entity ON asset_portfolios (org_id, legal_entity_id, id);

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
-- externalId, once in an organization
CREATE UNIQUE INDEX asset_accounts_by_external_id ON asset_accounts (org_id, external_id)
WHERE external_id IS NOT NULL;
-- the list, newest first
CREATE INDEX asset_accounts_by_id ON asset_accounts (org_id, id);
-- the list with updatedSince
CREATE INDEX asset_accounts_by_change ON asset_accounts (org_id, updated_at, id);
-- the accounts of a portfolio
CREATE INDEX asset_accounts_of_portfolio ON asset_accounts (org_id, portfolio_id, id);
-- the accounts of a legal entity
CREATE INDEX asset_accounts_of_entity ON asset_accounts (org_id, legal_entity_id, id);

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
    search_text TEXT NOT NULL,                  -- case-folded: name, symbol, identifiers
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- one instrument for each identifier
CREATE UNIQUE INDEX instruments_by_isin ON instruments (org_id, isin) WHERE isin IS NOT NULL;
CREATE UNIQUE INDEX instruments_by_sedol ON instruments (org_id, sedol) WHERE sedol IS NOT NULL;
CREATE UNIQUE INDEX instruments_by_figi ON instruments (org_id, figi) WHERE figi IS NOT NULL;
CREATE UNIQUE INDEX instruments_by_symbol ON instruments (org_id, symbol, exchange_mic)
WHERE symbol IS NOT NULL AND exchange_mic IS NOT NULL;
-- tickers whatever the exchange, and their beginnings
CREATE INDEX instruments_by_ticker ON instruments (org_id, symbol, id) WHERE symbol IS NOT NULL;
CREATE INDEX instruments_by_cusip ON instruments (org_id, cusip) WHERE cusip IS NOT NULL;
-- the list, newest first
CREATE INDEX instruments_by_id ON instruments (org_id, id);
-- the list with updatedSince
CREATE INDEX instruments_by_change ON instruments (org_id, updated_at, id);

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
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX asset_transactions_by_external_id ON asset_transactions (org_id, external_id)
WHERE external_id IS NOT NULL;
-- the lists, latest trade first
CREATE INDEX asset_transactions_of_account ON asset_transactions (org_id, account_id, trade_date, id);
CREATE INDEX asset_transactions_of_portfolio ON asset_transactions (org_id, portfolio_id, trade_date, id);
CREATE INDEX asset_transactions_of_entity ON asset_transactions (org_id, legal_entity_id, trade_date, id);
-- the rows behind a position, and whether an instrument was ever held
CREATE INDEX asset_transactions_of_instrument ON asset_transactions (org_id, instrument_id, trade_date, id)
WHERE instrument_id IS NOT NULL;
-- the list with updatedSince
CREATE INDEX asset_transactions_by_change ON asset_transactions (org_id, updated_at, id);
-- undo of an import
CREATE INDEX asset_transactions_of_import ON asset_transactions (org_id, import_id, id) WHERE import_id IS NOT NULL;

-- what an account has in cash, by currency: the sum of the net amounts of its transactions
CREATE TABLE asset_cash (
    org_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES asset_accounts (id),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    balance INTEGER NOT NULL,                   -- minor units
    PRIMARY KEY (org_id, account_id, currency)
) STRICT;

-- One instrument in one scope: an account, or the pool of a person over all accounts without a wrapper (decision 0022).
-- What holds after the last day; computed with asset_days, and always whole.
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
-- the positions of a legal entity or portfolio
CREATE INDEX asset_holdings_of_entity ON asset_holdings (org_id, legal_entity_id, portfolio_id, instrument_id);
-- whom a split concerns
CREATE INDEX asset_holdings_of_instrument ON asset_holdings (org_id, instrument_id, scope_id);

-- One day of an instrument in a scope: what its transactions bring, merged, and what follows from it.
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
-- the disposals of a tax year
CREATE INDEX asset_days_of_disposals ON asset_days (org_id, scope_id, date, instrument_id) WHERE disposes = 1;

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

CREATE TABLE exchange_rates (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    date TEXT NOT NULL,
    rate TEXT NOT NULL,                         -- base currency for 1 of currency
    source TEXT NOT NULL CHECK (source = 'manual' OR source = 'import' OR source = 'feed'),
    PRIMARY KEY (org_id, currency, base_currency, date)
) STRICT;
