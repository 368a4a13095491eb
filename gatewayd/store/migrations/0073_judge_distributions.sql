-- What a capital distribution leaves, whether it is small, and whether shares in the place of a dividend are taxed as one.
ALTER TABLE asset_transactions ADD COLUMN remaining_value INTEGER CHECK (remaining_value >= 0); -- minor units of currency
ALTER TABLE asset_transactions ADD COLUMN small_distribution INTEGER
    CHECK (small_distribution = 0 OR small_distribution = 1); -- NULL: as its amount says
ALTER TABLE asset_transactions ADD COLUMN taxed_as_dividend INTEGER
    CHECK (taxed_as_dividend = 0 OR taxed_as_dividend = 1); -- of a stock dividend; NULL: not known, and so it is not

-- Those of companies in the United Kingdom are (ITTOIA 2005 s410), and count as dividends in the sums.
UPDATE asset_transactions SET taxed_as_dividend = 1
WHERE type = 'stock_dividend' AND EXISTS (
    SELECT 1 FROM instruments AS i
    WHERE i.org_id = asset_transactions.org_id AND i.id = asset_transactions.instrument_id
        AND (i.domicile_country = 'GB' OR (i.domicile_country IS NULL AND i.currency = 'GBP'))
);
INSERT INTO asset_income_years (
    org_id, account_id, year, instrument_id, type, currency, base_currency, withheld, events, gross, gross_base, taxes
)
SELECT y.org_id, y.account_id, y.year, y.instrument_id, 'dividend', y.currency, y.base_currency, y.withheld, y.events,
    y.gross, y.gross_base, y.taxes
FROM asset_income_years AS y
JOIN instruments AS i ON i.org_id = y.org_id AND i.id = y.instrument_id
WHERE y.type = 'stock_dividend' AND (i.domicile_country = 'GB' OR (i.domicile_country IS NULL AND i.currency = 'GBP'))
ON CONFLICT (org_id, account_id, year, instrument_id, type, currency, base_currency, withheld) DO UPDATE SET
    events = asset_income_years.events + excluded.events, gross = asset_income_years.gross + excluded.gross,
    gross_base = asset_income_years.gross_base + excluded.gross_base, taxes = asset_income_years.taxes + excluded.taxes;
DELETE FROM asset_income_years
WHERE type = 'stock_dividend' AND EXISTS (
    SELECT 1 FROM instruments AS i
    WHERE i.org_id = asset_income_years.org_id AND i.id = asset_income_years.instrument_id
        AND (i.domicile_country = 'GB' OR (i.domicile_country IS NULL AND i.currency = 'GBP'))
);

-- Instruments of which transactions bring something else to the days of holdings than they did: before the daemon
-- serves, they are entered anew.
CREATE TABLE asset_instruments_to_enter (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    instrument_id TEXT NOT NULL,
    PRIMARY KEY (org_id, instrument_id)
) STRICT, WITHOUT ROWID;
INSERT INTO asset_instruments_to_enter (org_id, instrument_id)
SELECT org_id, instrument_id FROM asset_transactions
WHERE (type = 'return_of_capital' OR type = 'merger' OR type = 'stock_dividend') AND instrument_id IS NOT NULL
UNION
SELECT org_id, from_instrument_id FROM asset_transactions WHERE type = 'merger' AND from_instrument_id IS NOT NULL;
