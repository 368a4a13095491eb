-- In what a row differs from the transaction with the same id of the broker that is there already.

ALTER TABLE import_trades ADD COLUMN differs TEXT NOT NULL DEFAULT '[]';  -- JSON: names of fields
