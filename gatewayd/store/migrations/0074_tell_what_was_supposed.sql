-- What a file left open, and how it was read: told with the reason.

ALTER TABLE import_runs ADD COLUMN supposed TEXT NOT NULL DEFAULT '[]';  -- JSON: field, value and reason
