-- Browser sessions. The cookie holds a random token; only its hash is here.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,                          -- SHA-256 of the cookie's token
    user_id TEXT NOT NULL REFERENCES users (id),
    methods TEXT NOT NULL CHECK (length(methods) > 0),  -- space separated amr values (RFC 8176)
    authenticated_at INTEGER NOT NULL,                  -- auth_time: when the password or passkey was last given
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL,                              -- '' on a unix socket
    last_seen_at INTEGER NOT NULL,                      -- written at most every few minutes
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

-- The sessions of one user, newest first; ending them all
CREATE INDEX sessions_of_user ON sessions (user_id, id);
-- The sweep
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- Failures in a row, by account and by network: kept over restarts.
CREATE TABLE sign_in_failures (
    subject TEXT PRIMARY KEY,                           -- 'account:<folded address>' or 'network:<prefix>'
    failures INTEGER NOT NULL CHECK (failures >= 1),
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    locked_until INTEGER                                -- NULL: not locked
) STRICT, WITHOUT ROWID;

-- The sweep
CREATE INDEX sign_in_failures_by_age ON sign_in_failures (last_at);

CREATE TABLE totp_secrets (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    secret_sealed BLOB NOT NULL,                        -- encrypted at rest
    confirmed_at INTEGER,                               -- NULL: shown, and not yet proved
    last_step INTEGER NOT NULL,                         -- the newest time step used: a code works once (RFC 6238 §5.2)
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE recovery_codes (
    user_id TEXT NOT NULL REFERENCES users (id),
    hash BLOB NOT NULL,                                 -- SHA-256 of the code, which is random
    used_at INTEGER,
    PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE passkeys (
    credential_id BLOB PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    public_key BLOB NOT NULL,                           -- COSE
    sign_count INTEGER NOT NULL CHECK (sign_count >= 0),
    transports TEXT NOT NULL,                           -- space separated
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    backed_up INTEGER NOT NULL CHECK (backed_up IN (0, 1)),
    last_used_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

-- The passkeys of one user
CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

-- A link that signs in or sets a password, once.
CREATE TABLE one_time_links (
    hash BLOB PRIMARY KEY,                              -- SHA-256 of the token in the link
    user_id TEXT NOT NULL REFERENCES users (id),
    purpose TEXT NOT NULL CHECK (purpose IN ('sign_in', 'reset_password')),
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The sweep
CREATE INDEX one_time_links_by_expiry ON one_time_links (expires_at);
