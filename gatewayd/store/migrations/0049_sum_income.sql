-- What an account earned of an instrument in a tax year of pay dates: sums of its transactions, without those that are
-- reversed. Entered with asset_cash. Years on both sides of a range of days are told from the transactions.
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
-- what an instrument paid
CREATE INDEX asset_income_years_of_instrument ON asset_income_years (org_id, instrument_id, year);

INSERT INTO asset_income_years (
    org_id, account_id, year, instrument_id, type, currency, base_currency, withheld, events, gross, gross_base, taxes
)
SELECT f.org_id, f.account_id, f.year, f.instrument_id, f.type, f.currency, f.base_currency, f.withheld, count(1),
    sum(f.gross_amount), sum(f.gross_base), sum(f.taxes)
FROM (
    SELECT org_id, account_id, type, currency, base_currency, gross_amount, gross_base, taxes,
        coalesce(instrument_id, '') AS instrument_id,
        CAST(substr(income_date, 1, 4) AS INTEGER) - CASE WHEN substr(income_date, 6, 5) < '04-06' THEN 1 ELSE 0 END
            AS year,
        CASE WHEN taxes > 0 THEN 1 ELSE 0 END AS withheld
    FROM asset_transactions WHERE income_date > '' AND reversed_by_id IS NULL
) f
GROUP BY f.org_id, f.account_id, f.year, f.instrument_id, f.type, f.currency, f.base_currency, f.withheld;

-- the list of rates, latest first
CREATE INDEX exchange_rates_by_date ON exchange_rates (org_id, date DESC, currency, base_currency);

-- what was gained by instrument, without the rows of the days
CREATE INDEX asset_days_of_gains ON asset_days (org_id, scope_id, instrument_id, date, gain, fifo_gain)
WHERE disposes = 1;
