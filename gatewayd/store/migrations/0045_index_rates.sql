-- the latest rate of exchange of a transaction, where nobody recorded one
CREATE INDEX asset_transactions_of_rate ON asset_transactions (org_id, currency, base_currency, trade_date)
WHERE currency <> base_currency;
