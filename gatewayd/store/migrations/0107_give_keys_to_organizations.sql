-- A key may belong to its organization: it has a role of its own then, and does not end with whoever made it.
ALTER TABLE api_keys ADD COLUMN role TEXT CHECK (role = 'admin' OR role = 'member'); -- NULL: its maker's, as it is now

-- What each key was used for, by days.
CREATE TABLE api_key_uses (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    day TEXT NOT NULL,                          -- YYYY-MM-DD, UTC
    operation TEXT NOT NULL,
    times INTEGER NOT NULL CHECK (times > 0),
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, key_id, day, operation)
) STRICT, WITHOUT ROWID;
-- The sweep
CREATE INDEX api_key_uses_by_day ON api_key_uses (day);
