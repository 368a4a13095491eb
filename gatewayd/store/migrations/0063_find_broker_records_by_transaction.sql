-- What a broker calls transactions is found by the transaction alone: SQLite looks so for what still refers to one that
-- is deleted, and had gone through all records of the instance for each.
DROP INDEX broker_records_of_transaction;
-- assets.undoImport, and which transactions a file names by the broker's ids
CREATE INDEX broker_records_of_transaction ON broker_records (transaction_id, org_id);
