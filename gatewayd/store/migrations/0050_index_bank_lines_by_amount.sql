-- One index for both, for each costs every imported row a page of its own: amounts are scattered as nothing else is.
DROP INDEX bank_transactions_to_pair;
DROP INDEX bank_transactions_by_amount;

-- the list in the order of amounts, and the other end of a transfer
CREATE INDEX bank_transactions_by_amount ON bank_transactions (org_id, account_id, amount, date, id);
