-- Made from the migration of SQLite by `make generate`.

-- A key may belong to its organization: it has a role of its own then, and does not end with whoever made it.
ALTER TABLE api_keys ADD COLUMN role text COLLATE "C" CHECK (role = 'admin' OR role = 'member');

-- NULL: its maker's, as it is now

-- What each key was used for, by days.
CREATE TABLE api_key_uses (
    org_id text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,                          -- YYYY-MM-DD, UTC
    operation text COLLATE "C" NOT NULL,
    times bigint NOT NULL CHECK (times > 0),
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    PRIMARY KEY (org_id, key_id, day, operation)
);

-- The sweep
CREATE INDEX api_key_uses_by_day ON api_key_uses (day);

ALTER TABLE api_key_uses ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE api_key_uses ADD FOREIGN KEY (key_id) REFERENCES api_keys (id);
