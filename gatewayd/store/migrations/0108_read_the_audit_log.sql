-- Entries of one action, newest first; and those of sign-ins that are older than they are kept
CREATE INDEX audit_log_by_action ON audit_log (action, id);
-- What somebody did, newest first
CREATE INDEX audit_log_by_actor ON audit_log (actor, id);
-- What was done to something, newest first
CREATE INDEX audit_log_by_subject ON audit_log (subject, id);

-- Clients that the operator registers: they stay until they are removed, whether anybody uses them or not.
ALTER TABLE oauth_clients ADD COLUMN by_operator INTEGER NOT NULL DEFAULT 0 CHECK (by_operator IN (0, 1));
-- Those, newest first
CREATE INDEX oauth_clients_of_operator ON oauth_clients (by_operator, id);

CREATE TABLE oauth_client_secrets (
    hash BLOB PRIMARY KEY,                      -- SHA-256 of the secret, which is shown once
    client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
    ends_at INTEGER,                            -- NULL: until it is rotated
    created_at INTEGER NOT NULL
) STRICT;

-- The secrets of one client
CREATE INDEX oauth_client_secrets_of_client ON oauth_client_secrets (client_id);

-- Assertions of clients that were used (RFC 7523 §3), until they have ended anyway
CREATE TABLE used_assertions (
    hash BLOB PRIMARY KEY,                      -- SHA-256 of client and jti
    ends_at INTEGER NOT NULL
) STRICT;

-- Those that have ended
CREATE INDEX used_assertions_by_end ON used_assertions (ends_at);
