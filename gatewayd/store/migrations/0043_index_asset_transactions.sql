-- the list of all transactions, latest trade first
CREATE INDEX asset_transactions_by_date ON asset_transactions (org_id, trade_date, id);
-- the lists of one type, and of several, which are merged
CREATE INDEX asset_transactions_of_type ON asset_transactions (org_id, type, trade_date, id);
CREATE INDEX asset_transactions_of_account_and_type ON asset_transactions (org_id, account_id, type, trade_date, id);
CREATE INDEX asset_transactions_of_portfolio_and_type ON asset_transactions (org_id, portfolio_id, type, trade_date, id);
-- the list of one source
CREATE INDEX asset_transactions_of_source ON asset_transactions (org_id, source, trade_date, id);
