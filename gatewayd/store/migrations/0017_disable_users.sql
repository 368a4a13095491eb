ALTER TABLE users ADD COLUMN disabled_at INTEGER;  -- NULL: may sign in
