DROP INDEX broker_records_of_transaction;
-- the records of a transaction; its foreign key, which knows no organization, asks the same when the transaction is
-- deleted, and read all records for each row of an import that was undone
CREATE INDEX broker_records_of_transaction ON broker_records (transaction_id, org_id);
