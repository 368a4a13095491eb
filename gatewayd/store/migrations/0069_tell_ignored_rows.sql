-- Rows of a file that are no transactions are counted and told by kind, so that the counts of a run add up to its rows.

ALTER TABLE import_runs ADD COLUMN ignored_rows INTEGER NOT NULL DEFAULT 0;
ALTER TABLE import_runs ADD COLUMN ignored TEXT NOT NULL DEFAULT '[]';  -- JSON: kind, rows and first line
