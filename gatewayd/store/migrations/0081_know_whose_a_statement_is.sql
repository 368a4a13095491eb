-- What files say of the account that they are of, and the accounts of a file that are others.
ALTER TABLE bank_accounts ADD COLUMN statement_name TEXT;  -- what its files call it, where they give no number
ALTER TABLE import_runs ADD COLUMN other_accounts TEXT NOT NULL DEFAULT '[]';  -- JSON: what they are called, and rows
ALTER TABLE import_runs ADD COLUMN file_account TEXT;  -- JSON: name, numbers, and the bank that follows
ALTER TABLE import_runs ADD COLUMN gave TEXT NOT NULL DEFAULT '[]';  -- JSON: fields of the account that it said first

-- A file that came before, whatever account it was for
CREATE INDEX import_runs_of_file ON import_runs (org_id, sha256);

-- Every account is in the list of institutions.
UPDATE bank_accounts SET institution_id = 'inst_other' WHERE institution_id IS NULL;
