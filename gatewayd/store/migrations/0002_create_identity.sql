CREATE TABLE organizations (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    email_folded TEXT NOT NULL UNIQUE,          -- lower case: one account per address
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    password_hash TEXT,                         -- argon2id, NULL where none was set
    instance_admin INTEGER NOT NULL CHECK (instance_admin IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE memberships (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, user_id)
) STRICT;

-- The organizations of one user
CREATE INDEX memberships_of_user ON memberships (user_id, org_id);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    hash BLOB NOT NULL UNIQUE,                  -- SHA-256 of the whole key
    hint TEXT NOT NULL,                         -- what lists show of it
    scopes TEXT NOT NULL,                       -- space separated; '' is a legacy full-access key
    networks TEXT NOT NULL,                     -- space separated CIDR; '' is anywhere
    tax_approved_at INTEGER,
    expires_at INTEGER,
    last_used_day TEXT,                         -- YYYY-MM-DD, UTC
    revoked_at INTEGER,
    replaced_by TEXT REFERENCES api_keys (id),  -- the key it was rotated to
    created_at INTEGER NOT NULL
) STRICT;

-- Lists of one organization, newest first
CREATE INDEX api_keys_of_org ON api_keys (org_id, id);

CREATE TABLE audit_log (
    id TEXT PRIMARY KEY,
    org_id TEXT REFERENCES organizations (id),  -- NULL where it concerns the whole instance
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,                        -- a user id, or 'operator' for the command line
    action TEXT NOT NULL,
    subject TEXT NOT NULL,                      -- the id it was done to
    detail TEXT NOT NULL                        -- a JSON object without secrets
) STRICT;

-- The log of one organization, newest first
CREATE INDEX audit_log_of_org ON audit_log (org_id, id);
