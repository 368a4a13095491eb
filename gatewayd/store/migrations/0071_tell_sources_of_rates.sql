-- At which rate a transaction was converted that had none of its own, and of which day that is. Whoever entered one in
-- another currency so far had to give it.
ALTER TABLE asset_transactions ADD COLUMN fx_rate_source TEXT CHECK (
    fx_rate_source = 'given' OR fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'
);
ALTER TABLE asset_transactions ADD COLUMN fx_rate_date TEXT;

UPDATE asset_transactions SET fx_rate_source = 'given' WHERE currency <> base_currency;

DROP INDEX asset_transactions_of_rate;
-- the latest rate of exchange that came with a transaction
CREATE INDEX asset_transactions_of_rate ON asset_transactions (org_id, currency, base_currency, trade_date)
WHERE currency <> base_currency AND type <> 'reversal' AND reversed_by_id IS NULL AND fx_rate_source = 'given';

-- The table is made anew, for recorded rates may be HMRC's of a month.
CREATE TABLE exchange_rates_next (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    date TEXT NOT NULL,                         -- of one of HMRC's the first day of its month
    rate TEXT NOT NULL,                         -- base currency for 1 of currency
    source TEXT NOT NULL CHECK (source = 'manual' OR source = 'import' OR source = 'feed' OR source = 'hmrc'),
    import_id TEXT,
    PRIMARY KEY (org_id, currency, base_currency, date)
) STRICT;

INSERT INTO exchange_rates_next (org_id, currency, base_currency, date, rate, source, import_id)
SELECT org_id, currency, base_currency, date, rate, source, import_id FROM exchange_rates;

DROP TABLE exchange_rates;
ALTER TABLE exchange_rates_next RENAME TO exchange_rates;
-- assets.listExchangeRates
CREATE INDEX exchange_rates_by_date ON exchange_rates (org_id, date DESC, currency, base_currency);
