ALTER TABLE asset_transactions ADD COLUMN income_date TEXT; -- of income: the pay date, on which it counts
-- all income, latest first; by a condition that lists of less don't have, or this index would be taken for them too
CREATE INDEX asset_income_by_date ON asset_transactions (org_id, income_date, id) WHERE income_date > '';
-- income of an account, latest first
CREATE INDEX asset_income_of_account ON asset_transactions (org_id, account_id, income_date, id)
WHERE income_date IS NOT NULL;
-- income of a portfolio, latest first
CREATE INDEX asset_income_of_portfolio ON asset_transactions (org_id, portfolio_id, income_date, id)
WHERE income_date IS NOT NULL;
-- income of a legal entity, latest first, and what it earned in a range of days
CREATE INDEX asset_income_of_entity ON asset_transactions (org_id, legal_entity_id, income_date, id)
WHERE income_date IS NOT NULL;
-- income of an instrument, latest first
CREATE INDEX asset_income_of_instrument ON asset_transactions (org_id, instrument_id, income_date, id)
WHERE income_date IS NOT NULL AND instrument_id IS NOT NULL;
